"""A transformer that is called as a regression method: `model(x, y, x_query)`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from constructions.regression import prompt
from constructions.stream import Stream
from constructions.tensors import as_tensor
from constructions.transformer import Block, Embed, Transformer, Unembed
from theory import checks
from theory.checks import InputError


@dataclass(frozen=True)
class Stage:
    """What a construction's proof says stands in a register after `after` blocks.

    With E = I − S M₀ the start's residual and M the matrix with S M = I − E^power (so power 2^j is
    j Newton steps, and power j is j steps of gradient descent from M₀ = η I):

    kind "inverse"      times · register = M x         on a token with input x
    kind "prediction"   times · register = xᵀ M Xᵀ y   on a query x
    """

    after: int
    register: str
    times: float
    power: int
    kind: str

    def __str__(self) -> str:
        return f"{self.register} after layer {self.after}"


class InContextRegression(Transformer):
    """A transformer whose prompt is a set of examples and one or more queries.

    `encode` writes the prompt as tokens; `stages` is the construction's proof, register by
    register (empty where the registers hold no power of one residual).  `n` fixes the number of
    examples where the weights depend on it, and `at_most` says that fewer are allowed;
    `all_prefixes` returns one prediction per prefix.
    """

    def __init__(
        self,
        embed: Embed,
        blocks: list[Block],
        unembed: Unembed,
        *,
        d: int,
        stream: Stream,
        encode: Callable[..., prompt.Tokens] = prompt.packed,
        stages: tuple[Stage, ...] = (),
        n: int | None = None,
        at_most: bool = False,
        all_prefixes: bool = False,
        name: str,
        source: str,
    ) -> None:
        super().__init__(embed, blocks, unembed, stream=stream, name=name, source=source)
        self.d, self.encode, self.stages = d, encode, stages
        self.n, self.at_most, self.all_prefixes = n, at_most, all_prefixes

    def forward(self, x: Any, y: Any, x_query: Any) -> Tensor:
        """Predictions (…) for queries x_query (…, d) from examples x (…, n, d), y (…, n).

        x and y have the same leading dimensions, and those of x_query broadcast with them.  Further
        leading dimensions of x_query (in front of those of x) are more queries of the same prompts:
        they become further tokens, at O(1) cost each, where the prompt has room for several.
        With `all_prefixes` the result is (…, n + 1): entry t is the prediction for example t + 1
        (at the end: for the query) from the first t examples.

        Raises ValueError for shapes that do not fit, NaN or infinite entries, or a number of
        examples other than the one in the weights.
        """
        x, y, x_query = self._inputs(x, y, x_query)
        tokens, n_examples = self._tokens(x, y, x_query)
        outputs = self.run(tokens, n_examples)[..., 0]
        if self.all_prefixes:
            return outputs
        further, prompts = self._leading(x, x_query)
        answers = outputs[..., outputs.shape[-1] - math.prod(further) :]
        return answers.movedim(-1, 0).reshape((*further, *prompts))

    def streams(self, x: Any, y: Any, x_query: Any) -> Iterator[Tensor]:
        """The residual stream (…, T, D) of a prompt after the embedding and after each block."""
        return self.residual_stream(*self.tokens(x, y, x_query))

    def tokens(self, x: Any, y: Any, x_query: Any) -> prompt.Tokens:
        """The prompt as tokens (…, T, columns), queries last, and the number of example tokens."""
        return self._tokens(*self._inputs(x, y, x_query))

    @property
    def takes_several_queries(self) -> bool:
        """Whether a prompt has room for more than one query token."""
        return self.encode in prompt.SEVERAL_QUERIES

    def _leading(self, x: Tensor, x_query: Tensor) -> tuple[torch.Size, torch.Size]:
        """Leading dimensions: those that become further queries of a prompt, and the prompts'."""
        leading = torch.broadcast_shapes(x.shape[:-2], x_query.shape[:-1])
        own = len(leading) - (x.ndim - 2) if self.takes_several_queries else 0
        return leading[:own], leading[own:]

    def _tokens(self, x: Tensor, y: Tensor, x_query: Tensor) -> prompt.Tokens:
        further, prompts = self._leading(x, x_query)
        queries = x_query.expand(*further, *prompts, self.d)
        queries = queries.reshape(math.prod(further), *prompts, self.d).movedim(0, -2)
        x, y = x.expand(*prompts, *x.shape[-2:]), y.expand(*prompts, y.shape[-1])
        return self.encode(torch, x, y, queries)

    def _inputs(self, x: Any, y: Any, x_query: Any) -> tuple[Tensor, Tensor, Tensor]:
        x, y, x_query = tensors = [as_tensor(a, self.unembed.W_U) for a in (x, y, x_query)]
        checks.example_shapes(tuple(x.shape), tuple(y.shape), tuple(x_query.shape))
        for label, tensor in zip(("x", "y", "x_query"), tensors, strict=True):
            checks.finite(label, bool(torch.isfinite(tensor).all()))
        n, d = x.shape[-2:]
        if d != self.d:
            raise InputError(
                f"x has {d} features but the model was built for d = {self.d}: "
                f"build it again with d={d}"
            )
        if self.n is not None and (n > self.n if self.at_most else n != self.n):
            bound = "at most " if self.at_most else ""
            raise InputError(
                f"x has {n} examples but the weights hold n = {self.n}: "
                f"pass {bound}{self.n}, or build the model again with n={n}"
            )
        return x, y, x_query
