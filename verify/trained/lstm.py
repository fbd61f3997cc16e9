"""The claim `lstm`: an LSTM learns in context more like online gradient descent, and forgets."""

from __future__ import annotations

from collections.abc import Iterator
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
    samples: Annotated[int, option("fresh prompts", min=20)] = 2000,
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
    other_name, other = next(iter(attentive.items()))
    for name, each in recurrent.items():
        if each.task != other.task:
            raise InputError(
                f"{described(name)} and {described(other_name)} were trained on different "
                "prompts: give two of the same task"
            )
    probed = {name: Probed.of(run, model, samples) for name, model in recurrent.items()}
    forgotten = {}
    for name, own in probed.items():
        yield from _nearer(name, own, other, other_name)
        yield _first_layer(name, own)
        forgotten[name] = forgetting(own.model, own)
        forgotten[other_name] = forgetting(other, own)
        yield from _forgets(name, forgotten[name], other_name, forgotten[other_name])
    if run.plot:
        from verify.trained.regression_picture import draw_forgetting

        draw_forgetting(run.plot, forgotten)


def _nearer(
    name: str, probed: Probed, other: InContextRegressor, other_name: str
) -> Iterator[Finding]:
    """Paired by prompt: the same prompts for both models and the algorithm."""
    algorithms = Algorithms(probed.prompts)
    online, step_size = algorithms.online_gradient_descent()
    rules = np.stack([online[0], algorithms.least_squares()])
    said = np.stack([predictions_of(model, probed.prompts) for model in (probed.model, other)])
    cosines = error_cosines(rules[..., 1:], said[..., 1:], algorithms.labels[:, 1:])
    rule = "1/‖x‖²" if step_size is None else f"{step_size:.3g}"
    first, second = f"online gradient descent (step size {rule})", "least squares"
    own, than = described(name), f"than {described(other_name)}"
    for label, more, less, theirs in (
        (f"{own}: more like {first} {than}", cosines[0, 0], cosines[0, 1], PUBLISHED),
        (f"{own}: less like {second} {than}", cosines[1, 1], cosines[1, 0], ""),
        (f"{own}: more like {first} than {second}", cosines[0, 0], cosines[1, 0], ""),
    ):
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
    """Layers of an LSTM, by read-outs of their own."""
    errors = probed.error(probed.predictions)
    gain, spread = estimated(errors[1] - errors[-1])
    best = probed.error(Algorithms(probed.prompts).least_squares()).mean()
    return Finding(
        f"{described(name)}: the first layer is as good as the last",
        "trained",
        f"errors {', '.join(f'{error:.3f}' for error in errors[1:].mean(-1))} by layer "
        f"(least squares {best:.3f}): the last gains {gain:.4f} ± {spread:.4f}",
        f"less than {NOTHING:.0%} of what there is to learn, by {ERRORS:g} standard errors",
        sign_of(NOTHING * (1 - best) - gain, spread),
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


def _forgets(name: str, own: np.ndarray, other_name: str, other: np.ndarray) -> Iterator[Finding]:
    """The slope of the error against the gap, fitted to each prompt; and the same for the other."""
    gaps = np.arange(len(own)) - (len(own) - 1) / 2
    for label, errors, forgets in ((name, own, True), (other_name, other, False)):
        mean, spread = estimated(gaps @ errors / (gaps @ gaps))
        ends = f"{errors[0].mean():.3f} just seen, {errors[-1].mean():.3f} after {len(own) - 1}"
        yield Finding(
            f"{described(label)}: {'forgets' if forgets else 'does not forget as the LSTM does'}",
            "trained",
            f"error {ends} further examples; {mean:.5f} ± {spread:.5f} an example",
            f"above 0 by {ERRORS:g} standard errors" if forgets else "a tenth of the LSTM's",
            sign_of(mean, spread)
            if forgets
            else Verdict.of(bool(mean + ERRORS * spread < _slope(own, gaps) / 10)),
        )


def _slope(errors: np.ndarray, gaps: np.ndarray) -> float:
    return float((gaps @ errors / (gaps @ gaps)).mean())
