"""The Newton–Schulz iteration: k steps in k + 2 layers of one linear head each, without MLPs.

The algorithm, with S = XᵀX:  M₀ = αS (start "gram") or M₀ = αI (start "identity"),
M_{j+1} = 2M_j − M_j S M_j, prediction x_qᵀ M_k Xᵀ y.

The proof.  Every token stores u = 2^{−j} M_j x.  Then

    2^{−(j+1)} M_{j+1} x = u − 2^{j−1} (2^{−j} M_j) S (2^{−j} M_j) x = u − 2^{j−1} Σ_i u_i ⟨x_i, u⟩,

because Σ_i u_i x_iᵀ = 2^{−j} M_j S.  The right-hand side is one linear head on the residual stream:
query u, key x, value −2^{j−1}·u → u.  Because u is scaled by ½ at every step, the factor 2 of
Newton's recursion does not require an MLP. The last head computes 2^k · Σ_i y_i ⟨x_i, u_q⟩. For
"gram", one more head writes u = αSx; for "identity", the embedding writes u = αx.
"""

from __future__ import annotations

from math import ldexp

from constructions.assembly import Head, block, embed, unembed
from constructions.blocks import Block, Embed, Stage
from constructions.examples import Examples, interleaved
from constructions.regression.stages import Inverse, Powers, Prediction
from constructions.stream import Stream, one
from constructions.transformer import Transformer
from theory.regression.newton import Start


def newton_direct(d: int, k: int, alpha: float, start: Start) -> Transformer:
    """A transformer that computes k Newton–Schulz steps by layers of one linear head.

    The start is M₀ = αS (start "gram") or αI ("identity"), with α = `alpha` and S = XᵀX for the
    examples X. The transformer has k + 2 layers from αS, and k + 1 layers from αI. The width is 2d
    + 2. There is one token for each example x with label y, with the entries (x, y), and one token
    (x, 0) for each query x. No token attends to a query.
    """
    stream = Stream(x=d, u=d, y=1, estimate=1)
    x = stream.read("x")
    begin = [block(stream, [Head(x, x, x, "u", alpha)])] if start == "gram" else []
    written = embed(stream, x={"x": 1.0} if begin else {"x": 1.0, "u": alpha}, y={"y": 1.0})
    return _newton(stream, written, begin, k, Examples(d), Powers(alpha, start))


def newton_interleaved(d: int, k: int, alpha: float, start: Start) -> Transformer:
    """`newton_direct` for prompts in which the tokens of examples and labels alternate.

    The tokens are x₁, y₁, …, x_n, y_n, x_q, for n examples x_i with labels y_i and a query x_q. The
    transformer has one layer more than `newton_direct`, and width 3d + 5.

    The first layer is a unique-hard head that copies x_i from the previous token to the register
    `key` of the token of y_i.  Token t = 0, …, 2n contains the sign s_t = (−1)^t, and the score
    between query t and key j is

        2(t − 1)j − j² − 2 s_t s_j  =  (t − 1)² − 2 + [−(t − 1 − j)² + 4·(s_t ≠ s_j)],

    where the expression in square brackets is 4 at j = t − 1 and at most 0 at every other j. Token
    t = 0 does not have a previous token; for t = 0, this expression is 0 at j = 1 and −1 at j = 0.
    So the maximum is unique. Each label token reads the input of the previous token. Input tokens
    and the query read a label token, whose register x is 0. So the register `key` of input tokens
    and of the query stays 0, and only label tokens contribute in later layers.
    """
    stream = Stream(x=d, key=d, u=d, y=1, estimate=1, t=1, t_squared=1, parity=1)
    x, key, t, t_squared, parity = map(stream.read, ("x", "key", "t", "t_squared", "parity"))
    query, positions = (2 * t - 2 * one, -one, -2 * parity), (t, t_squared, parity)
    columns: dict[str, dict[str, float]] = {
        name: {name: 1.0} for name in ("x", "y", "t", "t_squared", "parity")
    }
    if start == "gram":
        copy = Head(query, positions, x, "key")
        begin = [block(stream, [Head(x + key, key, key, "u", alpha)])]
    else:
        copy = Head(query, positions, (x, alpha * x), ("key", "u"))
        begin, columns["x"]["u"] = [], alpha
    begin.insert(0, block(stream, [copy], normalise="hardmax"))
    written, interface = embed(stream, **columns), Examples(d, interleaved)
    return _newton(stream, written, begin, k, interface, Powers(alpha, start))


def _newton(
    stream: Stream, written: Embed, begin: list[Block], k: int, interface: Examples, of: Powers
) -> Transformer:
    """The transformer of `begin`, whose layers compute u = M₀x, the steps and the prediction."""
    key = stream.read("key" if "key" in stream else "x")
    # The factor is in W_V: 2^{j−1}·u has the size of M_j x, whereas u Σ_i u_i alone could underflow
    # for large j.
    u, y = stream.read("u"), stream.read("y")
    steps = [block(stream, [Head(u, key, -ldexp(1.0, j - 1) * u, "u")]) for j in range(k)]
    output = block(stream, [Head(u, key, y, "estimate", ldexp(1.0, k))])
    first = len(begin)
    inverses = (Stage(first + j, "u", Inverse(2**j, of), ldexp(1.0, j)) for j in range(k + 1))
    return Transformer(
        written,
        [*begin, *steps, output],
        unembed(stream, stream.read("estimate")),
        interface=interface,
        stream=stream,
        stages=(*inverses, Stage(first + k + 1, "estimate", Prediction(2**k, of))),
        source="[Fu2024, Theorem 5.1] for k + 8 layers; the iteration is that of [Schulz1933]",
    )
