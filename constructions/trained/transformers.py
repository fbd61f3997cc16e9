"""Shapes of transformers for training; one shape has given embedding rows of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
from torch import Tensor

from constructions.attention import Attention
from constructions.blocks import MLP, Block, Embed, LayerNorm, PosEmbed, Unembed, plural
from constructions.stream import Stream
from constructions.trained.form import SOURCE, Form
from constructions.trained.numbers import FORMS, SMALL, Numbers, Tied, number_rows
from constructions.transformer import Transformer
from theory import machine
from theory.kinds import Choice, Count, InputError, Steps, checked, shown


@checked
@dataclass(frozen=True)
class TransformerShape:
    """The shape of a transformer whose layers have `n_heads` heads and an MLP of `d_mlp` ReLUs.

    The heads have width d_model/n_heads. With d_mlp = 0 there are no MLPs. With `layer_norm`, the
    layers are pre-norm, and there is a final layer norm.
    """

    n_layers: Count
    n_heads: Count
    d_model: Count
    d_mlp: Steps
    layer_norm: bool = True
    normalise: Literal["softmax", "linear"] = "softmax"

    kind: ClassVar[str] = "transformer"
    compiles: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = False  # whether weights are projected to ≥ 0

    @property
    def words(self) -> str:
        """The shape in words."""
        return f"a {self.normalise} transformer"

    @property
    def stacks(self) -> bool:
        """Whether `vmap` can evaluate models of several seeds at once."""
        return self.normalise == "softmax"  # linear heads are combined if their weights allow it

    def __post_init__(self) -> None:
        if self.d_model % self.n_heads:
            raise InputError(
                f"d_model is {self.d_model}: give a multiple of n_heads, {self.n_heads}"
            )

    def build(self, form: Form, seed: int, task: str) -> Transformer:
        """Returns a model of this shape with initial weights.

        Weights are normal with variance 1/(number of rows). The output weights W_O of heads and
        W_out of MLPs are then divided by √(2·n_layers) [Radford2019], and W_O of linear attention
        is also divided by 10. Biases are 0.
        """
        stream = Stream(stream=self.d_model)
        stream.fits(self.n_layers)
        rows, M = form.d_in + form.d_out + form.positions, self.d_mlp
        machine.fits_in_memory(
            f"the weights of d_mlp = {shown(M)} and of {shown(rows)} tokens and positions",
            8 * self.d_model * (self.n_layers * (4 * self.d_model + 2 * M) + rows),
            "build a smaller model",
        )
        generator = torch.Generator().manual_seed(seed)
        D, heads, depth = self.d_model, self.n_heads, math.sqrt(2 * self.n_layers)
        width = D // heads
        # Linear attention is cubic in the stream, whose norm grows from layer to layer.
        small = 0.1 if self.normalise == "linear" else 1.0

        def normal(*size: int, rows: int) -> Tensor:
            drawn = torch.randn(size, generator=generator, dtype=torch.float64)
            return drawn / math.sqrt(rows)

        def norm() -> LayerNorm | None:
            return LayerNorm(D) if self.layer_norm else None

        def block() -> Block:
            reads = [normal(heads, D, width, rows=D) for _ in range(3)]
            W_O = normal(heads, width, D, rows=D) * small / depth
            zero = torch.zeros(heads, width)
            attn = Attention(
                *(*reads, W_O, zero, zero),
                normalise="linear" if self.normalise == "linear" else "softmax",
                mask=form.mask,
                scale=width**-0.5 if form.scale is None else form.scale,
            )
            if not M:
                return Block(attn, ln1=norm())
            W_in, W_out = normal(D, M, rows=D), normal(M, D, rows=M) / depth
            mlp = MLP(W_in, torch.zeros(M), W_out, torch.zeros(D))
            return Block(attn, mlp, ln1=norm(), ln2=norm())

        places = torch.randn(form.positions, D, generator=generator)
        whole = form.d_in == form.d_out  # tokens to tokens: one row of W_E is read for each
        summed = form.rows or (1 if whole else form.d_in)
        model = Transformer(
            Embed(normal(form.d_in, D, rows=summed)),
            [block() for _ in range(self.n_layers)],
            Unembed(normal(D, form.d_out, rows=D), torch.zeros(form.d_out)),
            pos_embed=PosEmbed(places) if form.positions else None,
            ln_final=norm(),
            interface=form.interface,
            stream=stream,
            name=f"trained on {task}: {plural(self.n_layers, 'layer')}",
            source=SOURCE,
        )
        return model.requires_grad_(True)


@checked
@dataclass(frozen=True)
class TiedShape(TransformerShape):
    """The shape of a transformer over numbers with tied embedding and unembedding.

    The unembedding matrix is the transpose of the embedding matrix W_E without the row of "=".
    `rows` is the form of the rows of W_E, such as "fourier" (`constructions.trained.numbers`). Rows
    of the form "scratch" are trained, and rows of all other forms are fixed.
    """

    rows: Annotated[str, Choice(FORMS)] = "scratch"

    kind: ClassVar[str] = "tied"
    compiles: ClassVar[bool] = False  # its matrices are small

    @property
    def words(self) -> str:
        """The shape in words."""
        return f"a tied transformer of {self.rows} rows"

    def build(self, form: Form, seed: int, task: str) -> Transformer:
        """Returns a model of this shape with initial weights.

        The weights of blocks are normal with variance 1/(3·number of rows), as in torch's linear
        layers. The position embedding has standard deviation 0.02 [Radford2019], and biases are 0.
        """
        model = super().build(form, seed, task)
        rows = torch.from_numpy(number_rows(self.rows, form.d_out, self.d_model, seed))
        depth = math.sqrt(2 * self.n_layers)  # undoes the division in the superclass
        with torch.no_grad():
            for name, W in model.named_parameters():
                if name.startswith("blocks.") and ".W_" in name:
                    W.mul_((depth if name.endswith(("W_O", "W_out")) else 1.0) / math.sqrt(3))
            if model.pos_embed is not None:
                model.pos_embed.W_pos.mul_(SMALL)
        model.embed = Numbers(rows, self.rows == "scratch")
        model.unembed = Tied(model.embed, form.d_out)
        return model
