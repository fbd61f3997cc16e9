"""Claims on language."""
