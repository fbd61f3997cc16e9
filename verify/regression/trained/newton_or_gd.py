"""The claim `newton-or-gd`: the similarity of trained layers to Newton and gradient descent."""

from __future__ import annotations

from collections.abc import Iterator

from theory.regression.by_definition import gradient_descent, newton
from theory.regression.matrices import identity
from verify.claim import Run, claim
from verify.domains import Rational
from verify.evidence.checkpoints import models_of
from verify.evidence.statistics import Mean
from verify.finding import Finding, equal, labelled
from verify.regression.trained.filters import filters, over_seeds
from verify.regression.trained.options import TRANSFORMER, Checkpoint, Samples
from verify.regression.trained.probes import Probed
from verify.regression.trained.published import beside_published, cells, growth_in_published_tables
from verify.regression.trained.similarities import CONDITIONS, EXPECTED, Tables, closer, growth


@claim(picture="verify.regression.trained.pictures:similarities_picture")
def newton_or_gd(
    run: Run, *, checkpoint: Checkpoint = "regression-small", samples: Samples = 2000
) -> Iterator[Finding]:
    """Published observation: the number of Newton–Schulz steps that best match a layer of a trained
    transformer grows linearly with the layer, and the number of gradient steps that best match a
    layer grows exponentially. The last layer is more similar to the Newton–Schulz iteration than to
    gradient descent.

    A linear probe predicts the labels from each layer. A layer is matched by the number of steps
    after which the predictions of an algorithm are most similar to those of the layer. Similarity
    is measured by the mean cosine of the errors, or by the squared difference of the predictions.
    Let layer l be the first layer that is matched by the largest number of steps. The layers after
    l are left out if each of them is matched by at least as many steps as layer l − 1. Let X be the
    examples of a prefix, S = XᵀX, and λmax the largest eigenvalue of S. The Newton–Schulz iteration
    starts from αS with α = 1/λmax². The step size of gradient descent is searched. Gradient descent
    with the best momentum for a condition number is compared as well, for several condition
    numbers. Only the growth distinguishes the Newton–Schulz iteration from gradient descent: k
    Newton steps from αI equal 2^k gradient steps, so similarities at the best numbers of steps
    compare only starting points and step sizes.

    Most of the squared error is on prefixes with fewer than d examples, where d is the dimension of
    the inputs. On these prefixes, the errors of all methods are similar. On longer prefixes, a
    residual filter (1 − z^p)^m with free p and m is fitted to the errors of a layer. This filter is
    the factor by which the error along the eigenvector of S with eigenvalue λ is multiplied, and z
    = λ/λmax. The exponent p is 2 for the Newton–Schulz iteration from αS. It is 1 for gradient
    descent and for the Newton–Schulz iteration from αI.
    """
    models, found, powers = models_of(checkpoint, TRANSFORMER), {}, list[Mean]()
    yield same_polynomials(run)
    yield from growth_in_published_tables()
    for trained in models:
        probed = Probed.of(run, trained, samples)
        tables = found[trained.name] = Tables.of(probed)
        yield from labelled(trained.name, growth_by_layer(run, tables))
        yield from labelled(trained.name, [closer(tables, "0.994 and 0.988")])
        if trained.task.noise == 0:
            of_filters, power = filters(probed, tables)
            powers += [power] if power else []
            yield from labelled(trained.name, of_filters)
        if beside_published(trained, "isotropic"):
            yield from labelled(trained.name, cells(tables, "isotropic"))
    yield from over_seeds(powers)
    run.draw(found, "isotropic")


def same_polynomials(run: Run) -> Finding:
    """Compares k Newton steps from αI with 2^k gradient steps, over Q.

    After these steps the weights are M Xᵀy for a matrix M, the examples X and their labels y. The
    matrices M Xᵀ of both algorithms are compared.
    """
    d, doublings, alpha = 3, 5, 2.0**-9
    domain = Rational()
    X = domain.weights(run.rng.integers(-4, 5, (2 * d, d)).astype(float))
    at = X, identity(domain, 2 * d), identity(domain, d)  # all labels and queries at once
    wrong = [
        f"after {k} Newton steps"
        for k in range(1, doublings + 1)
        if newton(domain, *at, k, alpha, "identity") != gradient_descent(domain, *at, 2**k, alpha)
    ]
    return equal(
        "doubling",
        f"predictions of k Newton steps from αI and of 2^k gradient steps of size α, d = {d}, "
        f"k ≤ {doublings}",
        wrong[0] if wrong else None,
        wanted="equal predictions over the rationals",
    )


def growth_by_layer(run: Run, tables: Tables) -> Iterator[Finding]:
    """Yields findings on the growth of matching steps, by similarity and by squared difference."""

    def most_similar(algorithm: str) -> str:
        return (
            f"number of steps after which the errors of {algorithm} are most similar to the errors "
            "of the layer"
        )

    for (kind, wanted), table in zip(EXPECTED.items(), tables.both, strict=True):
        id = kind.lower().replace(" ", "-")
        yield growth(run, id, most_similar(kind), table, wanted)
        by_squares = (
            f"number of steps after which the predictions of {kind} have the smallest mean squared "
            "difference from those of the layer"
        )
        yield growth(run, f"{id}/squares", by_squares, table.by_squares, wanted)
    for condition, table in zip(CONDITIONS, tables.momentum, strict=True):
        name = most_similar(
            f"gradient descent with the best momentum for eigenvalues in [λmax/{condition}, λmax]"
        )
        yield growth(run, f"momentum-{condition}", name, table, "exponential")
