"""The claim `chebyshev`: a transformer computes k steps of Chebyshev's method."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

import numpy as np

from theory.checks import InputError
from verify.claim import Run, claim, option
from verify.evidence.identity import DomainName, equality
from verify.evidence.registers import registers_hold
from verify.evidence.size import size
from verify.finding import Finding, at_most
from verify.regression.data import gaussian_examples
from verify.regression.options import Prompts, in_each_domain
from verify.regression.statements import chebyshev_statement, in_float64

ROUNDINGS = 40  # in a coefficient: a logarithm, at most four exponentials, ten products and sums


@claim(
    source="[Saad2003]; layers proved in constructions/regression/chebyshev.py",
    faults_seen=in_each_domain(k=4, d=2, n=3),
)
def chebyshev(
    run: Run,
    *,
    k: Annotated[int, option("steps of the algorithm", min=1)] = 10,
    d: Annotated[int, option("dimension of the inputs", min=1)] = 5,
    n: Annotated[int, option("examples in a prompt", min=1)] = 10,
    smallest: Annotated[float, option("the interval's lower end a")] = 1.0,
    largest: Annotated[float, option("the interval's upper end b")] = 32.0,
    domain: Annotated[DomainName, option("number system of the equality")] = "all",
    samples: Prompts = 50,
) -> Iterator[Finding]:
    """⌈log₃k⌉ + 1 layers compute k steps of Chebyshev's method, on any examples and query.

    The prediction is x_qᵀ G_k Xᵀ y with I − S G_k = T_k(l(S))/T_k(σ), the residual polynomial that
    is least on [a, b]. The weights hold quotients of the numbers T_j(σ), which float64 rounds. So
    the transformer is shown to equal the product formulas with the coefficients in its weights, and
    these to be those of Chebyshev but for rounding.
    """
    if not 0 < smallest < largest < np.inf:
        raise InputError(f"the interval is [{smallest:g}, {largest:g}]: give 0 < a < b")
    statement = chebyshev_statement(run, smallest, largest)
    in_other_domains = equality(run, statement, d, n, k, domain)
    yield size(statement.build(d, n, k), statement.theorem, d=d, k=k)
    yield _coefficients(k, smallest, largest)
    if domain in ("all", "float"):
        yield in_float64(statement, gaussian_examples(run, samples, n, d), k)
    yield from in_other_domains
    if domain == "all":
        yield registers_hold(run, statement, d, n, k)


def _coefficients(k: int, smallest: float, largest: float) -> Finding:
    """The rounded coefficients of every rung beside 4τ_aτ_bτ_c/τ_{a+b+c} and so on, over Q.

    With a, b, c of q and q + 1 that sum to p, c₃ = 4τ_aτ_bτ_c/τ_p, c₁ = τ_o/τ_p, where o is the one
    that occurs once, and c₂ = c₃ − c₁ − 1; if all agree, c₁ = c₃ − 1 and c₂ = 0.
    """
    from constructions.regression.chebyshev import coefficients
    from constructions.regression.ladder import climbs, rungs, slots_of

    low, high = Fraction(smallest), Fraction(largest)
    sigma, alpha = (high + low) / (high - low), 2 / (low + high)
    tau = [Fraction(1), sigma]
    while len(tau) < k + 2:
        tau.append(2 * sigma * tau[-1] - tau[-2])
    shares = []
    for below, targets in climbs(rungs(k)):
        at = {"low": below, "high": below + 1}
        for exponent in targets.values():
            slots = slots_of(exponent, below)
            once = min(slots, key=slots.count)
            c3 = Fraction(4)
            for slot in slots:
                c3 *= tau[at[slot]]
            c3 /= tau[exponent]
            c1 = c3 - 1 if slots.count(once) == 3 else tau[at[once]] / tau[exponent]
            c2 = c3 - c1 - 1
            wanted = {slot: slots.count(slot) * c3 - (c1 if slot == once else c2) for slot in slots}
            cubic, kept, added = coefficients(exponent, below, smallest, largest)
            off = [abs(Fraction(kept[slot]) - wanted[slot]) for slot in wanted]
            off += [abs(Fraction(cubic) - c3), abs(Fraction(added) + c2 * alpha) / alpha]
            allowed = Fraction(ROUNDINGS, 2**53) * (3 * c3 + abs(c2) + c1)
            shares += [float(each / allowed) for each in off]
    return at_most(
        "coefficients",
        f"{len(shares)} coefficients are those of the product formulas, rounded",
        "exact",
        max(shares, default=0.0),
        1.0,
        words=f"off by at most {max(shares, default=0.0):.1%} of {ROUNDINGS} roundings",
        wanted=f"{ROUNDINGS} roundings",
    )
