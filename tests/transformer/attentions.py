"""Attention of integers, by its definition."""

import itertools
import math

import numpy as np
import torch

from constructions.attention import Attention, Heads

EPS = 2.0**-53


NORMALISE, MASKS = (
    ("linear", "relu", "softmax", "hardmax"),
    (
        "full",
        "causal",
        "strictly causal",
        "context-only",
        "diagonal",
        ("diagonal", "context-only"),
        ("causal", "strictly causal"),
    ),
)


def integers(rng, *shape, size=2):
    """Small integers: sums and products of them are exact in float64."""
    return torch.as_tensor(rng.integers(-size, size + 1, shape).astype(np.float64))


def an_attention(rng, normalise, mask, heads=2, D=4, d_head=3, d_value=2, scale=1.0):
    shapes = ((heads, D, d_head), (heads, D, d_head), (heads, D, d_value), (heads, d_value, D))
    W = [integers(rng, *shape) for shape in shapes]
    b = [integers(rng, heads, d_head) for _ in range(2)]
    return Attention(*W, *b, normalise=normalise, mask=mask, scale=scale)


def by_definition(attn, H, n_examples):
    """H ↦ Σ_h A_h H W_V W_O, entry by entry, with the normalisations and masks in words."""
    T, D = H.shape
    added = [[0.0] * D for _ in range(T)]
    for h, t in itertools.product(range(attn.n_heads), range(T)):
        first, last = {
            "full": (0, T),
            "causal": (0, t + 1),
            "strictly causal": (0, max(t, 1)),
            "context-only": (0, n_examples),
            "diagonal": (t, t + 1),
        }[attn.masks[h]]
        query = [
            (sum(H[t, i] * attn.W_Q[h, i, c] for i in range(D)) + attn.b_Q[h, c]).item()
            for c in range(attn.W_Q.shape[2])
        ]
        scores = []
        for j in range(first, last):
            key = [
                (sum(H[j, i] * attn.W_K[h, i, c] for i in range(D)) + attn.b_K[h, c]).item()
                for c in range(attn.W_K.shape[2])
            ]
            scores.append(attn.scale * sum(a * b for a, b in zip(query, key, strict=True)))
        top = max(scores)
        weights = {
            "linear": lambda s: s,
            "relu": lambda s, count=last - first: max(s, 0.0) / count,
            "softmax": lambda s, every=tuple(scores), top=top: (
                math.exp(s - top) / math.fsum(math.exp(r - top) for r in every)
            ),
            "hardmax": lambda s, every=tuple(scores), top=top: (s == top) / every.count(top),
        }[attn.normalise]
        for j, score in enumerate(scores, start=first):
            value = [
                sum(H[j, i] * attn.W_V[h, i, v] for i in range(D)).item()
                for v in range(attn.W_V.shape[2])
            ]
            for i in range(D):
                added[t][i] += weights(score) * sum(
                    c * attn.W_O[h, v, i].item() for v, c in enumerate(value)
                )
    return torch.tensor(added, dtype=torch.float64)


def tolerance(attn, H):
    """Integers make scores and values exact; what is left is rounding in the last two sums.

    Weights carry at most T + 8 roundings, the sums over tokens, heads and values their lengths.
    """
    if attn.normalise == "linear":
        return 0.0
    values = (H.abs().unsqueeze(-3) @ attn.W_V.abs() @ attn.W_O.abs()).sum(-3).amax()
    scores = 1.0
    if attn.normalise == "relu":
        Q = H.abs().unsqueeze(-3) @ attn.W_Q.abs() + attn.b_Q.abs().unsqueeze(-2)
        K = H.abs().unsqueeze(-3) @ attn.W_K.abs() + attn.b_K.abs().unsqueeze(-2)
        scores = abs(attn.scale) * float((Q @ K.transpose(-1, -2)).amax())
    T, heads, d_value = H.shape[-2], attn.n_heads, attn.W_V.shape[-1]
    return float(2 * (3 * T + heads * d_value + 20) * EPS * scores * values)


def seen(mask, i, T, n_examples):
    """The keys that query i of T sees."""
    keys = {"full": range(T), "context-only": range(n_examples), "diagonal": [i]}
    until = i if mask == "strictly causal" and i else i + 1
    return [*keys.get(mask, range(until))]


def averages_by_definition(heads, Q, K, V, n_examples):
    """Query by query, in float64."""
    rows = []
    for i in range(Q.shape[-2]):
        keys = seen(heads.mask, i, Q.shape[-2], n_examples)
        scores = torch.einsum("...d,...kd->...k", Q[..., i, :], K[..., keys, :])
        if heads.normalise == "hardmax":
            found = (scores == scores.amax(-1, keepdim=True)).double()
            found = found / found.sum(-1, keepdim=True)
        elif heads.normalise == "softmax":
            found = (scores * heads.scale).softmax(-1)
        else:
            found = scores.clamp(min=0) * heads.scale / len(keys)
        rows.append(torch.einsum("...k,...kd->...d", found, V[..., keys, :]))
    return torch.stack(rows, dim=-2)


def drawn(whole, *shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    if whole:
        return torch.randint(-2, 3, shape, generator=generator).double()
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def heads_of(mask, normalise):
    return Heads(*[torch.zeros(0)] * 6, normalise, mask, 0.75)
