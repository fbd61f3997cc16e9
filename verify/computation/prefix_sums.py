"""The claim `prefix-sums`: prefix sums of N numbers by a tree of fan-in s, in ⌈log_s N⌉ layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import numpy as np

from constructions.blocks import plural
from constructions.computation import prefix_sums as construction
from constructions.transformer import Transformer
from theory.computation import window_sums
from verify.claim import Run, claim, option
from verify.domains import Symbolic, outputs, written
from verify.evidence.gaps import States, at_positions, gap_finding, looking_up
from verify.evidence.size import size
from verify.finding import Finding, Verdict, labelled, no_counterexample

WORDS = 2, 3, 4, 8


@claim(
    faults_seen=[{"length": 5}, {"length": 9}],
)
def prefix_sums(
    run: Run,
    *,
    length: Annotated[int, option("how many numbers to add", min=2, max=4096)] = 64,
) -> Iterator[Finding]:
    """For all N and s ≥ 2, ⌈log_s N⌉ layers of s − 1 heads, of width 3 and without an MLP, compute
    the prefix sums of N numbers.

    Each layer is a level of a tree of fan-in s: after layer t, each position contains the sum of
    the last s^t numbers, or of all numbers so far. It is checked, as an identity of polynomials in
    the numbers, that the outputs equal the sums.
    """
    for words in (w for w in WORDS if w <= length):
        model = run.build(construction, length, words)
        small = run.build(construction, min(length, 16), min(words, length, 16))
        found = size(model, "prefix-sums", N=length, s=words)
        of_numbers = registers(model, run.rng.integers(-(10**6), 10**6, (20, length)))
        yield from labelled(f"s={words}", [found, identity(small), of_numbers])
        for layer in range(1, model.n_layers + 1):
            yield gaps(words, model, layer)


def identity(model: Transformer) -> Finding:
    """Checks that every output is the prefix sum, as a polynomial in the numbers."""
    N = model.interface.max_length
    domain = Symbolic([f"x{i}" for i in range(1, N + 1)])
    x = np.empty(N, dtype=object)
    x[:] = domain.variables
    found = [row[0] for row in outputs(model, written(model, domain, x), domain).tolist()]
    wanted = [sum(domain.variables[:i], domain.number(0)) for i in range(1, N + 1)]
    return no_counterexample(
        "identity",
        f"outputs compared with prefix sums of {N} numbers, as polynomials in these numbers",
        (f"output {i + 1} is {found[i]}" for i in range(N) if found[i] != wanted[i]),
        evidence="identity",
        words=f"all {N} are equal",
    )


def registers(model: Transformer, x: np.ndarray) -> Finding:
    """Checks that registers are window sums after each layer and outputs are prefix sums.

    The model is run on numbers x.
    """

    def search() -> Iterator[str]:
        passed = [H[..., 1:, model.stream["sum"]].numpy() for H in model.streams(x)]
        for stage in model.stages:
            if (passed[stage.after] != stage.holds(x)).any():
                yield f"register {stage} is not the sum of its window"
        if (model(x).numpy() != window_sums(x, x.shape[-1])).any():
            yield "the outputs are not prefix sums"

    rounded = float(np.abs(x).sum(-1).max()) >= 2.0**53
    return no_counterexample(
        "registers",
        "registers after layer ℓ, compared with sums of the last s^ℓ numbers, for "
        f"N = {x.shape[-1]} numbers",
        search(),
        evidence="float" if rounded else "exact",
        words=f"equal after each of {model.n_layers} layers on {len(x)} rows",
    )


def gaps(s: int, model: Transformer, layer: int) -> Finding:
    """The smallest score gap of the heads of a layer of the model of fan-in s."""
    attn = model.blocks[layer - 1].attn
    heads = range(0 if attn is None else attn.n_heads)
    each = [gap_finding(f"s={s}", model, head_states(model, s, layer, head)) for head in heads]
    together = replace(each[0], verdict=Verdict.together(found.verdict for found in each))
    together.measured = min(found.measured for found in each)
    together.name = together.name.replace("head 1", "all heads")
    below = (
        "keys whose score is lower than that of a right key by at least m·γ and less than (m + 1)·γ"
    )
    where = f"{below}, where γ = {together.bound:g}, for every integer m ≥ 1"
    together.wanted = together.wanted.replace("such keys for every m", where)
    together.words = f"{together.measured:g}, over {plural(len(each), 'head')}"
    return together


def head_states(model: Transformer, s: int, layer: int, head: int) -> States:
    """The possible queries and keys of a head, from which `gaps` computes the score gap.

    At position i, head w = 1 … s − 1 of layer ℓ (counted from 1) looks up position i − w·s^{ℓ − 1},
    or BOS if this position is negative.
    """
    queries = at_positions(model, "j")
    wanted = np.maximum(np.arange(len(queries["j"])) - (head + 1) * s ** (layer - 1), 0)
    return looking_up(model, layer, queries, wanted, head, line=("j", "norm"))
