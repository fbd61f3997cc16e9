"""A forward pass of hardmax models that is written out, with one input of a component changed."""

import numpy as np
import torch


def parts_of(model, layer, H, query=None, key=None, value=None, mlp=None, only=None):
    """The stream after a layer by the formula; given streams are read in place of H by one port."""
    block = model.blocks[layer - 1]
    added = []
    if block.attn is not None:
        a = block.attn
        assert a.normalise == "hardmax"
        for h in range(a.n_heads):
            mine = only == ("head", h)
            q, k, v = (H if not mine or s is None else s for s in (query, key, value))
            scores = (q @ a.W_Q[h] + a.b_Q[h]) @ (k @ a.W_K[h] + a.b_K[h]).mT
            T = H.shape[-2]
            i, j = np.arange(T)[:, None], np.arange(T)
            seen = {"full": (i >= 0) & (j >= 0), "causal": j <= i, "diagonal": j == i}
            seen["strictly causal"] = (j < i) | ((i == 0) & (j == 0))
            scores[:, ~torch.from_numpy(seen[a.masks[h]])] = -torch.inf
            A = (scores == scores.amax(-1, keepdim=True)).double()
            added.append(A / A.sum(-1, keepdim=True) @ v @ a.W_V[h] @ a.W_O[h])
    between = H + sum(added) if added else H
    m, after = None, between
    if block.mlp is not None:
        b = block.mlp
        m = (
            (between if mlp is None else mlp(between)) @ b.W_in + b.b_in
        ).relu() @ b.W_out + b.b_out
        after = between + m
    return added, m, after


def written(model, x, node):
    prompt = model.prompt(x)
    H = model.embed.W_E[prompt.tokens]
    if node.kind == "embed":
        return H
    if model.pos_embed is not None:
        places = model.pos_embed.W_pos[: H.shape[1]].expand_as(H)
        if node.kind == "positions":
            return places
        H = H + places
    for layer in range(1, node.layer + 1):
        added, m, H = parts_of(model, layer, H)
    return m if node.kind == "mlp" else added[node.index]


def patched(model, x, edge, change, span):
    prompt = model.prompt(x)
    H = next(model.residual_stream(prompt))
    delta = torch.zeros_like(H)
    delta[..., span] = change
    for layer in range(1, model.n_layers + 1):
        given = {}
        if edge.target.layer == layer and edge.target.kind == "mlp":
            given = {"mlp": lambda between: between + delta}
        elif edge.target.layer == layer:
            name = {"Q": "query", "K": "key", "V": "value"}[edge.port]
            given = {name: H + delta, "only": ("head", edge.target.index)}
        H = parts_of(model, layer, H, **given)[2]
    H = H + delta if edge.port == "logits" else H
    outputs = H[:, prompt.answers] @ model.unembed.W_U
    if model.unembed.b_U is not None:
        outputs = outputs + model.unembed.b_U
    return model.interface.read(outputs, x)
