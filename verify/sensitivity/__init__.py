"""Claims about sensitivity: Boolean functions, tokens, kernels, random weights."""
