"""The claim `rounds`: a layer runs a step of a PRAM, and O(log N) rounds of MPC run a layer."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import Annotated

import numpy as np

from constructions.attention import Attention
from constructions.blocks import plural
from constructions.computation import pram
from constructions.transformer import Transformer
from theory.computation import components, list_ranking, ranks, transpose, tree_sum
from theory.computation.attention_rounds import (
    Rows,
    attention_by_definition,
    attention_in_rounds,
    rounds_of_a_layer,
)
from theory.computation.components import as_inputs
from theory.computation.list_ranking import all_lists, random_list
from theory.computation.message_passing import block_sums
from theory.computation.random_program import random_inputs, random_program
from verify.claim import Run, claim, option
from verify.computation.options import MOST_DRAWN
from verify.computation.pram import (
    FOLLOW,
    gaps,
    over_q,
    prompt_of,
    registers_follow,
    whole_evidence,
    works_locally,
)
from verify.evidence.size import size
from verify.finding import Finding, equal, labelled, no_counterexample, same

FAN_INS = 2, 3, 8


@claim(
    faults_seen=[{"n": 4, "programs": 3}],
)
def rounds(
    run: Run,
    *,
    n: Annotated[
        int, option("number of elements of the list that is ranked", min=2, max=1000)
    ] = 100,
    programs: Annotated[int, option("number of random programs", min=1, max=MOST_DRAWN)] = 100,
) -> Iterator[Finding]:
    """One layer runs a step of a CRCW PRAM whose writes keep the minimum, and one layer runs a
    round of messages.

    In a step all processors read and write at once. A layer has one head for each address that a
    processor reads and one for each address that it writes. The MLP does the local work of the
    processors: `copy`, `min`, `max`, `plus`, `minus` and `where` (a choice between two values).  A
    layer writes to an address only if a register contains the square of the address.  There is none
    if the address is an input, or was computed by `plus` or `minus`.  Then an additional step must
    first read `index`, the number of a processor, at the address: this also reads its square.  The
    ranking of a linked list of N elements takes ⌈log₂N⌉ layers of one head and width 7. In a round
    of messages, each machine sends messages to machines, each of which has s slots to receive
    messages. The layer for this round has s heads for each message that a machine sends.
    Conversely, N² machines that each receive at most f messages in a round (fan-in f) run a head on
    N tokens in 3⌈log_f N⌉ rounds of massively parallel computation (MPC).  The claim runs these
    rounds for messages that name a slot, and for local work of a few operations. [Sanford2024]
    relates layers and rounds for any local work, and for messages that name only a machine.  This
    more general result is not checked.
    """
    model = run.build(pram, list_ranking(n))
    yield from labelled("list-ranking", _ranking(run, model, n))
    few = run.build(pram, list_ranking(4))
    yield from gaps("list-ranking", run.build(pram, list_ranking(12)), list_ranking(12))
    yield from labelled("list-ranking", [works_locally(few, list_ranking(4))])
    in_turn = run.build(pram, components(2, 1, overlapped=False))
    two = [works_locally(in_turn, components(2, 1, overlapped=False), step) for step in (1, 2)]
    yield from labelled("in-turn", two)
    yield from gaps("in-turn", in_turn, components(2, 1, overlapped=False))
    for found in labelled("tree-sum", _messages(run, n)):
        found.name = found.name.removeprefix("tree-sum: " * found.id.endswith("/transpose"))
        yield found
    yield from gaps("tree-sum", run.build(pram, tree_sum(3, 2)), tree_sum(3, 2))
    yield from labelled("random", _random(run, programs))
    yield from labelled("layer", _in_rounds(run))


def _ranking(run: Run, model: Transformer, n: int) -> Iterator[Finding]:
    yield size(model, "pram", N=n)
    most = 3 if run.quick else 5
    short = [(run.build(pram, list_ranking(n)), all_lists(n)) for n in range(1, most + 1)]
    lists = np.stack([random_list(n, run.rng) for _ in range(10)])
    yield no_counterexample(
        "ranks",
        f"all lists and forests of at most {most} elements, and random lists of {n}",
        chain.from_iterable(_wrong_ranks(*each) for each in [*short, (model, lists)]),
        evidence=whole_evidence(model),
        words="all ranks equal those of the definition on "
        f"{sum(len(rows) for _, rows in short) + len(lists)} lists",
    )
    successors = run.rng.integers(0, n + 1, (10, n))
    cases = [(model, list_ranking(n), (rows,)) for rows in (lists, successors)]
    yield registers_follow(f"{FOLLOW}, for lists of {n} elements", cases)


def _wrong_ranks(model: Transformer, lists: np.ndarray) -> Iterator[str]:
    differs = (model(lists).numpy() != np.array([ranks(row) for row in lists])).any(axis=1)
    for row in lists[differs].tolist():
        yield f"{model.name}: successors {row}"


def _messages(run: Run, n: int) -> Iterator[Finding]:
    """Rounds of messages to numbered slots: a tree of sums, and the transpose of a matrix."""
    s = 4
    program = tree_sum(n, s, 9)
    model, x = run.build(pram, program), run.rng.integers(0, 10, (10, n))
    yield size(model, "mpc-rounds", N=n, s=s)
    wrong = (model(x).numpy() != block_sums(x, s**model.n_layers)).any()
    yield equal(
        "sums",
        f"outputs of the model, compared with sums of {n} numbers in a tree of fan-in {s}",
        f"{model.name} is wrong" if wrong else None,
        evidence=whole_evidence(model),
        words=f"equal on {len(x)} rows",
    )
    name = f"{FOLLOW}, for {n} numbers"
    yield registers_follow(name, [(model, program, [x])])
    across = transpose(3, 9)
    model, M = run.build(pram, across), run.rng.integers(0, 10, (10, 3, 3))
    *_, H = model.residual_stream(prompt_of(model, [*np.moveaxis(M, 2, 0)]))
    columns = [H[:, 1:, model.stream[name]].numpy() for name in across.inputs]
    found = {"heads": model.n_heads, "layers": model.n_layers}
    found["wrong"] = int((np.concatenate(columns, axis=2) != np.swapaxes(M, 1, 2)).sum())
    yield same(
        "transpose",
        "transpose of a 3 × 3 matrix, in one round of messages in which each machine sends 3 "
        "messages to s = 3 slots",
        found,
        {"heads": 9, "layers": 1, "wrong": 0},
        words=f"{plural(model.n_heads, 'head')}, {plural(model.n_layers, 'layer')}, "
        f"{found['wrong']} wrong entries",
        wanted="s² heads, one layer, no wrong entry",
    )


def _random(run: Run, count: int) -> Iterator[Finding]:
    """Evidence on random programs with all kinds of steps and operations."""
    found = [random_program(run.rng) for _ in range(run.limited(10, count=count))]
    pairs = [(run.build(pram, program), program) for program in found]
    yield registers_follow(
        f"{FOLLOW}, for {len(found)} random programs",
        ((model, program, random_inputs(program, 20, run.rng)) for model, program in pairs),
    )
    model, program = pairs[0]
    yield over_q(model, program, random_inputs(program, 2, run.rng))


def _in_rounds(run: Run) -> Iterator[Finding]:
    """Evidence that MPC machines run a layer of a PRAM model: outputs and number of rounds."""
    n, m = (3, 3) if run.quick else (7, 8)
    model = run.build(pram, components(n, m, 2))
    inputs = as_inputs(run.rng.integers(1, n + 1, (m, 2)), n)
    before, after = (H.numpy() for H in list(model.residual_stream(prompt_of(model, inputs)))[1:])
    seen = [[True] * len(before)] * len(before)
    attn, mlp = model.blocks[1].attn, model.blocks[1].mlp
    assert attn is not None
    assert mlp is not None
    wrong, counts, softmax = list[str](), dict[str, int](), list[str]()
    for fan_in in FAN_INS:
        mixed_in = before.copy()
        for h in range(attn.n_heads):
            Q, K, V = (_read(attn, x, h, before) for x in "QKV")
            mixed, cluster = attention_in_rounds(Q, K, V, seen, fan_in)
            mixed_in += np.array(mixed, dtype=float) @ attn.W_O[h].numpy()
            counts[f"f = {fan_in}"] = max(counts.get(f"f = {fan_in}", 0), cluster.rounds)
            soft, _ = attention_in_rounds(Q, K, V, seen, fan_in, base=2)
            if soft != attention_by_definition(Q, K, V, seen, base=2):
                softmax.append(f"head {h + 1}, f = {fan_in}")
        read = np.maximum(mixed_in @ mlp.W_in.numpy() + mlp.b_in.numpy(), 0.0)
        if (mixed_in + read @ mlp.W_out.numpy() + mlp.b_out.numpy() != after).any():
            wrong.append(f"the stream differs with f = {fan_in}")
    N = len(before)
    yield no_counterexample(
        "hardmax",
        f"stream after one layer of {model.name} on N = {N} tokens, computed by N² machines of "
        f"fan-in {', '.join(map(str, FAN_INS))}",
        wrong,
        words="equal to the stream of the model",
    )
    yield no_counterexample(
        "softmax",
        "head outputs with attention weights 2^score, computed by the machines as fractions",
        softmax,
        words=f"equal to the definition for {plural(attn.n_heads, 'head')}",
    )
    wanted = {f"f = {fan_in}": rounds_of_a_layer(N, fan_in) for fan_in in FAN_INS}
    words = ", ".join(f"{count} rounds for {fan_in}" for fan_in, count in counts.items())
    name = f"number of rounds in which machines of fan-in f compute one head on N = {N} tokens"
    yield same("rounds", name, counts, wanted, words=words, wanted="3⌈log_f N⌉")


def _read(attn: Attention, x: str, h: int, H: np.ndarray) -> Rows:
    """The queries, keys or values of a head, as exact fractions of its float64 numbers."""
    bias = 0.0 if x == "V" else getattr(attn, f"b_{x}")[h].numpy()
    rows = H @ getattr(attn, f"W_{x}")[h].numpy() + bias
    return [[Fraction(value) for value in row] for row in rows.tolist()]
