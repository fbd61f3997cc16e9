"""The ladder: the power N of a residual in the smallest number of layers for its degree.

Write S = XᵀX, b = Xᵀy, E = I − αS (M₀ = αI; for αS see `ladder_gram.py`), and G_p for the
polynomial in S with S·G_p = I − E^p.  Then G_N b is

    k Newton steps               N = 2^k
    k hyperpower steps, order p  N = p^k
    k gradient steps, size α     N = k

**⌈log₃(2N + 1)⌉ layers are necessary and sufficient.**

Necessity.  The prediction x_qᵀG_N b has degree 2N + 1 in the prompt.  A head of linear or ReLU
attention multiplies three linear reads of the stream, and an MLP of ReLUs is piecewise linear. If
tokens are affine in the prompt, the output of L layers is therefore a piecewise polynomial of
degree at most 3^L. On an open set where the output is one polynomial, it equals the prediction, so
3^L ≥ 2N + 1.

Sufficiency.  Every token stores, for one exponent p or two neighbouring ones,

    u_p = G_p x,   e_p = E^p x,   s_p = y − xᵀG_p b,

of degrees 2p + 1.  Exponent 0 is written by the embedding: u = 0, e = x, s = y.  A linear head
multiplies three quantities. So from exponents a and c, a layer computes n = 2a + c:

    e_n = e_c − Σ_i u_{a,i} ⟨e_{a,i} + x_i, e_c⟩
    u_n = 2u_a + u_c − Σ_i u_{a,i} (⟨x_i, u_a + u_c⟩ + ⟨e_{a,i}, u_c⟩)
    s_n = s_c − Σ_i (s_{a,i} + y_i) ⟨u_{a,i}, e_c⟩

since Σ_i u_{a,i} x_iᵀ = G_a S = I − E^a, Σ_i u_{a,i} e_{a,i}ᵀ = (I − E^a)E^a, and

    G_n = G_a + E^a G_a + E^{2a} G_c,   Σ_i (s_{a,i} + y_i) u_{a,i} = G_a(I + E^a)b = G_{2a} b.

One more head computes exponent 3a + 1, since Σ_i e_{a,i} ⟨e_{a,i}, e_a⟩ = S E^{3a} x:

    e_{3a+1} = e_{3a} − α Σ_i e_{a,i} ⟨e_{a,i}, e_a⟩
    u_{3a+1} = u_{3a} + α e_{3a}
    s_{3a+1} = s_{3a} − α Σ_i s_{a,i} ⟨e_{a,i}, e_a⟩

Let M_L = (3^L − 1)/2, so that M_{L+1} = 3M_L + 1. By induction, L layers compute every n ≤ M_L and
every pair n, n + 1 ≤ M_L. Let q = ⌊n/3⌋. Exponents 3q and 3q + 1 are computed from q, where q ≤
M_{L−1}. Exponents 3q + 1 = 2q + (q + 1), 3q + 2 = 2(q + 1) + q and 3q + 3 are computed from the
pair q, q + 1, where q + 1 ≤ M_{L−1} because 3q + 2 ≤ 3M_{L−1} + 1. Finally, 2N + 1 ≤ 3^L is
equivalent to N ≤ M_L.  The prediction is −s_N at the query, so no further layer is needed. Rocq has
checked these proofs (theory/proofs/ladder.v and lower_bound.v).

Stability: a rounding error of e_c is multiplied by E^{2a}, and a rounding error of u_a by powers of
E and their sums. If z = S G x were stored instead of e, each layer would triple the error of the
query.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from constructions.regression.ladder_layers import SLOTS, LadderLayers, ladder_stream
from constructions.regression.stages import Residuals
from constructions.transformer import Transformer


@dataclass(frozen=True)
class Rung:
    """The residual that a layer writes to one slot, as a combination of residuals of other slots.

    A slot is a group of registers that store one residual R, a polynomial of S = XᵀX for the
    examples X. `slot` is the slot that the layer writes. In the following sums, R_a is the residual
    that the slot with the name a stores before the layer. The combination is the sum of
    factor·R_a²R_c over `products` {(a, c): factor}, plus the sum of factor·R_a over `unchanged` {a:
    factor}, minus the sum of factor·S·R_a over `once`, minus the sum of factor·S·R_a³ over `cubed`.
    The factors of `products` and `unchanged` sum to 1, so the combination equals I for S = 0, like
    every residual.

    `exponent` is the exponent or degree of the combination, and `parts` names the registers of the
    slot that the layer writes.
    """

    slot: str
    exponent: int
    products: Mapping[tuple[str, str], float] = field(default_factory=dict)
    unchanged: Mapping[str, float] = field(default_factory=dict)
    once: Mapping[str, float] = field(default_factory=dict)
    cubed: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[str, ...] = ("u", "e", "s")

    @property
    def recipe(self) -> Hashable:
        """Everything but the exponent: rungs with equal recipes are computed by equal heads."""
        factors = self.products, self.unchanged, self.once, self.cubed
        return self.slot, self.parts, *(tuple(each.items()) for each in factors)


Plan = list[tuple[Rung, ...]]
"""A plan: the rungs of each layer."""


def ladder(
    d: int,
    plan: Plan,
    of: Residuals,
    source: str = "weightwright",
) -> Transformer:
    """A transformer that predicts x_qᵀ G Xᵀ y, where I − S·G is the last residual of the plan.

    S = XᵀX, where the rows of X are the examples, y are their labels and x_q is the query. The plan
    has one entry for each layer. The entry states how the layer combines residuals of the family
    `of`. The width is 5d + 3, or 3d + 2 if every layer stores only one residual. The number of
    examples is arbitrary. The last layer computes only the register s = y − xᵀG Xᵀy, which the
    unembedding reads.
    """
    stream = ladder_stream(d, plan)
    layers = LadderLayers(stream, of)
    for rungs in plan:
        layers.layer(rungs, _add, last=rungs is plan[-1])
    return layers.model(d, source)


def _add(layers: LadderLayers, rung: Rung, part: str) -> None:
    """Adds the heads and linear reads that compute one part of the rung to the layer."""
    into, x, y = f"{rung.slot}_{part}", layers.read("x"), layers.read("y")
    layers.assign(into, *(f * layers.read(f"{slot}_{part}") for slot, f in rung.unchanged.items()))
    for (a, c), f in rung.products.items():
        layers.product(into, part, a, c, f)
    for slot, f in rung.once.items():
        e = layers.read(f"{slot}_e")
        if part == "u":
            layers.assign(into, f * e)
        else:
            layers.add_head(e, x, -f * (x if part == "e" else y), into)
    for slot, f in rung.cubed.items():
        u, e, s = (layers.read(f"{slot}_{each}") for each in "ues")
        if part == "u":
            layers.assign(into, f * e)
            layers.add_head(e, e + x, -f * u, into)
        else:
            layers.add_head(e, e, -f * (e if part == "e" else s), into)


def powers(power: int, alpha: float) -> Plan:
    """The plan of layers from exponent 0 to exponent `power` of the residual I − alpha·XᵀX.

    The exponents follow the induction in the docstring of the module.
    """
    wanted: list[tuple[int, ...]] = [(power,)]
    while wanted[0] != (0,):
        q = wanted[0][0] // 3
        alone = all(n in (3 * q, 3 * q + 1) for n in wanted[0])
        wanted.insert(0, (q,) if alone else (q, q + 1))
    return [
        tuple(_power(below, n, slot, alpha) for slot, n in zip(SLOTS, above, strict=False))
        for below, above in pairwise(wanted)
    ]


def _power(below: tuple[int, ...], n: int, slot: str, alpha: float) -> Rung:
    """The rung of E^n from the exponents `below`, which are in the slots "low" and "high"."""
    more = n - 3 * below[0]
    if below == (0,):
        return Rung(slot, n, unchanged={"low": 1.0}, once={"low": alpha} if n else {})
    if len(below) == 1:
        return Rung(slot, n, {("low", "low"): 1.0}, cubed={"low": alpha} if more else {})
    return Rung(slot, n, {(("low", "high"), ("high", "low"), ("high", "high"))[more - 1]: 1.0})
