"""Claims: a claim is a statement with its source and its evidence.  `python -m verify list`."""
