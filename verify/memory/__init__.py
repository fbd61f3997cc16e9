"""Claims about associative memories: classical, dense and modern networks, attention, clusters."""
