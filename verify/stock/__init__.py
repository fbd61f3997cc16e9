"""Claims about stock models: our constructions inside unmodified classes of others."""
