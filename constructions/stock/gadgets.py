"""The three gadgets with which a stock model simulates ours, and their error bounds.

u is the unit roundoff of a dtype.

1. **A layer norm close to the identity.**  The stream v is stored twice, with opposite signs, and
   a large constant K: z = (v, K, 0, …, −v, −K, 0, …) of width d has mean 0, and a layer norm of
   weight √(2K²/d + ε) and bias 0 returns g·z with

       g = (1 + ‖v‖²/(K² + dε/2))^(−1/2),      1 − γ ≤ g ≤ 1,      γ = ‖v‖²/(2K²).

   Linear reads take half the difference of the two copies: the computed mean, of size u·K, then
   cancels.  In floats the norm computes a mean m, a factor s, the same for all coordinates, and
   s(z_i − m) with at most four roundings, also if this is computed as sz_i − sm.  So, to first
   order in u, half the difference of the copies of v_i is

       s·v_i up to 4us(|v_i| + |m|),      |m| ≤ 3u(K + ‖v‖₁),      |s − w/σ| ≤ (d/2 + 6)u·w/σ,

   where w is the weight and σ² is the variance plus ε.  Proof for d ≥ 8.  A sum of d numbers, in
   any order, has an error of at most du Σ|z_i| = 2du(K + ‖v‖₁), and the mean is this divided by d,
   rounded.  A running mean m_j = m_{j−1} + (z_j − m_{j−1})/j has j times its error increased in
   step j by at most u(|z_1 + … + z_j| + 2|z_j| + 2|m_{j−1}|), in all steps by at most
   (d + 4 + 2(1 + ln d))u(K + ‖v‖₁) ≤ 3du(K + ‖v‖₁).  The variance is a sum of d squares (z_i − m)²,
   with a relative error of (d − 1)u for the sum, 3u for each square and u for its division by d;
   half of this and of u for ε, and u each for the root, the reciprocal and the product with w.

2. **A linear head from 2p softmax heads.**  In addition to the n attended tokens there is a sink
   with value 0 and score C.  Heads with the scores ±mδs_i, m = 1 … p, and the values
   c_m e^C/δ·v_i, where c_m is the central difference of order 2p, have the sum Σ s_i v_i,
   with an error of at most

       B Σ‖v_i‖ (κ_p θ^{2p} e^{pθ} + 2Λ_p n e^{2pθ − C}),        |s_i| ≤ B,  θ = δB,
       κ_p = (p!)²/(2p + 1)!,      Λ_p = Σ_m 2m|c_m|.

   e^C is a power of two, and c_m is a factor of the values: the contributions of the sink then
   cancel without rounding; any remainder would be multiplied by e^C/δ in every layer.

   In the term of κ_p, B Σ‖v_i‖ can be replaced by Σ|s_i|‖v_i‖.

   Proof.  A head outputs Σ_i v_i f_i(±mδ) with f_i(τ) = e^{τs_i}/(1 + e^{−C} Σ_j e^{τs_j}), after
   the factor e^C.  Write f_i = e^{τs_i} − g_i.  The difference quotient of e^{τs_i} is s_i up to
   the remainder of interpolation at 2p + 1 points, at most δ^{2p} κ_p |s_i|^{2p+1} e^{pδ|s_i|}.
   With w = e^{−C} Σ_j e^{τs_j} ≤ n e^{pθ−C}, g_i = e^{τs_i}·w/(1 + w) has |g_i'| ≤ e^{pθ}·2B·w, so
   the difference quotient of g_i is at most Σ_m |c_m|·2mδ/δ times this bound.  The quotient of a
   constant is 0: no term of order 1/δ remains.

3. **ReLU from GELU.**  gelu(x) − gelu(−x) = x, as for ReLU, so linear moves of an MLP are exact;
   and |gelu(λx)/λ − relu(x)| ≤ G/λ for all x, also for GPT-2's approximation, with G < 0.1701 (the
   larger of the two maxima, 0.16997… and 0.17004…; enclosed by the claim `stock`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, TypeAlias

import torch

from constructions.exactness import significand
from theory.kinds import Count, Instance, NonNegative, Positive, Within, checked

NumberOrTensor: TypeAlias = torch.Tensor | NonNegative
"""A tensor of numbers ≥ 0, or one finite number ≥ 0."""

Dtype: TypeAlias = Annotated[torch.dtype, Instance(torch.dtype, "a dtype, such as torch.float32")]
"""A dtype of torch."""

GELU = 0.1701
MOST_ORDER = 6  # 2p heads each: for larger p, rounding dominates


@cache
def stencil(p: int) -> tuple[Fraction, ...]:
    """The coefficients c_1, …, c_p of the central difference of order 2p.

    They are c_m = (−1)^{m+1} (p!)² / (m (p − m)! (p + m)!), and they satisfy
    Σ_m c_m (f(m) − f(−m)) = f'(0) for all polynomials f of degree at most 2p.
    """
    square = math.factorial(p) ** 2
    return tuple(
        Fraction((-1) ** (m + 1) * square, m * math.factorial(p - m) * math.factorial(p + m))
        for m in range(1, p + 1)
    )


def kappa(p: int) -> Fraction:
    """The constant κ_p = (p!)²/(2p + 1)! in the remainder of the central difference of order 2p."""
    return Fraction(math.factorial(p) ** 2, math.factorial(2 * p + 1))


def lipschitz(p: int) -> Fraction:
    """The constant Λ_p = Σ_m 2m|c_m| of the central difference of order 2p.

    The coefficients of the central difference are c_1, …, c_p (`stencil`). The central difference
    of a function with slopes of at most s is at most Λ_p·s.
    """
    return sum((2 * m * abs(c) for m, c in enumerate(stencil(p), start=1)), start=Fraction(0))


@checked
@dataclass(frozen=True)
class Gadgets:
    """The parameters with which a model is translated into a class of torch or transformers.

    order     p: a linear head becomes 2p softmax heads, which also attend to a new token, the sink
    theta     θ: scores s_i of a linear head are scaled to δ·s_i, whose largest absolute value is θ
    bits      the exponent of e^C = 2^bits, where C is the score of the sink
    constant  K: a layer norm nearly preserves (v, K, −v, −K), where v is the residual stream
    steep     λ: gelu(λx)/λ is nearly relu(x)
    """

    order: Annotated[Count, Within(most=MOST_ORDER)]
    theta: Positive
    bits: Count
    constant: Positive
    steep: Positive

    @property
    def sink(self) -> float:
        """The score C = bits·ln 2 of the sink.

        The sink is a token that has value 0 and receives almost all weight in the softmax heads
        that replace a linear head.
        """
        return self.bits * math.log(2)

    @checked
    def head(self, theta: NonNegative, n: NonNegative) -> float:
        """A bound on the error of a replaced linear head, divided by B Σ‖v_i‖, in exact arithmetic.

        A linear head outputs Σ_i s_i v_i from n tokens with values v_i and scores |s_i| ≤ B. It is
        replaced by 2p softmax heads with p = `order` and scores ±m·δ·s_i, m = 1 … p. These heads
        also attend to a sink, a token of score C. Their outputs form a central difference of order
        2p. `theta` is the largest scaled score δ·|s_i|. Errors of rounding and of layer norms are
        not included.
        """
        return sum(self.parts(theta, n))

    @checked
    def parts(self, theta: NumberOrTensor, n: NonNegative) -> tuple[Any, Any]:
        """The errors of a replaced linear head by the central difference and by the sink.

        The linear head has n tokens with values v_i and scores |s_i| ≤ B. The first result is
        relative to Σ |s_i|‖v_i‖, which is at most B Σ‖v_i‖, and the second to B Σ‖v_i‖. `theta`, a
        number or a tensor, is the largest scaled score δ·|s_i|.
        """
        p = self.order
        method = float(kappa(p)) * theta ** (2 * p) * math.e ** (p * theta)
        return method, 2 * float(lipschitz(p)) * n * math.e ** (2 * p * theta - self.sink)

    @checked
    def gamma(self, square: NonNegative) -> float:
        """The bound γ = ‖v‖²/(2K²) on the relative difference of a layer norm from the identity.

        The layer norm is applied to (v, K, −v, −K), where the residual stream v satisfies ‖v‖²
        = `square`, and K = `constant`.
        """
        return square / (2 * self.constant**2)

    @checked
    def mean(self, total: NumberOrTensor, u: Positive) -> Any:
        """A bound on the mean that a layer norm computes of (v, K, −v, −K), whose mean is 0.

        `total`, a number or a tensor, is ‖v‖₁ for the residual stream v. K = `constant`, and u is
        the unit roundoff of the dtype. The bound is 3u(K + ‖v‖₁), to first order in u.
        """
        return 3 * u * (self.constant + total)

    @checked
    def with_norms(self, theta: NumberOrTensor, n: NonNegative, gamma: NonNegative) -> Any:
        """A bound on the error of a replaced linear head, divided by B Σ‖v_i‖, with layer norms.

        A linear head outputs Σ_i s_i v_i from n tokens with values v_i and scores |s_i| ≤ B. It is
        replaced by 2p softmax heads with p = `order` and scores ±m·δ·s_i, m = 1 … p. These heads
        also attend to a sink, a token of score C. Their outputs form a central difference of order
        2p. `theta`, a number or a tensor, is the largest scaled score δ·|s_i|. Errors of rounding
        are not included.

        The layer norm of token j multiplies all that the heads read from this token by a factor
        g_j, where 1 − γ ≤ g_j ≤ 1 and γ = `gamma`. So the scores at token t are multiplied by g_t
        g_j, and the values by g_j. The score of the sink, which is token 0, is multiplied by g_t
        g_0 ≥ 1 − 2γ. The result is the sum of twice the error of the central difference, three
        times the error due to the sink, and (3 + 3C)γ. The result is ∞ if γC > 1/4.
        """
        if gamma * self.sink > 0.25:
            return math.inf
        method, left = self.parts(theta, n)
        return 2 * method + 3 * left + 3 * (1 + self.sink) * gamma

    @checked
    def rounding(self, u: Positive) -> float:
        """The rounding error of a replaced linear head, divided by B Σ‖v_i‖, to first order.

        A linear head outputs Σ_i s_i v_i from n tokens with values v_i and scores |s_i| ≤ B. It is
        replaced by 2p softmax heads with p = `order` and scores ±m·δ·s_i, m = 1 … p. These heads
        also attend to a sink, a token of score C. Their outputs form a central difference of order
        2p. u is the unit roundoff. Softmax subtracts the largest score, which is the score C of the
        sink, so scores have rounding errors of size u·C. The central difference divides these
        errors by θ, the largest scaled score δ·|s_i|.
        """
        each = 2 * float(sum(map(abs, stencil(self.order))))
        return (self.sink + 5) * each * u / self.theta


def unit_roundoff(dtype: torch.dtype) -> float:
    """The unit roundoff u of a float dtype: half the distance from 1 to the next number."""
    return 2.0 ** -significand(dtype)


def chosen(order: int, dtype: torch.dtype, n: int, square: float) -> Gadgets:
    """The parameters of this order for which the sum of the errors of heads is smallest.

    The sum consists of twice the error of `Gadgets.head` for n tokens and the rounding error in the
    dtype. θ is a power of two, and e^{−C} is a normal number of the dtype, where C is the score of
    the sink. K is the smallest power of two for which the error of layer norms is below the
    rounding error, for a stream v with ‖v‖² ≤ `square`.
    """
    u, most = unit_roundoff(dtype), -round(math.log2(torch.finfo(dtype).smallest_normal))
    thetas = 2.0 ** -torch.arange(-1, 28, dtype=torch.float64)
    scores = [Gadgets(order, 1.0, bits, 1.0, 1.0) for bits in range(4, min(80, most) + 1)]
    # One row for each score of the sink; the rounding error is that at θ = 1, divided by θ.
    errors = torch.stack([2 * sum(g.parts(thetas, n)) + g.rounding(u) / thetas for g in scores])
    row, column = divmod(int(errors.argmin()), len(thetas))
    best = replace(scores[row], theta=float(thetas[column]))
    least = math.sqrt(3 * (1 + best.sink) * max(square, 1.0) / (2 * u))
    return Gadgets(
        order, best.theta, best.bits, 2.0 ** math.ceil(math.log2(least)), 2.0 ** significand(dtype)
    )
