"""How far the ladder is from least squares after so many layers, beside its bound."""

from __future__ import annotations

from math import ceil, log2
from typing import NamedTuple

import numpy as np
import torch

from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.regression import Start
from verify.claim import Run
from verify.evidence.agreement import LEAST_TOLD, size_of, transformer_in_float
from verify.evidence.examples import Examples
from verify.finding import Finding, Verdict, at_most
from verify.regression.convergence import from_ols
from verify.regression.statements import newton_statement

CONDITIONS = tuple(10.0**i for i in range(1, 7))
SHARES = (0.25, 0.5, 0.75, 1.0, 2.0)  # of the steps after which E^N is below e^−100
PASSED_ON = 3.0  # times a layer's rounding at most in later ones: tests/…/test_ladder_rounding.py
FLOAT32 = 2.0**29  # roundings of float32 are so many times those of float64


class Errors(NamedTuple):
    """At one condition number, after the `layers` of ladders of more and more Newton steps: the
    largest distances to least squares in two formats, relative to the prediction, and their bounds:
    what the steps leave of it, and the rounding to first order.

    `agrees` is whether the rounding of float64 is within its bound, and `rounding` that bound.
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
    """Five eigenvalues from 1 to the condition number, ten examples that leave a residual."""
    examples, found = _examples(run, condition), Errors(condition, *([] for _ in range(7)))
    power = 2 if start == "gram" else 1
    scale = 2.0 ** -ceil(power * log2(condition) + 0.01)
    enough = power * log2(condition) + 8
    for share in SHARES[3:] if run.quick else SHARES:
        k = ceil(share * enough)
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
    """After each of the layers, float64 within its bound; float32 where its bound is
    informative."""
    verdicts = [*found.agrees]
    for measured, bound in zip(found.float32, found.bound32, strict=True):
        if bound <= LEAST_TOLD:
            verdicts.append(Verdict.of(measured <= bound))
    shown = ", ".join(
        f"{L}: {far:.0e} ({short:.0e})"
        for L, far, short in zip(found.layers, found.float64, found.float32, strict=True)
    )
    bounds = [f"{b:.0e} ({c:.0e})" for b, c in zip(found.bound64, found.bound32, strict=True)]
    return Finding(
        f"error/{start}/{found.condition:.0f}",
        f"κ = {found.condition:g}, from α{'S' if start == 'gram' else 'I'}: distance to OLS in "
        "float64 (float32) after layers",
        "float",
        {"layers": found.layers, "float64": found.float64, "float32": found.float32},
        {"float64": found.bound64, "float32": found.bound32},
        Verdict.together(verdicts),
        shown,
        ", ".join(bounds),
    )


def does_not_grow(start: str, found: list[Errors]) -> Finding:
    """From where the steps have converged to twice as many: the bound on the rounding, for each
    layer, grows at most as one layer's rounding does on its way through the others."""
    growth = [growth_a_layer(each.rounding, each.layers) for each in found]
    least = min(each.layers[-1] - each.layers[-2] for each in found)
    return at_most(
        f"growth/{start}",
        f"from α{'S' if start == 'gram' else 'I'}: rounding bound a layer, converged and after "
        "twice as many steps",
        "float",
        max(growth),
        PASSED_ON,
        words=f"times {', '.join(f'{g:.2g}' for g in growth)}",
        wanted=f"≤ {PASSED_ON:g}, where 3^L would be {3.0**least:.0e} and more",
    )


def growth_a_layer(rounding: list[float], layers: list[int]) -> float:
    """The last of these bounds by its layers, over the one before by its."""
    (before, last), (few, many) = rounding[-2:], layers[-2:]
    return last / many / (before / few)


def _examples(run: Run, condition: float) -> Examples:
    """With entries that float32 holds."""
    left, _ = np.linalg.qr(run.rng.standard_normal((10, 5)))
    right, _ = np.linalg.qr(run.rng.standard_normal((5, 5)))
    x = (left * np.sqrt(np.geomspace(1, condition, 5))) @ right
    y = x @ run.rng.standard_normal(5) + run.rng.standard_normal(10)
    given = (x, y, run.rng.standard_normal((2, 5)))
    return Examples(*(part.astype(np.float32).astype(np.float64) for part in given))


def _in_float32(model: Transformer, examples: Examples) -> np.ndarray:
    """Its predictions there; infinite where it overflows."""
    given = (torch.as_tensor(part, dtype=torch.float32) for part in examples)
    try:
        return np.asarray(model.float()(*given).double())
    except InputError:
        return np.full(len(examples.queries), np.inf)
