"""Claims about data structures that are looked up."""
