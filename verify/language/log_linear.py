"""The claim `log-linear`: maximum likelihood as a projection, and calibration."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

import numpy as np
from flint import fmpq, fmpq_poly

from theory.language import (
    Log,
    LogLinear,
    cross_entropy,
    entropy,
    kl,
    log,
    projection,
    separating_direction,
)
from theory.language import log_linear as definition
from theory.language.log_linear import FITS
from verify.claim import Run, claim, option
from verify.finding import Finding, labelled, no_counterexample, same, within_bounds
from verify.language.draws import family, of_equal_moments, random_distribution, scales
from verify.language.even_process import known_source
from verify.language.rescalings import rescalings

OUTCOMES, FEATURES = 5, 2  # sizes of a random family
ROUNDING = 1e-25  # rounding errors ε of probabilities change a divergence by about ε² < 1e-30


@claim(
    picture="verify.language.log_linear_picture:draw",
    faults_seen=[{"draws": 6}],
)
def log_linear(
    run: Run, *, draws: Annotated[int, option("number of random families", min=2, max=1000)] = 60
) -> Iterator[Finding]:
    """Maximum likelihood in p_θ ∝ q₀e^{θ·f} minimises the relative entropy and gives calibration.

    The base distribution q₀ is fixed, f are the features, and p is the distribution of the data.
    The loss −E_p ln p_θ equals H(p) + KL(p‖p_θ).  The gradient of the loss is E_θ f − E_p f, and
    the Hessian is Cov_θ f.  Here E_θ and E_p are means under p_θ and p, Cov_θ is the covariance
    under p_θ, and H is the entropy. If the data are not separable, the family has a member p* with
    the moments E_p f. In this case KL(p‖p_θ) = KL(p‖p*) + KL(p*‖p_θ) for all θ.

    Let g be a model, that is, a distribution, and let A be a set of outcomes. If the probabilities
    g(x) of all x in A are multiplied by the best common factor, and g is then normalised again, the
    loss decreases by kl(p(A)‖g(A)) ≥ 2δ² nats. Here δ = |g(A) − p(A)|, and kl is the relative
    entropy of two Bernoulli distributions.  If g is multiplied by the best factor on each of its
    level sets (sets on which g has one value), the loss decreases by at least 2·Mis², where the
    miscalibration Mis of g is ½ Σ |p(B) − g(B)|, summed over the level sets B.  If g depends on a
    prompt, and is multiplied by the same factor on A for all prompts, the loss can decrease by at
    least 2δ², where δ is the absolute value of the mean of g(A) − p(A) over prompts. The even
    process is a source in which runs of ones between zeros have even length. The entropies of its
    symbols given the earlier symbols, and the excess of the loss of models that see only the last
    few symbols, are computed exactly.
    """
    draws = run.limited(4, draws=draws)
    yield no_counterexample(
        "decomposition",
        "the loss −E_p ln p_θ of a member p_θ of a log-linear family on data p equals "
        "(entropy of p) + KL(p‖p_θ)",
        other_losses(run, draws),
        words=f"true for {draws} random families",
    )
    yield no_counterexample(
        "gradient",
        "for a log-linear family, (change of the loss from θ to θ') − (linear part of the change, "
        "by the gradient E_θ f − E_p f) equals KL(p_θ‖p_θ')",
        other_gradients(run, draws),
        words=f"true for {draws} random steps",
    )
    yield no_counterexample(
        "hessian",
        "the Hessian of the loss of a log-linear family equals the covariance Cov_θ f of the "
        "features",
        other_hessians(run, draws),
        words=f"true for {draws} random families",
    )
    yield no_counterexample(
        "bias",
        "the gradient of the loss by the bias of a word's logit equals (predicted frequency of the "
        "word) − (true frequency)",
        other_gradients_by_bias(run, draws),
        words=f"true for {draws} random models of two contexts",
    )
    yield no_counterexample(
        "pythagoras",
        "KL(p‖p_θ) = KL(p‖p*) + KL(p*‖p_θ) for members p_θ and p* of a log-linear family, where p* "
        "has the moments of p",
        not_orthogonal(run, draws),
        words=f"true for {draws} random families",
    )
    yield projected(run, draws)
    yield separable(run, draws)
    yield from labelled("rescaling", rescalings(run, draws))
    yield from labelled("even-process", known_source(run.quick))
    run.draw()


def other_losses(run: Run, draws: int) -> Iterator[str]:
    """Random families whose loss −E_p ln p_θ differs from H(p) + KL(p‖p_θ), as text.

    p_θ is a member of the family, p a random distribution and H the entropy.  The loss is computed
    from the moments of p and the log-partition function.
    """
    for _ in range(draws):
        of, x = family(run.rng, OUTCOMES, FEATURES), scales(run.rng, FEATURES)
        p = random_distribution(run.rng, OUTCOMES)
        tilt = sum((m * log(each) for m, each in zip(of.mean(p), x, strict=True)), start=Log())
        loss = cross_entropy(p, of.base) - tilt + of.log_partition(x)
        if loss != entropy(p) + kl(p, of.at(x)):
            yield f"p = {p}, e^θ = {x}, {of}"


def other_gradients(run: Run, draws: int) -> Iterator[str]:
    """Random families and steps θ → θ' at which the gradient of the loss L is wrong, as text.

    L(θ') − L(θ) − ⟨∇L(θ), θ' − θ⟩ is compared with KL(p_θ‖p_θ'), for the members p_θ and p_θ' of
    the family.
    """
    for _ in range(draws):
        of, p = family(run.rng, OUTCOMES, FEATURES), random_distribution(run.rng, OUTCOMES)
        x, y = scales(run.rng, FEATURES), scales(run.rng, FEATURES)
        change = cross_entropy(p, of.at(y)) - cross_entropy(p, of.at(x))
        steps = zip(of.gradient(x, p), x, y, strict=True)
        linear = sum((slope * log(b / a) for slope, a, b in steps), start=Log())
        if change - linear != kl(of.at(x), of.at(y)):
            yield f"p = {p}, from {x} to {y}, {of}"


def other_hessians(run: Run, draws: int) -> Iterator[str]:
    """Random families whose Hessian of the loss differs from the covariance Cov_θ f, as text.

    The entries ∂E_θ f_i/∂θ_j of the Hessian are derivatives of rational functions of e^{θ_j}, where
    E_θ f_i is the mean of feature i under the member with parameters θ.
    """
    places = range(FEATURES)
    for _ in range(draws):
        of, x = family(run.rng, OUTCOMES, FEATURES), scales(run.rng, FEATURES)
        found = [[slope(of, x, i, j) for j in places] for i in places]
        if found != of.covariance(of.at(x)):
            yield f"{found} at {x}, {of}"


def slope(of: LogLinear, x: tuple[Fraction, ...], i: int, j: int) -> Fraction:
    """The derivative by θ_j of the mean of feature i, at e^θ = x, exactly.

    The derivative is x_j·d/dx_j of Σ w f_i / Σ w, a quotient of polynomials in x_j.  The sums are
    over outcomes, w is the unnormalised weight of an outcome, and f_i its feature i.
    """
    others = tuple(Fraction(1) if at == j else each for at, each in enumerate(x))
    tops, bottoms = fmpq_poly([0]), fmpq_poly([0])
    for weight, f in zip(of.weights(others), of.features, strict=True):
        term = fmpq_poly([0] * f[j] + [fmpq(weight.numerator, weight.denominator)])
        tops, bottoms = tops + f[i] * term, bottoms + term
    at = fmpq(x[j].numerator, x[j].denominator)
    rate = tops.derivative() * bottoms - tops * bottoms.derivative()
    value = at * rate(at) / bottoms(at) ** 2
    return Fraction(int(value.p), int(value.q))


def other_gradients_by_bias(run: Run, draws: int) -> Iterator[str]:
    """Random models whose gradient by a bias of the logits is wrong, as text.

    The gradient by the bias of word v is compared with Σ_c μ_c (p_θ(v|c) − p(v|c)), summed over
    contexts c of weights μ_c, where p_θ is the model and p the distribution of the data.  If the
    gradient is 0, the model predicts the word as often as the word occurs.
    """
    for _ in range(draws):
        mu, x, y = random_distribution(run.rng, 2), scales(run.rng, 3), scales(run.rng, 3)
        data, scores = ([random_distribution(run.rng, 3) for _ in mu] for _ in range(2))
        of = [definition(score, np.eye(3, dtype=int).tolist()) for score in scores]
        change, linear, rest = Log(), Log(), Log()
        for weight, p, each in zip(mu, data, of, strict=True):
            change += weight * (cross_entropy(p, each.at(y)) - cross_entropy(p, each.at(x)))
            both = zip(each.at(x), p, x, y, strict=True)
            linear += weight * sum((((a - b) * log(t / s)) for a, b, s, t in both), start=Log())
            rest += weight * kl(each.at(x), each.at(y))
        if change - linear != rest:
            yield f"weights {mu}, data {data}, from {x} to {y}"


def not_orthogonal(run: Run, draws: int) -> Iterator[str]:
    """Random families for which the Pythagorean identity fails, as text.

    The identity is KL(p‖p_θ) = KL(p‖p*) + KL(p*‖p_θ), for members p* and p_θ of the family and
    every distribution p with the moments of p*.
    """
    for _ in range(draws):
        of, x, y = family(run.rng, OUTCOMES, FEATURES), *(scales(run.rng, 2) for _ in "xy")
        best = of.at(x)
        p = of_equal_moments(run.rng, of, best)
        if kl(p, of.at(y)) != kl(p, best) + kl(best, of.at(y)):
            yield f"p = {p}, e^θ* = {x}, e^θ = {y}, {of}"


def projected(run: Run, draws: int) -> Finding:
    """The largest ratio of a divergence to its bound, for members found by Newton's method.

    The divergence is KL(p*‖p_θ) between the member p* with the given moments and the member p_θ
    that is found.  Its terms are p*·(r − ln(1 + r)) ≥ 0 for r = p_θ/p* − 1, the sum of p*·r being
    0, so that rounding errors count by their squares.  The divergence equals
    L(θ) − L(θ*) ≤ ⟨∇L(θ), θ − θ*⟩, as the loss L is convex.  The bound follows, as the moments of
    p_θ and p* agree up to FITS.
    """
    worst = 0.0
    for _ in range(draws):
        of, x = family(run.rng, OUTCOMES, FEATURES), scales(run.rng, FEATURES)
        best = of.at(x)
        theta, found = projection(of, of_equal_moments(run.rng, of, best))
        wanted = np.array(best, dtype=np.float64)
        ratio = found / wanted - 1
        apart = float(wanted @ (ratio - np.log1p(ratio)))
        off = abs(theta - np.log(np.array(x, dtype=np.float64))).sum()
        worst = max(worst, apart / (3 * FITS * off + ROUNDING))
    return within_bounds(
        "projection",
        "largest ratio of the divergence between the true maximum-likelihood member and the member "
        f"found by Newton's method to its bound, over {draws} random families",
        "float",
        worst,
        words=f"{worst:.2g}",
        wanted="a ratio of at most 1",
    )


def separable(run: Run, draws: int) -> Finding:
    """The numbers of families for which data are found to be separable.

    Data on a face of the convex hull of the features are separable, and data in which all outcomes
    occur are not separable.
    """
    seen = {"on a face": 0, "of all outcomes": 0}
    for _ in range(draws):
        of = family(run.rng, OUTCOMES, FEATURES)
        heights = [sum(row) for row in of.features]
        top = [height == max(heights) for height in heights]
        face = tuple(Fraction(each, sum(top)) for each in top)
        seen["on a face"] += separating_direction(of, face) is not None
        seen["of all outcomes"] += (
            separating_direction(of, random_distribution(run.rng, OUTCOMES)) is not None
        )
    return same(
        "separable",
        "number of families for which a separating direction is found and checked exactly, for "
        "data on a face of the convex hull of the features and for data of all outcomes",
        seen,
        {"on a face": draws, "of all outcomes": 0},
        words=f"{seen['on a face']} families for data on a face, and {seen['of all outcomes']} "
        "families for data of all outcomes",
        wanted=f"all {draws} families for data on a face, and no family for data of all outcomes",
    )
