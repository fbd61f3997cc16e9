"""Softmax heads and MLPs between neutral layer norms: the tensors of a stock class.

The stream v (W registers) is stored as z = (v, K, 0, …, −v, −K, 0, …), of width d; outputs are
written to both copies, and half their difference is read.
"""

from __future__ import annotations

import math
from itertools import count

import numpy as np
import torch
from torch import Tensor

from constructions.attention import Attention
from constructions.blocks import MLP
from constructions.transformer import Transformer

EPSILON = 1e-5  # ε of the layer norms in both stock classes


class Doubled:
    """The tensors of a stock model of width d = n_heads·head_dim, for softmax heads and MLPs.

    The stream of the stock model contains (v, K, 0, −v, −K, 0), where v is the stream of width W of
    the translated model `soft`, and K = `constant`. Stock heads divide scores by √head_dim, so W_Q
    is multiplied by √head_dim; head_dim is a power of 4, so that this factor is a power of 2. With
    `even_norms`, d/2 is also a power of 4, so that the weight √(2K²/d) of the norms is a power of
    2, which no dtype rounds.
    """

    def __init__(self, soft: Transformer, constant: float, even_norms: bool = False) -> None:
        self.W, self.constant = soft.d_model, constant
        widest = max((max(a.W_Q.shape[-1], a.W_V.shape[-1]) for a in soft.attentions), default=1)
        self.head_dim = 4
        while self.head_dim < widest:
            self.head_dim *= 4
        self.n_heads = max(soft.n_heads, math.ceil(2 * (self.W + 1) / self.head_dim))
        if even_norms:
            self.n_heads = next(2 * 4**i for i in count() if 2 * 4**i >= self.n_heads)
        self.d = self.n_heads * self.head_dim
        self.neurons = max([1, *(len(b.mlp.b_in) for b in soft.blocks if b.mlp is not None)])

    @property
    def norm(self) -> Tensor:
        """The weight of every layer norm, (d,) for the width d of the stock model."""
        weight = math.sqrt(2 * self.constant**2 / self.d + EPSILON)
        return torch.full((self.d,), weight, dtype=torch.float64)

    @property
    def row(self) -> Tensor:
        """The row (d,) that is added to the stream of every token: K and −K, and otherwise 0."""
        row = np.zeros(self.d)
        row[self.W], row[self.d // 2 + self.W] = self.constant, -self.constant
        return torch.as_tensor(row)

    def writes(self, rows: Tensor) -> Tensor:
        """Returns the rows (k, d) that write k rows (k, W) to v, and their negatives to −v.

        v and −v are the two copies of the stream of width W in the stock stream of width d.
        """
        placed = rows.new_zeros(len(rows), self.d)
        placed[:, : self.W], placed[:, self.d // 2 : self.d // 2 + self.W] = rows, -rows
        return placed

    def reads(self, columns: Tensor) -> Tensor:
        """Returns the columns (d, k) with which the stock model reads what `columns` (W, k) read.

        The given columns read the stream v of width W. The new columns read half the difference of
        the copies v and −v in the stock stream of width d.
        """
        return self.writes(columns.T).T / 2

    def back(self, z: Tensor) -> Tensor:
        """The stream v (…, W) that the doubled stream z (…, d) contains."""
        half = self.d // 2
        return (z[..., : self.W] - z[..., half : half + self.W]) / 2

    def heads(self, attn: Attention | None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The stock weights of heads: W_Q, W_K and W_V side by side, their bias, W_O and its bias.

        For the width d of the stock model, they have shapes (d, 3d), (3d,), (d, d) and (d,).
        """
        W = torch.zeros(self.d, 3, self.n_heads, self.head_dim, dtype=torch.float64)
        b = torch.zeros(3, self.n_heads, self.head_dim, dtype=torch.float64)
        W_O = torch.zeros(self.n_heads, self.head_dim, self.d, dtype=torch.float64)
        if attn is not None:
            scale = attn.scale * math.sqrt(self.head_dim)
            for h in range(attn.n_heads):
                parts = scale * attn.W_Q[h], attn.W_K[h], attn.W_V[h]
                for i, part in enumerate(parts):
                    W[:, i, h, : part.shape[1]] = self.reads(part)
                for i, bias in enumerate((scale * attn.b_Q[h], attn.b_K[h])):
                    b[i, h, : len(bias)] = bias
                W_O[h, : attn.W_O.shape[1]] = self.writes(attn.W_O[h])
        return W.flatten(1), b.flatten(), W_O.flatten(0, 1), torch.zeros(self.d).double()

    def mlp(self, mlp: MLP | None, steep: float = 1.0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The stock weights W_in (d, neurons), b_in, W_out (neurons, d) and b_out (d,) of an MLP.

        d is the width of the stock model. The activation is gelu(λx)/λ with λ = `steep`.
        """
        W_in, b_in = torch.zeros(self.d, self.neurons), torch.zeros(self.neurons)
        W_out, b_out = torch.zeros(self.neurons, self.d), torch.zeros(self.d)
        tensors = W_in.double(), b_in.double(), W_out.double(), b_out.double()
        if mlp is not None:
            own, units = tensors, len(mlp.b_in)
            own[0][:, :units] = steep * self.reads(mlp.W_in)
            own[1][:units] = steep * mlp.b_in
            own[2][:units] = self.writes(mlp.W_out) / steep
            own[3][:] = self.writes(mlp.b_out[None])[0]
        return tensors
