"""The claim `one-layer`: one layer of attention that is too small fails at two tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np
import torch

from constructions import broad_average, composition, induction_heads, previous_token, skip_gram
from constructions.attention import Attention
from constructions.blocks import MLP, Block, Embed, PosEmbed, Unembed, plural
from constructions.exactness import exact_in
from constructions.stream import Stream
from constructions.tokens import Tokens, binary_codes
from constructions.transformer import Transformer
from theory.kinds import InputError, Seed, read
from theory.retrieval import composition as compose
from theory.retrieval import composition_bound, induction, one_layer_bound
from theory.retrieval.communication import MARKER, Game, Prompt, composition_game, index_game
from verify.claim import Run, claim, option
from verify.domains import Ball
from verify.evidence.checkpoints import models_of
from verify.evidence.sequences import exact_evidence
from verify.finding import (
    Finding,
    Verdict,
    at_least,
    at_most,
    labelled,
    no_counterexample,
    rounded_up,
    same,
)
from verify.retrieval.collisions import Pair, collision
from verify.retrieval.messages import PRECISION, Split, fractions

TABLE = 64  # points of the two composed functions; half as many in a quick run
D_VALUE = 2  # m of the random layers
TRIES = 20  # number of lattices searched for two strings with the same message
KIND = "a softmax transformer trained on hop"
NARROW = 1e-30  # largest distance of two computations of the same value in balls of 192 bits

Pairs = list[tuple[Prompt, Prompt]]


@claim(faults_seen=[{"n_tokens": 33}])
def one_layer(
    run: Run,
    *,
    n_tokens: Annotated[int, option("tokens of the induction prompt, odd", min=5, max=4097)] = 129,
    n_heads: Annotated[int, option("heads of the random layers", min=1, max=1000)] = 1,
) -> Iterator[Finding]:
    """One layer requires h(m + 1)p′ ≥ (n − 1)/2 for induction, and h(m + 1)p′ ≥ s·log₂s for
    composition.

    The layer has h softmax heads of value dimension m. The prompt is divided between Alice and Bob,
    as in communication complexity. The partial sums of a head over Alice's positions are m + 1
    numbers (numerators and denominator) of p′ bits each (16 for bfloat16). The prompt for induction
    has n tokens, and the prompt for composition contains two maps of s points as tables. Alice
    holds B = (n − 1)/2 bits. Bob puts the marker, a fixed symbol, before one of the bits; the last
    token is also the marker. The right output is the bit that follows the first marker. The output
    at the last token depends on Alice's tokens only through a message of h(m + 1)p′ bits, which
    does not depend on the position that Bob marks. If the message is shorter than B bits, two
    strings of Alice's bits have the same message. At a position where the strings differ, Bob
    outputs the same bit for both strings. In the same way, the values f(0) … f(s − 1) of a map f of
    s points require a message of s·log₂s bits. For each one-layer model, the claim exhibits two
    prompts with different right outputs on which the model has the same output, so one of its
    outputs is wrong. A model of two layers is right on both prompts. The bound is vacuous for a
    trained layer, because its message is long enough, but the trained layer also makes errors.
    """
    n = n_tokens
    if n % 2 == 0:
        raise InputError(
            f"n_tokens is {n}, but the prompt consists of one marker and of pairs of tokens: give "
            "an odd number of tokens"
        )

    bits_alike = np.zeros((4, 4))  # the scores of the skip-gram: the marker attends to all bits
    bits_alike[MARKER, :2] = 1
    built = {
        "broad-average": broad_average(4, n),
        "previous-token": previous_token(4, n),
        "skip-gram": skip_gram(bits_alike, n),
    }
    game, pairs = index_game(n), Pairs()
    yield _alice_bits(game, one_layer_bound(n), len(game.alice), "one bit at each of her positions")
    for name, model in built.items():
        yield from judged(run, game, name, model, [None], pairs)
    precisions = ["bfloat16", *([] if run.quick else ["float16"]), "float32"]
    for name, mlp in (("random", False), ("random-with-mlp", True)):
        model = random_layer(4, n, n_heads, mlp, run.rng)
        yield from judged(run, game, name, model, precisions, pairs)
    yield from labelled(game.name, two_layers_find(run, n, pairs))
    s = TABLE // 2 if run.quick else TABLE
    game, pairs = composition_game(s, run.rng), Pairs()
    R, error = composition_bound(s, 1, D_VALUE, 16)
    table, message = s * (s.bit_length() - 1), (D_VALUE + 1) * 16  # bits; s is a power of two
    forced = {"R": R, "error": error}
    stated = {"R": table - message, "error": (table - message) / (3 * table)}
    yield _alice_bits(game, game.bits, table, f"log₂ {s}^{s}")
    name = (
        "number R of missing bits and least error by [Peng2024, Theorem 1], for the layer in "
        "bfloat16, against the values by hand"
    )
    words = f"R = {R:g}, and the error is at least {error:.3f}"
    yield same("composition/forced", name, forced, stated, words=words)
    average = broad_average(s + 1, 2 * s + 2)
    yield from judged(run, game, "broad-average", average, [None], pairs)
    model = random_layer(s + 1, 2 * s + 2, n_heads, False, run.rng)
    yield from judged(run, game, "random", model, ["bfloat16"], pairs)
    yield from labelled(game.name, two_layers_compose(run, s, pairs))
    for each in models_of("induction-small-1-layer", KIND):
        length = (each.task.length - 1) // 2 * 2 + 1  # odd
        game, pairs = index_game(length), Pairs()
        found = [
            *judged(run, game, each.name, each.model, ["float32"], pairs),
            _mistakes(run, f"{game.name}/{each.name}/errs", game, each.model, pairs),
        ]
        for finding in found:
            finding.name = finding.name.replace(each.model.name, each.name)
        yield from found
        yield from labelled(each.name, two_layers_find(run, length, pairs))


def random_layer(
    vocabulary_size: int, max_length: int, n_heads: int, mlp: bool, seed: Seed
) -> Transformer:
    """A one-layer softmax model with normally distributed weights, with or without an MLP."""
    D, d_head, M, h = 8, 4, 16, n_heads
    rng: np.random.Generator = read(Seed, "seed", seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.as_tensor(rng.standard_normal(shape))

    W_Q, W_K = normal(h, D, d_head) / 4, normal(h, D, d_head) / 4
    W_V, W_O = normal(h, D, D_VALUE), normal(h, D_VALUE, D)
    b_Q, b_K = normal(h, d_head), normal(h, d_head)
    attn = Attention(W_Q, W_K, W_V, W_O, b_Q, b_K, normalise="softmax", mask="causal")
    after = MLP(normal(D, M), normal(M), normal(M, D), normal(D)) if mlp else None
    size = f"{plural(h, 'head')}, m = {D_VALUE}{', MLP' * mlp}"
    return Transformer(
        Embed(normal(vocabulary_size, D)),
        [Block(attn, after)],
        Unembed(normal(D, vocabulary_size)),
        pos_embed=PosEmbed(normal(max_length, D)),
        interface=Tokens(vocabulary_size, max_length),
        stream=Stream(state=D),
        name=f"random layer ({size})",
        source="normal weights",
    )


def judged(
    run: Run,
    game: Game,
    label: str,
    model: Transformer,
    precisions: Sequence[str | None],
    pairs: Pairs,
) -> Iterator[Finding]:
    """Yields findings on Alice's message for a model, and on two prompts with the same message.

    The first finding compares Bob's logits, computed from Alice's message, with the forward pass.
    For each of the `precisions` at which the message is too short, another finding exhibits two
    prompts with the same message. These pairs of prompts are appended to `pairs`.
    """
    example = game.prompt([first for first, _ in game.choices], 0)
    whole, *splits = (
        Split(model, len(example), game.alice, example[-1], p) for p in (None, *precisions)
    )
    vacuous = [split for split in splits if (split.bits or 0) >= game.bits]
    yield _reduction(run, f"{game.name}/{label}/reduction", game, whole, vacuous)
    for precision, split in zip(precisions, splits, strict=True):
        if split in vacuous:
            continue
        of = f"{game.name}/{label}/{precision or 'exact'}"
        name = f"{model.name}{f' in {precision}' if precision else ''}"
        tries = run.progress(range(TRIES), "lattices")
        found = collision(split, game.choices, lambda row: game.prompt(row, 0), run.rng, tries)
        name = f"answers of {name} to two prompts of {game.name} with the same message"
        yield _errs(of, name, game, split, found, pairs)


def _alice_bits(game: Game, stated: float, counted: int, words: str) -> Finding:
    """Compares the counted bits of Alice's input with the bits in the bound."""
    name = (
        f"number of bits of Alice's input for {game.name}, which the message of a correct layer "
        "must have"
    )
    return same(f"{game.name}/known", name, counted, stated, words=f"{counted}, {words}")


def _reduction(run: Run, id: str, game: Game, split: Split, vacuous: Sequence[Split]) -> Finding:
    """Compares the logits of Alice's message and Bob's completion with those of the forward pass.

    The words list the precisions at which the message has as many bits as Alice's input, so that
    the bound is vacuous.
    """
    name = (
        f"logits of {split.model.name} from Alice's message and Bob's tokens against the forward "
        f"pass, for {game.name}"
    )
    no_bound = "".join(
        f"; with sums of {each.format.bits} bits the message has {each.bits} ≥ {game.bits:g} bits, "
        f"so the bound is vacuous below {game.least_size(each.bits)}"
        for each in vacuous
        if each.format is not None and each.bits is not None
    )
    completed = []
    for _ in range(1 if run.quick else 2):
        symbols = [pair[run.rng.integers(2)] for pair in game.choices]
        prompt = game.prompt(symbols, int(run.rng.integers(len(symbols))))
        completed.append((prompt, split.complete(split.message(prompt), prompt)))
    forward = [split.forward(prompt) for prompt, _ in completed]
    if split.domain.name == "exact":
        differ = (
            f"on {game.text(prompt)}: {joint}, the forward pass gives {whole}"
            for (prompt, joint), whole in zip(completed, forward, strict=True)
            if joint != whole
        )
        return no_counterexample(id, name, differ, words=f"equal over Q{no_bound}")
    with Ball.precision(PRECISION):
        gaps = [
            max(map(abs, fractions(a - b)))
            for (_, joint), whole in zip(completed, forward, strict=True)
            for a, b in zip(joint, whole, strict=True)
        ]
    gap = float(max(gaps))
    words = f"distance ≤ {rounded_up(gap):.1e}{no_bound}"
    wanted = f"distance at most {NARROW:g}"
    return at_most(id, name, "enclosure", gap, NARROW, words=words, wanted=wanted)


def _errs(
    id: str, name: str, game: Game, split: Split, found: Pair | None, pairs: Pairs
) -> Finding:
    """Searches for two prompts with equal answers, one of them wrong; appends them to `pairs`.

    Without rounding, the forward pass over Q and torch must give the same answer. With rounding
    they compute another model, so the finding records torch's answers without comparing them.
    """
    short = _short(game, split)
    if found is None:
        # If the message has fewer bits, a pair exists, but the search may miss it.
        words = "no two prompts with the same message were found"
        undecided = Verdict.UNDECIDED
        return Finding(id, name, "exact", split.bits, game.bits, undecided, words, short)
    place = next(i for i, (a, b) in enumerate(zip(*found, strict=True)) if a != b)
    prompts = one, other = game.prompt(found[0], place), game.prompt(found[1], place)
    pairs.append((one, other))
    messages = [split.message(prompt) for prompt in prompts]
    logits = [split.complete(*each) for each in zip(messages, prompts, strict=True)]
    answers = [split.answer(values) for values in logits]
    in_torch = [int(split.model(prompt)[-1]) for prompt in prompts]
    needed = [game.required(prompt) for prompt in prompts]
    alike, exact = messages[0] == messages[1], split.format is None
    if exact:
        alike = alike and logits == [*map(split.forward, prompts)] and answers == in_torch
    verdict = Verdict.of(alike and answers[0] == answers[1] and needed[0] != needed[1])
    return Finding(
        id,
        name,
        "exact" if exact else "enclosure",
        {"answers": answers},
        {"needed": needed},
        Verdict.UNDECIDED if None in answers else verdict,
        f"{answers[0]} for {game.question(one)} and {answers[1]} for {game.question(other)}, with "
        f"{'the same message' if alike else 'different messages'}; the right answers are "
        f"{needed[0]} and {needed[1]}",
        short or "equal answers, so that one answer is wrong",
        f"torch in float64 answers {in_torch[0]} and {in_torch[1]}\n"
        + "\n".join(f"prompt {game.text(prompt)}" for prompt in prompts),
    )


def _short(game: Game, split: Split) -> str:
    """The consequence of a rounded message of fewer bits than Alice's input; "" if not rounded."""
    if split.format is None:
        return ""
    if game.forced is None:
        return f"a wrong answer, as the message has {split.bits} < {game.bits:g} bits"
    R, error = game.forced(split.attn.n_heads, split.attn.W_V.shape[-1], split.format.bits)
    needed = f"the message has {split.bits} bits, which is R = {R:g} fewer than required"
    return f"answers that are wrong with probability at least {error:.3f}, as {needed}"


def _mistakes(run: Run, id: str, game: Game, model: Transformer, pairs: Pairs) -> Finding:
    """Searches for two prompts that differ only in the queried symbol and have equal answers.

    The search uses torch, and a pair is verified by balls and appended to `pairs`.
    """
    name = (
        f"answers of {model.name} to two prompts of {game.name}, although its message is long "
        "enough"
    )
    for _ in range(TRIES):
        row = [pair[run.rng.integers(2)] for pair in game.choices]
        places = range(len(row))
        other = [[*row[:t], sum(game.choices[t]) - row[t], *row[t + 1 :]] for t in places]
        tried = [(game.prompt(row, t), game.prompt(other[t], t)) for t in places]
        equal = model(np.array(tried))[..., -1].numpy()
        for one, two in (tried[t] for t in np.flatnonzero(equal[:, 0] == equal[:, 1])):
            split = Split(model, len(one), game.alice, one[-1])
            answers = [split.answer(split.forward(prompt)) for prompt in (one, two)]
            needed = [game.required(prompt) for prompt in (one, two)]
            if answers[0] != answers[1] or None in answers:
                continue
            pairs.append((one, two))
            return Finding(
                id,
                name,
                "enclosure",
                {"answers": answers},
                {"needed": needed},
                Verdict.of(needed[0] != needed[1]),
                f"{answers[0]} for {game.question(one)} and {answers[1]} for {game.question(two)}; "
                f"the right answers are {needed[0]} and {needed[1]}",
                "equal answers, so that one answer is wrong",
                "\n".join(f"prompt {game.text(prompt)}" for prompt in (one, two)),
            )
    return Finding(id, name, "enclosure", 0, 1, Verdict.UNDECIDED, "no such pair was found")


def two_layers_find(run: Run, n: int, pairs: Pairs) -> Iterator[Finding]:
    """Checks answers and logits of the two-layer `induction_heads` on given pairs of prompts."""
    model = run.build(induction_heads, 4, n)
    prompts = np.array(pairs, dtype=np.int64).reshape(-1, n)
    needed, codes = induction(prompts)[:, -1], binary_codes(4)
    # Codes of two bits have the inner product 2 − 2·(digits that differ), and ⊥ has the logit 1.
    stated = np.pad(codes[needed] @ codes.T, ((0, 0), (0, 1)), constant_values=1)
    as_stated = (model.logits(prompts)[:, -1].numpy() == stated).all(-1)
    right = (model(prompts)[:, -1].numpy() == needed) & as_stated
    logits = ", and logits of 2 − 2·(number of different binary digits) for tokens and of 1 for ⊥"
    yield _all_right(model, right, logits)
    try:
        Split(model, n, (1,), MARKER)
        layers = 1
    except InputError:
        layers = sum(block.attn is not None for block in model.blocks)
    name = f"number of attention layers of {model.name}, to which the bound does not apply"
    yield at_least("no-message", name, "exact", layers, 2, words=f"{layers}", wanted="at least 2")


def two_layers_compose(run: Run, s: int, pairs: Pairs) -> Iterator[Finding]:
    """Checks the answers of the two-layer `composition` on the given pairs of prompts.

    The prompts in `pairs` end with x, '?'; the prompts of `composition` end with x.
    """
    model = run.build(composition, s)
    prompts = np.array(pairs, dtype=np.int64).reshape(-1, 2 * s + 2)[:, :-1]
    f, g, x = prompts[:, :s], prompts[:, s:-1], prompts[:, -1]
    yield _all_right(model, model(prompts)[:, -1].numpy() == compose(f, g, x))


def _all_right(model: Transformer, right: np.ndarray, logits: str = "") -> Finding:
    """Checks that all answers are right; undecided without prompts."""
    count, total = int(right.sum()), len(right)
    return Finding(
        "two-layers",
        f"answers of the two-layer model {model.name} to the same prompts",
        exact_evidence(model),
        count,
        total,
        Verdict.of(count == total) if total else Verdict.UNDECIDED,
        f"{count} of {total} answers are right"
        + ", with the required logits" * bool(logits and count),
        f"all answers right{logits}",
        f"float64 is exact here: {exact_in(model).bits} bits suffice",
    )
