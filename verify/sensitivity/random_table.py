"""Sensitivities of random networks by distribution of the weights and threshold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from theory.sensitivity import mean_influence
from theory.waiting import Pace
from verify.claim import Run
from verify.sensitivity.random_networks import ARCHITECTURES, outputs

BITS = 8
DISTRIBUTIONS = ("uniform", "Xavier", "normal")
THRESHOLDS = ("0", "median")


class Row(NamedTuple):
    """The sensitivities of random networks of one architecture and one distribution of the weights.

    at        Sens of each network by threshold, (draws,); at the median, networks with at most
              2^{d−1} different outputs are omitted, where d is the number of bits
    constant  the fraction of networks that compute a constant function at threshold 0
    balanced  the functions at the median threshold, (draws, 2^d)
    """

    at: dict[str, np.ndarray]
    constant: float
    balanced: np.ndarray


Table = dict[str, dict[str, Row]]


def measured(run: Run, draws: int) -> Table:
    """The sensitivities of random networks of all architectures, by distribution of the weights.

    The result maps each distribution to a `Row` for each architecture. There are `draws` networks
    of each kind. The first networks of a seed are the same for every number of `draws`.
    """
    cases = [
        (distribution, architecture, n_layers)
        for distribution in DISTRIBUTIONS
        for architecture, n_layers in ARCHITECTURES
    ]
    table: Table = {distribution: {} for distribution in DISTRIBUTIONS}
    pace = Pace(f"random networks, {draws} of each kind", len(cases) * draws)
    for distribution, architecture, n_layers in run.progress(cases, "random networks"):
        found = []
        for seed in range(10_000 * run.seed, 10_000 * run.seed + draws):
            found.append(outputs(architecture, n_layers, distribution, BITS, seed))
            pace.done(1)
        table[distribution][f"{architecture} {n_layers}"] = row_of(np.array(found))
    return table


def row_of(found: np.ndarray) -> Row:
    """The row of sensitivities of random networks, from their outputs `found` (draws, 2^d).

    An output is a number for each of the 2^d words of d bits.
    """
    signs = found > 0
    varied = np.array([len(np.unique(each)) > each.size // 2 for each in found])
    balanced = found[varied] > np.median(found[varied], axis=1, keepdims=True)
    at = {"0": sensitivities(signs), "median": sensitivities(balanced)}
    constant = float((signs == signs[:, :1]).all(axis=1).mean())
    return Row(at, constant, balanced)


def sensitivities(functions: np.ndarray) -> np.ndarray:
    """The exact Sens of each of the given Boolean `functions` of d bits, (draws,).

    `functions` (draws, 2^d) contains the table of one function in each row.
    """
    return np.array([float(mean_influence(each)) for each in functions])
