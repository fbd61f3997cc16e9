"""What evidence is made of, for claims of any topic; each is called in one line.

statement     what a claim says of a construction, at every size
size          layers, heads and width beside the ledger's formulas
identity      equal over Q, mod random primes, as polynomials
registers     every register holds what the proof says
agreement     float64 beside the definition in balls, within a rounding bound
rounding      that bound
sequences     equal to the definition on sequences of tokens
gaps          score gaps over all prompts
softmax       softmax and short floats instead of hardmax
formats       binary floating-point formats
enclosure     comparisons of balls
statistics    means with standard errors, resampling
checkpoints   which trained models a claim speaks of
"""
