"""The parity of k = 2^v among d bits in one layer of one head, a node of a tree at a time.

The bits 0 and 1 are at positions 0 … d − 1; the tokens generated behind them are the k − 1 nodes of
`theory.language.parity_tree`, the parity last.  Token 0 has bit +1 and token 1 has −1, so that a
node is the product of its children.  The tree is in the position embedding: `pos` is position j as
a unit vector, and `children` of position t are those of node t + 1, which is predicted there; an
earlier bit has itself.  The head has the query `children` and the key `pos`,

    score [j a child]                                  gap 1, shared by two children,

and leaves z = (x_a + x_b)/2 in `pair`: ±1 where they agree, 0 where they do not.  The MLP adds

    ψ(z) = 4(relu(z − ¼) − relu(z − ¾)) + 4(relu(−z − ¼) − relu(−z − ¾)) − 1

to `out`: 1 at ±1 and −1 at 0, the product.  The logits of 0, 1 and ⊥ are out, −out and
4 − 2 Σ children, which is 2 at bits and 0 at nodes.

ψ is flat within ¼ of −1, 0 and 1.  By softmax with inverse temperature κ the other tokens keep the
fraction ℓ = A/(2 + A), A ≤ (d + k)e^{−κ}, and z is off by at most 2ℓ: from **κ ≥ ln(3.5(d + k))**
on A ≤ 2/7, ℓ ≤ ⅛, and every step is exact.  (At the bits, where one token has the largest score,
A/(1 + A) ≤ 2/9, and nothing depends on it: whatever ψ is, ⊥ has the largest logit.)  One gradient
step from 0 finds this tree: `theory.language.one_gradient_step`, whose scores are those of this
head, rounded.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.margins import Margin, Restores
from constructions.primitives import Move, Step
from constructions.stream import Map, Stream, one
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory import machine
from theory.kinds import Count, InputError, Positions, Positive
from theory.language.parity_tree import (
    ParityTree,
    PowerOfTwo,
    means_of_children,
    parity_tree,
    tree_sizes,
)


@construction
def parity_with_steps(
    d: Count, k: PowerOfTwo, letters: Positions | None = None, *, sharpness: Positive | None = None
) -> Transformer:
    """The parity of k bits, in this order the leaves of the tree, the first k if none are given:

        model.generate(words, k − 1)        (…, d) → (…, k − 1), the last of them the parity

    1 layer, 1 head, width 2(d + k) − 1, 4 units; with softmax at a `sharpness` every step is as
    exact.

    Raises ValueError unless k is a power of two, for positions that are not different, for a
    sharpness below ln(3.5(d + k)), and for sizes that no memory holds.
    """
    tree_sizes(d, k)
    machine.fits_in_memory(f"positions of {d + k} tokens", 96 * (d + k) ** 2, "take fewer letters")
    tree = parity_tree(d, range(k) if letters is None else letters)
    beta = 1.0 if sharpness is None else sharpness
    if sharpness is not None and beta < sharpness_for_steps(d, k):
        least = sharpness_for_steps(d, k)
        raise InputError(f"sharpness is {beta:g}: give at least ln(3.5(d + k)) = {least:.4f}")
    n = d + k - 2
    stream = Stream(bit=1, pos=n, children=n, pair=1, out=1)
    bit, pos, children, pair, out = map(stream.read, stream)
    head = Head(children, pos, bit, "pair", margin=Margin(1.0, graded=False, ties=True))
    product = [Step(z, 0.75, "out", margin=0.5, times=2.0) for z in (pair, -pair)]
    summed = children @ Map(np.full((n, 1), -2.0), "−2Σ")
    return Transformer(
        Embed(rows(stream, bit=np.array([1.0, -1.0]))),
        [
            block(
                stream,
                [head],
                [*product, Move(-1.0 * one, "out")],
                normalise="hardmax" if sharpness is None else "softmax",
                mask="causal",
                scale=beta,
                restores=[Restores(("out",), {"pair": 0.25})],
            )
        ],
        unembed(stream, out, -out, summed, bias=np.array([0.0, 0.0, 4.0])),
        pos_embed=PosEmbed(rows(stream, pos=np.eye(n), children=asked(tree))),
        interface=Tokens(2, n, margin=1.0, bottom=True),
        stream=stream,
        stages=(Stage(1, "pair", partial(_means, tree)), Stage(1, "out", partial(_products, tree))),
        at_most={"pair": 1.0, "out": 1.0},
        source="[KimSuzuki2025]; sizes proved in constructions/language/parity_with_steps.py",
    )


def _means(tree: ParityTree, tokens: np.ndarray) -> np.ndarray:
    """The mean of what each position attends to, of bits ±1."""
    return means_of_children(tree, 1 - 2 * tokens)[..., None]


def _products(tree: ParityTree, tokens: np.ndarray) -> np.ndarray:
    """The product of the two children, which are equal or have the mean 0."""
    return np.where(_means(tree, tokens) == 0, -1.0, 1.0)


def asked(tree: ParityTree) -> np.ndarray:
    """What each position attends to: itself at bits but the last one, then the children of the
    node that is wanted there, (d + k − 2, d + k − 2)."""
    n = tree.d + tree.k - 2
    return np.vstack([np.eye(n)[: tree.d - 1], tree.scores]).astype(np.float64)


def sharpness_for_steps(d: int, k: int) -> float:
    """ln(3.5(d + k)), from which on every step is exact."""
    return math.log(3.5 * (d + k))
