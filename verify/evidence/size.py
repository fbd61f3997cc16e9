"""The size of the built model compared with the formulas of its statement."""

from __future__ import annotations

import math
import re

from constructions.exactness import exact_in
from constructions.transformer import Transformer
from verify.finding import Finding, Verdict, same
from verify.ledger.theorems import theorem


def size(model: Transformer, name: str, more: str = "", **parameters: int) -> Finding:
    """The finding that layers, heads and width are as the statement `name` states.

    The formulas of the statement are evaluated at `parameters`; `more` is appended to the text of
    the measured sizes.
    """
    stated = theorem(name).sizes
    wanted = {what: formula(**parameters) for what, formula in stated.items()}
    built = {"layers": model.n_layers, "heads": model.n_heads, "width": model.d_model}
    measured = {what: built[what] for what in wanted}
    sizes = ", ".join(f"{what} {count}" for what, count in measured.items())
    return Finding(
        "size",
        "size of the model",
        "exact",
        measured,
        wanted,
        Verdict.of(
            all(formula.admits(built[what], **parameters) for what, formula in stated.items())
        ),
        f"{sizes}, {model.n_parameters} weights{more}",
        ", ".join(f"{what} {formula}" for what, formula in stated.items())
        + _values(" ".join(map(str, stated.values())), parameters),
    )


def stated_sizes(model: Transformer, **sizes: int | None) -> Finding:
    """The finding that `layers`, `heads` and `width` are the given numbers; None is any number."""
    built = {"layers": model.n_layers, "heads": model.n_heads, "width": model.d_model}
    wanted = {what: count for what, count in sizes.items() if count is not None}
    measured = {what: built[what] for what in wanted}
    return same("size", "size of the model", measured, wanted)


def _values(formulas: str, parameters: dict[str, int]) -> str:
    """The values of the parameters that occur in the formulas, in words: ", for n = 3, T = 40"."""
    names = {*re.findall("[a-zA-Z]+", formulas)}
    values = ", ".join(f"{name} = {each}" for name, each in parameters.items() if name in names)
    return f", for {values}" if values else ""


def units(model: Transformer) -> list[int]:
    """The number of ReLU neurons of each layer."""
    return [0 if block.mlp is None else len(block.mlp.b_in) for block in model.blocks]


def bits(model: Transformer, count: int, symbol: str) -> str:
    """The bits of significand for exact hardmax runs, as text."""
    needed = exact_in(model).bits
    ratio = needed / max(math.log2(count), 1)
    relative = f"{ratio:.1f}·log₂{symbol} for {symbol} = {count}"
    return f"; float arithmetic with {needed} bits of significand, {relative}, is exact"
