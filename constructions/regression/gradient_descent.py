"""Gradient descent: one linear head per step, or ⌈log₃(2k + 1)⌉ layers for k steps.

The algorithm: w ← w − η(S w − b) from w = 0, with S = XᵀX and b = Xᵀy.

Full attention, k layers, width d + 1 [vonOswald2023, Proposition 1].  The register e contains the
residual y_t − ⟨w, x_t⟩ on examples and −⟨w, x_q⟩ on queries. For w = 0 its content is y, resp. 0,
which the embedding writes.  A step changes w by η Σ_i e_i x_i. So it changes every e_t by −η Σ_i
e_i ⟨x_i, x_t⟩, which one head computes. The prediction is −e at the query.

Causal attention, k layers, width 2d + 2: the exact predictions for all prefixes at once. The
residuals above would mix prefixes, because the residual of token j belongs to the weights fitted to
the examples before j. Instead, token t reads the examples before it in every layer. Let S_t and b_t
belong to these examples. Token t stores u = (I − ηS_t)^i x_t and adds η⟨b_t, u⟩ to its prediction,
since w_k = Σ_{i<k} η(I − ηS_t)^i b_t. One head computes both: query u, key `key`, value (−η·key,
η·y) → (u, prediction).

"ladder": the same k steps in ⌈log₃(2k + 1)⌉ layers, because the residual is the power (I − ηS)^k.
"""

from __future__ import annotations

from math import log
from typing import Literal

from constructions.assembly import Head, block, embed, unembed
from constructions.blocks import Stage
from constructions.call import construction
from constructions.examples import Examples, shifted
from constructions.regression.convergence import with_step
from constructions.regression.ladder import ladder, powers
from constructions.regression.ladder_layers import check_memory
from constructions.regression.stages import Powers, Prediction
from constructions.stream import Stream
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, Steps, StepSize


@construction
def gradient_descent(
    d: Count,
    k: Steps,
    step_size: StepSize,
    layout: Literal["direct", "ladder"] = "direct",
    *,
    causal: bool = False,
) -> Transformer:
    """A transformer that computes k steps of gradient descent for least squares from w = 0.

    `gradient_descent(d, k, step_size)(x, y, x_query)` is ⟨w_k, x_query⟩ with w₀ = 0 and
    w_{j+1} = w_j − step_size·(XᵀX w_j − Xᵀy). The rows of X are the examples x (…, n, d), y (…, n)
    are their labels, and x_query (…, d) is the query.

    | layout        | layers        | heads | width  | returns                               |
    |---------------|---------------|-------|--------|---------------------------------------|
    | direct        | k             | 1     | d + 1  | (…)                                   |
    | causal=True   | k             | 1     | 2d + 2 | (…, n + 1), one for each prefix       |
    | ladder        | ⌈log₃(2k + 1)⌉ | ≤ 7  | ≤ 5d + 3 | (…)                                |

    In the layout "direct" each layer computes one step. In the layout "ladder" each layer
    multiplies the number of steps computed so far by about three. With causal=True, which is for
    "direct" only, entry t = 0, …, n of the result is the prediction from the first t examples at
    x_{t+1}, the input of the next example, where x_{n+1} = x_query. The column "returns" is the
    shape of the predictions. The iteration converges to the minimum-norm solution iff 0 < step_size
    < 2/λmax(XᵀX).

    Raises ValueError for the layout "ladder" if k = 0 or causal=True. Causal layers cannot compute
    the layout "ladder", because the prediction is a polynomial in the matrix XᵀX of a prefix, and a
    causal layer raises the degree of this polynomial by only 1 (see the claim `state-size`).

    Source: [vonOswald2023, Proposition 1] for "direct"; the proofs for causal=True and for "ladder"
    are in `gradient_descent.py` and `ladder.py`.
    """
    if layout == "ladder":
        if causal:
            raise InputError("layout is 'ladder' and causal is True: use the layout 'direct'")
        if k == 0:
            raise InputError("layout is 'ladder' and k is 0: give k ≥ 1 or the layout 'direct'")
        check_memory(d, log(k, 3))
        model = ladder(d, powers(k, step_size), Powers(step_size, "identity"))
    else:
        model = (_causal if causal else _direct)(d, k, step_size)
    return with_step(model, "gradient_descent", k, step_size, "identity")


def _direct(d: int, k: int, step_size: float) -> Transformer:
    of = Powers(step_size, "identity")
    stream = Stream(x=d, e=1)
    stream.fits(k)
    x, e = map(stream.read, stream)
    return Transformer(
        embed(stream, x={"x": 1.0}, y={"e": 1.0}),
        [block(stream, [Head(x, x, e, "e", -step_size)]) for _ in range(k)],
        unembed(stream, -e),
        interface=Examples(d),
        stream=stream,
        stages=tuple(Stage(j, "e", Prediction(j, of), -1.0) for j in range(1, k + 1)),
        source="[vonOswald2023, Proposition 1]",
    )


def _causal(d: int, k: int, step_size: float) -> Transformer:
    stream = Stream(key=d, y=1, u=d, estimate=1)
    stream.fits(k)
    key, y, u, estimate = map(stream.read, stream)
    of = Powers(step_size, "identity")
    step = Head(u, key, (-key, y), ("u", "estimate"), step_size)
    return Transformer(
        embed(stream, x={"u": 1.0}, key={"key": 1.0}, y={"y": 1.0}),
        [block(stream, [step], mask="causal") for _ in range(k)],
        unembed(stream, estimate),
        interface=Examples(d, shifted),
        stream=stream,
        stages=tuple(
            Stage(j, "estimate", Prediction(j, of, prefixes=True)) for j in range(1, k + 1)
        ),
        source="[vonOswald2023, Proposition 1] for full attention",
    )
