"""Hyperpower iterations of order p: k steps in the smallest number of layers.

One step of order p raises the residual to the power p, I − S M_{j+1} = (I − S M_j)^p; Newton is
p = 2.  If steps are computed one by one, each requires at least ⌈log₃p⌉ layers. The ladder computes
the power p^k without the powers in between.
"""

from __future__ import annotations

from math import log

from constructions.call import construction
from constructions.regression.convergence import with_step
from constructions.regression.ladder_gram import power_ladder
from constructions.regression.ladder_layers import check_memory
from constructions.transformer import Transformer
from theory.kinds import Count, Steps, StepSize
from theory.regression.hyperpower import Order
from theory.regression.newton import Start


@construction
def hyperpower(
    d: Count, k: Steps, order: Order, alpha: StepSize, *, start: Start = "gram"
) -> Transformer:
    """A transformer that computes k steps of the hyperpower iteration for least squares.

    `hyperpower(d, k, order, alpha)(x, y, x_query)` is the prediction x_qᵀ M_k Xᵀ y with M_{j+1}
    = M_j Σ_{i<order} (I − S M_j)^i and S = XᵀX. The number of terms in each step is `order`. M₀ is
    alpha·S (start "gram") or alpha·I (start "identity"). The rows of X are the examples x
    (…, n, d), y (…, n) are their labels, and x_q = x_query (…, d) is the query.

    The model has ⌈log₃(4·order^k + 1)⌉ layers for the start "gram", and ⌈log₃(2·order^k + 1)⌉
    layers for the start "identity". These are the smallest numbers of layers for transformers with
    linear or ReLU attention, ReLU MLPs and tokens that are affine in x, y and x_query. M_k
    converges to the pseudo-inverse on range(S) iff 0 < alpha < 2/λmax(S)² for the start "gram", and
    iff 0 < alpha < 2/λmax(S) for the start "identity".

    Source: [BenIsrael1965] for the iteration; the numbers of layers are proved in `ladder.py` and
    `ladder_gram.py`.
    """
    check_memory(d, min(k, 10**15) * log(order, 3))  # before order^k is computed
    model = power_ladder(d, order**k, alpha, start)
    return with_step(model, "hyperpower", k, alpha, start)
