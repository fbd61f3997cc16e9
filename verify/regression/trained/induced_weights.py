"""The claim `induced-weights`: trained layers predict linearly, with weights similar to Newton's.

The induced weights of a layer are the least-squares fit of its predictions at many queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

from verify import interpret
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import Trained, models_of
from verify.evidence.statistics import BY, above, estimated, sign_of
from verify.finding import Finding, Verdict, at_least, labelled
from verify.interpret.induced import InducedWeights
from verify.interpret.similarity import Likeness
from verify.regression.trained.options import TRANSFORMER, Checkpoint
from verify.regression.trained.probes import fitted_probes
from verify.regression.trained.prompts import prompts_of
from verify.regression.trained.similarities import DESCENT_STEPS, EXPECTED, NEWTON_STEPS, growth

QUERIES = 10  # queries per coordinate, after the same examples
QUICK = 20, 4  # largest number of prompts, and queries per coordinate, in a quick run


@claim(picture="verify.regression.trained.pictures:weights_picture")
def induced_weights(
    run: Run,
    *,
    checkpoint: Checkpoint = "regression-small",
    samples: Annotated[
        int, option("number of fresh prompts, each with 10·d queries", min=20, max=10**4)
    ] = 100,
) -> Iterator[Finding]:
    """Published observation: given the examples, the predictions of a trained transformer are
    nearly linear in the query. The number of Newton–Schulz steps that best match its induced
    weights grows linearly with the layer, and the number of gradient steps that best match the
    induced weights grows exponentially.

    The model predicts the labels of many queries after the same examples. A linear probe is fitted
    to each layer, and its predictions are those of the layer. The induced weights of a layer are
    the weights of the linear function of the query that fits these predictions best, by least
    squares.

    Two things are tested. First, for every number of examples, on most prompts, the mean square of
    the residual of this fit at the last layer is less than half of the mean squared error of the
    last layer. Second, for each layer, consider the number of steps of an algorithm for which the
    weights of the algorithm have the largest mean cosine with the induced weights. From the first
    layer whose error is below that of the constant prediction 0, this number grows linearly with
    the layer for the Newton–Schulz iteration and exponentially for gradient descent. The
    Newton–Schulz iteration starts from αS, where S = XᵀX for the examples X, α = 1/λmax², and λmax
    is the largest eigenvalue of S.
    """
    found = {}
    for trained in models_of(checkpoint, TRANSFORMER):
        induced = Induced.of(run, trained, samples)
        yield from labelled(trained.name, [linear_in_the_query(induced)])
        yield from labelled(trained.name, like_those_of_newton(run, induced))
        found[trained.name] = induced.like_newton, induced.like_gradient_descent
    run.draw(found)


def linear_in_the_query(induced: Induced) -> Finding:
    """Counts, for every number of examples, the prompts on which predictions are mostly linear.

    Prompts are counted because a few prompts dominate the means.
    """
    linear = induced.error[-1] > 2 * induced.nonlinear[-1]
    verdicts = [sign_of(*estimated(mostly - 0.5)) for mostly in linear.T]
    # The constant 0 is also linear in the query.
    verdicts.append(sign_of(*estimated((induced.silent - induced.error[-1]).mean(-1))))
    fractions = induced.nonlinear[-1].mean(0) / induced.error[-1].mean(0)
    explained = ", ".join(f"{each:.3f}" for each in induced.explained.mean((1, 2)))
    least = float(linear.mean(0).min())
    return Finding(
        "linear",
        "fraction of prompts on which less than half of the last layer's squared error is "
        "nonlinear in the query",
        "trained",
        least,
        0.5,
        Verdict.together(verdicts),
        f"at least {least:.0%} for each number of examples; the nonlinear part is at most "
        f"{fractions.max():.0%} of the mean squared error; R² of the linear fit is {explained} for "
        "the layers in order",
        f"above one half {BY} for each number of examples from 1 to {len(fractions)}, and an error "
        "below that of the constant prediction 0",
    )


def like_those_of_newton(run: Run, induced: Induced) -> Iterator[Finding]:
    """Yields findings on the growth of the matching steps and the similarity of the last layer."""
    label = "are most similar to the layer's induced weights (the linear fit of its predictions)"
    first = induced.first
    if first is None:
        name = f"number of steps after which the weights of Newton {label}"
        words = "no layer has less error than the constant prediction 0"
        yield at_least("newton", name, "trained", 0, 1, words=words, wanted="one such layer")
        return
    both = induced.like_newton, induced.like_gradient_descent
    for (kind, wanted), each in zip(EXPECTED.items(), both, strict=True):
        setting = f"{each.algorithm}, from layer {first + 1} on"
        later = Likeness(setting, each.steps, each.alike[:, first:])
        name = f"number of steps after which the weights of {kind} {label}"
        yield growth(run, kind.lower().replace(" ", "-"), name, later, wanted)
    newton, descent = (each.last for each in both)
    difference = estimated(newton - descent)
    yield above(
        "last-layer",
        "(similarity of the last layer's induced weights, the linear fit of its predictions, to "
        "the weights of Newton) − (similarity to the weights of gradient descent)",
        difference,
        words=f"{newton.mean():.4f} − {descent.mean():.4f} = {difference:.5f}",
        wanted=f"a difference above 0 {BY}",
    )


@dataclass(frozen=True)
class Induced(InducedWeights):
    """The weights that the layers of a trained model induce, and their similarities."""

    @staticmethod
    def of(run: Run, trained: Trained, samples: int) -> Induced:
        """The induced weights of a trained model on fresh prompts of its task.

        The predictions of layers are those of linear probes, which are fitted to other prompts.
        `samples` is the number of fresh prompts.
        """
        probes = fitted_probes(run, trained)
        samples, times = (min(samples, QUICK[0]), QUICK[1]) if run.quick else (samples, QUERIES)
        n, T = trained.task.points - 1, times * trained.task.d
        p = prompts_of(trained.task, samples, run.rng, further=T)
        examples, queries = replace(p, x=p.x[:, :n], y=p.y[:, :n]), p.x[:, n:]
        found = interpret.induced_weights(
            probes, examples, queries, 1, lambda counts: run.progress(counts, "examples")
        )
        return Induced(**vars(found))

    @cached_property
    def like_newton(self) -> Likeness:
        """Cosines between induced weights and the weights of Newton's method, for all steps."""
        return self.newton(NEWTON_STEPS)

    @cached_property
    def like_gradient_descent(self) -> Likeness:
        """Cosines between induced weights and those of gradient descent, for all steps."""
        return self.gradient_descent(DESCENT_STEPS)
