"""The claim `lstm`: an LSTM learns in context more like online gradient descent, and forgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Annotated

import numpy as np

from theory.checks import InputError
from theory.regression import error_cosines
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import Trained, models_of
from verify.evidence.statistics import BY, NOTHING, above, below, estimated, sign_of
from verify.finding import Finding, Verdict, labelled
from verify.regression.trained.options import LSTM, TRANSFORMER, Samples
from verify.regression.trained.pictures import forgetting_picture
from verify.regression.trained.predictors import predictions_of
from verify.regression.trained.probes import Probed
from verify.regression.trained.similarities import DESCENT_STEPS, NEWTON_STEPS

PUBLISHED = " (published, d = 20: 0.954 and 0.806)"


@claim(source="[Fu2024]", draws=True)
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
    """A trained LSTM is nearer to online gradient descent than a transformer, and forgets.

    Nearer: its similarity of errors with online gradient descent is larger than the transformer's,
    and than its own with least squares, and with gradient descent and Newton's method after as many
    steps as make its own error.  Forgetting: asked for an example again, it errs the more
    the longer ago it was; the transformer does not.  Its first layer says as much as its last.
    """
    recurrent, attentive = models_of(checkpoint, LSTM), models_of(transformer, TRANSFORMER)
    for each, other in product(recurrent, attentive):
        if each.task != other.task:
            raise InputError(
                f"{each.name} and {other.name} were trained on different prompts: give two of the "
                "same task"
            )
    forgotten: dict[str, np.ndarray] = {}
    for own in [Probed.of(run, trained, samples) for trained in recurrent]:
        yield from labelled(own.trained.name, nearer(own, attentive))
        yield from labelled(own.trained.name, [first_layer(own)])
        errors = {each.name: forgetting(each, own) for each in (own.trained, *attentive)}
        yield from forgets(errors)
        forgotten.update(errors)
    if run.plot:
        forgetting_picture(run.plot, forgotten)


def nearer(own: Probed, others: list[Trained]) -> Iterator[Finding]:
    """Paired by prompt: the same prompts for all models and the algorithms."""
    online, step_size = own.algorithms.online_gradient_descent()
    equal = at_equal_error(own)
    rules = np.stack([online[0], own.algorithms.least_squares(), *equal.values()])
    said = np.stack([predictions_of(each.model, own.prompts) for each in (own.trained, *others)])
    (online_cosine, *their_online), (exact_cosine, *their_exact), *equally = error_cosines(
        rules[..., 1:], said[..., 1:], own.algorithms.labels[:, 1:]
    )

    rule = "1/‖x‖²" if step_size is None else f"{step_size:.3g}"
    first, second = f"online gradient descent (step size {rule})", "least squares"
    compared = [("online", f"more like {first} than {second}", online_cosine, exact_cosine, "")]
    for name, theirs, exact in zip(
        [o.name for o in others], their_online, their_exact, strict=True
    ):
        compared += [
            (f"online/{name}", f"more like {first} than {name}", online_cosine, theirs, PUBLISHED),
            (f"least-squares/{name}", f"less like {second} than {name}", exact, exact_cosine, ""),
        ]
    for name, (theirs, *_) in zip(equal, equally, strict=True):
        id = f"online/{name.split(' after')[0].replace(' ', '-')}"
        compared.append((id, f"more like {first} than {name}", online_cosine, theirs, ""))
    for id, name, more, less, published in compared:
        difference = estimated(more - less)
        words = f"similarity of errors {more.mean():.3f} and {less.mean():.3f}, the difference "
        words += f"{difference:.3f}"
        yield above(id, name, difference, words=words, wanted=f"above 0 {BY}{published}")


def at_equal_error(own: Probed) -> dict[str, np.ndarray]:
    """Newton's method and gradient descent after the steps that err most nearly as much as the
    model does, by what they are called: predictions (m, n + 1)."""
    error, found = own.error(predictions_of(own.trained.model, own.prompts)).mean(), {}
    for name, steps, said in (
        ("Newton", NEWTON_STEPS, own.algorithms.newton(NEWTON_STEPS)),
        ("gradient descent", DESCENT_STEPS, own.algorithms.gradient_descent(DESCENT_STEPS, 1.0)),
    ):
        nearest = int(np.abs(np.log(own.error(said).mean(-1) / error)).argmin())
        found[f"{name} after {steps[nearest]} steps, which err as much"] = said[nearest]
    return found


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
