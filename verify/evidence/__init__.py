"""Common checks for claims of all topics; each check is one call.

statement     the statement of a claim about a construction, at every size
size          layers, heads and width compared with the statement's formulas
identity      equality over Q, mod random primes, as polynomials
registers     registers compared with the layer invariants of the proof
agreement     float64 compared with the definition in balls, within a rounding bound
rounding      the rounding bound
sequences     equality with the definition on sequences of tokens
gaps          score gaps over all prompts
softmax       softmax and short floats in place of hardmax
formats       binary floating-point formats
enclosure     comparisons of balls
statistics    means with standard errors, resampling
checkpoints   the trained models of a claim
"""
