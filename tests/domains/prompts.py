"""Prompts over any number system: of given entries, of one entry, of variables."""

import numpy as np
from exact import array

from constructions.interface import Prompt
from verify.domains import Symbolic, objects


def entered(rows):
    """A prompt of these entries, all of them examples."""
    return Prompt(objects(rows), len(rows))


def filled(entry, n, d):
    """x, y and a query whose entries are all this one."""
    return [np.full(shape, entry, dtype=object) for shape in ((n, d), (n,), (1, d))]


def symbols(n, d):
    names = [f"x{i}{j}" for i in range(n) for j in range(d)] + [f"y{i}" for i in range(n)]
    domain = Symbolic([*names, *(f"q{j}" for j in range(d))])
    v = domain.variables
    x, y, q = v[: n * d], v[n * d : n * d + n], v[n * d + n :]
    return domain, array(x, n, d), array(y, n), array(q, 1, d)
