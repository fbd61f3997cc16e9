"""The Newton–Schulz iteration (Iterative Newton in [Fu2024]) by transformers in five layouts.

`newton(d, k, alpha)` returns a transformer whose prediction is x_qᵀ M_k Xᵀ y.  The weights and
their proofs are in `newton_direct.py`, `newton_paper.py`, `ladder.py` and `ladder_gram.py`; those
of causal models are in `newton_causal.py` and `ladder_causal.py`.
"""

from __future__ import annotations

from math import log
from typing import Literal

from constructions.call import construction
from constructions.regression.convergence import with_step
from constructions.regression.ladder_causal import ladder_causal
from constructions.regression.ladder_gram import power_ladder
from constructions.regression.ladder_layers import check_memory
from constructions.regression.newton_causal import newton_causal
from constructions.regression.newton_direct import newton_direct, newton_interleaved
from constructions.regression.newton_paper import newton_paper
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, Steps, StepSize
from theory.regression.newton import Start

MOST_DIRECT = 1000  # steps for which 2^k is a float64


@construction
def newton(
    d: Count,
    k: Steps,
    alpha: StepSize,
    layout: Literal["direct", "ladder", "paper"] = "direct",
    *,
    start: Start = "gram",
    interleaved: bool = False,
    causal: bool = False,
    n: Count | None = None,
) -> Transformer:
    """A transformer that computes k steps of the Newton–Schulz iteration (Iterative Newton).

    `newton(d, k, alpha)(x, y, x_query)` is the prediction x_queryᵀ M_k Xᵀ y with M_{j+1} = 2M_j −
    M_j S M_j and S = XᵀX. M₀ is alpha·S (start "gram") or alpha·I (start "identity"). The rows of X
    are the examples x (…, n, d), y (…, n) are their labels, and x_query (…, d) is the query.

    In the layout "direct" each layer computes one step. The residual I − S M_j is a power of
    I − S M₀. In the layout "ladder" each layer multiplies the exponent of this power by about
    three. The layout "paper" is the construction of [Fu2024]. The second column of the table is the
    number of layers for M₀ = αS, and then for M₀ = αI, where α = alpha.

    | layout | layers from αS, αI                       | heads    | width            |
    |--------|------------------------------------------|----------|------------------|
    | direct | k + 2, k + 1                             | 1        | 2d + 2           |
    | ladder | ⌈log₃(2^(k+2) + 1)⌉, ⌈log₃(2^(k+1) + 1)⌉ | ≤ 7      | ≤ 6d + 4, 5d + 3 |
    | paper  | k + 8 (gram only, ReLU attention)        | 2        | 5d + 3           |

    If causal=True, the model predicts from every prefix at once, and each token stores d × d
    matrices:

    | layout | layers from αS, αI           | heads       | width                          |
    |--------|------------------------------|-------------|--------------------------------|
    | direct | k + 2, k + 2                 | max(d², 2)  | 2d² + 3d + 2                   |
    | ladder | ⌈k log₃2⌉ + 3, ⌈k log₃2⌉ + 2 | ≤ 4d² + 1   | ≤ 5d² + 3d + 2, ≤ 4d² + 3d + 2 |

    The layout "ladder" with full attention has the smallest possible number of layers among
    transformers with linear or ReLU attention, ReLU MLPs and tokens that are affine in x, y and
    x_query.

    Errors in low precision were measured on six prompts with d = 5 and n = 10, where the condition
    number of S is 30. In float32, the error of "ladder" is at most 6e−6 up to k = 100, because
    errors are multiplied by powers of the residual I − S M_j. The error of "direct" is at most 2e−5
    up to k = 40: in step j, a rounding error δ of the stored M_j x becomes (2I − M_j S)δ, and the
    matrix 2I − M_j S tends to I. The error of "paper" exceeds 0.1 % after k = 15, because a
    rounding error doubles in every step. In float16, the error of "ladder" is at most 3 % up to k
    = 100, and "direct" and "paper" overflow.

    The model computes the recursion for every prompt, whether M_k converges or not. M_k converges
    to the pseudo-inverse on range(S) iff 0 < alpha < 2/λmax(S)² for the start "gram", and iff 0 <
    alpha < 2/λmax(S) for the start "identity".

    The parameters are

    d            the dimension of the inputs, ≥ 1
    k            the number of steps, ≥ 0; at most 1000 for "direct", whose weights contain 2^k
    alpha        the number α > 0, a weight of the model
    layout       a layout of the tables above
    start        "gram" for M₀ = αS, "identity" for M₀ = αI
    interleaved  whether the tokens are x₁, y₁, …, x_n, y_n, x_q [Garg2022]; "direct" only
    causal       whether the model predicts from every prefix
    n            the number of examples, for "paper" only

    If `interleaved` is true, one more layer of unique-hard attention copies x_i to the token of
    y_i. This layer reads the squares of positions, so float32 allows at most 2047 examples, float16
    at most 22 and bfloat16 at most 7. If `causal` is true, the model returns (…, n + 1). Entry t =
    0, …, n is the prediction from the first t examples at x_{t+1}, the input of the next example,
    where x_{n+1} = x_query. Each token stores the matrices S and M_j of its prefix. The weights of
    "paper" contain n, so prompts must have exactly n examples. Models of other layouts accept any
    number of examples.

    Raises ValueError if the layout does not support an option, or if the weights do not fit in
    memory.

    Source: [Fu2024, Theorem 5.1] for "paper". The layouts "direct" and "ladder" have fewer layers;
    their proofs are in `newton_direct.py`, `newton_causal.py`, `ladder.py`, `ladder_gram.py` and
    `ladder_causal.py`. The recursion is due to [Schulz1933] and [BenIsrael1965].
    """
    if n is not None and layout != "paper":
        raise InputError(
            f"n is {n} and layout is '{layout}', whose models accept every n: omit the argument n"
        )
    if causal and (layout == "paper" or interleaved):
        raise InputError(
            f"causal is True, layout is '{layout}' and interleaved is {interleaved}: use the "
            "layout 'direct' or 'ladder', and interleaved=False"
        )
    if interleaved and layout != "direct":
        raise InputError(f"interleaved is True and layout is '{layout}': use the layout 'direct'")
    if layout == "paper":
        if start != "gram":
            raise InputError(f"layout is 'paper' and start is '{start}': use the start 'gram'")
        if n is None:
            raise InputError("layout is 'paper' and n is None: give the number n of examples")
        model = newton_paper(d, k, alpha, n)
    elif layout == "ladder":
        check_memory(d, min(k, 10**15) * log(2, 3))  # before 2^k is computed
        build = ladder_causal if causal else _power_ladder
        model = build(d, k, alpha, start)
    else:
        direct_fits(k)
        build = newton_interleaved if interleaved else newton_direct
        model = (newton_causal if causal else build)(d, k, alpha, start)
    return with_step(model, "newton", k, alpha, start)


def direct_fits(k: int) -> None:
    """Raises `ValueError` for more steps than the layout "direct" can have."""
    if k > MOST_DIRECT:
        raise InputError(
            f"k is {k}, and the weights of the layout 'direct' contain 2^k: "
            f"give k ≤ {MOST_DIRECT}, or use the layout 'ladder'"
        )


def _power_ladder(d: int, k: int, alpha: float, start: Start) -> Transformer:
    return power_ladder(d, 2**k, alpha, start)
