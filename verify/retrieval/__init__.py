"""Claims about retrieval: attention patterns, induction heads, composition, k-hop."""
