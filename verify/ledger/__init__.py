"""The statement index: statements of this library and of other packages as data, and errata."""
