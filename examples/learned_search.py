"""A network that learned to sort and to search, beside interpolation and binary search.

Prints one search cell by cell, and the fraction of nearest neighbours found after each lookup, also
on points from an interval outside the training distribution; and draws it:

    python examples/learned_search.py [--checkpoint NAME] [--sets N] [--seed S] [--plot PICTURE]
"""

import argparse
from pathlib import Path

import numpy as np

from constructions.trained import load
from theory.kinds import InputError
from theory.structures import (
    accuracy_by_lookup,
    binary_search,
    interpolation_search,
    looked_at,
    nearest,
    uniform_points,
)
from theory.terminal import script
from verify.evidence.picture import save
from verify.output.files import picture_file, saving
from verify.structures.trained.learned_search import by_interpolation
from verify.structures.trained.learned_search_picture import draw
from verify.structures.trained.lookups import measure

options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
options.add_argument("--checkpoint", default="search-uniform-16-seed0", help="name or file")
options.add_argument("--sets", type=int, default=3000, help="sets of points, 100 to 100000")
options.add_argument("--seed", type=int, default=0)
options.add_argument("--plot", type=Path, default=Path("learned_search.png"))
given = script(options)
if not 100 <= given.sets <= 100_000 or given.seed < 0:
    options.error("give 100 to 100000 sets and a seed that is at least 0")
try:
    picture_file(given.plot)
    model, rng = load(given.checkpoint), np.random.default_rng(given.seed)
except InputError as error:
    options.error(str(error))
sizes = [getattr(model.interface, name, None) for name in ("n", "d", "lookups")]
if sizes != [16, 1, 4]:
    options.error("give a network for 16 numbers and 4 lookups, such as search-uniform-16-seed0")
STRATEGIES = {"interpolation": interpolation_search(-1, 1), "binary": binary_search}

x, q = uniform_points(1, 16, 1, rng)
print(f"One search: the point nearest to {q[0, 0]:.3f} is {x[0, nearest(x, q)[0, 0]]:.3f}")
paths = {"network": model(x, q).numpy()}
paths |= {name: looked_at(each, x, q, 4) for name, each in STRATEGIES.items()}
for name, path in paths.items():
    seen = ", ".join(f"{x[0, cell]:.3f} (rank {cell + 1})" for cell in path[0, 0])
    print(f"  {name:14} {seen}")

print("\nNearest point found after each lookup, in %:")
for low, high in ((-1.0, 1.0), (0.0, 1.0)):
    x, q = uniform_points(given.sets, 16, 1, rng, low, high)
    network = measure(model, x, q[:, 0])
    print(f"points and queries from ({low:g}, {high:g})")
    proportions = {"network": [proportion.value for proportion in network.by_lookup]}
    for name, strategy in STRATEGIES.items():
        proportions[name] = list(accuracy_by_lookup(looked_at(strategy, x, q, 4), nearest(x, q)))
    for name, each in proportions.items():
        print(f"  {name:14} {'  '.join(f'{100 * proportion:5.1f}' for proportion in each)}")
    print(f"  {network.in_order.mean():.1%} of the cells contain the point of their rank")
    if low < 0:
        sets = x, q[:, 0]
        with saving(given.plot) as file:
            save(file, draw, {"network": network}, by_interpolation(*sets), *sets)
print(f"\nSaved {given.plot}.")
