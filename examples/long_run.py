"""A Turing machine run for a hundred thousand steps by a transformer, one token for each step.

Prints how fast the steps are decoded, compares them with the machine, and prints how many keys each
head has cached after the first 10 000: `python examples/long_run.py [STEPS]`.
"""

import argparse
import time

from constructions import turing_machine
from constructions.decoding import PrunedDecoder
from theory.computation import MACHINES
from theory.kinds import Count, read
from theory.terminal import script

options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
options.add_argument("steps", nargs="?", type=int, default=100_000, help="number of steps")
wolfram = MACHINES["wolfram-2-3"]  # 2 states, 3 symbols; it never halts on a blank tape
try:
    steps = read(Count, "steps", script(options).steps)
    model = turing_machine(wolfram, steps)
except ValueError as error:
    options.error(f"{error}")
history = model.interface
print(model, "\n")

start = time.perf_counter()
tokens = model.generate(history.prompt(), steps)
seconds = time.perf_counter() - start
assert history.steps(tokens) == wolfram.run(steps)  # by the machine's own rules
print(f"{steps} steps, all of them right, {steps / seconds:.0f} tokens a second")

first = [*history.prefix, *history.prompt(), *tokens[:10_000].tolist()][: steps + 1]
decoder = PrunedDecoder(model, len(first))
for token in first:
    decoder.append(token)
print(f"Cached keys of the heads after {decoder.count} tokens: {decoder.cached}")
print(
    "A head that averages all moves caches one key, with their sum; heads that look up a position\n"
    "cache all keys; the head that looks up the latest write to a cell caches one for each cell."
)
