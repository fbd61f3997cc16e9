"""Two models that give the same answers: how a change of weights is shown to change no answer.

First by their weights, for all inputs: a head enters its model as the products

    B = [W_Q; b_Q] [W_K; b_K]ᵀ    (D + 1 × D + 1)        W_V W_O    (D × D)

and nothing else.  Hardmax and softmax do not see the last column of B, which is added to the scores
of all keys alike, nor hardmax a positive factor of B; a ReLU unit that adds nothing is not seen at
all; and if answers are the largest of several logits, a positive factor of the read-out is not.

Else by running both.  Models over tokens on every sequence that they take, programs of parallel
machines on all inputs, those on graphs on all graphs of their nodes.  Those over examples at
random points mod a random 61-bit prime (equal there means equal for all inputs, as in
`verify/evidence/identity.py`), or at random rational points if they are not polynomials; memories
and particles on random states over Q, or in balls narrower than 2^−80 if they have a softmax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import Any

import numpy as np
from torch import Tensor

from constructions.transformer import Transformer
from theory.checks import InputError
from theory.graphs.adjacency import MOST_LISTED, all_graphs
from verify.domains import (
    Ball,
    Domain,
    Modular,
    NotPolynomial,
    Rational,
    objects,
    outputs,
    random_prime,
    written,
)

SEQUENCES = 2**20  # of tokens, all of which are run
CHUNK = 2**12  # of them at once
POINTS, ROWS = 3, 4  # points where two models are compared, and the rows of an input there
WIDTH = 2.0**-80  # balls that are to be equal are narrower


def same_answers(healthy: Transformer, faulty: Transformer, rng: np.random.Generator) -> str:
    """In words on what all answers of the two agree; "" if they do not, or if it is not shown."""
    if all(_forms(a) == _forms(b) for a, b in zip(*map(_parts, (healthy, faulty)), strict=True)):
        return "all inputs, by the products of its weights"
    if hasattr(healthy.interface, "vocabulary_size"):
        return _on_all_sequences(healthy, faulty)
    if hasattr(healthy.interface, "program"):
        return _on_all_inputs(healthy, faulty)
    if hasattr(healthy.interface, "threshold"):
        return _on_all_graphs(healthy, faulty)
    for where, domain in _domains(healthy, rng):
        try:
            with Ball.precision(192):
                agree = all(_agree(healthy, faulty, domain, rng) for _ in range(POINTS))
            return where if agree else ""
        except NotPolynomial:
            continue
    return ""


def _parts(model: Transformer) -> list[Any]:
    """Embeddings, blocks and read-out; the last with whether a factor of it changes no answer."""
    chooses = hasattr(model.interface, "vocabulary_size") and not model.interface.frequencies
    return [model.embed, model.pos_embed, *model.blocks, (model.unembed, chooses)]


def _forms(part: Any) -> list[Any]:
    """What a part of a model does, as exact matrices: equal ones are the same map."""
    if part is None:
        return []
    if isinstance(part, tuple):
        unembed, chooses = part
        read = [_exact(weights) for weights in unembed.parameters()]
        return _without_factor(read) if chooses else read
    if not hasattr(part, "attn"):
        return [_exact(weights) for weights in part.parameters()]
    forms, attn, mlp = list[Any](), part.attn, part.mlp
    for h in range(attn.n_heads if attn is not None else 0):
        asked, answered = (
            _exact(getattr(attn, f"W_{x}")[h], getattr(attn, f"b_{x}")[h]) for x in "QK"
        )
        scores = asked * answered.transpose()
        if attn.normalise in ("softmax", "hardmax"):
            scores = Rational().matrix([row[:-1] for row in scores.tolist()])
        forms += _without_factor([scores]) if attn.normalise == "hardmax" else [scores]
        forms.append(_exact(attn.W_V[h]) * _exact(attn.W_O[h]))
    if mlp is not None:
        at_work = (mlp.W_out != 0).any(1)
        forms += [_exact(mlp.W_in[:, at_work], mlp.b_in[at_work]), _exact(mlp.W_out[at_work])]
        forms.append(_exact(mlp.b_out))
    return forms


def _exact(*rows: Tensor) -> Any:
    """Tensors with as many columns below each other, as one matrix over Q."""
    return Rational().weights(np.vstack([each.detach().numpy() for each in rows]))


def _without_factor(matrices: list[Any]) -> list[Any]:
    """Matrices divided by the largest size of an entry of theirs."""
    largest = max((abs(x) for M in matrices for row in M.tolist() for x in row), default=0)
    return [1 / largest * M for M in matrices] if largest else matrices


def _on_all_sequences(healthy: Transformer, faulty: Transformer) -> str:
    interface = healthy.interface
    n = interface.length or interface.max_length
    causal = all(attn.is_causal for attn in healthy.attentions)
    lengths = [n] if interface.length or causal else range(1, n + 1)
    slots = interface.slots or [range(interface.vocabulary_size)] * n
    sizes, first = [len(slot) for slot in slots], np.array([slot.start for slot in slots])
    count = sum(prod(sizes[:length]) for length in lengths)
    if count > SEQUENCES:
        return ""
    for length in lengths:
        total = prod(sizes[:length])
        for start in range(0, total, CHUNK):
            numbers = np.arange(start, min(start + CHUNK, total))
            rows = np.array(np.unravel_index(numbers, sizes[:length])).T + first[:length]
            if not bool((healthy(rows) == faulty(rows)).all()):
                return ""
    return f"all {count} sequences"


def _on_all_inputs(healthy: Transformer, faulty: Transformer) -> str:
    """By logits, as a model may refuse an input when its answer is not there yet."""
    choices, lengths = healthy.interface.choices()
    V = len(choices)
    count = sum(V**length for length in lengths)
    if count > SEQUENCES:
        return ""
    for length in lengths:
        for start in range(0, V**length, CHUNK):
            numbers = np.arange(start, min(start + CHUNK, V**length))
            rows = choices[numbers[:, None] // V ** np.arange(length) % V]
            given = healthy.interface.called(rows)
            if not bool((healthy.logits(*given) == faulty.logits(*given)).all()):
                return ""
    return f"all {count} inputs"


def _on_all_graphs(healthy: Transformer, faulty: Transformer) -> str:
    n = healthy.interface.n
    if n > MOST_LISTED:
        return ""
    graphs = all_graphs(n)
    try:
        agree = bool((healthy(graphs) == faulty(graphs)).all())
    except InputError:  # one of them overflows
        return ""
    return f"all {len(graphs)} graphs" if agree else ""


def _domains(model: Transformer, rng: np.random.Generator) -> Iterator[tuple[str, Domain]]:
    if hasattr(model.interface, "encode"):
        yield "random points mod p", Modular(random_prime(rng))
    yield "random points of Q", Rational()
    yield "random points, in balls", Ball()


def _agree(
    healthy: Transformer, faulty: Transformer, domain: Domain, rng: np.random.Generator
) -> bool:
    given = _inputs(healthy, domain, rng)
    pairs = (_said(model, domain, given) for model in (healthy, faulty))
    return all(_equal(a, b) for a, b in zip(*pairs, strict=True))


def _said(model: Transformer, domain: Domain, given: list[Any]) -> list[Any]:
    # Whole numbers that an interface has drawn are written by torch, and read exactly.
    whole = hasattr(model.interface, "drawn")
    prompt = model.prompt(*given) if whole else written(model, domain, *given)
    return [entry for row in outputs(model, prompt, domain).tolist() for entry in row]


def _equal(a: Any, b: Any) -> bool:
    if not hasattr(a, "overlaps"):
        return bool(a == b)
    return bool(a.overlaps(b)) and float((a - b).rad()) < WIDTH


def _inputs(model: Transformer, domain: Domain, rng: np.random.Generator) -> list[Any]:
    """Random inputs of a model, as its interface writes them."""
    interface, draw = model.interface, _drawn(domain, rng)
    if hasattr(interface, "drawn"):  # what only the interface knows how to draw
        return [*interface.drawn(rng)]
    if hasattr(interface, "encode"):  # examples and queries
        n, d = interface.n or ROWS, interface.d
        queries = draw(2, d) if interface.several_queries else draw(1, d)[0]
        return [draw(n, d), draw(n, 1)[:, 0], queries]
    if hasattr(interface, "patterns"):  # a memory
        stored = [] if interface.patterns is None else [_read(domain, interface.patterns)]
        signs = type(interface).__name__ == "Signs"
        return [_signs(domain, rng, interface.d) if signs else draw(ROWS, interface.d), *stored]
    if hasattr(interface, "cells"):  # points in cells, and queries
        points = rng.choice(interface.largest - 1, interface.cells, replace=False) + 1
        queries = rng.integers(interface.largest + 1, size=ROWS)
        return [np.array([domain.number(int(x)) for x in xs]) for xs in (points, queries)]
    if hasattr(interface, "length"):  # numbers in a row
        return [draw(1, interface.length)[0]]
    if hasattr(interface, "widths"):  # what is stored, and states that find it
        return [draw(ROWS, d) for d in interface.widths.values()]
    return [draw(ROWS, interface.d)]


def _drawn(domain: Domain, rng: np.random.Generator) -> Callable[[int, int], np.ndarray]:
    def draw(rows: int, columns: int) -> np.ndarray:
        if isinstance(domain, Modular):
            return objects(domain.random_entries(rng, rows, columns))
        numerators, denominators = rng.integers(-9, 10, (rows, columns)), rng.integers(2, 9)
        return objects(
            [[domain.number(int(a), int(denominators)) for a in row] for row in numerators]
        )

    return draw


def _signs(domain: Domain, rng: np.random.Generator, d: int) -> np.ndarray:
    """All states of a small network, and 64 random ones of a large one."""
    rows = product((-1, 1), repeat=d) if d <= 6 else rng.choice((-1, 1), (64, d)).tolist()
    return objects([[domain.number(int(s)) for s in row] for row in rows])


def _read(domain: Domain, array: Any) -> np.ndarray:
    return objects(domain.weights(array.detach().numpy()).tolist())
