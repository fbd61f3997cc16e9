"""The claim `lstm`: trained LSTMs, online gradient descent and errors at repeated examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated

import numpy as np
from scipy.optimize import minimize_scalar

from theory.kinds import InputError
from theory.regression import error_cosines
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import Trained, models_of
from verify.evidence.groups import all_below, paired
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
from verify.interpret import predictions_of
from verify.interpret.models import predictions_after
from verify.regression.trained.options import LSTM, TRANSFORMER, Samples
from verify.regression.trained.probes import Probed

ONLINE = "online gradient descent"
POWERS = {"Newton": 2, "gradient descent": 1}  # the p of each residual filter (1 − z^p)^m
DOUBLINGS, NEARBY = 16, 1 / 16  # the largest log₂ m, and its step in a difference quotient


@claim(picture="verify.regression.trained.pictures:forgetting_picture")
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
    """Published observation: the errors of a trained LSTM are more similar to the errors of online
    gradient descent than the errors of a trained transformer are.  The error of the LSTM on a
    repeated example grows with the number of examples between its two occurrences, and the later
    layers of the LSTM do not reduce its error.

    The models predict the label of each example of a linear regression from the earlier examples of
    the prompt. The similarity of two predictors is the cosine of their vectors of errors, averaged
    over prompts. The similarity of the LSTM to online gradient descent is compared with three kinds
    of similarity: the similarity of the transformer to online gradient descent, that of the
    prediction 0 (the null model), and the similarities of the LSTM to Newton's method and to
    gradient descent at equal error. The LSTM is not compared with least squares, because the
    prediction 0, too, is more similar to online gradient descent than to least squares. Equal error
    means that the number of steps of Newton's method or of gradient descent, which may be
    fractional, is chosen such that the method has the same error as the LSTM, or the same error as
    online gradient descent. The error at a repeated example is fitted by a linear function of the
    number of examples between the example and its repetition. A linear probe predicts the labels
    from each layer. The error of the probe of the first layer is compared with the error of the
    probe of the last layer.

    Each LSTM is compared with algorithms on separate prompts, so that seeds are independent. Each
    LSTM is compared with transformers on the prompts of the first LSTM.
    """
    recurrent, attentive = models_of(checkpoint, LSTM), models_of(transformer, TRANSFORMER)
    for each, other in product(recurrent, attentive):
        if each.task != other.task:
            raise InputError(
                f"{each.name} and {other.name} were trained on different prompts: give models of "
                "the same task"
            )
    probed = [Probed.of(run, trained, samples) for trained in recurrent]
    similar = [[*like_online(own)] for own in probed]
    together = [*over_seeds(similar)]
    models = [*recurrent, *attentive]
    cosines = similarities(models, probed[0])
    kinds = ([cosines[model.name] for model in kind] for kind in (attentive, recurrent))
    together += nearer_in_all_seeds(*kinds)
    errors = {each.name: forgetting(each, probed[0]) for each in models}
    for own, found in zip(probed, similar, strict=True):
        yield from labelled(own.trained.name, [*found, first_layer(own)])
        names = [own.trained.name, *(other.name for other in attentive)]
        yield from nearer({name: cosines[name] for name in names})
        yield from forgets({name: errors[name] for name in names})
    yield from together
    run.draw(errors)


def like_online(own: Probed) -> Iterator[Finding]:
    """Compares the similarity of a model to online gradient descent with two kinds of similarity.

    These are the similarity of the prediction 0 to online gradient descent, and the similarities of
    the model to Newton's method and to gradient descent. The numbers of steps of Newton's method
    and gradient descent are chosen such that their error is the error of the model, or the error of
    online gradient descent.
    """
    algorithms, predicted = own.algorithms, predictions_of(own.trained.model, own.prompts)
    (online,), step_size = algorithms.online_gradient_descent()
    more = alike(own, online, predicted)
    size = "1/‖x‖²" if step_size is None else f"{step_size:.3g}"
    of_model = f"(similarity of the LSTM's errors to those of {ONLINE} with step size {size}) −"
    null = alike(own, online, np.zeros_like(predicted))
    yield more_like(
        "null", f"{of_model} (similarity of the errors of the prediction 0)", more, null
    )
    for name, power in POWERS.items():
        for kind, whose, equal in ("online", "the LSTM", predicted), ("as-online", ONLINE, online):
            doublings, less = at_error_of(equal, own, power, predicted)
            id = f"{kind}/{name.replace(' ', '-')}"
            steps = doublings if power == 2 else 2**doublings
            how = f"; {name} has this error after {steps:.1f} steps, by interpolation"
            stopped = (
                f"{of_model} (similarity to those of {name} after the number of steps at which it "
                f"has the error of {whose})"
            )
            yield more_like(id, stopped, more, less, how)


def at_error_of(
    equal: np.ndarray, own: Probed, power: float, predicted: np.ndarray
) -> tuple[float, np.ndarray]:
    """The number m of steps with a given error, as log₂ m, and the similarity to a model by prompt.

    The algorithm has the residual filter (1 − z^power)^m, where z is the ratio of an eigenvalue of
    XᵀX to the largest eigenvalue for the examples X of a prefix. Power 2 is Newton's method from αS
    after log₂ m steps, and power 1 is gradient descent after m steps. The number m, which may be
    fractional, is chosen such that the algorithm has the error of the predictions `equal`.
    `predicted` are the predictions of the model.

    As m is estimated from the same prompts, the first-order influence of each prompt on m is added
    to the similarity on this prompt. This correction does not change the mean, and corrects the
    standard error of the mean.
    """

    def at(doublings: float) -> tuple[np.ndarray, np.ndarray]:
        rule = own.algorithms.filtered(power, doublings)
        return own.error(rule), alike(own, rule, predicted)

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


def alike(own: Probed, rule: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """The cosine between the errors of two predictors on each of m prompts, (m,).

    `rule` and `predicted` are the predictions of an algorithm and of a model.
    """
    labels = own.algorithms.labels
    return error_cosines(rule[None, :, 1:], predicted[None, :, 1:], labels[:, 1:])[0, 0]


def over_seeds(similar: Sequence[Sequence[Finding]]) -> Iterator[Finding]:
    """The findings of `like_online`, summarised over at least three seeds."""
    if len(similar) < 3:
        return
    for seeds in zip(*similar, strict=True):
        values = np.array([each.measured["mean"] for each in seeds])
        mean = estimated(values)
        yield above(
            f"seeds/{seeds[0].id}",
            f"{seeds[0].name}, mean over {len(seeds)} seeds",
            mean,
            words=f"{mean:.4f}; by seed {', '.join(f'{each:.4f}' for each in values)}",
            wanted=f"above 0 by {errors_for(mean.freedom):.3g} standard errors between seeds",
        )


def similarities(models: Sequence[Trained], probed: Probed) -> dict[str, np.ndarray]:
    """The similarity of each model to online gradient descent on each of m prompts, (m,).

    The similarity is the cosine between the errors of the model and of the algorithm.
    """
    (online,), _ = probed.algorithms.online_gradient_descent()
    return {
        each.name: alike(probed, online, predictions_of(each.model, probed.prompts))
        for each in models
    }


def nearer(cosines: Mapping[str, np.ndarray]) -> Iterator[Finding]:
    """Compares the similarity of the LSTM, the first model, with that of each other model.

    The similarities are to online gradient descent, and are paired by prompt.
    """
    name, *others = cosines
    for other in others:
        found = more_like(
            f"online/{other}",
            f"(similarity of the LSTM's errors to those of {ONLINE}) − (similarity of {other}'s "
            f"errors to those of {ONLINE})",
            cosines[name],
            cosines[other],
        )
        found.wanted += "; for d = 20, the published similarities are 0.954 and 0.806"
        yield from labelled(name, [found])


def nearer_in_all_seeds(
    attentive: Sequence[np.ndarray], recurrent: Sequence[np.ndarray]
) -> Iterator[Finding]:
    """Compares all transformers with all LSTMs, if there are at least three seeds of each.

    `attentive` and `recurrent` contain the similarities of each model to online gradient descent.
    """
    if min(len(attentive), len(recurrent)) >= 3:
        yield all_below(
            "seeds/transformers",
            f"similarity of the errors of transformers and of LSTMs to those of {ONLINE}",
            attentive,
            recurrent,
            paired,
            kinds=("transformers", "LSTMs"),
        )


def more_like(id: str, name: str, more: np.ndarray, less: np.ndarray, how: str = "") -> Finding:
    """Checks that the similarities `more` exceed the similarities `less` on average.

    Both are arrays (m,) of similarities on the same m prompts, and are paired by prompt.
    """
    difference = estimated(more - less)
    words = f"{more.mean():.3f} − {less.mean():.3f} = {difference:.3f}{how}"
    return above(id, name, difference, words=words, wanted=f"a difference above 0 {BY}")


def first_layer(own: Probed) -> Finding:
    """Compares probes of the first and last layer; undecided if the last layer has not learned."""
    errors = own.errors
    gain, learned = estimated(errors[1] - errors[-1]), estimated(errors[0] - errors[-1])
    by_layer = ", ".join(f"{error:.3f}" for error in errors[1:].mean(-1))
    found = below(
        "first-layer",
        "(error of a linear probe of the first layer) − (error of a linear probe of the last "
        "layer)",
        gain,
        NOTHING * (1 - own.best),
        words=f"{gain:.4f}; the errors of the layers in order are {by_layer}, and the Bayes error "
        f"is {own.best:.3f}",
        wanted=f"a difference below {NOTHING:.0%} of 1 − (Bayes error) {BY}, for a model of "
        "several layers whose last layer has less error than the embedding",
    )
    several = sign_of(*learned) if len(errors) > 2 else Verdict.UNDECIDED
    found.verdict = Verdict.together([found.verdict, several])
    return found


def forgetting(trained: Trained, probed: Probed) -> np.ndarray:
    """Squared errors (n, m) at a query that repeats one of the n examples of each of m prompts.

    Row g contains the errors if the repeated example is followed by g other examples, so row 0
    belongs to the last example. The errors are divided by the variance of a label.
    """
    p = probed.prompts
    predicted = predictions_after(trained.model, p, p.x.swapaxes(0, 1)[::-1])
    return (predicted - p.y.T[::-1]) ** 2 / probed.variance


def forgets(errors: Mapping[str, np.ndarray]) -> Iterator[Finding]:
    """Compares the LSTM, the first model, with the other models by the slope of the error.

    The error is that at a repeated example, as a function of the number of examples in between.
    """
    name, *others = errors
    slopes, words = slopes_of(errors[name])
    found, wanted = estimated(slopes), f"growth above 0 {BY}"
    yield above(
        f"{name}/forgets",
        f"{name}: growth of the squared error at a repeated example, for each further example in "
        "between (slope of a linear fit)",
        found,
        words=words,
        wanted=wanted,
    )
    for other in others:
        theirs, words = slopes_of(errors[other])
        yield above(
            f"{name}/forgets/{other}",
            f"{other}: (a tenth of the growth of the LSTM's squared error at a repeated example, "
            "for each further example in between) − (growth of the error of this model)",
            estimated(slopes / 10 - theirs),
            words=f"{estimated(slopes / 10 - theirs):.5f}; for this model, the growth is {words}",
            wanted=f"a difference above 0 {BY}",
        )


def slopes_of(errors: np.ndarray) -> tuple[np.ndarray, str]:
    """The slope of the error by the number of examples in between, for each of m prompts, (m,).
    `errors` (n, m) contains the errors at a repeated example after 0, …, n − 1 other examples. The
    mean slope and the mean errors in the first and last row are returned as words.
    """
    gaps = np.arange(len(errors)) - (len(errors) - 1) / 2
    slopes, first, last = gaps @ errors / (gaps @ gaps), errors[0].mean(), errors[-1].mean()
    words = f"the error is {first:.3f} after 0 and {last:.3f} after {len(errors) - 1} examples"
    return slopes, f"{estimated(slopes):.5f} per example; {words}"
