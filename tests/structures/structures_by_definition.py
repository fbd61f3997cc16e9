"""Definitions and cases that the range tests of structures share."""

import numpy as np

RNG = np.random.default_rng(0)


def ascending(N, largest):
    """N distinct integers between 0 and the largest, a few of them next to each other."""
    return np.sort(RNG.choice(largest - 1, N, replace=False) + 1)


def laid_out(points, which, axis):
    """By recursion: coordinates, and then the given order."""
    if len(which) < 2:
        return which
    ordered = sorted(which, key=lambda i: (points[i][axis], i))
    m, after = len(which) // 2, (axis + 1) % len(points[0])
    below, above = laid_out(points, ordered[:m], after), laid_out(points, ordered[m + 1 :], after)
    return [*below, ordered[m], *above]


def quadrature(f, breaks, nodes):
    """The integral of an array-valued f over [0, 1], piece by piece."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    breaks = np.unique(np.clip(breaks, 0, 1))
    half = np.diff(breaks)[:, None] / 2
    return np.tensordot((half * w).ravel(), f((breaks[:-1, None] + half * (x + 1)).ravel()), 1)


def one_search(x, q, lookups):
    """One query, with a list of the pending brackets."""
    cells, pending, bracket = [], [], (0, len(x), 0)
    while len(cells) < lookups:
        lo, hi, axis = bracket
        if lo >= hi:
            if not pending:
                return cells + [cells[-1]] * (lookups - len(cells))
            first = min(pending, key=lambda each: each[0])
            pending.remove(first)
            bracket = first[1]
            continue
        m, after = (lo + hi) // 2, (axis + 1) % len(q)
        cells.append(m)
        away, sides = q[axis] - x[m][axis], ((lo, m, after), (m + 1, hi, after))
        near, far = sides[::-1] if away >= 0 else sides
        if far[0] < far[1]:
            pending.append((abs(away), far))
        bracket = near
    return cells
