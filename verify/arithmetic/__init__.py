"""Claims about addition."""
