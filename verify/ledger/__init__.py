"""The statement index: statements as data, those of other packages, and errata."""
