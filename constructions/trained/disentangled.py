"""Disentangled transformers for training: only the weights that the construction leaves free.

Every layer writes to separate registers, so a layer is one matrix W,

    h ← [h, S h],   S = (1/n) relu(h W hᵀ),   h = [I, A] at first,   outputs = h C − θ,

and all weights but W_Q and the unembedding, which place the registers, are those of `disentangled`.
W and C are grids of n × n blocks.  The blocks are free, with a threshold for each node, or in two
channels, A ⊗ I + B ⊗ J, with one threshold; in two channels entries and threshold stay nonnegative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import register_parametrization

from constructions.blocks import Unembed, plural
from constructions.graphs.disentangled import disentangled
from constructions.tensors import weight
from constructions.trained.form import SOURCE, Form
from constructions.transformer import Transformer
from theory.kinds import Count, checked

FIRST, SPREAD = 0.1, 0.05  # initial A and n·B are uniform in [FIRST, FIRST + SPREAD]


@checked
@dataclass(frozen=True)
class DisentangledShape:
    """The shape of a model with `n_layers` layers of one ReLU head over the nodes of a graph.

    The layers have no MLPs.  The weights are free, or with `two_channel` of the form
    A ⊗ I + B ⊗ J, with trained matrices A and B, the identity I and the all-ones matrix J.
    """

    n_layers: Count
    two_channel: bool

    kind: ClassVar[str] = "disentangled"
    words: ClassVar[str] = "a disentangled transformer"
    compiles: ClassVar[bool] = False  # its matrices are small
    stacks: ClassVar[bool] = True

    @property
    def nonnegative(self) -> bool:
        """Whether the parameters are kept nonnegative during training."""
        return self.two_channel

    def build(self, form: Form, seed: int, task: str) -> Transformer:
        """Returns the model of this shape with initial weights.

        Free weights are normal with variance 1/(number of rows), and the thresholds of the ReLUs
        are 0. For weights A ⊗ I + B ⊗ J over n nodes, the entries of A and n·B are uniform in
        [0.1, 0.15], and the threshold is 1.
        """
        n, generator = form.d_out, torch.Generator().manual_seed(seed)
        model = disentangled(n, self.n_layers)
        model.interface, model.stages, model.call = form.interface, (), None
        model.name = f"trained on {task}: {plural(self.n_layers, 'layer')}, disentangled"
        model.source = SOURCE

        def drawn(rows: int, columns: int) -> Tensor:
            if not self.two_channel:
                size = rows * n, columns * n
                normal = torch.randn(size, generator=generator, dtype=torch.float64)
                return normal / math.sqrt(rows * n)
            uniform = torch.rand((2, rows, columns), generator=generator, dtype=torch.float64)
            A, B = FIRST + SPREAD * uniform
            return kronecker(A, B / n, n)

        for head in model.attentions:
            W = drawn(head.W_K.shape[-1] // n, head.W_K.shape[-1] // n)
            head.W_Q = weight(head.W_K @ W)
            head.W_Q.requires_grad_(True)
        theta = torch.full((n,), 1.0 if self.two_channel else 0.0)
        read = model.unembed = Unembed(drawn(model.d_model // n, 1), -theta).requires_grad_(True)
        if self.two_channel:
            register_parametrization(read, "W_U", TwoChannels(n, torch.eye(model.d_model)))
            register_parametrization(read, "b_U", Threshold(n))
            for head in model.attentions:
                register_parametrization(head, "W_Q", TwoChannels(n, head.W_K))
        return model


class TwoChannels(nn.Module):
    """The parametrisation of a weight by two matrices A and B: P (A ⊗ I + B ⊗ J).

    A and B have shape (…, rows, columns), I is the identity and J the all-ones matrix, both (n, n),
    and the columns of P (…, D, rows·n) are registers of the stream of width D.
    """

    P: Tensor

    def __init__(self, n: int, P: Tensor) -> None:
        super().__init__()
        self.n = n
        self.register_buffer("P", P.detach().double(), persistent=False)

    def forward(self, A: Tensor, B: Tensor) -> Tensor:
        return self.P @ kronecker(A, B, self.n)

    def right_inverse(self, W: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the matrices A and B for which the weight P (A ⊗ I + B ⊗ J) is nearest to W."""
        n, inner = self.n, self.P.mT @ W
        X = inner.unflatten(-1, (-1, n)).unflatten(-3, (-1, n)).movedim(-3, -2)  # blocks
        trace = X.diagonal(0, -2, -1).sum(-1)
        off_diagonal = (X.sum((-1, -2)) - trace) / (n * (n - 1))
        return trace / n - off_diagonal, off_diagonal


class Threshold(nn.Module):
    """The parametrisation of a bias (n,) by one number θ, the threshold: all entries are −θ.

    θ is a tensor of shape (1,).
    """

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n

    def forward(self, theta: Tensor) -> Tensor:
        return -theta.expand(self.n)

    def right_inverse(self, b: Tensor) -> Tensor:
        """Returns the threshold θ whose constant bias −θ is nearest to b."""
        return -b.mean(0, keepdim=True)


def kronecker(A: Tensor, B: Tensor, n: int) -> Tensor:
    """Returns A ⊗ I + B ⊗ J (…, rows·n, columns·n) for matrices A and B (…, rows, columns).

    I is the identity and J the all-ones matrix, both (n, n).
    """
    I, J = torch.eye(n).to(A), torch.ones(n, n).to(A)  # noqa: E741
    blocks = torch.einsum("...rc,ij->...ricj", A, I) + torch.einsum("...rc,ij->...ricj", B, J)
    return blocks.flatten(-2).flatten(-3, -2)
