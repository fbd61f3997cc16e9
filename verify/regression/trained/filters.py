"""The residual filter of the layers of a model, on prefixes where least squares is determined.

These are prefixes of at least d examples, with noiseless labels. On these prefixes, the errors of
minimum-norm methods do not share a component, and (1 − z^p)^m distinguishes Newton from gradient
descent (`theory/regression/filters.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from theory.regression import Start, error_cosines, growth_of
from verify.evidence.statistics import BY, ERRORS, Mean, above, below, estimated, sign_of
from verify.finding import Finding, Verdict, at_most
from verify.interpret.filters import (
    FOR_EACH,
    GROUPS,
    LARGEST_ERROR,
    ResidualErrors,
    jackknifed,
)
from verify.regression.trained.probes import Probed
from verify.regression.trained.similarities import Tables

BETWEEN = 1.5  # threshold of p: 2 for Newton from αS, 1 for gradient descent and Newton from αI
NO_FILTER = 0.1  # fraction of the squared error
PLANTED = {"Newton from αS": (2.0, (5, 9)), "Newton from αI": (1.0, (4, 8))}
RECOVERED = 1e-6  # largest error of p and log₂ m for predictions in float64


def planted(probed: Probed) -> Finding:
    """Checks that the fit of a filter (1 − z^p)^m recovers p and m of known algorithms.

    The known algorithms are Newton's method from αS and from αI, whose errors take the place of the
    errors of a layer. z is the ratio of an eigenvalue of XᵀX to the largest eigenvalue, for the
    examples X of a prefix.
    """
    algorithms, off = probed.algorithms, []
    for name, (power, steps) in PLANTED.items():
        start: Start = "gram" if name.endswith("S") else "identity"
        errors = ResidualErrors.of(probed, algorithms.newton(steps, start))
        for layer, k in enumerate(steps):
            found = errors.fitted(layer)
            off += [abs(found.power - power), abs(float(np.log2(found.steps)) - k)]
    return at_most(
        "filter/planted",
        "largest error of p and log₂ m when the residual filter (1 − (λ/λmax)^p)^m is fitted to "
        "Newton steps from αS and from αI, for which p and m are known, in place of a layer",
        "float",
        max(off),
        RECOVERED,
        words=f"{max(off):.1e}",
        wanted=f"at most {RECOVERED:g}",
    )


def filters(probed: Probed, tables: Tables) -> tuple[list[Finding], Mean | None]:
    """The findings on the filters (1 − z^p)^m that are fitted to the layers of a model.

    The exponent p of the last layer is returned as well. z is the ratio of an eigenvalue of XᵀX to
    the largest eigenvalue, for the examples X of a prefix.
    """
    errors = ResidualErrors.of(probed)
    squares = (errors.errors**2).mean((1, 2)) / probed.variance
    layers = [layer for layer in range(1, len(squares)) if squares[layer] <= LARGEST_ERROR]
    found = [planted(probed), *apart(probed, tables)]
    if not layers:
        name = "exponent p of the residual filter (1 − (λ/λmax)^p)^m fitted to each layer"
        words = (
            f"the error of every layer exceeds {LARGEST_ERROR:.0%} of a label's variance after d "
            "or more examples"
        )
        undecided = Finding("filter/power", name, "trained", [], BETWEEN, Verdict.UNDECIDED, words)
        return [*found, undecided], None
    powers = [errors.power(layer) for layer in layers]
    found.append(_power(layers, powers))
    found.append(_doublings(layers, errors))
    found.append(_no_filter(layers[-1], errors))
    found.append(_by_length(layers[-1], errors))
    return found, powers[-1]


def _power(layers: Sequence[int], powers: Sequence[Mean]) -> Finding:
    verdicts = [sign_of(BETWEEN - power.mean, *power[1:]) for power in powers]
    return Finding(
        "filter/power",
        f"exponent p of the residual filter (1 − (λ/λmax)^p)^m fitted to layers {layers[0]} to "
        f"{layers[-1]}, where p = 1 is gradient descent or Newton from αI, and p = 2 is Newton "
        "from αS",
        "trained",
        [power.value for power in powers],
        BETWEEN,
        Verdict.together(verdicts),
        f"p = {', '.join(f'{power:.2f}' for power in powers)}",
        f"p below {BETWEEN} {BY}, and so nearer to 1 than to 2, for each layer",
    )


def _doublings(layers: Sequence[int], errors: ResidualErrors) -> Finding:
    """The growth of m at p = 1 with the layer, for all prompts and with each group left out."""
    fits = [
        [errors.fitted(layer, 1.0, group) for layer in layers] for group in (*range(GROUPS), None)
    ]
    steps = [np.array([each.steps for each in row]) for row in fits]
    laws = {growth_of(row) for row in steps}
    decided = len(laws - {"exponential"}) in (0, len(laws)) and "unclear" not in laws
    decided = decided and len(layers) >= 4
    verdict = Verdict.of(laws == {"exponential"}) if decided else Verdict.UNDECIDED
    doublings = np.log2(steps[-1])
    return Finding(
        "filter/doublings",
        f"growth with the layer of the number m of gradient steps whose residual filter "
        f"(1 − λ/λmax)^m fits layers {layers[0]} to {layers[-1]} best",
        "trained",
        {"log2 m": doublings, "unexplained": [each.unexplained for each in fits[-1]]},
        "exponential",
        verdict,
        f"log₂ m = {', '.join(f'{each:.1f}' for each in doublings)} for the layers in order; the "
        f"kind of growth is {' or '.join(sorted(laws))}; the filters do not explain "
        f"{', '.join(f'{each.unexplained:.0%}' for each in fits[-1])} of the squared error",
        "exponential growth, whose correlation is the largest of all kinds of growth and larger "
        f"than for random sequences, also if any of {GROUPS} groups of prompts is left out",
    )


def _no_filter(layer: int, errors: ResidualErrors) -> Finding:
    name = (
        f"fraction of layer {layer}'s squared error that the best residual filters R_t(λ/λmax) do "
        "not explain, with a separate filter R_t for each number t of examples"
    )
    if len(errors.z) < 4 * FOR_EACH:
        words = f"{len(errors.z)} prompts are too few: at least {4 * FOR_EACH} are necessary"
        return Finding("filter/none", name, "trained", None, NO_FILTER, Verdict.UNDECIDED, words)
    fraction = jackknifed(lambda group: errors.no_filter(layer, group))
    one, two = (errors.fitted(layer, p).unexplained for p in (1.0, 2.0))
    words = (
        f"a filter (1 − (λ/λmax)^p)^m for all t does not explain {one:.0%} for p = 1, {two:.0%} "
        f"for p = 2 and {errors.fitted(layer).unexplained:.0%} for the best p; ridge regression "
        f"does not explain {errors.ridge(layer):.0%}"
    )
    return above(
        "filter/none",
        name,
        fraction,
        NO_FILTER,
        words=f"{fraction.mean:.0%} ± {fraction.error:.0%}; {words}",
        wanted=f"above {NO_FILTER:.0%} {BY}, so that gradient descent and Newton do not explain "
        "the layer, for any number of steps",
    )


def _by_length(layer: int, errors: ResidualErrors) -> Finding:
    """Fits p for each t separately; in a joint fit, t = d would have most of the squared error."""
    d, lengths = errors.z.shape[-1], range(errors.z.shape[1])
    squares = (errors.errors[layer] ** 2).sum(0)
    fraction = squares / squares.sum()
    alone = {d + more: errors.after(more) for more in lengths}
    powers = {t: at.power(layer) for t, at in alone.items()}
    words = ", ".join(f"{power:.2f}" for power in powers.values())
    words += "; the squared error is divided among these t as "
    words += ", ".join(f"{fraction[t - d]:.0%}" for t in powers)
    return Finding(
        "filter/by-length",
        f"exponent p of the residual filter (1 − (λ/λmax)^p)^m fitted to layer {layer} after t "
        f"examples, t = {d}, …, {max(powers)}",
        "trained",
        {f"t = {t}": power.value for t, power in powers.items()},
        BETWEEN,
        Verdict.together(sign_of(BETWEEN - power.mean, *power[1:]) for power in powers.values()),
        words,
        f"p below {BETWEEN} {BY}, and so nearer to 1 than to 2, for each t",
    )


def apart(probed: Probed, tables: Tables) -> Iterator[Finding]:
    """Compares similarities of errors on short prefixes and on long prefixes.

    Short prefixes have fewer than d examples, where d is the dimension of the inputs. The errors of
    the last layer are compared with the errors of Newton's method and of gradient descent. The
    similarity of these two algorithms to each other is the reference.
    """
    algorithms, d = probed.algorithms, probed.prompts.x.shape[-1]
    newton, descent = tables.both
    factor = tables.factor
    rules = np.concatenate(
        [
            algorithms.newton([int(newton.best[-1])]),
            algorithms.gradient_descent([int(descent.best[-1])], factor),
        ]
    )
    last, labels = probed.predictions[-1:], algorithms.labels
    squares = ((labels - last[0]) ** 2)[:, 1:]
    short = estimated(squares[:, : d - 1].sum(-1) - 0.9 * squares.sum(-1))
    fraction = float(squares[:, : d - 1].sum() / squares.sum())
    yield above(
        "short-prefixes",
        "fraction of the last layer's squared error that is on prefixes of fewer than d examples",
        short,
        words=f"{fraction:.1%}",
        wanted=f"above 90% {BY}; on these prefixes the errors of all methods of minimum norm are "
        "similar",
    )
    compared = np.concatenate([rules, last])[..., 1:]
    cosines = error_cosines(rules[..., 1:], compared, labels[:, 1:])
    ceiling = cosines[0, 1]
    nearest = np.maximum(cosines[0, 2].mean(), cosines[1, 2].mean())
    nearer = 0 if nearest == cosines[0, 2].mean() else 1
    yield above(
        "ceiling",
        "(similarity of Newton's errors to those of gradient descent) − (similarity of the last "
        "layer's errors to those of the more similar of the two algorithms)",
        estimated(ceiling - cosines[nearer, 2]),
        words=f"{ceiling.mean():.4f} − {nearest:.4f} = "
        f"{estimated(ceiling - cosines[nearer, 2]):.4f}",
        wanted=f"a difference above 0 {BY}",
    )
    long = error_cosines(rules[..., d:], compared[..., d - 1 :], labels[:, d:])
    best = estimated(long[int(long[1, 2].mean() > long[0, 2].mean()), 2])
    yield below(
        "long-prefixes",
        "similarity of the last layer's errors to those of Newton and to those of gradient "
        "descent, on prefixes of at least d examples",
        best,
        0.5,
        words=f"{long[0, 2].mean():.3f} to Newton and {long[1, 2].mean():.3f} to gradient descent; "
        f"the similarity of these algorithms to each other is {long[0, 1].mean():.3f}",
        wanted=f"the larger of the two similarities below 0.5 {BY}",
    )


def over_seeds(powers: Sequence[Mean]) -> Iterator[Finding]:
    """Yields the finding on the exponent p fitted to the last layer, over at least three seeds.

    p is the exponent of the filter (1 − z^p)^m. With fewer seeds, there is no finding.
    """
    if len(powers) < 3:
        return
    values = np.array([power.mean for power in powers])
    mean = estimated(values)
    yield below(
        "seeds/power",
        "exponent p of the residual filter (1 − (λ/λmax)^p)^m fitted to the last layer, mean over "
        f"{len(values)} seeds",
        mean,
        BETWEEN,
        words=f"{mean:.2f}; by seed {', '.join(f'{value:.2f}' for value in values)}",
        wanted=f"p below {BETWEEN} by {ERRORS:g} standard errors between seeds",
    )
