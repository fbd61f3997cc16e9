"""The parity of k = 2^v among d bits by one layer with one head; each CoT token is a node of a
tree.

The bits 0 and 1 are at positions 0 … d − 1; the tokens generated after them are the k − 1 nodes of
`theory.language.parity_tree`, the parity last.  Token 0 stands for +1 and token 1 for −1, so that a
node is the product of its children.  The tree is in the position embedding: `pos` is the unit
vector of position j, and `children` at position t indicates the two children of node t + 1, which
is predicted there.  At the bits before the last it indicates the position itself.  The head has
the query `children` and the key `pos`.  So the score of position j is [j a child], the two children
x_a and x_b have the largest score, and the gap to other scores is 1.  The head writes
z = (x_a + x_b)/2 to `pair`, which is ±1 if the children are equal and 0 otherwise.  The MLP adds

    ψ(z) = 4(relu(z − ¼) − relu(z − ¾)) + 4(relu(−z − ¼) − relu(−z − ¾)) − 1

to `out`, which is the product of the children since ψ(±1) = 1 and ψ(0) = −1.  The logits of 0, 1
and ⊥ are out, −out and 4 − 2 Σ children.  The logit of ⊥ is 2 at the bits before the last and 0
from then on.

ψ is constant within distance ¼ of −1, of 0 and of 1.  With softmax of inverse temperature κ, the
tokens other than the children have total weight ℓ = A/(2 + A), A ≤ (d + k)e^{−κ}, so that the error
of z is at most 2ℓ.  For **κ ≥ ln(3.5(d + k))**, A ≤ 2/7 and ℓ ≤ ⅛, and every node is exact.  (At
the bits before the last, one token has the largest score, and the other tokens have total weight
A/(1 + A) ≤ 2/9.  Nothing depends on this weight, since ⊥ has the largest logit for every value of
ψ.)  One gradient step from 0, rounded, gives the scores of this head
(`theory.language.one_gradient_step`).
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
    d: Count,
    k: PowerOfTwo,
    positions: Positions | None = None,
    *,
    sharpness: Positive | None = None,
) -> Transformer:
    """A transformer that generates the parity of k of d bits by a chain of thought of k − 1 tokens.

        model.generate(words, k − 1)        (…, d) → (…, k − 1), of which the last is the parity

    The tokens of the chain of thought are the inner nodes of a complete binary tree. Its leaves are
    the bits at `positions` in this order, by default the first k bits. Each inner node is the
    parity of its two children. The model has 1 layer with 1 head, width 2(d + k) − 1 and 4 ReLUs.
    Attention is average-hard by default. Softmax at the inverse temperature `sharpness` generates
    the same tokens.

    Raises ValueError if k is not a power of two from 2 to d, if a position occurs twice, if the
    sharpness is below ln(3.5(d + k)), or if the weights do not fit in memory.
    """
    tree_sizes(d, k)
    machine.fits_in_memory(f"positions of {d + k} tokens", 96 * (d + k) ** 2, "give a smaller d")
    tree = parity_tree(d, range(k) if positions is None else positions)
    beta = 1.0 if sharpness is None else sharpness
    if sharpness is not None and beta < sharpness_for_steps(d, k):
        least = sharpness_for_steps(d, k)
        raise InputError(f"sharpness is {beta:g}: give a sharpness ≥ ln(3.5(d + k)) = {least:.4f}")
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
        pos_embed=PosEmbed(rows(stream, pos=np.eye(n), children=attended(tree))),
        interface=Tokens(2, n, margin=1.0, bottom=True),
        stream=stream,
        stages=(Stage(1, "pair", partial(_means, tree)), Stage(1, "out", partial(_products, tree))),
        at_most={"pair": 1.0, "out": 1.0},
        source="[KimSuzuki2025] for the tree; these weights: weightwright",
    )


def _means(tree: ParityTree, tokens: np.ndarray) -> np.ndarray:
    """The mean of the bits ±1 that each position attends to."""
    return means_of_children(tree, 1 - 2 * tokens)[..., None]


def _products(tree: ParityTree, tokens: np.ndarray) -> np.ndarray:
    """The product of the two children: −1 where their mean is 0."""
    return np.where(_means(tree, tokens) == 0, -1.0, 1.0)


def attended(tree: ParityTree) -> np.ndarray:
    """The 0–1 matrix (d + k − 2, d + k − 2) of the positions that each position attends to.

    Row t has ones at the positions that position t attends to.  The first d − 1 positions, of bits,
    attend to themselves.  Every later position attends to the two children of the node that is
    predicted at this position.
    """
    n = tree.d + tree.k - 2
    return np.vstack([np.eye(n)[: tree.d - 1], tree.scores]).astype(np.float64)


def sharpness_for_steps(d: int, k: int) -> float:
    """The inverse temperature ln(3.5(d + k)) at which `parity_with_steps` is exact with softmax."""
    return math.log(3.5 * (d + k))
