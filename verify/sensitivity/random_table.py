"""Sensitivities of networks with random weights, by law of the weights and threshold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from theory.sensitivity import mean_influence
from verify.claim import Run
from verify.sensitivity.random_networks import ARCHITECTURES, outputs

LETTERS = 8
LAWS = ("uniform", "Xavier", "normal")
THRESHOLDS = ("0", "median")


class Row(NamedTuple):
    """Sens of each draw of one architecture and distribution of weights, at both thresholds, where
    draws with at most 2^{d−1} different outputs are left out of the second; the fraction of
    constants at 0; and the functions at the median, (draws, 2^d)."""

    at: dict[str, np.ndarray]
    constant: float
    balanced: np.ndarray


Table = dict[str, dict[str, Row]]


def measured(run: Run, draws: int) -> Table:
    """Every architecture with every law; the draws of one seed do not depend on how many."""
    cases = [(law, kind, layers) for law in LAWS for kind, layers in ARCHITECTURES]
    table: Table = {law: {} for law in LAWS}
    for law, kind, layers in run.progress(cases, "random networks"):
        said = [
            outputs(kind, layers, law, LETTERS, seed)
            for seed in range(10_000 * run.seed, 10_000 * run.seed + draws)
        ]
        table[law][f"{kind} {layers}"] = row_of(np.array(said))
    return table


def row_of(said: np.ndarray) -> Row:
    """The figures of outputs (draws, 2^d)."""
    signs = said > 0
    varied = np.array([len(np.unique(each)) > each.size // 2 for each in said])
    balanced = said[varied] > np.median(said[varied], axis=1, keepdims=True)
    at = {"0": sensitivities(signs), "median": sensitivities(balanced)}
    constant = float((signs == signs[:, :1]).all(axis=1).mean())
    return Row(at, constant, balanced)


def sensitivities(functions: np.ndarray) -> np.ndarray:
    """Sens of each of these functions (draws, 2^d), exactly."""
    return np.array([float(mean_influence(each)) for each in functions])
