"""The size of the built model compared with the formulas of its statement."""

from __future__ import annotations

import math

from constructions.exactness import exact_in
from constructions.transformer import Transformer
from verify.finding import Finding, Verdict
from verify.ledger.theorems import theorem


def size(model: Transformer, name: str, more: str = "", **parameters: int) -> Finding:
    """The finding that layers, heads and width are those of the statement `name`.

    The formulas are evaluated at these parameters; `more` is appended to the words.
    """
    stated = theorem(name).sizes
    wanted = {what: formula(**parameters) for what, formula in stated.items()}
    built = {"layers": model.n_layers, "heads": model.n_heads, "width": model.d_model}
    measured = {what: built[what] for what in wanted}
    sizes = ", ".join(f"{what} {count}" for what, count in measured.items())
    return Finding(
        "size",
        "size",
        "exact",
        measured,
        wanted,
        Verdict.of(
            all(formula.admits(built[what], **parameters) for what, formula in stated.items())
        ),
        f"{sizes}, {model.n_parameters} weights{more}",
        ", ".join(f"{what} {formula}" for what, formula in stated.items()),
    )


def units(model: Transformer) -> list[int]:
    """The number of ReLU neurons of each layer."""
    return [0 if block.mlp is None else len(block.mlp.b_in) for block in model.blocks]


def bits(model: Transformer, count: int, symbol: str) -> str:
    """The bits of significand for exact hardmax runs, in words: ", 14 bits = 2.0·log₂n"."""
    needed = exact_in(model).bits
    return f", {needed} bits = {needed / max(math.log2(count), 1):.1f}·log₂{symbol}"
