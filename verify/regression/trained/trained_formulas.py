"""The claim `trained-formulas`: trained linear transformers and their nearest register programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from constructions.trained import configuration_of, untrained
from constructions.trained.nearest_program import NearestProgram
from theory.regression import Prompts
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import Trained, models_of
from verify.evidence.statistics import BY, Mean, above, below, ratio
from verify.finding import Finding, labelled
from verify.interpret.models import answers_of
from verify.regression.trained.linear_models import DEPTHS, LARGEST, QUICK, usual
from verify.regression.trained.options import LINEAR
from verify.regression.trained.prompts import prompts_of

EXPLAINED = 0.9  # the fraction of the predictions' mean square that the program explains
SHUFFLES = 20
NULL = 0.5  # the fraction that null models must not explain


@claim()
def trained_formulas(
    run: Run,
    *,
    samples: Annotated[int, option("number of fresh prompts", min=100, max=10**6)] = 10_000,
) -> Iterator[Finding]:
    """Our observation: the register program that is nearest to the weights of a trained linear
    transformer of 2, 3 or 4 layers explains at least 90 % of the mean square of its predictions,
    and more than the labels of the queries explain.

    A register program predicts x_qᵀ g(S) Xᵀy for a query x_q and examples X with labels y, where S
    = XᵀX and g is a polynomial. The blocks of the trained weights are expressed in the basis that
    the embedding of x and y and the products of W_V W_O of earlier layers give. Each block of
    scores is replaced by its nearest multiple of the identity, and all other terms by 0. Null
    models are an untrained model of the same shape with its nearest program, and the model with its
    nearest program whose numbers are permuted among the blocks of each layer. The program of a null
    model must leave at least half of the mean square unexplained. Labels have no noise, so least
    squares predicts them, without reading the weights: every model that solves the task well
    explains 90 %, and only the second comparison shows that the program describes this model.
    Prompts with an eigenvalue of S/n
    above 3 are omitted, as in the claim linear-depth. The thresholds were chosen after a first look
    at other prompts.
    """
    count, task = run.limited(QUICK, samples=samples), None
    for depth in DEPTHS[1:]:
        models = models_of(f"regression-linear-{depth}-layers", LINEAR)
        if task is None:
            task = models[0].task
            prompts = usual(prompts_of(task, count, run.rng), LARGEST)
        programs = [NearestProgram.of(each.model) for each in models]
        for i, trained in enumerate(models):
            found = _compared(run, trained, programs[i], programs[:i] + programs[i + 1 :], prompts)
            yield from labelled(trained.name, found)


def _compared(
    run: Run,
    trained: Trained,
    program: NearestProgram,
    others: list[NearestProgram],
    p: Prompts,
) -> Iterator[Finding]:
    """Compares the predictions of a model with its nearest program, and with null models."""
    predicted = answers_of(trained.model, p.x, p.y, p.x_query)

    def predictions(of: NearestProgram) -> np.ndarray:
        return of.predictions(p.x, p.y, p.x_query)

    def left(of: NearestProgram) -> Mean:
        return unexplained(predicted, predictions(of))

    squares = [((each - p.y_query) ** 2).mean() for each in (predicted, predictions(program))]
    distance = ", ".join(f"{each:.2f}" for each in program.distance)
    more = ", ".join(f"{left(other).mean:.2g}" for other in others)
    yield below(
        "explained",
        "fraction of the mean square of the predictions that the nearest register program leaves "
        "unexplained",
        left(program),
        1 - EXPLAINED,
        words=f"{left(program):.2g}; the mean squared errors of the model and of the program are "
        f"{squares[0]:.2g} and {squares[1]:.2g}; the blocks of the layers differ from multiples of "
        f"I by {distance} of their norms"
        + f"; the programs of other seeds leave {more}"
        * bool(more),
        wanted=f"at most {1 - EXPLAINED:.2g} {BY}",
    )
    labels = unexplained(predicted, p.y_query)
    yield above(
        "beyond-labels",
        "(fraction of the mean square of the predictions that the labels of the queries leave "
        "unexplained) − (the fraction that the nearest register program leaves)",
        ratio(lost(predicted, p.y_query) - lost(predicted, predictions(program)), predicted**2),
        0.0,
        words=f"the labels leave {labels:.2g}, and the program {left(program):.2g}",
        wanted=f"above 0 {BY}",
    )
    null: Any = untrained(configuration_of(trained.name)).requires_grad_(False)
    of_null = answers_of(null, p.x, p.y, p.x_query)
    nulls = {
        "untrained": unexplained(of_null, predictions(NearestProgram.of(null))),
        "shuffled": unexplained(
            np.tile(predicted, (SHUFFLES, 1)).T,
            np.transpose([predictions(program.shuffled(run.rng)) for _ in range(SHUFFLES)]),
        ),
    }
    for id, what in (
        ("untrained", "the nearest register program of an untrained model of this shape"),
        (
            "shuffled",
            f"the nearest register program with permuted numbers ({SHUFFLES} permutations)",
        ),
    ):
        yield above(
            id,
            f"fraction of the mean square of the predictions that {what} leaves unexplained",
            nulls[id],
            NULL,
            words=f"{nulls[id]:.2g}",
            wanted=f"at least {NULL:g} {BY}",
        )


def unexplained(predicted: np.ndarray, explained: np.ndarray) -> Mean:
    """The fraction of the mean square of predictions (m, …) that others leave unexplained.

    This is Σ min((ŷ − ŷ′)², ŷ²)/Σ ŷ², with its standard error over m prompts: the prediction 0
    leaves everything, and no prediction leaves more.
    """
    parts = lost(predicted, explained), predicted**2
    return ratio(*(each.reshape(len(each), -1).mean(-1) for each in parts))


def lost(predicted: np.ndarray, explained: np.ndarray) -> np.ndarray:
    """The squares of predictions that others leave unexplained, min((ŷ − ŷ′)², ŷ²)."""
    return np.minimum((predicted - explained) ** 2, predicted**2)
