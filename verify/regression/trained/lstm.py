"""The claim `lstm`: an LSTM learns in context more like online gradient descent, and forgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from theory.checks import InputError
from theory.regression import error_cosines
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.trained.checkpoints import described, models_of
from verify.trained.predictors import Algorithms, predictions_of
from verify.trained.probes import Probed
from verify.trained.statistics import ERRORS, NOTHING, estimated, sign_of

if TYPE_CHECKING:
    from constructions.trained.regression import InContextRegressor

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
    samples: Annotated[int, option("fresh prompts", min=20)] = 1000,
) -> Iterator[Finding]:
    """A trained LSTM is nearer to online gradient descent than a transformer, and forgets.

    Nearer: its similarity of errors with online gradient descent is the larger of the two, and
    larger than its own with least squares.  Forgetting: asked for an example again, it errs the
    more the longer ago it was; the transformer, which sees them all, does not.  Its first layer
    says as much as its last.
    """
    from constructions.trained.models import RegressionLSTM, RegressionTransformer

    recurrent = models_of(checkpoint, RegressionLSTM)
    attentive = models_of(transformer, RegressionTransformer)
    for name, each in recurrent.items():
        for other_name, other in attentive.items():
            if each.task != other.task:
                raise InputError(
                    f"{described(name)} and {described(other_name)} were trained on different "
                    "prompts: give two of the same task"
                )
    probed = {name: Probed.of(run, model, samples) for name, model in recurrent.items()}
    forgotten = {}
    for name, own in probed.items():
        yield from _nearer(name, own, attentive)
        yield _first_layer(name, own)
        errors = {label: forgetting(model, own) for label, model in attentive.items()}
        forgotten.update({name: forgetting(own.model, own), **errors})
        yield from _forgets(name, forgotten[name], errors)
    if run.plot:
        from verify.trained.regression_picture import draw_forgetting

        draw_forgetting(run.plot, forgotten)


def _nearer(
    name: str, probed: Probed, others: Mapping[str, InContextRegressor]
) -> Iterator[Finding]:
    """Paired by prompt: the same prompts for all models and the algorithms."""
    algorithms = Algorithms(probed.prompts)
    online, step_size = algorithms.online_gradient_descent()
    rules = np.stack([online[0], algorithms.least_squares()])
    models = probed.model, *others.values()
    said = np.stack([predictions_of(model, probed.prompts) for model in models])
    cosines = error_cosines(rules[..., 1:], said[..., 1:], algorithms.labels[:, 1:])
    rule = "1/‖x‖²" if step_size is None else f"{step_size:.3g}"
    first, second = f"online gradient descent (step size {rule})", "least squares"
    own = described(name)
    compared = [(f"{own}: more like {first} than {second}", cosines[0, 0], cosines[1, 0], "")]
    for place, label in enumerate(others, 1):
        than, by_rule = f"than {described(label)}", cosines[:, place]
        compared += [
            (f"{own}: more like {first} {than}", cosines[0, 0], by_rule[0], PUBLISHED),
            (f"{own}: less like {second} {than}", by_rule[1], cosines[1, 0], ""),
        ]
    for label, more, less, theirs in compared:
        difference = more - less
        mean, spread = estimated(difference)
        yield Finding(
            label,
            "trained",
            f"similarity of errors {more.mean():.3f} and {less.mean():.3f}, the difference "
            f"{mean:.3f} ± {spread:.3f}",
            f"above 0 by {ERRORS:g} standard errors{theirs}",
            sign_of(mean, spread),
        )


def _first_layer(name: str, probed: Probed) -> Finding:
    """Layers of an LSTM, by read-outs of their own; saying nothing, none is as good as another."""
    errors, best = probed.errors, probed.best
    gain, spread = estimated(errors[1] - errors[-1])
    verdicts = [
        sign_of(NOTHING * (1 - best) - gain, spread),
        sign_of(*estimated(errors[0] - errors[-1])) if len(errors) > 2 else Verdict.UNDECIDED,
    ]
    return Finding(
        f"{described(name)}: the first layer is as good as the last",
        "trained",
        f"errors {', '.join(f'{error:.3f}' for error in errors[1:].mean(-1))} by layer "
        f"(best possible {best:.3f}): the last gains {gain:.4f} ± {spread:.4f}",
        f"less than {NOTHING:.0%} of what there is to learn, by {ERRORS:g} standard errors, of "
        "several layers that err less than the embedding",
        Verdict.together(verdicts),
    )


def forgetting(model: InContextRegressor, probed: Probed) -> np.ndarray:
    """Squared errors (n, m) at x_i asked again after all n examples, over the variance of a label.

    Row g is for the example g before the last, so that the last has gap 0.
    """
    p = probed.prompts
    found = []
    for i in reversed(range(p.x.shape[-2])):
        said = predictions_of(model, replace(p, x_query=p.x[..., i, :]))[..., -1]
        found.append((said - p.y[..., i]) ** 2 / probed.variance)
    return np.array(found)


def _forgets(name: str, own: np.ndarray, others: Mapping[str, np.ndarray]) -> Iterator[Finding]:
    """The slope of the error against the gap, fitted to each prompt; the others' beside it."""
    slopes, ends = _slopes(own)
    mean, spread = estimated(slopes)
    yield Finding(
        f"{described(name)}: forgets",
        "trained",
        f"error {ends}; {mean:.5f} ± {spread:.5f} an example",
        f"above 0 by {ERRORS:g} standard errors",
        sign_of(mean, spread),
    )
    for label, errors in others.items():
        theirs, ends = _slopes(errors)
        mean, spread = estimated(theirs)
        yield Finding(
            f"{described(label)}: does not forget as the LSTM does",
            "trained",
            f"error {ends}; {mean:.5f} ± {spread:.5f} an example",
            f"less than a tenth of the LSTM's, by {ERRORS:g} standard errors of the difference",
            sign_of(*estimated(slopes / 10 - theirs)),
        )


def _slopes(errors: np.ndarray) -> tuple[np.ndarray, str]:
    """By prompt (m,), for errors (gaps, m); and the mean errors at the ends in words."""
    gaps = np.arange(len(errors)) - (len(errors) - 1) / 2
    first, last = errors[0].mean(), errors[-1].mean()
    words = f"{first:.3f} just seen, {last:.3f} after {len(errors) - 1} further examples"
    return gaps @ errors / (gaps @ gaps), words
