"""Claims on associative memories: classical, dense and modern networks, attention and clusters."""
