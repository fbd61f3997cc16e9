"""The Newton–Schulz iteration for all prefixes of the examples at once, in k + 2 causal layers.

Under a causal mask, earlier tokens compute with shorter prefixes, so token t must not use their
results. Therefore the construction for full attention diverges if it is evaluated causally (see
[Fu2024, Remark B.6]). But a token can combine its registers: a head with a diagonal mask (each
token attends only to itself) multiplies three registers:

    ⟨query_t, key_t⟩ · value_t.

So token t stores the matrices S and M of its prefix, row by row (S_a and V_a, a = 1 … d):

    layer 1        S_a = Σ_{i<t} x_{i,a} x_i,  V_a = α S_a,  b = Σ_{i<t} y_i x_i    causal heads
                   (from αI: V_a = α e_a, a constant)
    a Newton step  V_a ← V_a − 2^{j−1} Σ_e ⟨V_a, S_e⟩ V_e                          d² diagonal heads
    prediction     2^k Σ_a x_{t,a} ⟨V_a, b⟩                                         d diagonal heads

Here V = 2^{−j} M_j, as in `newton_direct.py`: (V S V)_a = Σ_e ⟨V_a, S_e⟩ V_e, since S and V are
symmetric.  If diagonal masks are not available, a diagonal head is the difference of a causal head
and a strictly causal head with the same weights.

With O(d²) numbers per token, O(log κ) layers suffice (`ladder_causal.py` reduces their number by
the factor log₃2). With O(d) numbers per token, causal layers are first-order methods, and the best
known construction, Chebyshev's method, has O(√κ) layers. Its optimality is a conjecture, which is
not proved here.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ldexp

import numpy as np

from constructions.assembly import Head, block, embed, unembed
from constructions.blocks import Stage
from constructions.examples import Examples, shifted
from constructions.primitives import Move
from constructions.regression.stages import Image, Inverse, Powers, Prediction
from constructions.stream import Map, Stream, one
from constructions.transformer import Transformer
from theory.regression.newton import Start


def newton_causal(d: int, k: int, alpha: float, start: Start = "gram") -> Transformer:
    """A causal transformer of k + 2 layers that predicts from every prefix of the examples.

    The transformer computes k Newton–Schulz steps from M₀ = alpha·S (start "gram") or alpha·I
    ("identity"), where S = XᵀX for the examples X of each prefix. The transformer has at most
    max(d², d + 1) linear heads in a layer and width 2d² + 3d + 2. Entry t of the output is the
    prediction from the first t examples, as in `constructions.examples.shifted`.
    """
    rows = range(1, d + 1)
    widths = {"x": d, "key": d, "y": 1, "b": d, "estimate": 1}
    stream = Stream(**widths, **{f"{M}{a}": d for M in "SV" for a in rows})
    stream.fits(k + 2, heads=max(d * d, d + 1))
    x, b = map(stream.read, ("x", "b"))
    S, V = ({a: stream.read(f"{M}{a}") for a in rows} for M in "SV")
    coordinate = {a: Map(np.eye(d)[:, [a - 1]], f"[{a}]") for a in rows}
    linear = {"S": 1.0, "V": alpha} if start == "gram" else {"S": 1.0}
    unit = {a: one @ Map(np.eye(d)[[a - 1]], f"e{a}") for a in rows}
    constants = [Move(alpha * unit[a], f"V{a}") for a in rows if start == "identity"]
    first = block(stream, sums(stream, linear), constants, mask="causal")
    steps = [
        block(
            stream,
            [Head(V[a], S[e], -ldexp(1.0, j - 1) * V[e], f"V{a}") for a in rows for e in rows],
            mask="diagonal",
        )
        for j in range(k)
    ]
    read = [Head(V[a], b, x @ coordinate[a], "estimate", ldexp(1.0, k)) for a in rows]
    of = Powers(alpha, start)
    return Transformer(
        embed(stream, x={"x": 1.0}, key={"key": 1.0}, y={"y": 1.0}),
        [first, *steps, block(stream, read, mask="diagonal")],
        unembed(stream, stream.read("estimate")),
        interface=Examples(d, shifted),
        stream=stream,
        stages=(
            *(Stage(1, f"S{a}", Image(0, of, a, prefixes=True)) for a in rows),
            *(
                Stage(j + 1, f"V{a}", Inverse(2**j, of, a, prefixes=True), ldexp(1.0, j))
                for j in range(k + 1)
                for a in rows
            ),
            Stage(k + 2, "estimate", Prediction(2**k, of, prefixes=True)),
        ),
        source="weightwright; the iteration is that of [Schulz1933]",
    )


def sums(stream: Stream, factors: Mapping[str, float]) -> list[Head]:
    """Heads that sum x_i x_iᵀ and y_i x_i over the examples before a token.

    x_i is example i and y_i is its label. For every entry NAME: factor of `factors`, the matrix in
    the registers NAME of token t receives factor·Σ_{i<t} x_i x_iᵀ. The register b of token t
    receives Σ_{i<t} y_i x_i. The heads require a causal mask; the key of a query is 0.
    """
    key = stream.read("key")
    heads = [
        Head(
            one,
            key @ Map(np.eye(key.width)[:, [a - 1]], f"[{a}]"),
            tuple(factor * key for factor in factors.values()),
            tuple(f"{M}{a}" for M in factors),
        )
        for a in range(1, key.width + 1)
    ]
    return [*heads, Head(one, stream.read("y"), key, "b")]
