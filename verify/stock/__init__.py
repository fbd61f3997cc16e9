"""Claims about stock models: our constructions in unmodified classes of other libraries."""
