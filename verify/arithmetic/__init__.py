"""Claims about models that add."""
