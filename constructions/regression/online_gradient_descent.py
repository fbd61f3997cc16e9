"""Online gradient descent (Kaczmarz, normalised LMS): one causal linear head per layer.

The algorithm is one pass of w ← w + (y_i − ⟨w, x_i⟩) x_i/‖x_i‖² from w = 0; each step fits its
example exactly. This is the method of [Kaczmarz1937], or normalised LMS with step size 1. (Examples
with x_i = 0 leave w unchanged.)

The proof.  Let L be the strictly lower triangular matrix L_tj = ⟨x_j, x_t⟩/‖x_j‖².  The residuals
r_t = y_t − ⟨w_{t−1}, x_t⟩ solve (I + L) r = y. Since L^n = 0, the iteration r ← y − L r from r = y
is exact after n − 1 layers: each layer completes one more residual. With key = x/‖x‖² in the
prompt, a causal head applies L + I, because its diagonal is ⟨x_t, x_t⟩/‖x_t‖² = 1. So the head maps
r to r − (L + I) r = −L r, and the MLP adds y.  The last layer computes Σ_j r_j ⟨key_j, x_q⟩ = ⟨w_n,
x_q⟩.  (If x_t = 0, the key is 0, so the residual is not read.) Under a causal mask, residuals that
all later tokens share give *online* gradient descent [Ding2024].
"""

from __future__ import annotations

from constructions.assembly import Head, block, embed, unembed
from constructions.call import construction
from constructions.examples import Examples, fitted
from constructions.primitives import Move
from constructions.stream import Stream
from constructions.transformer import Transformer
from theory.kinds import Count


@construction
def online_gradient_descent(d: Count, n: Count) -> Transformer:
    """A transformer that computes one pass of online gradient descent over up to n examples.

    The model maps (x, y, x_query) to the prediction ⟨w_n, x_query⟩ with w₀ = 0 and w_i = w_{i−1} +
    (y_i − ⟨w_{i−1}, x_i⟩) x_i/‖x_i‖². The examples x_i are the rows of x (…, n, d) in their order,
    y (…, n) are their labels, and x_query (…, d) is the query. The model has n layers of one causal
    linear head and width 2d + 3; the first n − 1 layers have an MLP that adds the label y_i to the
    register `residual`. After these layers, this register contains y_i − ⟨w_{i−1}, x_i⟩. The keys
    x_i/‖x_i‖² are part of the prompt: the transformer does not compute the division.

    The model raises ValueError if it is called with more than n examples. In float64, rounding
    errors are multiplied by powers of the matrix L of the proof and grow exponentially with the
    number of examples, faster in few dimensions: for normally distributed inputs in one dimension,
    the prediction from 60 examples is wrong, and in three dimensions that from 150 examples.

    Source: [Ding2024] for the setting and [Kaczmarz1937] for the pass; the proof is in
    `online_gradient_descent.py`.
    """
    stream = Stream(x=d, key=d, y=1, residual=1, estimate=1)
    stream.fits(n)
    x, key, y, residual, estimate = map(stream.read, stream)
    refine, add_label = Head(x, key, residual, "residual", -1.0), Move(y, "residual")
    steps = [block(stream, [refine], [add_label], mask="causal") for _ in range(n - 1)]
    output = block(stream, [Head(x, key, residual, "estimate")], mask="causal")
    return Transformer(
        embed(stream, x={"x": 1.0}, key={"key": 1.0}, y={"y": 1.0, "residual": 1.0}),
        [*steps, output],
        unembed(stream, estimate),
        interface=Examples(d, fitted, n=n, at_most=True),
        stream=stream,
        source="[Ding2024] for the setting; [Kaczmarz1937] for the pass",
    )
