"""Statements as data, what other packages add, and errata."""
