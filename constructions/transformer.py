"""The transformer of the library, of which hand-built and trained models are instances.

Shapes
    T tokens, D = d_model, M = d_mlp; H (…, T, D) is the residual stream, tokens are rows.

A block adds its heads, then its MLP, and may then normalise each token:

    H ← H + Σ_h A_h(H) H W_V W_O            see `constructions.attention`
    H ← H + relu(H W_in + b_in) W_out + b_out
    H ← H / ‖H‖, row by row                 unit norm

In trained models, heads, MLPs and the unembedding may read the stream through a layer norm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from constructions.attention import CAUSAL_BLOCK, Attention
from constructions.blocks import (
    Block,
    Embed,
    LayerNorm,
    PosEmbed,
    Stack,
    Stage,
    Unembed,
    normed,
    plural,
)
from constructions.consistency import check_registers, check_shapes
from constructions.decoding import PrunedDecoder, unsuitable
from constructions.exactness import check_format
from constructions.formulas import derivation, formula, formulas
from constructions.interface import Interface, Prompt
from constructions.softmax import SoftmaxError, followed_numbers, least_sharpness, softmax_error
from constructions.stream import Stream
from constructions.tensors import as_tensor
from theory import machine
from theory.kinds import Count, InputError, Integers, Positive, Reals, Steps, Within, checked
from theory.regression.formulas import RegisterFormula

WITHIN = 0.499  # of the margin: an error of all logits at which no answer changes


class Transformer(Stack):
    """A transformer: embeddings of tokens and (optionally) positions, blocks, and an unembedding.

    The `interface` encodes inputs as prompts and decodes answers. `stream` contains the registers,
    which are named groups of coordinates of the residual stream. `stages` contains the layer
    invariants, each of which is a formula for the content of a register after a layer. `at_most`
    contains upper bounds on the entries of registers. The invariants and bounds are part of the
    construction's proof.

    If the interface has a margin and the model is converted (`.half()`, `.to(…)`) to a dtype in
    which answers could be wrong, the conversion raises ValueError and changes nothing; see
    `constructions.exactness`. Some interfaces without a margin, such as that of `sort`, check the
    dtype when the model is called.

    Raises ValueError for weights whose shapes do not fit the stream, for an interface with more
    tokens than the embedding or longer prompts than the position embedding, for invariants of a
    layer that the model does not have, and for names that are not registers.
    """

    @checked
    def __init__(
        self,
        embed: Embed,
        blocks: list[Block],
        unembed: Unembed,
        *,
        pos_embed: PosEmbed | None = None,
        ln_final: LayerNorm | None = None,
        interface: Interface,
        stream: Stream,
        stages: tuple[Stage, ...] = (),
        at_most: Mapping[str, float] | None = None,
        name: str = "the model",
        source: str,
    ) -> None:
        super().__init__()
        self.ln_final = ln_final
        self.embed, self.pos_embed, self.unembed = embed, pos_embed, unembed
        self.blocks: Sequence[Block] = nn.ModuleList(blocks)  # type: ignore[assignment]
        self.interface, self.stream, self.name, self.source = interface, stream, name, source
        self.stages, self.at_most = stages, dict(at_most or {})
        check_shapes(self)
        self._check_interface()
        check_registers(self)

    def _check_interface(self) -> None:
        """Raises ValueError if the embeddings have too few rows for the prompts."""
        tokens, context = self.interface.n_tokens, self.interface.context
        rows = len(self.embed.W_E)
        if tokens is not None and tokens > rows:
            raise InputError(
                f"the interface has {tokens} tokens and W_E has {rows} rows: give an embedding "
                "with a row for each token"
            )
        places = None if self.pos_embed is None else len(self.pos_embed.W_pos)
        if places is not None and context is not None and context > places:
            raise InputError(
                f"prompts have up to {context} tokens and W_pos has {places} rows: give a "
                "position embedding with a row for each token of a prompt"
            )

    @property
    def n_layers(self) -> int:
        """The number of layers, which are the entries of `blocks`."""
        return len(self.blocks)

    @property
    def attentions(self) -> list[Attention]:
        """The attention modules of the layers that have heads, in the order of the layers."""
        return [block.attn for block in self.blocks if block.attn is not None]

    @property
    def is_causal(self) -> bool:
        """Whether every token sees only itself and earlier tokens."""
        return all(attn.is_causal for attn in self.attentions)

    @property
    def n_heads(self) -> int:
        """The number of heads of the layer with the most heads; 0 if no layer has heads."""
        return max((attn.n_heads for attn in self.attentions), default=0)

    @property
    def n_parameters(self) -> int:
        """The number of weights, including weights that are 0."""
        return sum(weights.numel() for weights in self.parameters())

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Transformer:
        """Convert the weights, as all of torch's conversions do, if no answer changes."""
        check_format(self, fn(self.like.new_empty(0)).dtype)
        converted: Transformer = super()._apply(fn, recurse)
        return converted

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Loads weights as `nn.Module.load_state_dict` does.

        With `assign`, the tensors keep their dtypes; raises ValueError for a dtype in which
        answers could be wrong.
        """
        if assign:
            for dtype in {each.dtype for each in state_dict.values() if isinstance(each, Tensor)}:
                check_format(self, dtype)
        return super().load_state_dict(state_dict, strict, assign)

    @checked
    def residual_stream(self, prompt: Prompt) -> Iterator[Tensor]:
        """Yields the residual stream (…, T, D) after the embedding and after each layer.

        T is the number of tokens of the prompt, and D is the width of the residual stream.
        """
        H = self.embed(prompt.tokens)
        if self.pos_embed is not None:
            H = H + self.pos_embed(H.shape[-2])
        yield H
        for block in self.blocks:
            H = block(H, prompt.n_examples)
            yield H

    def patterns(self, *inputs: Any) -> Iterator[Tensor]:
        """Yields the attention pattern (…, heads, T, attended tokens) of each layer with heads.

        Rows are queries and columns are keys, among them the tokens that the model puts in front of
        a sequence, such as BOS.
        """
        prompt = self.prompt(*inputs)
        for block, H in zip(self.blocks, self.residual_stream(prompt), strict=False):
            if block.attn is not None:
                yield block.attn.pattern(normed(H, block.ln1), prompt.n_examples)

    @checked
    def seen(self, H: Tensor) -> Tensor:
        """The input of the unembedding: the residual stream H (…, D) after the final layer norm.

        The result is H if the model has no final layer norm.
        """
        return normed(self._stream(H), self.ln_final)

    @checked
    def unembedding(self, H: Tensor) -> Tensor:
        """The outputs (…, d_out) of the unembedding for its input H (…, D).

        H is a result of `seen`, the residual stream (of width D) after the final layer norm, if
        any. For models over tokens, the d_out outputs are logits.
        """
        return self.unembed(self._stream(H))

    def _stream(self, H: Tensor) -> Tensor:
        if H.shape[-1:] != (self.d_model,):
            raise InputError(f"H has shape {tuple(H.shape)}: give H of shape (…, {self.d_model})")
        if H.dtype != (dtype := self.embed.W_E.dtype):  # torch.compile cannot trace `like`
            raise InputError(f"H is of type {H.dtype}: give H of type {dtype}")
        return H

    @checked
    def decoder(self, leading: Sequence[Steps], context: Count) -> Decoder | None:
        return Decoder(self, leading, context) if self.is_causal else None

    def pruned_decoder(self, context: int) -> PrunedDecoder | None:
        return None if unsuitable(self) else PrunedDecoder(self, context)

    @checked
    def softmax_error(self, sharpness: Positive) -> SoftmaxError:
        """Bounds on the error of softmax attention at inverse temperature `sharpness`.

        The error is the difference from hardmax attention, the limit of infinite inverse
        temperature. The bounds are valid for all prompts.
        """
        return softmax_error(self, sharpness)

    @checked
    def least_sharpness(self, error: Positive | None = None) -> float:
        """The smallest sharpness at which all logits are within `error` of the logits with hardmax.

        The sharpness is the inverse temperature of softmax attention, and hardmax attention is the
        limit of infinite sharpness. The margin of a model is a lower bound on the difference
        between the largest logit and any other. By default, `error` is slightly below half the
        margin, so that all answers are right. Raises ValueError for a model without a known margin
        if `error` is not given.
        """
        if error is None:
            if self.interface.margin is None:
                raise InputError(
                    f"the margin between the logits of {self.name} is not known: pass the largest "
                    "allowed error of a logit as the argument `error`"
                )
            error = WITHIN * self.interface.margin
        return least_sharpness(self, error)

    def converges(self, x: Any) -> bool:
        """Whether the iteration that a model computes converges for inputs x (…, n, d) of examples.

        The condition is that of the construction, such as 0 < alpha < 2/λmax(XᵀX)² for every
        prompt; see also `theory.regression.safe_step_size`. Raises ValueError for a model that
        computes no iteration with a step size, and for inputs of another shape.
        """
        condition = getattr(self.interface, "convergence", None)
        if condition is None:
            raise InputError(
                f"{self.name} computes no iteration with a step size: give a model of newton, "
                "hyperpower, gradient_descent or chebyshev"
            )
        array = Reals(f"... n {self.interface.d}").read("x", x)
        scale: float = getattr(self.interface, "scale", 1.0)  # as in a call
        return bool(condition.holds(as_tensor(array) / scale))

    def formula(self) -> RegisterFormula:
        """The formula xᵀ g(S) b of the prediction at a query x, for all n and inputs.

        S = XᵀX and b = Xᵀy for the examples X (n × d) with labels y (n,). The polynomial g is read
        from the tensors; it is `formula().parts["x b"]`. It is also the formula of other models
        whose tensors, for other d, contain the same program on registers. If the weights contain
        n, the formula is valid for this n. The raised errors are those of `formulas`.
        """
        return formula(self)

    def formulas(self) -> tuple[dict[str, RegisterFormula], ...]:
        """The formulas of all registers after the embedding and after each layer.

        Each formula is valid for all inputs and all numbers n of examples, unless the weights
        contain n; see `theory.regression.register_programs`.

        Raises NoFormula, a ValueError, for models other than linear attention over examples whose
        blocks between registers are multiples of the identity; the message names the layer and the
        block. Raises ValueError for formulas whose coefficients have more than 2³⁰ bits together.
        """
        return formulas(self)

    def derivation(self) -> str:
        """The heads and the formulas of the registers that they change, layer by layer, as text.

        The raised errors are those of `formulas`.
        """
        return derivation(self)

    @checked
    def sharpened(self, sharpness: Positive | None) -> Transformer:
        """A model with the same weights, and softmax attention at a given inverse temperature.

        The inverse temperature is β = `sharpness`. With `sharpness=None` the attention is hardmax,
        the limit β → ∞.

        The inverse temperature applies to every layer with softmax or hardmax heads; linear and
        ReLU heads stay as they are. In a trained model, β replaces the factor 1/√d_head of the
        scores, where d_head is the width of keys. Weights are shared, not copied: a later
        `.to(dtype)` of one model converts both models. A hardmax model with `sharpness=None` is
        returned unchanged. If the margin between the logits is not known, every β is accepted;
        `least_sharpness(error)` is then the β for a given error of the logits.

        Raises ValueError for a sharpness at which scores overflow, or at which answers could be
        wrong by the margin between the logits; the message gives the smallest sharpness at which
        all answers are right. Also raises ValueError for models such as `prefix_sums`, whose
        answers are known to be right only with the attention with which the models are built.
        """
        if sharpness is None and all(attn.normalise != "softmax" for attn in self.attentions):
            return self
        labels = self.call is not None and getattr(self.interface, "labels", None)
        if self.interface.hard or (labels and self.interface.margin is None):
            how = "hardmax" if sharpness is None else f"softmax (sharpness {sharpness:g})"
            raise InputError(
                f"with {how} attention the answers of {self.name} could be wrong, because no bound "
                "on their error is known: use the model as it was built"
            )
        scale = 1.0 if sharpness is None else sharpness
        margin = None if sharpness is None else self.interface.margin
        if margin is not None:
            hardmax = followed_numbers(self)
            if not softmax_error(self, scale, hardmax).logits < margin / 2:
                least = np.ceil(least_sharpness(self, WITHIN * margin, hardmax) * 100) / 100
                raise InputError(
                    f"sharpness {sharpness:g} is too small for prompts of "
                    f"{self.interface.context} tokens, and answers could be wrong: give a "
                    f"sharpness of at least {least:g}"
                )
        model = deepcopy(self, {id(weights): weights for weights in self.parameters()})
        for attn in model.attentions:
            if attn.normalise in ("softmax", "hardmax"):
                attn.normalise, attn.scale = "hardmax" if sharpness is None else "softmax", scale
        kind = "hardmax head:" if sharpness is None else f"softmax head, β = {scale:g}:"
        for block in model.blocks:
            block.lines = tuple(
                re.sub("^(hardmax|softmax) head(, β = [^:]*)?:", kind, line) for line in block.lines
            )
        return model

    def __str__(self) -> str:
        layers, heads = plural(self.n_layers, "layer"), plural(self.n_heads, "head")
        size = f"{layers}, {heads}, width {self.d_model}"
        lines = [f"{self.name}: {size}, {self.n_parameters} weights"]
        lines += [f"  source  {self.source}", f"  stream  {self.stream}"]
        if required := self.interface.requirement():
            lines.append(f"  converges {required}")
        first = 1
        for described, alike in groupby(self.blocks, key=lambda block: block.lines):
            last = first + len(list(alike)) - 1
            which = f"layer {first}" if first == last else f"layers {first}–{last}, each"
            lines += [f"  {which if i == 0 else '':9} {line}" for i, line in enumerate(described)]
            first = last + 1
        return "\n".join(lines)

    __repr__ = __str__


class Decoder:
    """A model on growing prompts (…, T), to which each call appends tokens.

    A call with the next tokens (…, t) returns the outputs (…, 1, d_out) at the last token. The
    decoder caches the keys and values of all tokens so far, and computes the scores of
    `CAUSAL_BLOCK` tokens at once. For T tokens the decoder needs O(T) memory and, for each token,
    O(T) time. Raises ValueError if the cache of `context` tokens does not fit in memory, or if the
    model takes fewer than `context` tokens. A call raises ValueError for tokens that are no rows of
    the embedding, for other leading dimensions, and for more than `context` tokens in total.
    """

    def __init__(self, model: Transformer, leading: Sequence[int], context: int) -> None:
        if (most := model.interface.context) is not None and context > most:
            raise InputError(f"context is {context}: give an integer ≤ {most} for {model.name}")
        each = [(a.n_heads, a.W_K.shape[-1] + a.W_V.shape[-1]) for a in model.attentions]
        scores = 3 * min(CAUSAL_BLOCK, context) * model.n_heads
        numbers = sum(heads * width for heads, width in each) + scores
        sequences = int(np.prod(leading, dtype=np.float64))
        machine.fits_in_memory(
            f"keys and values of {sequences:.4g} sequences of {context} tokens",
            model.like.element_size() * numbers * context * sequences,
            "give fewer or shorter sequences",
        )
        self.model, self.leading, self.context, self.count = model, tuple(leading), context, 0
        self.kind = Integers("... t", Within(least=0, below=len(model.embed.W_E)))
        self.cache = [
            [] if block.attn is None else block.attn.new_cache(leading, context)
            for block in model.blocks
        ]

    @torch.no_grad()
    def __call__(self, tokens: Tensor) -> Tensor:
        array = self.kind.read("tokens", tokens)
        *leading, t = array.shape
        if tuple(leading) != self.leading or self.count + t > self.context:
            raise InputError(
                f"tokens have shape {array.shape} after {self.count} of {self.context} tokens: "
                f"give tokens (…, t) with leading dimensions {self.leading}, or build a decoder "
                "with a larger context"
            )
        tokens = torch.from_numpy(np.ascontiguousarray(array)).to(self.model.like.device)
        for part in tokens.split(CAUSAL_BLOCK, dim=-1):
            H = self.model.embed(part)
            if self.model.pos_embed is not None:
                H = H + self.model.pos_embed(part.shape[-1], self.count)
            for block, cache in zip(self.model.blocks, self.cache, strict=True):
                H = block(H, 0, cache)
            self.count += part.shape[-1]
        return self.model.unembedding(self.model.seen(H[..., -1:, :]))
