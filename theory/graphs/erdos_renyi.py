"""Random graphs: each of the n(n−1)/2 possible edges is there with probability p, by itself."""

import numpy as np

from theory import checks, machine
from theory.checks import InputError


def erdos_renyi(count: int, n: int, p: float, seed: int | np.random.Generator) -> np.ndarray:
    """`count` graphs ER(n, p), (count, n, n), with loops at all nodes.

    Raises `ValueError` for a count or an n below 1, a p outside [0, 1], a seed that is neither an
    integer at least 0 nor a generator, and for more graphs than there is memory.
    """
    count, n = checks.dimension("count", count), checks.dimension("n", n)
    chance = checks.real("p", p)
    if chance.ndim or not 0 <= chance <= 1:
        raise InputError(f"p is {p}: give one probability, from 0 to 1")
    machine.fits_in_memory(f"{count} graphs of {n} nodes", 24 * count * n * n, "take fewer of them")
    if not isinstance(seed, np.random.Generator):
        seed = checks.step_count("seed", seed)
    upper = np.triu(np.random.default_rng(seed).random((count, n, n)) < p, 1)
    return (upper | upper.swapaxes(-1, -2) | np.eye(n, dtype=bool)).astype(np.int64)
