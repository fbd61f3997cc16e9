"""The claim `lstm`: an LSTM learns in context more like online gradient descent, and forgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Annotated

import numpy as np
from scipy.optimize import minimize_scalar

from theory.kinds import InputError
from theory.regression import error_cosines
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import Trained, models_of
from verify.evidence.statistics import (
    BY,
    NOTHING,
    above,
    below,
    errors_for,
    estimated,
    sign_of,
)
from verify.finding import Finding, Verdict, labelled
from verify.regression.trained.options import LSTM, TRANSFORMER, Samples
from verify.regression.trained.predictors import predictions_of
from verify.regression.trained.probes import Probed

ONLINE = "online gradient descent"
POWERS = {"Newton": 2, "gradient descent": 1}  # p of their residual filters (1 − z^p)^m
DOUBLINGS, NEARBY = 16, 1 / 16  # log₂ m, at most; and what it is varied by


@claim(source="[Fu2024]", picture="verify.regression.trained.pictures:forgetting_picture")
def lstm(
    run: Run,
    *,
    checkpoint: Annotated[
        str, option("trained LSTM for regression: a shipped name, or a file")
    ] = "regression-small-lstm",
    transformer: Annotated[
        str, option("transformer trained on the same prompts: a shipped name, or a file")
    ] = "regression-small",
    samples: Samples = 1000,
) -> Iterator[Finding]:
    """Published observation: the errors of a trained LSTM are more similar to those of online
    gradient descent than a transformer's are, its error on an example given again grows with the
    number of examples since, and its layers do not improve on each other.

    Nearer: its similarity of errors with online gradient descent is larger than the transformer's,
    and than its own with least squares; and, at equal error, than its own with Newton's method and
    with gradient descent: after as many steps as make its own error, and after as many as make that
    of online gradient descent, which need not be whole.  Forgetting: asked for an example again, it
    errs the more the longer ago it was; the transformer does not.  Its first layer says as much as
    its last.

    Each LSTM is set beside algorithms on prompts of its own, so that seeds are independent, and
    beside transformers on those of the first.
    """
    recurrent, attentive = models_of(checkpoint, LSTM), models_of(transformer, TRANSFORMER)
    for each, other in product(recurrent, attentive):
        if each.task != other.task:
            raise InputError(
                f"{each.name} and {other.name} were trained on different prompts: give two of the "
                "same task"
            )
    probed = [Probed.of(run, trained, samples) for trained in recurrent]
    similar = [[*like_online(own)] for own in probed]
    together = [*over_seeds(similar)]
    models = [*recurrent, *attentive]
    cosines = similarities(models, probed[0])
    errors = {each.name: forgetting(each, probed[0]) for each in models}
    for own, found in zip(probed, similar, strict=True):
        yield from labelled(own.trained.name, [*found, first_layer(own)])
        names = [own.trained.name, *(other.name for other in attentive)]
        yield from nearer({name: cosines[name] for name in names})
        yield from forgets({name: errors[name] for name in names})
    yield from together
    run.draw(errors)


def like_online(own: Probed) -> Iterator[Finding]:
    """Beside least squares, and beside Newton and gradient descent at equal error: that of the
    model, and that of online gradient descent itself."""
    algorithms, said = own.algorithms, predictions_of(own.trained.model, own.prompts)
    (online,), step_size = algorithms.online_gradient_descent()
    more = alike(own, online, said)
    size = "1/‖x‖²" if step_size is None else f"{step_size:.3g}"
    label = f"more like {ONLINE} (step size {size}) than"
    exact = alike(own, algorithms.least_squares(), said)
    yield more_like("online", f"{label} least squares", more, exact)
    for name, power in POWERS.items():
        for kind, whose, equal in ("online", "the model", said), ("as-online", ONLINE, online):
            doublings, less = at_error_of(equal, own, power, said)
            id = f"{kind}/{name.replace(' ', '-')}"
            how = f" (after {doublings if power == 2 else 2**doublings:.1f} steps)"
            yield more_like(id, f"{label} {name} at {whose}'s error", more, less, how)


def at_error_of(
    equal: np.ndarray, own: Probed, power: float, said: np.ndarray
) -> tuple[float, np.ndarray]:
    """log₂ m of the filter (1 − z^p)^m that errs as much, and how alike it is to what a model said,
    by prompt (m,).

    That m is known from these prompts only: by how much each of them moves it stands in its
    similarity, to first order, which leaves the mean as it is and makes its error the right one.
    """

    def at(doublings: float) -> tuple[np.ndarray, np.ndarray]:
        rule = own.algorithms.filtered(power, doublings)
        return own.error(rule), alike(own, rule, said)

    def off(doublings: float) -> float:
        return abs(float(np.log(at(doublings)[0].mean() / wanted.mean())))

    wanted = own.error(equal)
    found = float(minimize_scalar(off, bounds=(0, DOUBLINGS), method="bounded").x)
    errors, similar = at(found)
    by_error, by_similarity = (
        float((after - before).mean())
        for before, after in zip(at(found - NEARBY), at(found + NEARBY), strict=True)
    )
    moved = wanted - errors
    slope = by_similarity / by_error if by_error else 0.0
    return found, similar + slope * (moved - moved.mean())


def alike(own: Probed, rule: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Similarities of errors by prompt, (m,)."""
    labels = own.algorithms.labels
    return error_cosines(rule[None, :, 1:], said[None, :, 1:], labels[:, 1:])[0, 0]


def over_seeds(similar: Sequence[Sequence[Finding]]) -> Iterator[Finding]:
    """What `like_online` says of each, seeds as the unit; nothing is said of fewer than three."""
    if len(similar) < 3:
        return
    for seeds in zip(*similar, strict=True):
        values = np.array([each.measured["mean"] for each in seeds])
        mean = estimated(values)
        yield above(
            f"seeds/{seeds[0].id}",
            f"{len(seeds)} seeds: {seeds[0].name}",
            mean,
            words=f"the difference {mean:.4f}; each {', '.join(f'{each:.4f}' for each in values)}",
            wanted=f"above 0 by {errors_for(mean.freedom):.3g} standard errors between seeds",
        )


def similarities(models: Sequence[Trained], probed: Probed) -> dict[str, np.ndarray]:
    """Of every model's errors with those of online gradient descent and least squares, (2, m)."""
    algorithms, labels = probed.algorithms, probed.algorithms.labels
    rules = np.stack([algorithms.online_gradient_descent()[0][0], algorithms.least_squares()])
    said = np.stack([predictions_of(each.model, probed.prompts) for each in models])
    cosines = error_cosines(rules[..., 1:], said[..., 1:], labels[:, 1:]).swapaxes(0, 1)
    return {each.name: cosine for each, cosine in zip(models, cosines, strict=True)}


def nearer(cosines: Mapping[str, np.ndarray]) -> Iterator[Finding]:
    """The first model, which is the LSTM, beside each of the others; paired by prompt."""
    name, *others = cosines
    for other in others:
        online, exact = zip(cosines[name], cosines[other], strict=True)
        found = more_like(f"online/{other}", f"more like {ONLINE} than {other}", *online)
        found.wanted += " (published, d = 20: 0.954 and 0.806)"
        label = f"less like least squares than {other}"
        less = more_like(f"least-squares/{other}", label, *reversed(exact))
        yield from labelled(name, [found, less])


def more_like(id: str, name: str, more: np.ndarray, less: np.ndarray, how: str = "") -> Finding:
    """Similarities by prompt (m,), the first the larger; paired."""
    difference = estimated(more - less)
    words = f"similarity of errors {more.mean():.3f} and {less.mean():.3f}{how}, the difference "
    return above(id, name, difference, words=f"{words}{difference:.3f}", wanted=f"above 0 {BY}")


def first_layer(own: Probed) -> Finding:
    """Layers of an LSTM, by read-outs of their own; saying nothing, none is as good as another."""
    errors = own.errors
    gain, learned = estimated(errors[1] - errors[-1]), estimated(errors[0] - errors[-1])
    by_layer = ", ".join(f"{error:.3f}" for error in errors[1:].mean(-1))
    found = below(
        "first-layer",
        "the first layer is as good as the last",
        gain,
        NOTHING * (1 - own.best),
        words=f"errors {by_layer} by layer (best possible {own.best:.3f}): the last gains "
        f"{gain:.4f}",
        wanted=f"less than {NOTHING:.0%} of what there is to learn, {BY}, of several layers that "
        "err less than the embedding",
    )
    several = sign_of(*learned) if len(errors) > 2 else Verdict.UNDECIDED
    found.verdict = Verdict.together([found.verdict, several])
    return found


def forgetting(trained: Trained, probed: Probed) -> np.ndarray:
    """Squared errors (n, m) at x_i asked again after all n examples, over the variance of a label.

    Row g is for the example g before the last, so that the last has gap 0.
    """
    p = probed.prompts
    again = reversed(range(p.x.shape[-2]))
    said = [predictions_of(trained.model, replace(p, x_query=p.x[:, i]))[:, -1] for i in again]
    return (np.array(said) - p.y.T[::-1]) ** 2 / probed.variance


def forgets(errors: Mapping[str, np.ndarray]) -> Iterator[Finding]:
    """The slope of the error against the gap, fitted to each prompt: that of the first model, which
    is the LSTM, and the others' beside it."""
    name, *others = errors
    slopes, words = slopes_of(errors[name])
    found, wanted = estimated(slopes), f"above 0 {BY}"
    yield above(f"{name}/forgets", f"{name}: forgets", found, words=words, wanted=wanted)
    for other in others:
        theirs, words = slopes_of(errors[other])
        yield above(
            f"{name}/forgets/{other}",
            f"{other}: does not forget as the LSTM does",
            estimated(slopes / 10 - theirs),
            words=words,
            wanted=f"less than a tenth of the LSTM's, {BY} of the difference",
        )


def slopes_of(errors: np.ndarray) -> tuple[np.ndarray, str]:
    """By prompt (m,), for errors (gaps, m); and their mean, after the errors at the ends."""
    gaps = np.arange(len(errors)) - (len(errors) - 1) / 2
    slopes, first, last = gaps @ errors / (gaps @ gaps), errors[0].mean(), errors[-1].mean()
    words = f"error {first:.3f} just seen, {last:.3f} after {len(errors) - 1} further examples"
    return slopes, f"{words}; {estimated(slopes):.5f} an example"
