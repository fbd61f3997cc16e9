"""Graphs in transformers: who is connected with whom; one construction per file."""
