"""Online gradient descent (Kaczmarz, normalised LMS): one strictly causal linear head per layer.

The algorithm is one pass of w ← w + (y_i − ⟨w, x_i⟩) x_i/‖x_i‖² from w = 0; each step fits its
example exactly. This is the method of [Kaczmarz1937], or normalised LMS with step size 1. (Examples
with x_i = 0 leave w unchanged.)

The proof.  Let L be the strictly lower triangular matrix L_tj = ⟨x_j, x_t⟩/‖x_j‖².  The residuals
r_t = y_t − ⟨w_{t−1}, x_t⟩ solve (I + L) r = y. Since L^n = 0, the iteration r ← y − L r from r = y
is exact after n − 1 layers: each layer completes one more residual. With key = x/‖x‖² in the
prompt, a strictly causal head computes −L r; its values are −r, where r is the sum of y and of the
register that contains −L r of the layer before.  (If x_t = 0, the key is 0, so the residual is not
read.)  The first token of the prompt is 0, since it attends to itself.  The last layer computes
Σ_j r_j ⟨key_j, x_q⟩ = ⟨w_n, x_q⟩.  Under a causal mask, residuals that all later tokens share give
*online* gradient descent [Ding2024].

Rounding.  Powers of L can be huge, so that errors which change from layer to layer would grow with
them.  Here, a register never depends on its own earlier value: layers write to the registers
`even` and `odd` in turn, and the MLP clears the one that the head has read (r + relu(−r) − relu(r)
is exactly 0).  So the residual of token t is the same number in all layers from t − 1 on, and the
prediction is that of forward substitution in (I + L) r = y.  Before, it may be as large as powers
of L are.  If it overflows, it is NaN in all later layers (∞ − ∞ is NaN, and not 0), and the model
raises an error.
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
    y (…, n) are their labels, and x_query (…, d) is the query. The model has n layers of one
    strictly causal linear head and width 2d + 3. Layers write to the registers `odd` and `even` in
    turn; in layers 2 to n − 1, an MLP sets the other register to 0. After layer n − 1, the sum of
    the label y_i and of the register that this layer wrote is y_i − ⟨w_{i−1}, x_i⟩. The keys
    x_i/‖x_i‖² are part of the prompt: the transformer does not compute the division.

    The model raises ValueError if it is called with more than n examples, and if a residual
    overflows: before it is complete, it may be as large as powers of the matrix L of the proof. For
    normally distributed inputs in one dimension, 1000 examples are accepted and 1500 are not.

    Source: [Ding2024] for the setting and [Kaczmarz1937] for the pass; the proof is in
    `online_gradient_descent.py`.
    """
    stream = Stream(x=d, key=d, y=1, even=1, odd=1)
    stream.fits(n)
    x, key, y, *_ = map(stream.read, stream)
    registers, blocks = ("even", "odd"), []
    for layer in range(1, n + 1):
        read, written = registers[(layer - 1) % 2], registers[layer % 2]
        residual = y + stream.read(read)
        head = Head(x, key, residual if layer == n else -residual, written)
        clear = [Move(-stream.read(read), read)] if 1 < layer < n else []
        blocks.append(block(stream, [head], clear, mask="strictly causal"))
    return Transformer(
        embed(stream, x={"x": 1.0}, key={"key": 1.0}, y={"y": 1.0}),
        blocks,
        unembed(stream, stream.read(registers[n % 2])),
        interface=Examples(d, fitted, n=n, at_most=True),
        stream=stream,
        source="[Ding2024] for the setting; [Kaczmarz1937] for the pass",
    )
