"""The distance of the ladder to least squares, by number of layers, and a bound on it."""

from __future__ import annotations

from math import ceil, log2
from typing import NamedTuple

import numpy as np
import torch

from constructions.transformer import Transformer
from theory.regression import Start
from verify.claim import Run
from verify.evidence.agreement import WIDEST, size_of, transformer_in_float
from verify.evidence.examples import Examples
from verify.finding import Finding, Verdict, at_most
from verify.regression.convergence import from_ols
from verify.regression.statements import newton_statement

CONDITIONS = tuple(10.0**i for i in range(1, 7))
FRACTIONS = (0.25, 0.5, 0.75, 1.0, 2.0)  # multiples of the steps that bring E^N below e^−100
AMPLIFIED = 3.0  # factor on a layer's rounding by later layers: tests/…/test_ladder_rounding.py
FLOAT32 = 2.0**29  # the ulp of float32 divided by the ulp of float64


class Errors(NamedTuple):
    """Errors of the layout "ladder" by number of layers, at one condition number.

    The transformers compute Newton steps, and `layers` are their numbers of layers. For each number
    of layers, the record contains the largest distance to least squares in float64 and in float32,
    relative to the prediction, and bounds on these distances. A bound is the residual plus the
    rounding to first order. `rounding` is the bound on the rounding in float64, and `agrees` states
    whether the rounding satisfies it.
    """

    condition: float
    layers: list[int]
    float64: list[float]
    bound64: list[float]
    float32: list[float]
    bound32: list[float]
    rounding: list[float]
    agrees: list[Verdict]


def errors(run: Run, start: Start, condition: float) -> Errors:
    """The errors of the layout "ladder" on ten noisy examples with the given condition number.

    XᵀX has five eigenvalues from 1 to `condition`.
    """
    examples, found = _examples(run, condition), Errors(condition, *([] for _ in range(7)))
    power = 2 if start == "gram" else 1
    scale = 2.0 ** -ceil(power * log2(condition) + 0.01)
    enough = power * log2(condition) + 8
    for fraction in FRACTIONS[3:] if run.quick else FRACTIONS:
        k = ceil(fraction * enough)
        model = newton_statement(run, "ladder", start, scale).at(5, 10, k).model
        in_float = transformer_in_float(model, *examples)
        here = from_ols(examples, in_float, 2**k, scale, start)
        size = size_of(here.least)
        short = _in_float32(model, examples) - here.least
        found.layers.append(model.n_layers)
        for into, values in (
            (found.float64, here.distance),
            (found.bound64, here.bound),
            (found.float32, np.abs(short)),
            (found.bound32, here.left + FLOAT32 * here.rounding),
            (found.rounding, here.rounding),
        ):
            into.append(float((values / size).max()))
        found.agrees.append(here.holds.verdict)
    return found


def stays_within(start: str, found: Errors) -> Finding:
    """Compares the errors in float64 and float32 with bounds, for each number of layers.

    An error in float32 is compared only if the bound on it is informative.
    """
    verdicts = [*found.agrees]
    for measured, bound in zip(found.float32, found.bound32, strict=True):
        if bound <= WIDEST:
            verdicts.append(Verdict.of(measured <= bound))
    shown = "; ".join(
        f"{far:.0e} in float64 and {short:.0e} in float32 after {L} layers"
        for L, far, short in zip(found.layers, found.float64, found.float32, strict=True)
    )
    bounds = [
        f"{b:.0e} and {c:.0e} after {L} layers"
        for L, b, c in zip(found.layers, found.bound64, found.bound32, strict=True)
    ]
    return Finding(
        f"error/{start}/{found.condition:.0f}",
        "relative distance of the prediction from that of least squares after Newton–Schulz steps "
        f"from α{'S' if start == 'gram' else 'I'}, for increasing numbers of layers, at the "
        f"condition number {found.condition:g}",
        "float",
        {"layers": found.layers, "float64": found.float64, "float32": found.float32},
        {"float64": found.bound64, "float32": found.bound32},
        Verdict.together(verdicts),
        shown,
        f"in float64 and float32, at most {'; '.join(bounds)}; a bound for float32 above "
        f"{WIDEST:g} is not compared",
    )


def does_not_grow(start: str, found: list[Errors]) -> Finding:
    """Checks the growth of the rounding bound per layer when the number of steps doubles.

    The first number of steps is the number that convergence requires. The growth is at most the
    factor by which later layers amplify the rounding of one layer.
    """
    growth = [growth_per_layer(each.rounding, each.layers) for each in found]
    least = min(each.layers[-1] - each.layers[-2] for each in found)
    return at_most(
        f"growth/{start}",
        "(rounding bound per layer after 2K Newton–Schulz steps)/(rounding bound per layer after K "
        f"steps), where K steps from α{'S' if start == 'gram' else 'I'} suffice for convergence",
        "float",
        max(growth),
        AMPLIFIED,
        words=f"{', '.join(f'{g:.2g}' for g in growth)} for the condition numbers "
        f"{', '.join(f'{each.condition:g}' for each in found)}",
        wanted=f"at most {AMPLIFIED:g}; rounding errors that triple in each layer would give "
        f"{3.0**least:.0e}",
    )


def growth_per_layer(rounding: list[float], layers: list[int]) -> float:
    """The ratio of the last bound per layer to the previous bound per layer."""
    (before, last), (few, many) = rounding[-2:], layers[-2:]
    return last / many / (before / few)


def _examples(run: Run, condition: float) -> Examples:
    """Examples whose entries are float32 numbers."""
    left, _ = np.linalg.qr(run.rng.standard_normal((10, 5)))
    right, _ = np.linalg.qr(run.rng.standard_normal((5, 5)))
    x = (left * np.sqrt(np.geomspace(1, condition, 5))) @ right
    y = x @ run.rng.standard_normal(5) + run.rng.standard_normal(10)
    given = (x, y, run.rng.standard_normal((2, 5)))
    return Examples(*(part.astype(np.float32).astype(np.float64) for part in given))


def _in_float32(model: Transformer, examples: Examples) -> np.ndarray:
    """Predictions in float32; infinite if the model overflows."""
    given = (torch.as_tensor(part, dtype=torch.float32) for part in examples)
    predictions = model.float().logits(*given).flatten().double().detach().numpy()
    return np.where(np.isfinite(predictions), predictions, np.inf)
