"""Newton–Schulz for causal attention with O(dk) numbers a token: k groups of d pause tokens.

Under a causal mask token i sees only those before it, so M_j x_i, which needs all examples, cannot
stand at the example i.  It stands behind the last example: pause token (j, a), j = 0 … k − 1,
a = 1 … d, holds the unit vector e_a as its key of group j, and the query comes last.

The proof.  With W_j = 2^{−j} M_j S and M_0 = αI, Newton's recursion is

    W_0 = αS,      W_{j+1} = W_j − 2^{j−1} W_j²,      2^{−(j+1)} M_{j+1} x = u − 2^{j−1} W_j u

for u = 2^{−j} M_j x.  In every pause token keep u = W_j e_a, in the query u = 2^{−j} M_j x.

    layer 1        u = α Σ_i x_i ⟨x_i, e_a⟩        in pause tokens; the query has u = αx before
    layer j + 2    u ← u − 2^{j−1} Σ_a u_{(j,a)} ⟨e_a, u⟩        keys of the group j only

are right for all tokens behind the group j: the groups j + 1 … k − 1 and the query.  Within the
group j the sum is over part of it, but it is not read afterwards, and before it nothing changes.
So each group serves one step.  The last layer reads 2^k Σ_i y_i ⟨x_i, u⟩.

k + 2 layers of one linear head, width dk + 2d + 2, n + dk + 1 tokens; the examples are given once.
Whether fewer than dk further tokens suffice is open here.
"""

from __future__ import annotations

from math import ldexp
from typing import Annotated, Any, TypeAlias

from constructions.assembly import Head, block, embed, unembed
from constructions.blocks import Stage
from constructions.call import construction
from constructions.examples import Examples
from constructions.interface import Prompt
from constructions.regression.stages import Inverse, Powers, Prediction
from constructions.stream import Stream
from constructions.transformer import Transformer
from theory.kinds import Count, Steps, StepSize, Within

FewSteps: TypeAlias = Annotated[Steps, Within(most=1000)]
"""An integer k from 0 to 1000, for which float64 holds 2^k."""


class Paused(Examples):
    """Tokens (x_i, y_i), then k groups of d pause tokens, of which the a-th of group j holds the
    unit vector e_a in the columns of its group, then queries, in columns of their own."""

    def __init__(self, d: int, groups: int) -> None:
        super().__init__(d, self._paused)
        self.groups, self.several_queries = groups, True

    def _paused(self, xp: Any, x: Any, y: Any, queries: Any) -> Prompt:
        """Columns: x (d), y, keys of each group (dk), query (d)."""
        d, more = self.d, self.groups * self.d
        zero = x[..., :1, :1] * 0
        pairs = xp.concat([x, y[..., None], *[x[..., :1] * 0] * (more + d)], axis=-1)
        pauses = [
            xp.concat(
                [zero + (column == d + 1 + pause) for column in range(2 * d + 1 + more)], axis=-1
            )
            for pause in range(more)
        ]
        asked = xp.concat([*[queries[..., :1] * 0] * (d + 1 + more), queries], axis=-1)
        tokens = xp.concat([pairs, *pauses, asked], axis=-2)
        first = x.shape[-2] + more
        return Prompt(tokens, x.shape[-2], slice(first, None))


@construction
def newton_with_pauses(d: Count, k: FewSteps, alpha: StepSize) -> Transformer:
    """k Newton–Schulz steps from M₀ = alpha·I under a causal mask, for queries at the end.

    `newton_with_pauses(d, k, alpha)(x, y, x_query)` is x_queryᵀ M_k Xᵀ y, the prediction of
    `newton(d, k, alpha, start="identity")`; k + 2 layers of one linear head each, width
    dk + 2d + 2, and dk pause tokens between examples and queries.  `newton(…, causal=True)` keeps
    O(d²) numbers in each token instead, and predicts from every prefix.

    It converges iff 0 < alpha < 2/λmax(XᵀX).
    """
    groups = [f"key{j}" for j in range(k)]
    stream = Stream(x=d, y=1, **dict.fromkeys(groups, d), u=d, estimate=1)
    stream.fits(k + 2)
    x, y, u = map(stream.read, ("x", "y", "u"))
    keys = [stream.read(name) for name in groups]
    units = sum(keys[1:], start=keys[0]) if keys else 0.0 * x
    layers = [
        [Head(units, x, x, "u", alpha)],
        *([Head(u, key, -ldexp(1.0, j - 1) * u, "u")] for j, key in enumerate(keys)),
        [Head(u, x, y, "estimate", ldexp(1.0, k))],
    ]
    of = Powers(alpha, "identity")
    inverses = (Stage(1 + j, "u", Inverse(2**j, of), ldexp(1.0, j)) for j in range(k + 1))
    columns = {name: {name: 1.0} for name in ("x", "y", *groups)}
    return Transformer(
        embed(stream, **columns, query={"u": alpha}),
        [block(stream, heads, mask="causal") for heads in layers],
        unembed(stream, stream.read("estimate")),
        interface=Paused(d, k),
        stream=stream,
        stages=(*inverses, Stage(k + 2, "estimate", Prediction(2**k, of))),
        source="proved in constructions/regression/newton_pauses.py; the recursion is [Schulz1933]",
    )
