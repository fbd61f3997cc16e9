"""The forward pass of the library's transformer, written once for all number systems.

It reads the tensors that torch runs and is written against the formulas of
`constructions/transformer.py`, not against its code: the two must agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from constructions.attention import Attention
from constructions.blocks import MLP, Block, LayerNorm
from constructions.interface import Prompt
from constructions.pairs import paired_heads, paired_neurons
from constructions.transformer import Transformer
from verify.domains.base import Domain, Entry, Matrix, NotPolynomial, entrywise

EPSILON = 1e-5  # the number that a layer norm adds to the variance


def written(model: Transformer, domain: Domain, *inputs: Any) -> Prompt:
    """The prompt of inputs whose entries are in the domain: nested rows, or object arrays."""
    return model.interface.write(np, *map(objects, inputs))


def objects(rows: Any) -> np.ndarray:
    """Returns rows as an object array; numpy itself would treat polynomials as sequences."""
    if isinstance(rows, np.ndarray):
        return rows
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            array[i, j] = entry
    return array


def streams(model: Transformer, prompt: Prompt, domain: Domain) -> Iterator[Matrix]:
    """Yields the residual stream after the embedding and after each block.

    The stream has one row of D coordinates for each of T tokens. The prompt's tokens are rows of
    entries of the domain, rows of numbers of torch (which are read exactly), or indices of rows of
    the embedding.

    Raises NotPolynomial for a layer that compares numbers in a domain without order, and for
    softmax or a normalisation in a domain without exponentials or square roots.
    """
    H = _embedded(model, prompt.tokens, domain)
    if model.pos_embed is not None:
        H = H + domain.weights(_array(model.pos_embed.W_pos)[: H.nrows()])
    return through(model.blocks, H, prompt.n_examples, domain)


def through(
    blocks: Iterable[Block], H: Matrix, n_examples: int, domain: Domain
) -> Iterator[Matrix]:
    """Yields the stream H, and the stream after each of these blocks.

    Each stream has one row of D coordinates for each of T tokens.
    """
    yield H
    for number, block in enumerate(blocks, start=1):
        try:
            if block.attn is not None:
                H = H + _attention(block.attn, _seen(H, block.ln1, domain), n_examples, domain)
            if block.mlp is not None:
                H = H + _mlp(block.mlp, _seen(H, block.ln2, domain), domain)
            if block.norm is not None:
                H = _unit_norm(H, domain)
        except NotPolynomial as reason:
            raise NotPolynomial(f"layer {number}: {reason}") from None
        yield H


def outputs(model: Transformer, prompt: Prompt, domain: Domain) -> Matrix:
    """The model's outputs at the prompt's answer tokens, d_out outputs in each row."""
    *_, H = streams(model, prompt, domain)
    return unembedding(model, domain.matrix(H.tolist()[prompt.answers]), domain)


def unembedding(model: Transformer, H: Matrix, domain: Domain) -> Matrix:
    """The outputs of the unembedding for rows H of the last stream."""
    H, b_U = _seen(H, model.ln_final, domain), model.unembed.b_U
    if b_U is None:
        return H * domain.weights(_array(model.unembed.W_U))
    return _affine(H, _array(model.unembed.W_U), _array(b_U), domain)


def _embedded(model: Transformer, tokens: Any, domain: Domain) -> Matrix:
    """Rows of W_E for integers (T,), tokens · W_E for vectors (T, columns)."""
    W_E, exact = _array(model.embed.W_E), isinstance(tokens, np.ndarray)
    tokens = tokens if exact else _array(tokens)
    if tokens.ndim == 1:
        return domain.weights(W_E[tokens])
    H = domain.matrix(tokens.tolist()) if exact else domain.weights(tokens)
    return H * domain.weights(W_E)


def _attention(attn: Attention, H: Matrix, n_examples: int, domain: Domain) -> Matrix:
    W = {name: _array(getattr(attn, name)) for name in ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K")}
    scale = domain.number(*float(attn.scale).as_integer_ratio())
    examples = _first_rows(H, n_examples, domain) if "context-only" in attn.masks else H
    heads, normalise = list(range(attn.n_heads)), str(attn.normalise)
    if normalise == "relu" and not domain.ordered:
        heads, normalise = _linear_heads(W, attn.masks), "mean"
    total = None
    for h in heads:
        mask = attn.masks[h]
        attended = examples if mask == "context-only" else H
        Q = _affine(H, W["W_Q"][h], W["b_Q"][h], domain)
        K = _affine(attended, W["W_K"][h], W["b_K"][h], domain)
        V = attended * domain.weights(W["W_V"][h])
        if normalise != "hardmax":
            Q = scale * Q
        if mask == "diagonal":
            mixed = _of_its_own(Q, K, V, normalise, domain)
        elif normalise in ("linear", "mean") and mask in ("full", "context-only"):
            mixed = Q * (K.transpose() * V)
            if normalise == "mean":
                mixed = domain.number(1, K.nrows()) * mixed
        else:
            mixed = _pattern(Q * K.transpose(), normalise, mask, domain) * V
        added = mixed * domain.weights(W["W_O"][h])
        total = added if total is None else total + added
    return total


def _of_its_own(Q: Matrix, K: Matrix, V: Matrix, normalise: str, domain: Domain) -> Matrix:
    """The output of a diagonal head before W_O: each value times the token's weight on itself."""
    if normalise in ("softmax", "hardmax"):
        return V
    zero, rows = domain.number(0), []
    for each in zip(Q.tolist(), K.tolist(), V.tolist(), strict=True):
        q, k, v = (domain.matrix([row]) for row in each)
        score = q * k.transpose()
        if normalise == "relu":
            score = entrywise(domain, lambda value: _relu(value, zero), score)
        rows += (score * v).tolist()
    return domain.matrix(rows)


def _pattern(scores: Matrix, normalise: str, mask: str, domain: Domain) -> Matrix:
    """Normalised scores, row by row."""
    zero, rows = domain.number(0), []
    for t, row in enumerate(scores.tolist()):
        seen = row[: _count_seen(t, len(row), mask)]
        if normalise == "relu":
            weights = [domain.number(1, len(seen)) * _relu(s, zero) for s in seen]
        elif normalise == "mean":
            weights = [domain.number(1, len(seen)) * s for s in seen]
        elif normalise == "hardmax":
            weights = _hardmax(seen, domain)
        elif normalise == "softmax":
            weights = _softmax(seen, domain)
        else:
            weights = list(seen)
        rows.append(weights + [zero] * (len(row) - len(weights)))
    return domain.matrix(rows)


def _count_seen(t: int, attended: int, mask: str) -> int:
    """The number of tokens, from the first, to which token t attends."""
    return {"causal": t + 1, "strictly causal": max(t, 1)}.get(mask, attended)


def _softmax(scores: list[Entry], domain: Domain) -> list[Entry]:
    """exp(s_j − s₁)/Σ exp(s_i − s₁) for any score s₁; here the score with the largest midpoint."""
    exponential = getattr(domain, "exponential", None)
    if exponential is None:
        raise NotPolynomial("softmax attention has no exact value here: use the domain ball")
    largest = max(scores, key=float)
    powers = [exponential(score - largest) for score in scores]
    total = sum(powers[1:], start=powers[0])
    return [power / total for power in powers]


def _relu(value: Entry, zero: Entry) -> Entry:
    if value > zero:
        return value
    if value <= zero:
        return zero
    return value.max(zero)  # a ball that contains 0: ReLU is continuous, so it has an enclosure


def _hardmax(scores: list[Entry], domain: Domain) -> list[Entry]:
    if not domain.ordered:
        constant = getattr(domain, "constant", lambda score: None)
        constants = [constant(score) for score in scores]
        if any(value is None for value in constants):
            raise NotPolynomial(
                "hardmax compares scores, which is not a polynomial: use the domains float or exact"
            )
        scores = constants
    largest = scores[0]
    for score in scores[1:]:
        largest = score if score > largest else largest
    # A ball of positive radius does not compare equal, not even to itself.
    chosen = [score is largest or score == largest for score in scores]
    if not all(hit or score < largest for hit, score in zip(chosen, scores, strict=True)):
        raise NotPolynomial("the largest score of a hardmax is not decided at this precision")
    weight = domain.number(1, sum(chosen))
    return [weight if hit else domain.number(0) for hit in chosen]


def _mlp(mlp: MLP, H: Matrix, domain: Domain) -> Matrix:
    W_in, b_in, W_out, b_out = map(_array, (mlp.W_in, mlp.b_in, mlp.W_out, mlp.b_out))
    if not domain.ordered:
        neurons = _linear_neurons(W_in, b_in, W_out)
        W_in, b_in, W_out = W_in[:, neurons], b_in[neurons], W_out[neurons]
    added = domain.weights(np.tile(b_out, (H.nrows(), 1)))
    if W_in.shape[1] == 0:
        return added
    hidden = _affine(H, W_in, b_in, domain)
    if domain.ordered:
        zero = domain.number(0)
        hidden = entrywise(domain, lambda value: _relu(value, zero), hidden)
    return hidden * domain.weights(W_out) + added


def _unit_norm(H: Matrix, domain: Domain) -> Matrix:
    """Each row divided by its norm."""
    rows = []
    for row in H.tolist():
        length = _square_root(sum((u * u for u in row[1:]), start=row[0] * row[0]), domain)
        rows.append([entry / length for entry in row])
    return domain.matrix(rows)


def _seen(H: Matrix, norm: LayerNorm | None, domain: Domain) -> Matrix:
    """The input of heads and MLPs: the stream after a layer norm, if there is one."""
    if norm is None:
        return H
    w, b, rows = _array(norm.w), _array(norm.b), []
    fraction, least = domain.number(1, len(w)), domain.weights(np.array([[EPSILON]]))[0, 0]
    for row in H.tolist():
        mean = sum(row[1:], start=row[0]) * fraction
        centred = [entry - mean for entry in row]
        variance = sum((u * u for u in centred[1:]), start=centred[0] * centred[0]) * fraction
        deviation = _square_root(variance + least, domain)
        rows.append([entry / deviation for entry in centred])
    return _affine(domain.matrix(rows), np.diag(w), b, domain)


def _square_root(value: Entry, domain: Domain) -> Entry:
    square_root = getattr(domain, "square_root", None)
    if square_root is None:
        raise NotPolynomial("a square root has no exact value here: use the domain ball")
    return square_root(value)


def _linear_heads(W: dict[str, np.ndarray], masks: Sequence[str]) -> list[int]:
    """One head of each pair relu(s)·v + relu(−s)·(−v) = s·v; other heads raise NotPolynomial."""
    heads, alone = paired_heads(masks, *W.values())
    if alone:
        raise NotPolynomial(
            f"ReLU head {alone[0] + 1} has no partner with the opposite query and output and the "
            "same mask, so relu(s)·v is not part of a linear head s·v"
        )
    return heads


def _linear_neurons(W_in: np.ndarray, b_in: np.ndarray, W_out: np.ndarray) -> list[int]:
    """One neuron of each pair relu(u)·v + relu(−u)·(−v) = u·v; others raise NotPolynomial."""
    neurons, alone = paired_neurons(W_in, b_in, W_out)
    if alone:
        raise NotPolynomial(
            f"MLP neuron {alone[0] + 1} has no partner with opposite input and output, "
            "so its ReLU is not part of a linear map"
        )
    return neurons


def _array(weights: Tensor) -> np.ndarray:
    found = weights.detach().cpu()
    return (found.double() if found.is_floating_point() else found).numpy()  # bfloat16 too


def _affine(H: Matrix, W: np.ndarray, b: np.ndarray, domain: Domain) -> Matrix:
    product = H * domain.weights(W)
    return product + domain.weights(np.tile(b, (H.nrows(), 1))) if b.any() else product


def _first_rows(H: Matrix, count: int, domain: Domain) -> Matrix:
    return domain.matrix(H.tolist()[:count])
