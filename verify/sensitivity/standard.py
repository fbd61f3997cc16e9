"""Standard Boolean functions: what they are, the model that computes them, and their figures in
closed form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from theory import computation
from theory.sensitivity import (
    conjunction,
    degree,
    junta,
    majority_mean_influence,
    max_sensitivity,
    mean_influence,
    multiplexer,
    subset_parity,
    tabulated,
    variance,
)
from verify.claim import Run
from verify.evidence.gaps import States, at_positions
from verify.evidence.statement import OverTokens

if TYPE_CHECKING:
    from constructions.transformer import Transformer

Figures = dict[str, Any]


@dataclass(frozen=True)
class Standard:
    """A function of d letters beside its model and its figures; `theorem` is the entry of the
    ledger with the model's sizes, for those whose k heads read `positions`."""

    statement: OverTokens
    d: int
    figures: Figures
    theorem: str = ""
    positions: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        return self.statement.label


def figures_of(values: np.ndarray) -> Figures:
    """Sens, I, Var, degree and maximum sensitivity of values (2^d,), by definition."""
    d, mean = values.size.bit_length() - 1, mean_influence(values)
    found = (mean, d * mean, variance(values), degree(values), max_sensitivity(values))
    return _named(*found)


def _named(mean: Fraction, total: Fraction, var: Fraction, deg: int, most: int) -> Figures:
    return {"Sens": mean, "I": total, "Var": var, "degree": deg, "s": most}


def of_influence(
    d: int, total: Fraction | int, var: Fraction | int, deg: int, most: int
) -> Figures:
    """Figures by name, from I(f)."""
    return _named(Fraction(total) / d, Fraction(total), Fraction(var), deg, most)


def standard_functions(run: Run, d: int) -> Iterator[Standard]:
    """Parities, a dictator, conjunctions, majority and multiplexers of d letters or fewer."""
    from constructions import computation as built
    from constructions import sensitivity as here

    odd, k = d - 1 + d % 2, min(3, d)
    for positions in (spread(d, k), spread(d, 1)):
        yield Standard(
            OverTokens(
                "dictator" if len(positions) == 1 else f"{len(positions)}-parity",
                lambda V, n, p=positions: run.build(here.subset_parity, n, p),
                lambda words, p=positions: subset_parity(words, p)[..., None],
                lambda _, words, p=positions: {
                    "Σ xᵢ mod 2": (words[..., list(p)].sum(-1) % 2)[..., None, None]
                },
                symbols=2,
            ),
            d,
            of_influence(d, len(positions), 1, len(positions), len(positions)),
            "subset-parity",
            positions,
        )
    for positions in (spread(d, k), tuple(range(d))):
        m = len(positions)
        yield Standard(
            OverTokens(
                f"and-{m}",
                lambda V, n, p=positions: run.build(here.conjunction, n, p),
                lambda words, p=positions: conjunction(words, p)[..., None],
                lambda _, words, p=positions: {
                    "Σ xᵢ": words[..., list(p)].sum(-1)[..., None, None],
                    "Π xᵢ": words[..., list(p)].prod(-1)[..., None, None],
                },
                symbols=2,
            ),
            d,
            of_influence(d, Fraction(2 * m, 2**m), Fraction(4 * (2**m - 1), 4**m), m, m),
            "conjunction",
            positions,
        )
    for a in (1, 2):
        size = a + 2**a
        entries = (1 - tabulated(lambda words, a=a: multiplexer(words, a), size)) // 2
        yield Standard(
            OverTokens(
                f"multiplexer-{a}",
                lambda V, n, t=entries: run.build(here.junta, n, range(n), t),
                lambda words, a=a: multiplexer(words, a)[..., None],
                lambda _, words, a=a: {
                    "letters": 2.0 * words[..., None, :] - 1,
                    "entry": 2.0 * multiplexer(words, a)[..., None, None] - 1,
                },
                symbols=2,
            ),
            size,
            of_influence(size, Fraction(a, 2) + 1, 1, a + 1, a + 1),
            "junta",
            tuple(range(size)),
        )
    yield Standard(
        OverTokens(
            f"parity-{d}",
            lambda V, n: run.build(built.parity, n),
            lambda words: computation.parity(words)[..., -1:],
            lambda *_: {},
            symbols=2,
        ),
        d,
        of_influence(d, d, 1, d, d),
    )
    yield Standard(
        OverTokens(
            f"majority-{odd}",
            lambda V, n: run.build(built.majority, n),
            computation.majority,
            lambda *_: {},
            symbols=2,
        ),
        odd,
        of_influence(odd, odd * majority_mean_influence(odd), 1, odd, (odd + 1) // 2),
    )


def own_function(run: Run, values: np.ndarray, name: str) -> Standard:
    """A function given by its table, as a junta of all its letters."""
    from constructions.sensitivity import junta as construction

    d, entries = values.size.bit_length() - 1, (1 - values) // 2
    every = tuple(range(d))
    return Standard(
        OverTokens(
            name,
            lambda V, n: run.build(construction, n, every, entries),
            lambda words: junta(words, every, entries)[..., None],
            lambda _, words: {
                "letters": 2.0 * words[..., None, :] - 1,
                "entry": 2.0 * junta(words, every, entries)[..., None, None] - 1,
            },
            symbols=2,
        ),
        d,
        figures_of(values),
        "junta",
        every,
    )


def spread(d: int, k: int) -> tuple[int, ...]:
    """k positions of d letters, the last among them."""
    return tuple(d - 1 - i * d // k for i in range(k))


def looking_at(model: Transformer, positions: tuple[int, ...]) -> Iterator[States]:
    """A head for each position, which asks for it whatever the letters are."""
    keys = at_positions(model, "j", "norm")
    here = np.arange(len(keys["j"]))
    for head, p in enumerate(positions):
        preference = np.where(here == p + 1, 0.0, -np.inf)[None]
        yield States(1, {}, keys, preference, here, head)
