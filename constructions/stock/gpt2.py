"""A model of this library inside an unmodified `transformers.GPT2LMHeadModel`.

Prompts of numbers are passed as `inputs_embeds`, and tokens as `input_ids`.  `wpe` contains ±K.
The final norm is neutral too.  GELU replaces ReLU by gelu(λx)/λ (`gadgets.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from constructions.exactness import exact_in
from constructions.interface import Model, Prompt
from constructions.stock.gadgets import Dtype, Gadgets
from constructions.stock.neutral import EPSILON, Doubled
from constructions.stock.translated import Plan, StockModel, planned, rounded
from constructions.tokens import Tokens
from theory import machine
from theory.kinds import Count, InputError, Positive, checked, shown

MOST_POSITIONS = 1024  # number of positions of GPT-2, for prompts of unbounded length


def _not_empty(rows: Tensor) -> Tensor:
    return rows if len(rows) else rows.new_zeros(1, *rows.shape[1:])


class StockGPT2(StockModel):
    """A model of this library, translated into the class transformers.GPT2LMHeadModel.

    The attribute `module` is the GPT2LMHeadModel. `module.save_pretrained(folder)` writes a folder
    that AutoModelForCausalLM opens (in float64 with dtype=torch.float64). The vocabulary of
    `module` is the vocabulary of the model and BOS. For a model over tokens, `module.generate` ends
    when the model outputs ⊥ (no answer), whose number is the end-of-sequence token of `module`. For
    a model over numbers, the embedding matrix `wte` of `module` has a row for each column of the
    prompt, and `module` is called with inputs_embeds=self.prompt(…).tokens @ wte.
    """

    @checked
    def __init__(self, plan: Plan, positions: Count) -> None:
        soft, doubled = plan.soft, plan.doubled
        super().__init__("to_gpt2", rounded(_gpt2(plan, doubled, positions), plan), plan)
        self.doubled, self.outputs = doubled, soft.unembed.W_U.shape[1]

    @property
    def like(self) -> Tensor:
        """The embedding matrix `wte`; inputs are converted to its dtype and device."""
        return self.module.transformer.wte.weight  # type: ignore[union-attr, return-value]

    def _given(self, prompt: Prompt) -> tuple[dict[str, Tensor], tuple[int, ...]]:
        """The keyword arguments of the module, and the leading dimensions.

        The module does not take an empty batch, for which it gets one prompt of zeros.
        """
        tokens = prompt.tokens
        T = tokens.shape[-2] if tokens.is_floating_point() else tokens.shape[-1]
        config: Any = self.module.config
        self.fits(T, config.n_positions)
        if tokens.is_floating_point():
            tokens = tokens @ self.like[: tokens.shape[-1]]
            leading, rows = tuple(tokens.shape[:-2]), tokens.reshape(-1, *tokens.shape[-2:])
            return {"inputs_embeds": _not_empty(rows)}, leading
        rows = _not_empty(tokens.reshape(-1, tokens.shape[-1]))
        return {"input_ids": rows, "attention_mask": torch.ones_like(rows)}, tuple(
            tokens.shape[:-1]
        )

    @checked
    def run(self, prompt: Prompt) -> Tensor:
        given, leading = self._given(prompt)
        with torch.no_grad():
            logits = self.module(**given, use_cache=False).logits
        logits = logits[: math.prod(leading)].reshape(*leading, *logits.shape[-2:])
        return logits[..., prompt.answers, : self.outputs]

    @checked
    def residual_stream(self, prompt: Prompt) -> Iterator[Tensor]:
        given, leading = self._given(prompt)
        seen = list[Tensor]()
        transformer: Any = self.module.transformer
        hooks = [
            part.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
            for part in (*transformer.h, transformer.ln_f)
        ]
        try:
            with torch.no_grad():
                self.module(**given, use_cache=False)
        finally:
            for hook in hooks:
                hook.remove()
        for z in seen:
            rows = z[: math.prod(leading)]
            yield self.doubled.back(rows.reshape(*leading, *z.shape[-2:]))

    @checked
    def unembedding(self, H: Tensor) -> Tensor:
        z = self.doubled.writes(H.flatten(0, -2)) + self.doubled.row.to(H.dtype)
        module: Any = self.module
        logits = module.lm_head(module.transformer.ln_f(z)).unflatten(0, H.shape[:-1])
        return logits[..., : self.outputs]


@checked
def to_gpt2(
    model: Model,
    *inputs: Any,
    error: Positive | None = None,
    dtype: Dtype = torch.float64,
    gadgets: Gadgets | None = None,
    positions: Count | None = None,
) -> StockGPT2:
    """Returns the model translated into an unmodified `transformers.GPT2LMHeadModel`.

        stock = to_gpt2(induction_heads(8, 32))
        stock([3, 1, 4, 1]), stock.module.generate(…), stock.module.save_pretrained("folder")

    The result is called with the same inputs as the model, and `stock.module` is the GPT-2 model.
    The mask is the causal mask of GPT-2. All arguments except `positions` are those of
    `to_encoder`. `positions` is the largest number of tokens in a prompt. Its default is the limit
    of the model or, if the model has no limit, 1024 as in GPT-2.

    Raises ValueError for an error that cannot be guaranteed in the dtype, and for a model with a
    layer that cannot be translated (see `to_encoder`). Heads that attend to later tokens are
    allowed if the causal mask does not change the residual stream at the tokens after the examples;
    in this case only the tokens after the examples have answers. Otherwise such heads raise
    ValueError. If `transformers` is not installed, raises InputError with the command that installs
    it.
    """
    _transformers()
    plan = planned(model, inputs, True, error, dtype, gadgets)
    own = plan.soft.interface.context
    if own is None and plan.soft.pos_embed is not None:
        own = len(plan.soft.pos_embed.W_pos)
    if positions is not None and own is not None:
        raise InputError(f"{model.name} already has {own} positions: omit the argument `positions`")
    most = positions or own or MOST_POSITIONS
    return StockGPT2(plan, most)


def _transformers() -> Any:
    """The module `transformers`; raises InputError if it is not installed."""
    try:
        return import_module("transformers")
    except ImportError:
        raise InputError(
            "GPT-2 needs the package transformers, which is not installed: run pip "
            "install 'weightwright[hf]'"
        ) from None


def _gpt2(plan: Plan, doubled: Doubled, positions: int) -> Any:
    """The stock module and its tensors."""
    hf, soft = _transformers(), plan.soft
    # Two copies with opposite signs; float64 doubles the memory.
    needed = 4 * 8 * positions * (soft.d_model + 1)
    machine.fits_in_memory(f"{shown(positions)} positions", needed, "give fewer positions")
    rows, columns = soft.embed.W_E, soft.unembed.W_U
    vocabulary = max(len(rows), columns.shape[1])
    special: dict[str, int] = {}
    if isinstance(inner := plan.original.interface, Tokens):
        special["bos_token_id"] = inner.prefix[0] if inner.prefix else inner.vocabulary_size
        special["eos_token_id"] = inner.n_answers if inner.bottom else vocabulary
        vocabulary = max(vocabulary, special["eos_token_id"] + 1)
    config = hf.GPT2Config(
        vocab_size=vocabulary,
        n_positions=positions,
        n_embd=doubled.d,
        n_layer=soft.n_layers,
        n_head=doubled.n_heads,
        n_inner=doubled.neurons,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        layer_norm_epsilon=EPSILON,
        tie_word_embeddings=False,
        **({"bos_token_id": None, "eos_token_id": None} | special),
    )
    module = hf.GPT2LMHeadModel(config).double()
    at = torch.zeros(positions, soft.d_model, dtype=torch.float64)
    if soft.pos_embed is not None:
        at[: len(soft.pos_embed.W_pos)] = soft.pos_embed.W_pos[:positions]
    wte = torch.zeros(vocabulary, doubled.d, dtype=torch.float64)
    wte[: len(rows)] = doubled.writes(rows)
    values = {
        "transformer.wte.weight": wte,
        "transformer.wpe.weight": doubled.writes(at) + doubled.row,
        "lm_head.weight": _unembedding(plan, doubled, vocabulary),
    }
    norms = ["transformer.ln_f"]
    for number, block in enumerate(soft.blocks):
        at_block = f"transformer.h.{number}"
        W, b, W_O, b_O = doubled.heads(block.attn)
        W_in, b_in, W_out, b_out = doubled.mlp(block.mlp, plan.gadgets.steep)
        parts = {"attn.c_attn": (W, b), "attn.c_proj": (W_O, b_O)}
        parts |= {"mlp.c_fc": (W_in, b_in), "mlp.c_proj": (W_out, b_out)}
        for name, (weights, bias) in parts.items():
            values |= {f"{at_block}.{name}.weight": weights, f"{at_block}.{name}.bias": bias}
        norms += [f"{at_block}.ln_1", f"{at_block}.ln_2"]
    for norm in norms:
        values |= {f"{norm}.weight": doubled.norm, f"{norm}.bias": 0 * doubled.norm}
    module.load_state_dict(values)
    return module


def _unembedding(plan: Plan, doubled: Doubled, vocabulary: int) -> Tensor:
    """The rows (vocabulary, d) of `lm_head`: the model's, with biases as multiples of ±K.

    Tokens that are not answers get a logit below all others.
    """
    unembed = plan.soft.unembed
    bias = torch.zeros(vocabulary, dtype=torch.float64)
    answers = unembed.W_U.shape[1]
    if unembed.b_U is not None:
        bias[:answers] = unembed.b_U
    if isinstance(plan.original.interface, Tokens) and vocabulary > answers:
        bias[answers:] = -(2.0 ** math.ceil(math.log2(2 * exact_in(plan.original).largest)))
    head = torch.zeros(vocabulary, doubled.d, dtype=torch.float64)
    head[:answers] = doubled.reads(unembed.W_U).T
    # Half the difference of ±K is K.
    head[:, doubled.W] = bias / (2 * doubled.constant)
    head[:, doubled.d // 2 + doubled.W] = -bias / (2 * doubled.constant)
    return head
