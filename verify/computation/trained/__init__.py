"""The claim on models trained on automata, and its measurements.

automata_trained    the claim; its picture is in automata_trained_picture
mechanisms          flip-flops, counters and doubling windows, searched for in a model
attention           words, what models read at them, and models with uniform attention
last_symbols        a table of the last symbols, as a null model
planted             hand-built models in place of trained ones, for the self-test
"""
