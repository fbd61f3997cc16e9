"""The Newton–Schulz iteration (Iterative Newton in [Fu2024]): one name for its constructions.

`newton(d, k, alpha)` returns a transformer whose prediction is x_qᵀ M_k Xᵀ y.  The weights, each
with its proof, are in `newton_direct.py`, `newton_paper.py`, `ladder.py` and `ladder_gram.py`, of
causal layers in `newton_causal.py` and `ladder_causal.py`.
"""

from __future__ import annotations

from math import log
from typing import Literal

from constructions.call import construction
from constructions.regression.climb import room_for
from constructions.regression.ladder_causal import ladder_causal
from constructions.regression.ladder_gram import power_ladder
from constructions.regression.newton_causal import newton_causal
from constructions.regression.newton_direct import newton_direct, newton_interleaved
from constructions.regression.newton_paper import newton_paper
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, Steps, StepSize
from theory.regression.newton import Start


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

    `newton(d, k, alpha)(x, y, x_query)` is x_queryᵀ M_k Xᵀ y, for any examples and query, with
    M_{j+1} = 2M_j − M_j S M_j, S = XᵀX and M₀ = alpha·S (start "gram") or alpha·I (start
    "identity"), for x (…, n, d), y (…, n), x_query (…, d).

    | layout | layers from αS, αI                       | heads    | width            |
    |--------|------------------------------------------|----------|------------------|
    | direct | k + 2, k + 1                             | 1        | 2d + 2           |
    | ladder | ⌈log₃(2^(k+2) + 1)⌉, ⌈log₃(2^(k+1) + 1)⌉ | ≤ 7      | ≤ 7d + 5, 5d + 3 |
    | paper  | k + 8 (gram only), ReLU scores over n    | 2        | 5d + 3           |

    and causal, for every prefix of the examples at once, each token keeping d × d matrices:

    | layout | layers from αS, αI           | heads     | width                          |
    |--------|------------------------------|-----------|--------------------------------|
    | direct | k + 2, k + 2                 | d² (2)    | 2d² + 3d + 2                   |
    | ladder | ⌈k log₃2⌉ + 3, ⌈k log₃2⌉ + 2 | ≤ 4d² + 1 | ≤ 5d² + 3d + 2, ≤ 4d² + 3d + 2 |

    No transformer of linear or ReLU attention and ReLU MLPs on tokens affine in the prompt has
    fewer layers than the first ladder.

    Shorter dtypes than float64, measured at κ(S) = 30, d = 5, n = 10: in float32 "ladder" stays
    within 6e−6 of the recursion up to k = 100 (six prompts), as it multiplies errors by powers of
    the residual; "direct" within 2e−5 up to k = 40, since u is the query, and an error δ of M x
    becomes (2I − M S)δ, which tends to δ; "paper", where x is the query, makes 2δ of it and passes
    0.1 % after k = 15. In float16 "ladder" stays within 3 % up to k = 100, where "direct" and
    "paper" have overflowed.

    Computing the recursion needs no hypothesis.  It converges to the pseudo-inverse on range(S)
    iff 0 < alpha < 2/λmax(S)² (gram), resp. alpha < 2/λmax(S) (identity), strictly.

    Args:
        d, k, alpha: ≥ 1; ≥ 0 (≤ 1000 for "direct", whose weights hold 2^k); > 0, and a weight.
        interleaved: prompts x₁, y₁, …, x_n, y_n, x_q with a token for each, as in [Garg2022];
            positions t² are exact in float64, and in float32 up to about a thousand examples;
            one layer of unique-hard attention more copies x_i to the token of y_i ("direct" only).
        causal: every prefix at once: returns (…, n + 1), entry t from the first t examples; each
            token keeps S and M of its own prefix, and computes with its own registers alone.
        n: number of examples, for "paper" only, whose weights contain it: its models serve prompts
            of exactly n examples, all others any number.

    Raises ValueError for what a layout cannot do, and for layers that do not fit into the memory.

    Source: [Fu2024, Theorem 5.1] for "paper"; "direct" and "ladder" need fewer layers and are
    proved here.  The recursion is due to [Schulz1933] and [BenIsrael1965].
    """
    if n is not None and layout != "paper":
        raise InputError(f"n is {n}, but layout '{layout}' works for every n: leave it out")
    if causal and (layout == "paper" or interleaved):
        raise InputError(
            "causal layers are built for layouts 'direct' and 'ladder' and packed prompts: leave "
            f"{'interleaved' if interleaved else 'layout ' + repr(layout)} out"
        )
    if interleaved and layout != "direct":
        raise InputError(f"interleaved prompts need layout 'direct', not '{layout}'")
    if layout == "paper":
        if start != "gram":
            raise InputError("layout 'paper' starts from αS: leave start at 'gram'")
        if n is None:
            raise InputError("layout 'paper' has the number of examples in its weights: pass n=…")
        return newton_paper(d, k, alpha, n)
    if layout == "ladder":
        room_for(d, min(k, 10**15) * log(2, 3))  # before 2^k is computed
        if causal:
            return ladder_causal(d, k, alpha, start)
        return power_ladder(d, 2**k, alpha, start)
    if k > 1000:
        raise InputError(
            f"k is {k}, but layout 'direct' holds 2^k as a float64: "
            "take k ≤ 1000, or layout='ladder'"
        )
    if causal:
        return newton_causal(d, k, alpha, start)
    build = newton_interleaved if interleaved else newton_direct
    return build(d, k, alpha, start)
