"""Embedding rows of the numbers 0 … p − 1: fixed rows, and initial rows for training.

    minilm     rows of the number tokens of all-MiniLM-L6-v2, centred, in their first d principal
               components (`rows/README.md`)
    shuffled   the same in random order
    gaussian   normal numbers with the variances of those components
    fourier    cosines and sines of the periods 2, 2.5, 5, 10, 20, 50, 100 and 300 in random axes
    scratch    normal numbers of standard deviation 0.02 [Radford2019], which are trained

The rows of all forms except `scratch` have the same mean squared norm.
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
from theory.kinds import Choice, Count, CountFrom2, InputError, Seed, checked

FORMS = "minilm", "shuffled", "gaussian", "fourier", "scratch"
FILE = Path(__file__).parent / "rows" / "minilm.npy"
SMALL = 0.02
PERIODS = (2, Fraction(5, 2), 5, 10, 20, 50, 100, 300)


@checked
def number_rows(
    form: Annotated[str, Choice(FORMS)], p: CountFrom2, d: Count, seed: Seed
) -> np.ndarray:
    """Returns embedding rows (p, d) of the numbers 0, …, p − 1, float64.

    `form` is "minilm", "shuffled", "gaussian", "fourier" or "scratch", as the module describes.

    Raises ValueError for more numbers or features than the file of minilm rows has. For the form
    "fourier", it also raises ValueError if d is less than the number of cosines and sines, or if p
    is not a multiple of every period.
    """
    rng: np.random.Generator = seed
    if form == "scratch":
        return SMALL * rng.standard_normal((p, d))
    table = np.load(FILE).astype(np.float64)
    if p > len(table) or d > table.shape[1]:
        raise InputError(
            f"p is {p} and d_model is {d}, but the file has {len(table)} rows of "
            f"{table.shape[1]} features: give a smaller p or d_model"
        )
    given = table[:p, :d]
    if form == "minilm":
        return given
    if form == "shuffled":
        return given[rng.permutation(p)]
    if form == "gaussian":
        rows = rng.standard_normal((p, d)) * given.std(0)
    else:
        waves = fourier_matrix(p)[np.isin(fourier_bins(p), [bin_of(T, p) for T in PERIODS])]
        if len(waves) > d:
            raise InputError(
                f"d_model is {d}: give a d_model of at least {len(waves)}, the number of "
                "cosines and sines"
            )
        axes, _ = np.linalg.qr(rng.standard_normal((d, len(waves))))
        rows = waves.T @ axes.T
    return rows * np.linalg.norm(given) / np.linalg.norm(rows)


class Numbers(Embed):
    """An embedding of numbers by given rows, fixed or trained; the row of "=" is initially 0.

    Fixed rows are a buffer, not parameters.
    """

    def __init__(self, rows: Tensor, learned: bool) -> None:
        nn.Module.__init__(self)
        W_E = pad(rows, (0, 0, 0, 1))
        if learned:
            self.W_E = nn.Parameter(W_E)
        else:
            self.register_buffer("W_E", W_E, persistent=False)


class Tied(Unembed):
    """The unembedding whose matrix W_U is the transpose of the first rows of an embedding."""

    def __init__(self, embed: Embed, answers: int) -> None:
        nn.Module.__init__(self)
        self.tied = (embed,)  # a tuple, so that the embedding is not registered twice
        self.answers, self.b_U = answers, None

    @property
    def W_U(self) -> Tensor:  # type: ignore[override]
        """The unembedding matrix (D, answers), for a stream of width D."""
        return self.tied[0].W_E[: self.answers].mT
