"""Models to be trained, with random weights: transformers of the project's own kind, and LSTMs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from constructions.attention import Attention, Mask
from constructions.regression.regressor import InContextRegression
from constructions.stream import Stream
from constructions.trained.configuration import (
    Bigrams,
    Configuration,
    Hop,
    LSTMShape,
    Regression,
    TransformerShape,
)
from constructions.trained.regression import InContextRegressor
from constructions.transformer import (
    MLP,
    Block,
    Embed,
    LayerNorm,
    PosEmbed,
    Transformer,
    Unembed,
)
from theory import checks

SOURCE = "trained; see constructions/trained"


class RegressionTransformer(Transformer, InContextRegressor):
    """A causal transformer that is called as a regression method: `model(x, y, x_query)`."""


class RegressionLSTM(InContextRegressor):
    """LSTMs on top of each other that are called as a regression method: `model(x, y, x_query)`."""

    def __init__(self, shape: LSTMShape, d: int) -> None:
        super().__init__()
        self.embed = nn.Linear(d, shape.width)
        self.layers = nn.ModuleList(
            nn.LSTM(shape.width, shape.width, batch_first=True) for _ in range(shape.n_layers)
        )
        self.unembed = nn.Linear(shape.width, 1)
        self.name = f"LSTM of {shape.n_layers} layers and width {shape.width}"

    @property
    def n_layers(self) -> int:
        """The number of LSTMs."""
        return len(self.layers)

    def run(self, tokens: Tensor, n_examples: int) -> Tensor:
        """Outputs (…, T, 1)."""
        *_, H = self.residual_stream(tokens, n_examples)
        return self.unembed(H)

    def residual_stream(self, tokens: Tensor, n_examples: int) -> Iterator[Tensor]:
        """What each layer says, (…, T, width), from the embedding on."""
        H = self.embed(tokens)
        yield H
        for layer in self.layers:
            leading = H.shape[:-2]
            H = layer(H.reshape(-1, *H.shape[-2:]))[0].reshape(*leading, *H.shape[-2:])
            yield H


class TokenTransformer(Transformer):
    """A causal transformer over whole-number tokens: `model(tokens)`."""

    vocabulary_size: int
    max_length: int

    def forward(self, tokens: Any) -> Tensor:
        """The token of largest logit at every position, (…, T), for tokens (…, T)."""
        return self.logits(tokens).argmax(-1)

    def logits(self, tokens: Any) -> Tensor:
        """The logits (…, T, vocabulary_size).

        Raises ValueError for tokens outside the vocabulary and sequences too long.
        """
        given = tokens.detach().cpu() if isinstance(tokens, Tensor) else tokens
        checked = checks.tokens("tokens", np.asarray(given), self.vocabulary_size)
        if checked.shape[-1] > self.max_length:
            raise checks.InputError(
                f"tokens have length {checked.shape[-1]} but the model was trained on "
                f"{self.max_length}: give at most as many"
            )
        written = torch.as_tensor(checked, device=self.unembed.W_U.device)
        return self.run(written, written.shape[-1])


Model = RegressionTransformer | RegressionLSTM | InContextRegression | TokenTransformer


def untrained(configuration: Configuration) -> Model:
    """The model of a configuration with random weights, float32, that its seed determines.

    Weights are normal with variance 1/rows, those that write into the stream smaller by √(2·layers)
    [Radford2019], and with linear attention by another 10; biases are 0.
    """
    task, shape = configuration.task, configuration.shape
    generator = torch.Generator().manual_seed(configuration.seed)
    model: Model
    if isinstance(shape, LSTMShape):
        assert isinstance(task, Regression)
        # torch draws the weights of its layers from its global generator.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(configuration.seed)
            model = RegressionLSTM(shape, task.d)
    elif isinstance(task, Regression) and configuration.answers_queries:
        n = task.points - 1
        parts = _layers(shape, task.d + 1, 1, "examples", 1 / n, generator)
        stream, name = Stream(stream=shape.d_model), _name(shape, task)
        model = InContextRegression(*parts, d=task.d, stream=stream, n=n, name=name, source=SOURCE)
    elif isinstance(task, Regression):
        rest = _rest(shape, task, 2 * task.points - 1, generator)
        model = RegressionTransformer(*_layers(shape, task.d, 1, "causal", None, generator), **rest)
    else:
        V = task.vocabulary_size
        rest = _rest(shape, task, task.length, generator)
        model = TokenTransformer(*_layers(shape, V, V, "causal", None, generator), **rest)
        model.vocabulary_size, model.max_length = V, task.length
    if isinstance(model, InContextRegressor):
        assert isinstance(task, Regression)
        model.task = task
    return model.float().requires_grad_(True)


def _layers(
    shape: TransformerShape,
    d_in: int,
    d_out: int,
    mask: Mask,
    scale: float | None,
    generator: torch.Generator,
) -> tuple[Embed, list[Block], Unembed]:
    D, heads, depth = shape.d_model, shape.n_heads, math.sqrt(2 * shape.n_layers)
    width = D // heads
    # Linear attention is of third order in the stream, and grows from layer to layer.
    small = 0.1 if shape.normalise == "linear" else 1.0

    def normal(*size: int, rows: int) -> Tensor:
        drawn = torch.randn(size, generator=generator, dtype=torch.float64)
        return drawn / math.sqrt(rows)

    def block() -> Block:
        zero = torch.zeros(heads, width)
        attn = Attention(
            normal(heads, D, width, rows=D),
            normal(heads, D, width, rows=D),
            normal(heads, D, width, rows=D),
            normal(heads, width, D, rows=D) * small / depth,
            zero,
            zero,
            normalise="linear" if shape.normalise == "linear" else "softmax",
            mask=mask,
            scale=width**-0.5 if scale is None else scale,
        )
        M = shape.d_mlp
        mlp = None
        if M:
            W_in, W_out = normal(D, M, rows=D), normal(M, D, rows=M) / depth
            mlp = MLP(W_in, torch.zeros(M), W_out, torch.zeros(D))
        ln1 = LayerNorm(D) if shape.layer_norm else None
        ln2 = LayerNorm(D) if shape.layer_norm and M else None
        return Block(attn, mlp, ln1=ln1, ln2=ln2)

    embed = Embed(normal(d_in, D, rows=1 if d_in == d_out else d_in))
    blocks = [block() for _ in range(shape.n_layers)]
    return embed, blocks, Unembed(normal(D, d_out, rows=D), torch.zeros(d_out))


def _rest(
    shape: TransformerShape, task: Regression | Hop | Bigrams, T: int, generator: torch.Generator
) -> dict[str, Any]:
    D = shape.d_model
    return {
        "pos_embed": PosEmbed(torch.randn(T, D, generator=generator)),
        "ln_final": LayerNorm(D) if shape.layer_norm else None,
        "stream": Stream(stream=D),
        "name": _name(shape, task),
        "source": SOURCE,
    }


def _name(shape: TransformerShape, task: Regression | Hop | Bigrams) -> str:
    return f"trained on {type(task).__name__.lower()}: {shape.n_layers} layers"
