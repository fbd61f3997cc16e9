"""A stand-in for TransformerLens, for tests where it is not installed: the same weights and logits.

It has the names and shapes of the weights of `TransformerBridge.boot_native`, without its hooks.
"""

from functools import partial
from types import ModuleType, SimpleNamespace

import torch
from torch import nn


class TransformerBridge(nn.Module):
    """A transformer without layer norms: softmax heads of one mask and ReLU MLPs."""

    def __init__(self, config, dtype):
        super().__init__()
        linear, width = partial(nn.Linear, dtype=dtype), config.n_heads * config.d_head
        D, self.config = config.d_model, config
        self.embed = nn.Embedding(config.d_vocab, D, dtype=dtype)
        self.pos_embed = nn.Embedding(config.n_ctx, D, dtype=dtype)
        self.unembed = linear(D, config.d_vocab_out)
        self.blocks = nn.ModuleList(nn.ModuleDict() for _ in range(config.n_layers))
        for block in self.blocks:
            into, out = {each: linear(D, width) for each in "qkv"}, {"o": linear(width, D)}
            block["attn"] = nn.ModuleDict(into | out)
            if not config.attn_only:
                units = config.d_mlp
                block["mlp"] = nn.ModuleDict({"in": linear(D, units), "out": linear(units, D)})

    @classmethod
    def boot_native(cls, config, dtype):
        assert config.normalization_type is None
        assert config.act_fn == "relu"
        return cls(config, dtype)

    def forward(self, tokens):
        H = self.embed(tokens) + self.pos_embed.weight[: tokens.shape[-1]]
        T, shape = tokens.shape[-1], (self.config.n_heads, self.config.d_head)
        causal = {"causal": True, "bidirectional": False}[self.config.attention_dir]
        hidden = torch.ones(T, T).triu(1).bool() & causal
        for block in self.blocks:
            attn = block["attn"]
            q, k, v = (attn[each](H).unflatten(-1, shape).transpose(-2, -3) for each in "qkv")
            scores = (q @ k.mT / self.config.d_head**0.5).masked_fill(hidden, -torch.inf)
            H = H + attn["o"]((scores.softmax(-1) @ v).transpose(-2, -3).flatten(-2))
            if "mlp" in block:
                H = H + block["mlp"]["out"](block["mlp"]["in"](H).relu())
        return self.unembed(H)


def modules():
    """The modules of the package, by name."""
    found = {name: ModuleType(name) for name in ("transformer_lens", *map(_within, PARTS))}
    for part, names in PARTS.items():
        vars(found[_within(part)]).update(names)
    return found


PARTS = {
    "config": {"TransformerBridgeConfig": SimpleNamespace},
    "model_bridge": {"TransformerBridge": TransformerBridge},
}


def _within(part):
    return f"transformer_lens.{part}"
