"""Newton–Schulz steps under a causal mask, with k groups of d pause tokens.

Under a causal mask token i attends only to tokens up to i, so M_j x_i, which depends on all
examples, cannot be computed at example i.  It is computed after the last example, by pause tokens
(j, a) with j = 0 … k − 1 and a = 1 … d. Token (j, a) contains the unit vector e_a as its key of
group j. The query is the last token.

The proof.  With W_j = 2^{−j} M_j S and M_0 = αI, Newton's recursion is

    W_0 = αS,      W_{j+1} = W_j − 2^{j−1} W_j²,      2^{−(j+1)} M_{j+1} x = u − 2^{j−1} W_j u

for u = 2^{−j} M_j x. Pause token (j, a) stores u = W_j e_a, and the query stores u = 2^{−j} M_j x.

    layer 1        u = α Σ_i x_i ⟨x_i, e_a⟩        in pause tokens; the query has u = αx already
    layer j + 2    u ← u − 2^{j−1} Σ_a u_{(j,a)} ⟨e_a, u⟩        keys of the group j only

These layers compute a step for all tokens after group j: the groups j + 1 … k − 1 and the query.
Within group j the sum is incomplete, but later layers do not read this group. Earlier tokens do not
change. So each group is used for one step.  The last layer computes 2^k Σ_i y_i ⟨x_i, u⟩.

The model has k + 2 layers of one linear head, width dk + 2d + 2 and n + dk + 1 tokens, where each
example is one token.  So each token stores O(dk) numbers.  It is open whether fewer than dk pause
tokens suffice.
"""

from __future__ import annotations

from math import ldexp
from typing import Annotated, Any, TypeAlias

from constructions.assembly import Head, block, embed, unembed
from constructions.blocks import Stage
from constructions.call import construction
from constructions.examples import Examples
from constructions.interface import Prompt
from constructions.regression.convergence import with_step
from constructions.regression.stages import Inverse, Powers, Prediction
from constructions.stream import Stream
from constructions.transformer import Transformer
from theory.kinds import Count, Steps, StepSize, Within

FewSteps: TypeAlias = Annotated[Steps, Within(most=1000)]
"""An integer k from 0 to 1000, for which 2^k is a float64."""


class Paused(Examples):
    """Prompts that consist of examples, k groups of d pause tokens, and queries.

    Each example of dimension d is one token, with its label. The embedding of pause token a = 1, …,
    d of group j is the unit vector e_a in the columns of group j. Queries have separate columns.
    """

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
        last = xp.concat([*[queries[..., :1] * 0] * (d + 1 + more), queries], axis=-1)
        tokens = xp.concat([pairs, *pauses, last], axis=-2)
        first = x.shape[-2] + more
        return Prompt(tokens, x.shape[-2], slice(first, None))


@construction
def newton_with_pauses(d: Count, k: FewSteps, alpha: StepSize) -> Transformer:
    """A causal transformer that computes k Newton–Schulz steps from M₀ = alpha·I.

    `newton_with_pauses(d, k, alpha)(x, y, x_query)` is the prediction x_queryᵀ M_k Xᵀ y with
    M_{j+1} = 2M_j − M_j S M_j, S = XᵀX and M₀ = alpha·I. The model
    `newton(d, k, alpha, start="identity")` computes the same prediction. The rows of X are the
    examples x (…, n, d), y (…, n) are their labels, and x_query (…, d) is the query. The model has
    k + 2 layers of one linear head and width dk + 2d + 2. There are dk pause tokens, which contain
    no data, between the examples and the queries. In contrast, the model `newton(…, causal=True)`
    stores O(d²) numbers in each token, and predicts from every prefix.

    M_k converges to the pseudo-inverse on range(S) iff 0 < alpha < 2/λmax(S).
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
    model = Transformer(
        embed(stream, **columns, query={"u": alpha}),
        [block(stream, heads, mask="causal") for heads in layers],
        unembed(stream, stream.read("estimate")),
        interface=Paused(d, k),
        stream=stream,
        stages=(*inverses, Stage(k + 2, "estimate", Prediction(2**k, of))),
        source="weightwright; the iteration is that of [Schulz1933]",
    )
    return with_step(model, "newton", k, alpha, "identity")
