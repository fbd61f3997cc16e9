"""The claim `induced-weights`: trained layers answer by weights, and these are like Newton's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from verify.claim import Run, claim, option
from verify.evidence.checkpoints import models_of
from verify.evidence.statistics import BY, above, estimated, sign_of
from verify.finding import Finding, Verdict, at_least, labelled
from verify.regression.trained.growth import EXPECTED, growth
from verify.regression.trained.options import TRANSFORMER, Checkpoint
from verify.regression.trained.pictures import weights_picture
from verify.regression.trained.similarities import Likeness
from verify.regression.trained.weights import Asked


@claim(source="[Fu2024]", draws=True)
def induced(
    run: Run,
    *,
    checkpoint: Checkpoint = "regression-small",
    samples: Annotated[int, option("fresh prompts, each with 10·d queries", min=20)] = 100,
) -> Iterator[Finding]:
    """A trained transformer answers by weights that do not depend on the query, like Newton's.

    After the same examples it is asked many queries; the weights that a layer's read-out induces
    are the least-squares fit of its answers.  On most prompts less of the last layer's squared
    error is nonlinear in the query than linear, for any number of examples.  From the first layer
    on that errs less than saying nothing, the number of steps whose weights have the largest mean
    cosine with a layer's grows linearly for Newton's method from αS, and exponentially for gradient
    descent.
    """
    found = {}
    for trained in models_of(checkpoint, TRANSFORMER):
        asked = Asked.of(run, trained, samples)
        yield from labelled(trained.name, [linear_in_the_query(asked)])
        yield from labelled(trained.name, like_those_of_newton(run, asked))
        found[trained.name] = asked.newton, asked.gradient_descent
    if run.plot:
        weights_picture(run.plot, found)


def linear_in_the_query(asked: Asked) -> Finding:
    """Every number of examples by itself; prompts are counted, as few of them make up the mean."""
    linear = asked.error[-1] > 2 * asked.nonlinear[-1]
    verdicts = [sign_of(*estimated(share - 0.5)) for share in linear.T]
    # One that says nothing is linear too.
    verdicts.append(sign_of(*estimated((asked.silent - asked.error[-1]).mean(-1))))
    shares = asked.nonlinear[-1].mean(0) / asked.error[-1].mean(0)
    explained = ", ".join(f"{each:.3f}" for each in asked.explained.mean((1, 2)))
    least = float(linear.mean(0).min())
    return Finding(
        "linear",
        "on most prompts less of the error is nonlinear in the query than linear",
        "trained",
        least,
        0.5,
        Verdict.together(verdicts),
        f"on {least:.0%} of them and more, by the number of examples; of the mean at most "
        f"{shares.max():.0%} is nonlinear; R² of linear answers by layer {explained}",
        f"more than half, for 1 to {len(shares)} examples, {BY}; and less error than of saying "
        "nothing",
    )


def like_those_of_newton(run: Run, asked: Asked) -> Iterator[Finding]:
    """The growth of the steps whose weights match, and the last layer."""
    label, first = "steps whose weights match, of", asked.first
    if first is None:
        words = "no layer says anything"
        yield at_least("newton", f"{label} Newton", "trained", 0, 1, words=words, wanted="one")
        return
    both = asked.newton, asked.gradient_descent
    for (kind, wanted), each in zip(EXPECTED.items(), both, strict=True):
        setting = f"{each.algorithm}, from layer {first + 1} on"
        later = Likeness(setting, each.steps, each.alike[:, first:])
        yield growth(run, kind.lower().replace(" ", "-"), f"{label} {kind}", later, wanted)
    newton, descent = asked.newton.last, asked.gradient_descent.last
    difference = estimated(newton - descent)
    yield above(
        "last-layer",
        "the weights of the last layer are more like Newton's",
        difference,
        words=f"similarity of weights {newton.mean():.4f} (Newton) and {descent.mean():.4f} "
        f"(gradient descent), the difference {difference:.5f}",
        wanted=f"above 0 {BY}",
    )
