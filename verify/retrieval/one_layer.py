"""The claim `one-layer`: a small layer of attention sends too short a message for two tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from math import log2
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from theory.checks import InputError
from theory.retrieval import composition as compose
from theory.retrieval import (
    composition_bound,
    composition_by_definition,
    induction,
    one_layer_bound,
)
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.retrieval.collisions import collision
from verify.retrieval.messages import Split, fractions

if TYPE_CHECKING:
    from constructions.transformer import Transformer

MARKER, FILLER = 2, 3  # after the bits 0 and 1
TABLE = 64  # points of the two functions that are composed; half of them if quick
D_VALUE = 2  # m of the random layers
TRIES = 20  # lattices in which two strings with the same message are looked for
NARROW = 1e-30  # what is computed twice in balls of 192 bits agrees to this

Tokens = list[int]


class Task(NamedTuple):
    """What Alice holds and what Bob asks."""

    name: str
    known: float  # bits that Alice holds
    alice: tuple[int, ...]
    choices: list[tuple[int, int]]  # two symbols for each of her places
    ask: Callable[[Sequence[int], int], Tokens]  # her symbols and Bob's place, as a prompt
    required: Callable[[Tokens], int]
    follows: Callable[[Split], str]  # from a message of fewer bits
    bites: Callable[[int], str]  # the least size at which so many bits are too few
    shown: Callable[[Tokens], str]
    written: Callable[[Tokens], str]


@claim(
    source="[SanfordHsu2024]; [Peng2024, Theorem 1]",
    faults_seen=[{"n": 33}],
)
def one_layer(
    run: Run,
    *,
    n: Annotated[int, option("tokens of the induction prompt, odd", min=5)] = 129,
    heads: Annotated[int, option("heads of the random layers", min=1)] = 1,
) -> Iterator[Finding]:
    """One layer of attention, if small, can neither be an induction head nor compose two tables.

    Alice holds B = (n − 1)/2 bits, each behind a place where Bob may put the marker that is the
    last token too; the induction head must then answer the bit behind the marker.  All that the
    last token learns from Alice is a message of h(m + 1)p' bits, whatever Bob asks: h heads, value
    dimension m, and p' bits (all of them, 16 for bfloat16) in which each partial sum over Alice's
    tokens is kept.  If that is below B, two strings share a message, and where they differ Bob gets
    one answer and needs two.  In the same way the values f(0) … f(s − 1) do not fit into a message
    below s·log₂s bits, and g(f(x)) comes out wrong.  For each model such a pair is exhibited; two
    layers get the same pairs right.
    """
    if n % 2 == 0:
        raise InputError(
            f"n is {n}: the prompt has a bit behind each of Bob's places, and the last token; give "
            "an odd number"
        )
    precisions = ["bfloat16", *([] if run.quick else ["float16"]), "float32"]
    task, pairs = index_task(n), list[tuple[Tokens, Tokens]]()
    for model in _hardmax_models(n):
        yield from _judge(run, task, model, [None], pairs)
    for mlp in (False, True):
        model = random_layer(run.rng, 4, n, heads, mlp)
        yield from _judge(run, task, model, precisions, pairs)
    yield from _two_layers_find(run, n, pairs)

    from constructions.retrieval import broad_average

    s = TABLE // 2 if run.quick else TABLE
    task, pairs = composition_task(run.rng, s), []
    yield from _judge(run, task, broad_average(s + 1, 2 * s + 2), [None], pairs)
    model = random_layer(run.rng, s + 1, 2 * s + 2, heads, mlp=False)
    yield from _judge(run, task, model, ["bfloat16"], pairs)
    yield _two_layers_compose(run, s, pairs)


def index_task(n: int) -> Task:
    """INDEX as a prompt of n tokens [SanfordHsu2024]: Bob's places are 0, 2, …, Alice's 1, 3, …."""
    B = (n - 1) // 2

    def ask(held: Sequence[int], place: int) -> Tokens:
        bits = ((MARKER if t == place else FILLER, bit) for t, bit in enumerate(held))
        return [token for pair in bits for token in pair] + [MARKER]

    def shown(tokens: Tokens) -> str:
        bits = "".join(map(str, tokens[1::2]))
        return f"bit {tokens[:-1:2].index(MARKER)} of 0x{int(bits, 2):0{-(-B // 4)}x}"

    return Task(
        name="induction",
        known=one_layer_bound(n),
        alice=tuple(range(1, n - 1, 2)),
        choices=[(0, 1)] * B,
        ask=ask,
        required=lambda tokens: int(induction(tokens)[-1]),
        follows=lambda split: f"{split.bits} bits < {one_layer_bound(n):g}",
        bites=lambda bits: f"n = {2 * bits + 3}",
        shown=shown,
        written=lambda tokens: "".join("01ab"[token] for token in tokens),
    )


def composition_task(rng: np.random.Generator, s: int) -> Task:
    """f(0) … f(s − 1), g(0) … g(s − 1), x, '?' [Peng2024]; f is Alice's, and g the identity.

    The tables that are tried take two values, drawn once; the theorem is about all tables.
    """
    u, v = rng.choice(s, size=2, replace=False).tolist()

    def follows(split: Split) -> str:
        assert split.format is not None
        attn = split.attn
        R, error = composition_bound(s, attn.n_heads, attn.W_V.shape[-1], split.format.bits)
        return f"{split.bits} bits: R = {R:g}, wrong with probability at least {error:.3f}"

    return Task(
        name="composition",
        known=s * log2(s),
        alice=tuple(range(s)),
        choices=[(u, v)] * s,
        ask=lambda f, x: [*f, *range(s), x, s],
        required=lambda tokens: composition_by_definition(
            tokens[:s], tokens[s : 2 * s], tokens[2 * s]
        ),
        follows=follows,
        bites=lambda bits: f"s = {next(size for size in count(2) if size * log2(size) > bits)}",
        shown=lambda tokens: f"f({tokens[2 * s]}) = {tokens[tokens[2 * s]]}",
        written=lambda tokens: " ".join(map(str, tokens)),
    )


def random_layer(
    rng: np.random.Generator, vocabulary_size: int, length: int, heads: int, mlp: bool
) -> Transformer:
    """A layer of softmax attention with normal weights, positions, and an MLP if asked for."""
    import torch

    from constructions import transformer as parts
    from constructions.stream import Stream

    D, d_head, M = 8, 4, 16

    def normal(*shape: int) -> torch.Tensor:
        return torch.as_tensor(rng.standard_normal(shape))

    attn = parts.Attention(
        W_Q=normal(heads, D, d_head) / 4,
        W_K=normal(heads, D, d_head) / 4,
        W_V=normal(heads, D, D_VALUE),
        W_O=normal(heads, D_VALUE, D),
        b_Q=normal(heads, d_head),
        b_K=normal(heads, d_head),
        normalise="softmax",
        mask="causal",
    )
    after = parts.MLP(normal(D, M), normal(M), normal(M, D), normal(D)) if mlp else None
    return parts.Transformer(
        parts.Embed(normal(vocabulary_size, D)),
        [parts.Block(attn, after)],
        parts.Unembed(normal(D, vocabulary_size)),
        pos_embed=parts.PosEmbed(normal(length, D)),
        stream=Stream(state=D),
        name=f"random layer ({heads} head{'s' * (heads > 1)}, m = {D_VALUE}{', MLP' * mlp})",
        source="normal weights",
    )


def _hardmax_models(n: int) -> Iterator[Transformer]:
    """The one-layer constructions; in the last one the marker looks for all bits alike."""
    from constructions.retrieval import broad_average, previous_token, skip_gram

    table = np.zeros((4, 4))
    table[MARKER, :2] = 1
    yield broad_average(4, n)
    yield previous_token(4, n)
    yield skip_gram(table, n)


def _judge(
    run: Run,
    task: Task,
    model: Transformer,
    precisions: Sequence[str | None],
    pairs: list[tuple[Tokens, Tokens]],
) -> Iterator[Finding]:
    """The reduction on this very model, and for each precision a pair of prompts, or why none.

    The pairs found are added to `pairs`.
    """
    example = task.ask([first for first, _ in task.choices], 0)
    splits = {p: Split(model, len(example), task.alice, example[-1], p) for p in precisions}
    whole = Split(model, len(example), task.alice, example[-1])
    yield _reduction(run, task, whole)
    for precision, split in splits.items():
        name = f"{model.name}{f' in {precision}' if precision else ''}"
        if split.bits is not None and split.bits >= task.known:
            yield Finding(
                f"{name}: no statement on {task.name} at this size",
                "exact",
                f"vacuous: {split.bits} bits ≥ {task.known:g}",
                f"says something from {task.bites(split.bits)} on",
                Verdict.HOLDS,
            )
            continue
        tries = run.progress(range(TRIES), "lattices")
        found = collision(split, task.choices, lambda held: task.ask(held, 0), run.rng, tries)
        yield _errs(f"{name} errs at {task.name}", task, split, found, pairs)


def _reduction(run: Run, task: Task, split: Split) -> Finding:
    """Alice's message and Bob's completion give the logits of the model's own forward pass."""
    B, equal, apart = len(task.choices), True, 0.0
    for _ in range(1 if run.quick else 2):
        held = [pair[run.rng.integers(2)] for pair in task.choices]
        prompt = task.ask(held, int(run.rng.integers(B)))
        joint, whole = split.complete(split.message(prompt), prompt), split.forward(prompt)
        equal = equal and joint == whole
        with split.working():
            gaps = (fractions(a - b) for a, b in zip(joint, whole, strict=True))
            apart = max(apart, *(float(max(map(abs, ends))) for ends in gaps))
    exact = split.domain.name == "exact"
    return Finding(
        f"{split.model.name}: message and completion give its logits ({task.name})",
        "exact" if exact else "enclosure",
        ("" if equal else "not ") + "equal over Q" if exact else f"apart by at most {apart:.1e}",
        "equal over Q" if exact else NARROW,
        Verdict.of(equal if exact else apart <= NARROW),
    )


def _errs(
    name: str,
    task: Task,
    split: Split,
    found: tuple[list[int], list[int]] | None,
    pairs: list[tuple[Tokens, Tokens]],
) -> Finding:
    """One answer where two are needed; a pair that was found is added to `pairs`.

    Without rounding the forward pass over Q and torch must give that answer too; with it they run
    another model, and what torch says is only told.
    """
    short = "" if split.bits is None else task.follows(split)
    if found is None:
        # With fewer bits than Alice holds there is a pair all the same.
        return Finding(
            name,
            "proved" if short else "exact",
            "no two prompts with the same message were found",
            short,
            Verdict.HOLDS if short else Verdict.UNDECIDED,
        )
    place = next(i for i, (a, b) in enumerate(zip(*found, strict=True)) if a != b)
    one, other = (task.ask(held, place) for held in found)
    pairs.append((one, other))
    logits = [split.complete(split.message(prompt), prompt) for prompt in (one, other)]
    answers = [split.answer(values) for values in logits]
    needed = [task.required(one), task.required(other)]
    same = split.message(one) == split.message(other)
    in_torch = [_torch_answer(split.model, prompt) for prompt in (one, other)]
    exact = split.format is None
    if exact:
        same = same and logits == [split.forward(one), split.forward(other)] and answers == in_torch
    verdict = Verdict.of(same and answers[0] == answers[1] and needed[0] != needed[1])
    return Finding(
        name,
        "exact" if exact else "enclosure",
        f"{task.shown(one)} and {task.shown(other)}: {'same' if same else 'another'} message, "
        f"answers {answers[0]} and {answers[1]}, needed {needed[0]} and {needed[1]}",
        short,
        Verdict.UNDECIDED if None in answers else verdict,
        f"torch in float64 answers {in_torch[0]} and {in_torch[1]}\n"
        + "\n".join(f"prompt {task.written(prompt)}" for prompt in (one, other)),
    )


def _torch_answer(model: Transformer, prompt: Tokens) -> int:
    import torch

    if hasattr(model, "logits"):
        return int(model(prompt)[-1])
    return int(model.run(torch.tensor(prompt), 0)[-1].argmax())


def _two_layers_find(run: Run, n: int, pairs: list[tuple[Tokens, Tokens]]) -> Iterator[Finding]:
    """The induction head answers every prompt of the pairs, with the logits that it should have."""
    from constructions.retrieval import induction_heads
    from constructions.retrieval.margins import exact_in

    model = run.build(induction_heads, 4, n)
    prompts = np.array(pairs, dtype=np.int64).reshape(-1, n)
    needed = induction(prompts)[:, -1]
    # Codes of two bits agree in 2 − 2·(digits that differ), and ⊥ has half of 2.
    stated = [[2 - 2 * (int(y) ^ v).bit_count() for v in range(4)] + [1] for y in needed]
    right = int((model(prompts)[:, -1].numpy() == needed).sum())
    as_stated = model.logits(prompts)[:, -1].tolist() == stated
    yield Finding(
        f"{model.name}, two layers, on the same prompts",
        "exact",
        f"{right} of {len(prompts)} right, logits {'' if as_stated else 'not '}as stated",
        "all right, 2 − 2·(binary digits that differ) for each token and 1 for ⊥",
        Verdict.of(right == len(prompts) and as_stated and exact_in(model).bits <= 53)
        if pairs
        else Verdict.UNDECIDED,
        f"float64 makes no rounding error: {exact_in(model).bits} bits are enough",
    )
    try:
        Split(model, n, (1,), MARKER)
        refused = "a message"
    except InputError as reason:
        refused = str(reason).removeprefix(f"{model.name} has ").split(":")[0]
    yield Finding(
        f"{model.name} sends no such message",
        "exact",
        refused,
        "2 layers of attention",
        Verdict.of(refused == "2 layers of attention"),
    )


def _two_layers_compose(run: Run, s: int, pairs: list[tuple[Tokens, Tokens]]) -> Finding:
    """The two-layer construction on the same f, g, x; its prompt ends in x, without the '?'."""
    from constructions.retrieval import composition
    from constructions.retrieval.margins import exact_in

    model = run.build(composition, s)
    prompts = np.array(pairs, dtype=np.int64).reshape(-1, 2 * s + 2)[:, :-1]
    f, g, x = prompts[:, :s], prompts[:, s:-1], prompts[:, -1]
    right = int((model(prompts)[:, -1].numpy() == compose(f, g, x)).sum())
    return Finding(
        f"{model.name}, two layers, on the same prompts",
        "exact",
        f"{right} of {len(prompts)} right",
        "all",
        Verdict.of(right == len(prompts) and exact_in(model).bits <= 53)
        if pairs
        else Verdict.UNDECIDED,
        f"float64 makes no rounding error: {exact_in(model).bits} bits are enough",
    )
