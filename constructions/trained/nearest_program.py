"""The register program that is nearest to a linear transformer, in the basis of its read-in.

The stream of a trained model has no registers.  But the embedding maps x to the rows E (d × D) and
y to a row e (1 × D), and head h of a layer maps the stream by O_h = W_V W_O (D × D).  A *word* is a
sequence of heads, at most one for each layer.  After some layers, the stream of a token is

    Σ_w (u_w E + s_w e) O_w,        O_w = O_{h₁} O_{h₂} … for the word w = h₁ h₂ …,

with a vector register u_w (width d) and a scalar register s_w for each word.  In this basis, a
score is Σ u_v A_vw u_w′ᵀ, for the registers u′ of the attended token, plus terms with scalars and
biases; the blocks are A_vw = E O_v W_Q W_Kᵀ O_wᵀ Eᵀ (d × d).  If all A_vw are multiples of I and
there are no other terms, the model is a register program, and its prediction is x_qᵀ g(S) Xᵀy with
a polynomial g (`theory.regression.register_programs`).

The nearest program replaces A_vw by its nearest multiple of I, with the factor tr(A_vw)/d, and all
other terms by 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial import Chebyshev

from constructions.exactness import as_array
from constructions.transformer import Transformer


@dataclass(frozen=True)
class NearestProgram:
    """A register program with one vector and one scalar register for each word of heads.

    `scores` contains, for each layer, the factors of ⟨u_v, u_w⟩ in the scores of the heads, as an
    array (heads, words, words); a layer with H heads multiplies the number of words by H + 1.
    `answer` (words,) contains the factors of the scalar registers in the prediction. `distance`
    contains, for each layer, the distance of the blocks A_vw from multiples of I, divided by the
    norm of the blocks (Frobenius norms over all blocks of the layer).
    """

    scores: tuple[np.ndarray, ...]
    answer: np.ndarray
    distance: tuple[float, ...]

    @classmethod
    def of(cls, model: Transformer) -> NearestProgram:
        """The program nearest to a model of linear attention on packed examples, without MLPs."""
        E = as_array(model.embed.W_E)
        d, scores, distance = len(E) - 1, [], []
        vectors, scalars = E[None, :d], E[None, d]
        for attn in model.attentions:
            W_Q, W_K, W_V, W_O = map(as_array, (attn.W_Q, attn.W_K, attn.W_V, attn.W_O))
            queries, keys = (np.einsum("wid,hdk->hwik", vectors, W) for W in (W_Q, W_K))
            blocks = float(attn.scale) * np.einsum("hvik,hwjk->hvwij", queries, keys)
            factors = np.trace(blocks, axis1=-2, axis2=-1) / d
            left = blocks - factors[..., None, None] * np.eye(d)
            distance.append(float(np.linalg.norm(left) / np.linalg.norm(blocks)))
            scores.append(factors)
            moves = W_V @ W_O
            vectors = np.concatenate([vectors, *(vectors @ move for move in moves)])
            scalars = np.concatenate([scalars, *(scalars @ move for move in moves)])
        return cls(tuple(scores), scalars @ as_array(model.unembed.W_U)[:, 0], tuple(distance))

    def shuffled(self, rng: np.random.Generator) -> NearestProgram:
        """The program whose factors are permuted at random among the blocks of each layer."""
        permuted = (rng.permutation(each.ravel()).reshape(each.shape) for each in self.scores)
        return replace(self, scores=tuple(permuted))

    def polynomial(self, largest: float) -> Chebyshev:
        """The polynomial g, interpolated at Chebyshev points of the interval [0, `largest`].

        L layers compute a polynomial of degree at most (3^L − 3)/2, for which interpolation at
        more points is exact up to rounding.
        """
        degree = (3 ** len(self.scores) - 3) // 2
        return Chebyshev.interpolate(self._values, degree, domain=[0, largest])

    def predictions(self, x: np.ndarray, y: np.ndarray, queries: np.ndarray) -> np.ndarray:
        """The predictions x_qᵀ g(S) Xᵀy (…,) for examples x (…, n, d), y (…, n), queries (…, d)."""
        eigenvalues, V = np.linalg.eigh(x.swapaxes(-1, -2) @ x)
        moments = np.matvec(x.swapaxes(-1, -2), y)
        of_query, of_moments = (np.vecmat(each, V) for each in (queries, moments))
        g = self.polynomial(float(eigenvalues.max()))
        return np.asarray((of_query * g(eigenvalues) * of_moments).sum(-1))

    def _values(self, t: np.ndarray) -> np.ndarray:
        """The values g(t) for eigenvalues t (m,) of S."""
        p, a, g = np.ones((1, t.size)), np.ones(1), np.zeros((1, t.size))
        for factors in self.scores:
            kernels = [(p * (each @ p)).sum(0) for each in factors]
            g = np.concatenate([g, *((a[:, None] + t * g) * K for K in kernels)])
            p = np.concatenate([p, *(t * p * K for K in kernels)])
            a = np.concatenate([a, np.zeros(len(p) - len(a))])
        return np.asarray(self.answer @ g)
