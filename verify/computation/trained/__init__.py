"""The claim on models trained on automata, and what it looks at.

automata_trained    the claim, and its picture beside it
mechanisms          latches, counters and doubled windows, looked for in a model
attention           words, patterns of attention, and models whose attention is replaced
probes              linear probes
last_symbols        a table of the last symbols, as a null model
planted             built models in the place of trained ones, for the self-test
"""
