"""Addition mod p with quadratic neurons, at the maximum normalised margin.

A quadratic neuron with weights u, v and w in R^p adds (u(a) + v(b))²·w to the logits of a and b.
It is a linear head with the diagonal mask: with z = u(a) + v(b) at a token, the head with query z,
key z and value 1 outputs z²·w.  The weights are applied to one-hot codes of numbers.

Layer 1, two linear heads.  The query at "=" matches the key of the first number in one head, and
the key of the second number in the other head, and the codes of the numbers are written to the
registers `a` and `b`.

Layer 2, 4(p − 1) linear heads, in which "=" attends to itself: neuron i writes (u_i(a) + v_i(b))²
w_i to `number`, which is 0 at "=".  With the neurons of `theory.arithmetic.modular_margin` the
logit of c is

    f_c = 4 Σ_z cos(2πz(a + b − c)/p) = 2(p [c = a + b] − 1),     z = 1, …, (p − 1)/2.

So the gap of the right logit is 2p for all a, b and c.  This is the maximum normalised margin times
Σ‖(u_i, v_i, w_i)‖³.

The only rounding of the weights is that of cosines to float64.  `of_neurons` builds the same model
from other neurons, such as trained ones.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from constructions.arithmetic.sums import Sums
from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.stream import Map, Stream
from constructions.transformer import Transformer
from theory import machine
from theory.arithmetic.congruence import OddModulus
from theory.arithmetic.modular_margin import Neurons, modular_neurons


@construction
def modular_addition(p: OddModulus) -> Transformer:
    """The transformer that adds residues mod p, for odd p ≥ 3, from pairs (…, 2) to sums (…, 1).

    The model has 2 layers, 4(p − 1) linear heads in the second layer, and width 3p + 3. Its
    4(p − 1) heads compute a network of quadratic neurons. For residues a and b, the logit of the
    answer c is Σ_i (u_i(a) + v_i(b))²·w_i(c). The normalised margin of such a network is the
    smallest difference between the logit of the right sum and any other logit, divided by
    Σ_i ‖(u_i, v_i, w_i)‖³. The model attains the maximum √(2/27)/(√p (p − 1)) of the normalised
    margin. The weights are cosines and sines of the frequencies k = 1, …, (p − 1)/2. For even p
    such weights would not attain the maximum, since the frequencies k and −k coincide for k = p/2.

    Raises ValueError for an even p, or if the weights do not fit in memory.
    """
    heads = 4 * (p - 1)
    weights = 12 * 8 * heads * (3 * p + 3)
    machine.fits_in_memory(f"{heads} heads of width {3 * p + 3}", weights, "give a smaller p")
    return of_neurons(
        modular_neurons(p),
        margin=1.0,
        source="[Morwani2023] for prime p",
    )


def of_neurons(neurons: Neurons, *, margin: float | None, source: str) -> Transformer:
    """The two-layer transformer of given quadratic neurons.

    The weights u, v and w of the neurons have shape (neurons, p) for addition mod p.

    `margin` is the gap between the right logit and the others that the model declares, and `source`
    is the citation of the model.
    """
    p = neurons.u.shape[1]
    stream = Stream(number=p, a=p, b=p, first=1, second=1, equals=1)
    number, equals = stream.read("number"), stream.read("equals")
    gather = [
        Head(equals, stream.read(at), number, into)
        for at, into in (("first", "a"), ("second", "b"))
    ]
    squares = []
    for u, v, w in zip(*neurons, strict=True):
        z = stream.read("a") @ Map(u[:, None], "u") + stream.read("b") @ Map(v[:, None], "v")
        squares.append(Head(z, z, equals, "number", times=Map(w[None], "w"), mask="diagonal"))
    at = np.eye(3)
    return Transformer(
        Embed(rows(stream, number=np.eye(p + 1)[:, :p])),
        [block(stream, gather, mask="strictly causal"), block(stream, squares)],
        unembed(stream, number),
        pos_embed=PosEmbed(rows(stream, first=at[0], second=at[1], equals=at[2])),
        interface=Sums(p, p, margin),
        stream=stream,
        stages=tuple(Stage(1, name, partial(_code, p, i)) for i, name in enumerate(("a", "b"))),
        source=source,
    )


def _code(p: int, i: int, pairs: np.ndarray) -> np.ndarray:
    """The layer invariant of `a` or `b` at "=": the one-hot code of the i-th number."""
    return np.eye(p)[pairs[..., i], None]
