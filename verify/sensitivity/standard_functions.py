"""Standard Boolean functions: their models, and their figures in closed form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from constructions import sensitivity as models
from constructions.computation import majority, parity
from constructions.transformer import Transformer
from theory import computation
from theory.sensitivity import (
    conjunction,
    conjunction_noise_sensitivity,
    degree,
    junta,
    majority_mean_influence,
    majority_noise_sensitivity,
    max_sensitivity,
    mean_influence,
    multiplexer,
    multiplexer_noise_sensitivity,
    parity_noise_sensitivity,
    subset_parity,
    tabulated,
    variance,
)
from verify.claim import Run
from verify.evidence.gaps import States, at_positions
from verify.evidence.statement import OverTokens

Figures = dict[str, Any]
NOISE = Fraction(1, 20)  # the probability that a bit is flipped


@dataclass(frozen=True)
class Standard:
    """A Boolean function of d bits, its model, and its measures by closed forms.

    `figures` are Sens and other measures of the function, by closed forms. `positions` are the
    positions that the heads of the model read. `noise` is the closed form of the noise sensitivity
    at δ = `NOISE`.
    """

    statement: OverTokens
    d: int
    figures: Figures
    positions: tuple[int, ...] = ()
    noise: Fraction | None = None

    @property
    def label(self) -> str:
        return self.statement.label


def figures_of(values: np.ndarray) -> Figures:
    """Five measures of a Boolean function of d bits, computed by their definitions.

    `values` (2^d,) is the table of the function. The measures are Sens, the total influence I, the
    variance Var, the degree and the maximum sensitivity s.
    """
    d, mean = values.size.bit_length() - 1, mean_influence(values)
    found = (mean, d * mean, variance(values), degree(values), max_sensitivity(values))
    return _named(*found)


def _named(mean: Fraction, total: Fraction, var: Fraction, deg: int, most: int) -> Figures:
    return {"Sens": mean, "I": total, "Var": var, "degree": deg, "s": most}


def of_influence(
    d: int, total: Fraction | int, var: Fraction | int, deg: int, most: int
) -> Figures:
    """Measures of a function of d bits by name, from closed forms.

    `total` is the total influence, `var` the variance, `deg` the degree, and `most` the maximum
    sensitivity.
    """
    return _named(Fraction(total) / d, Fraction(total), Fraction(var), deg, most)


def standard_functions(run: Run, d: int) -> Iterator[Standard]:
    """Parities, a dictator, conjunctions, majority and multiplexers of d bits or fewer."""
    yield _subset_parity(run, d, spread(d, 3), "3-parity")
    yield _subset_parity(run, d, spread(d, 1), "dictator")
    yield _conjunction(run, d, spread(d, 3))
    yield _conjunction(run, d, tuple(range(d)))
    yield from (_multiplexer(run, a) for a in (1, 2))
    yield _parity(run, d)
    yield _majority(run, d - 1 + d % 2)


def _subset_parity(run: Run, d: int, positions: tuple[int, ...], label: str) -> Standard:
    statement = OverTokens(
        label,
        lambda V, n: run.build(models.subset_parity, n, positions),
        lambda words: subset_parity(words, positions)[..., None],
        symbols=2,
        theorem="subset-parity",
    )
    k = len(positions)
    figures, noise = of_influence(d, k, 1, k, k), parity_noise_sensitivity(k, NOISE)
    return Standard(statement, d, figures, positions, noise)


def _conjunction(run: Run, d: int, positions: tuple[int, ...]) -> Standard:
    k = len(positions)
    statement = OverTokens(
        f"and-{k}",
        lambda V, n: run.build(models.conjunction, n, positions),
        lambda words: conjunction(words, positions)[..., None],
        symbols=2,
        theorem="conjunction",
    )
    figures = of_influence(d, Fraction(2 * k, 2**k), Fraction(4 * (2**k - 1), 4**k), k, k)
    return Standard(statement, d, figures, positions, conjunction_noise_sensitivity(k, NOISE))


def _multiplexer(run: Run, a: int) -> Standard:
    d = a + 2**a
    values = tabulated(lambda words: multiplexer(words, a), d)
    figures = of_influence(d, Fraction(a, 2) + 1, 1, a + 1, a + 1)
    noise = multiplexer_noise_sensitivity(a, NOISE)
    return _as_junta(run, values, f"multiplexer-{a}", figures, noise)


def _parity(run: Run, d: int) -> Standard:
    statement = OverTokens(
        f"parity-{d}",
        lambda V, n: run.build(parity, n),
        lambda words: computation.parity(words)[..., -1:],
        symbols=2,
    )
    noise = parity_noise_sensitivity(d, NOISE)
    return Standard(statement, d, of_influence(d, d, 1, d, d), noise=noise)


def _majority(run: Run, d: int) -> Standard:
    statement = OverTokens(
        f"majority-{d}",
        lambda V, n: run.build(majority, n),
        computation.majority,
        symbols=2,
    )
    total = d * majority_mean_influence(d)
    figures = of_influence(d, total, 1, d, (d + 1) // 2)
    return Standard(statement, d, figures, noise=majority_noise_sensitivity(d, NOISE))


def own_function(run: Run, values: np.ndarray, name: str) -> Standard:
    """A function of d bits that the user gives by its `values` (2^d,), with a junta as model."""
    return _as_junta(run, values, name, figures_of(values))


def _as_junta(
    run: Run, values: np.ndarray, label: str, figures: Figures, noise: Fraction | None = None
) -> Standard:
    d, entries = values.size.bit_length() - 1, (1 - values) // 2
    every = tuple(range(d))
    statement = OverTokens(
        label,
        lambda V, n: run.build(models.junta, n, every, entries),
        lambda words: junta(words, every, entries)[..., None],
        symbols=2,
        theorem="junta",
    )
    return Standard(statement, d, figures, every, noise)


def spread(d: int, k: int) -> tuple[int, ...]:
    """k evenly spaced positions of d bits, including the last."""
    return tuple(d - 1 - i * d // k for i in range(k))


def selected_by(model: Transformer, positions: tuple[int, ...]) -> Iterator[States]:
    """Yields the score states of each head of a model with attention to fixed positions.

    Head j attends to position j of `positions`, whatever the bits are.
    """
    keys = at_positions(model, "j", "norm")
    here = np.arange(len(keys["j"]))
    for head, p in enumerate(positions):
        preference = np.where(here == p + 1, 0.0, -np.inf)[None]
        yield States(1, {}, keys, preference, here, head)
