"""Claims about data structures that are searched by lookups."""
