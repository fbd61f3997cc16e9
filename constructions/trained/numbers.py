"""Rows for the numbers 0 … p − 1, with which an embedding begins or at which it stays.

    minilm     those of the number tokens of all-MiniLM-L6-v2 less their mean, on their first d
               principal axes (`rows/README.md`)
    shuffled   the same in random order
    gaussian   normal numbers with the variances of those axes
    fourier    cosines and sines of the periods 2, 2.5, 5, 10, 20, 50, 100 and 300 in random axes
    scratch    normal numbers of standard deviation .02 [Radford2019], to be trained

All but the last have the mean squared length of the first.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import numpy as np
from torch import Tensor, nn
from torch.nn.functional import pad

from constructions.blocks import Embed, Unembed
from theory.arithmetic import bin_of, fourier_bins, fourier_matrix
from theory.kinds import Choice, Count, InputError, Seed, checked

KINDS = "minilm", "shuffled", "gaussian", "fourier", "scratch"
FILE = Path(__file__).parent / "rows" / "minilm.npy"
SMALL = 0.02
PERIODS = (2, Fraction(5, 2), 5, 10, 20, 50, 100, 300)


@checked
def number_rows(kind: Annotated[str, Choice(KINDS)], p: Count, d: Count, rng: Seed) -> np.ndarray:
    """Rows (p, d) of this kind, float64.

    Raises ValueError for more numbers or features than are on file, for fewer
    features than there are cosines and sines, and where a period is no bin of p numbers.
    """
    if kind == "scratch":
        return SMALL * rng.standard_normal((p, d))
    table = np.load(FILE).astype(np.float64)
    if p > len(table) or d > table.shape[1]:
        raise InputError(
            f"rows of {len(table)} numbers on {table.shape[1]} axes are on file: p is {p} and "
            f"d_model {d}; take fewer"
        )
    given = table[:p, :d]
    if kind == "minilm":
        return given
    if kind == "shuffled":
        return given[rng.permutation(p)]
    if kind == "gaussian":
        rows = rng.standard_normal((p, d)) * given.std(0)
    else:
        waves = fourier_matrix(p)[np.isin(fourier_bins(p), [bin_of(T, p) for T in PERIODS])]
        if len(waves) > d:
            raise InputError(f"there are {len(waves)} cosines and sines: d_model is {d}; give more")
        axes, _ = np.linalg.qr(rng.standard_normal((d, len(waves))))
        rows = waves.T @ axes.T
    return rows * np.linalg.norm(given) / np.linalg.norm(rows)


class Numbers(Embed):
    """Rows of numbers, and a last one for "=": learned from these and 0, or these and 0 for good,
    no weights then."""

    def __init__(self, rows: Tensor, learned: bool) -> None:
        nn.Module.__init__(self)
        W_E = pad(rows, (0, 0, 0, 1))
        if learned:
            self.W_E = nn.Parameter(W_E)
        else:
            self.register_buffer("W_E", W_E, persistent=False)


class Tied(Unembed):
    """Logits by the first rows of an embedding."""

    def __init__(self, embed: Embed, answers: int) -> None:
        nn.Module.__init__(self)
        self.tied = (embed,)  # in a tuple: its weights are the embedding's, and no others
        self.answers, self.b_U = answers, None

    @property
    def W_U(self) -> Tensor:  # type: ignore[override]
        """(D, answers)."""
        return self.tied[0].W_E[: self.answers].mT
