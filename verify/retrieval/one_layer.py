"""The claim `one-layer`: a small layer of attention sends too short a message for two tasks."""

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
from theory.kinds import InputError
from theory.retrieval import composition as compose
from theory.retrieval import composition_bound, induction, one_layer_bound
from theory.retrieval.communication import MARKER, Game, Prompt, composition_game, index_game
from verify.claim import Run, claim, option
from verify.domains import Ball
from verify.evidence.checkpoints import models_of
from verify.evidence.sequences import exact_evidence
from verify.finding import Finding, Verdict, at_least, at_most, labelled, no_counterexample, same
from verify.retrieval.collisions import Pair, collision
from verify.retrieval.messages import PRECISION, Split, fractions

TABLE = 64  # points of the two functions that are composed; half of them if quick
D_VALUE = 2  # m of the random layers
TRIES = 20  # lattices in which two strings with the same message are looked for
KIND = "a softmax transformer trained on hop"
NARROW = 1e-30  # what is computed twice in balls of 192 bits agrees to this

Pairs = list[tuple[Prompt, Prompt]]


@claim(source="[SanfordHsu2024]; [Peng2024, Theorem 1]", faults_seen=[{"n": 33}])
def one_layer(
    run: Run,
    *,
    n: Annotated[int, option("tokens of the induction prompt, odd", min=5)] = 129,
    heads: Annotated[int, option("heads of the random layers", min=1)] = 1,
) -> Iterator[Finding]:
    """One exact layer has h(m + 1)p′ ≥ (n − 1)/2 at induction and ≥ s·log₂s at composition.

    Its h softmax heads of value dimension m keep the partial sums over Alice's positions in p′ bits
    each (16 for bfloat16).  Alice holds B = (n − 1)/2 bits, each behind a place where Bob may put
    the marker that is the last token too; the induction head must output the bit behind the marker.
    All that the last token receives from Alice is a message of h(m + 1)p′ bits, whatever Bob marks.
    If that is below B, two strings have the same message, and where they differ Bob gets one answer
    and needs two.  In the same way the values f(0) … f(s − 1) need a message of s·log₂s bits.  For
    each model such a pair is exhibited; two layers are right on the same pairs.  For the trained
    layer, whose message is long enough, the bound is vacuous: it is shown to err all the same.
    """
    if n % 2 == 0:
        raise InputError(
            f"n is {n}: the prompt has a bit behind each of Bob's places, and the last token; give "
            "an odd number"
        )

    bits_alike = np.zeros((4, 4))  # the scores of the skip-gram: the marker looks for all bits
    bits_alike[MARKER, :2] = 1
    built = {
        "broad-average": broad_average(4, n),
        "previous-token": previous_token(4, n),
        "skip-gram": skip_gram(bits_alike, n),
    }
    game, pairs = index_game(n), Pairs()
    yield _bits_held(game, one_layer_bound(n), len(game.alice), "one for each of her places")
    for name, model in built.items():
        yield from judged(run, game, name, model, [None], pairs)
    precisions = ["bfloat16", *([] if run.quick else ["float16"]), "float32"]
    for name, mlp in (("random", False), ("random-with-mlp", True)):
        model = random_layer(run.rng, 4, n, heads, mlp)
        yield from judged(run, game, name, model, precisions, pairs)
    yield from labelled(game.name, two_layers_find(run, n, pairs))
    s = TABLE // 2 if run.quick else TABLE
    game, pairs = composition_game(run.rng, s), Pairs()
    R, error = composition_bound(s, 1, D_VALUE, 16)
    held, sent = s * (s.bit_length() - 1), (D_VALUE + 1) * 16  # s is a power of two
    forced = {"R": R, "error": error}
    stated = {"R": held - sent, "error": (held - sent) / (3 * held)}
    yield _bits_held(game, game.known, held, f"the logarithm of {s}^{s}")
    name = "what the theorem makes of tables that do not fit into a message"
    yield same("composition/forced", name, forced, stated)
    average = broad_average(s + 1, 2 * s + 2)
    yield from judged(run, game, "broad-average", average, [None], pairs)
    model = random_layer(run.rng, s + 1, 2 * s + 2, heads, mlp=False)
    yield from judged(run, game, "random", model, ["bfloat16"], pairs)
    yield from labelled(game.name, two_layers_compose(run, s, pairs))
    for each in models_of("induction-small-1-layer", KIND):
        length = (each.task.length - 1) // 2 * 2 + 1  # odd
        game, pairs = index_game(length), Pairs()
        yield from judged(run, game, each.name, each.model, ["float32"], pairs)
        yield _mistakes(run, f"{game.name}/{each.name}/errs", game, each.model, pairs)
        yield from labelled(each.name, two_layers_find(run, length, pairs))


def random_layer(
    rng: np.random.Generator, vocabulary_size: int, length: int, heads: int, mlp: bool
) -> Transformer:
    """A layer of softmax attention with normal weights, positions, and an MLP if asked for."""
    D, d_head, M = 8, 4, 16

    def normal(*shape: int) -> torch.Tensor:
        return torch.as_tensor(rng.standard_normal(shape))

    W_Q, W_K = normal(heads, D, d_head) / 4, normal(heads, D, d_head) / 4
    W_V, W_O = normal(heads, D, D_VALUE), normal(heads, D_VALUE, D)
    b_Q, b_K = normal(heads, d_head), normal(heads, d_head)
    attn = Attention(W_Q, W_K, W_V, W_O, b_Q, b_K, normalise="softmax", mask="causal")
    after = MLP(normal(D, M), normal(M), normal(M, D), normal(D)) if mlp else None
    size = f"{plural(heads, 'head')}, m = {D_VALUE}{', MLP' * mlp}"
    return Transformer(
        Embed(normal(vocabulary_size, D)),
        [Block(attn, after)],
        Unembed(normal(D, vocabulary_size)),
        pos_embed=PosEmbed(normal(length, D)),
        interface=Tokens(vocabulary_size, length),
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
    """The reduction on this very model, and for each precision a pair of prompts, or why none.

    The pairs found are added to `pairs`.
    """
    example = game.ask([first for first, _ in game.choices], 0)
    whole, *splits = (
        Split(model, len(example), game.alice, example[-1], p) for p in (None, *precisions)
    )
    silent = [split for split in splits if (split.bits or 0) >= game.known]
    yield _reduction(run, f"{game.name}/{label}/reduction", game, whole, silent)
    for precision, split in zip(precisions, splits, strict=True):
        if split in silent:
            continue
        of = f"{game.name}/{label}/{precision or 'exact'}"
        name = f"{model.name}{f' in {precision}' if precision else ''}"
        tries = run.progress(range(TRIES), "lattices")
        found = collision(split, game.choices, lambda held: game.ask(held, 0), run.rng, tries)
        yield _errs(of, f"{name} errs at {game.name}", game, split, found, pairs)


def _bits_held(game: Game, stated: float, held: int, words: str) -> Finding:
    """Alice's bits, counted, beside those of which the bound speaks."""
    name = f"bits that Alice holds, of which the message must be short ({game.name})"
    return same(f"{game.name}/known", name, held, stated, words=f"{held}, {words}")


def _reduction(run: Run, id: str, game: Game, split: Split, silent: Sequence[Split]) -> Finding:
    """Alice's message and Bob's completion give the logits of the model's own forward pass.

    Of the precisions in which the message is long enough for all that she holds, it is told that
    nothing follows.
    """
    name = f"{split.model.name}: message and completion give its logits ({game.name})"
    vacuous = "".join(
        f"; no statement for sums of {each.format.bits} bits: {each.bits} ≥ {game.known:g}, before "
        f"{game.enough(each.bits)}"
        for each in silent
        if each.format is not None and each.bits is not None
    )
    completed = []
    for _ in range(1 if run.quick else 2):
        held = [pair[run.rng.integers(2)] for pair in game.choices]
        prompt = game.ask(held, int(run.rng.integers(len(held))))
        completed.append((prompt, split.complete(split.message(prompt), prompt)))
    forward = [split.forward(prompt) for prompt, _ in completed]
    if split.domain.name == "exact":
        differ = (
            f"on {game.written(prompt)}: {joint}, the forward pass gives {whole}"
            for (prompt, joint), whole in zip(completed, forward, strict=True)
            if joint != whole
        )
        return no_counterexample(id, name, differ, words=f"equal over Q{vacuous}")
    with Ball.precision(PRECISION):
        gaps = [
            max(map(abs, fractions(a - b)))
            for (_, joint), whole in zip(completed, forward, strict=True)
            for a, b in zip(joint, whole, strict=True)
        ]
    apart = float(max(gaps))
    words = f"apart by at most {apart:.1e}{vacuous}"
    return at_most(id, name, "enclosure", apart, NARROW, words=words, wanted=f"{NARROW:g}")


def _errs(
    id: str, name: str, game: Game, split: Split, found: Pair | None, pairs: Pairs
) -> Finding:
    """One answer where two are needed; a pair that was found is added to `pairs`.

    Without rounding the forward pass over Q and torch must give that answer too; with it they run
    another model, and what torch says is only told.
    """
    short = _short(game, split)
    if found is None:
        # With fewer bits than Alice holds there is such a pair; that it errs is not shown by it.
        words = "no two prompts with the same message were found"
        undecided = Verdict.UNDECIDED
        return Finding(id, name, "exact", split.bits, game.known, undecided, words, short)
    place = next(i for i, (a, b) in enumerate(zip(*found, strict=True)) if a != b)
    prompts = one, other = game.ask(found[0], place), game.ask(found[1], place)
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
        f"{game.asked(one)} and {game.asked(other)}: {'same' if alike else 'another'} message, "
        f"answers {answers[0]} and {answers[1]}, needed {needed[0]} and {needed[1]}",
        short or "two answers",
        f"torch in float64 answers {in_torch[0]} and {in_torch[1]}\n"
        + "\n".join(f"prompt {game.written(prompt)}" for prompt in prompts),
    )


def _short(game: Game, split: Split) -> str:
    """What follows from a message of fewer bits than Alice holds; nothing from numbers that are not
    rounded."""
    if split.format is None:
        return ""
    if game.forced is None:
        return f"{split.bits} bits < {game.known:g}"
    R, error = game.forced(split.attn.n_heads, split.attn.W_V.shape[-1], split.format.bits)
    return f"{split.bits} bits: R = {R:g}, wrong with probability at least {error:.3f}"


def _mistakes(run: Run, id: str, game: Game, model: Transformer, pairs: Pairs) -> Finding:
    """Two prompts that differ in the one symbol that is asked for, and get the same answer.

    They are looked for in torch and shown by balls; a pair that was found is added to `pairs`.
    """
    name = f"{model.name} errs at {game.name}, though its message is long enough"
    for _ in range(TRIES):
        held = [pair[run.rng.integers(2)] for pair in game.choices]
        places = range(len(held))
        other = [[*held[:t], sum(game.choices[t]) - held[t], *held[t + 1 :]] for t in places]
        asked = [(game.ask(held, t), game.ask(other[t], t)) for t in places]
        answers = model(np.array(asked))[..., -1].numpy()
        for one, two in (asked[t] for t in np.flatnonzero(answers[:, 0] == answers[:, 1])):
            split = Split(model, len(one), game.alice, one[-1])
            said = [split.answer(split.forward(prompt)) for prompt in (one, two)]
            needed = [game.required(prompt) for prompt in (one, two)]
            if said[0] != said[1] or None in said:
                continue
            pairs.append((one, two))
            return Finding(
                id,
                name,
                "enclosure",
                {"answers": said},
                {"needed": needed},
                Verdict.of(needed[0] != needed[1]),
                f"{game.asked(one)} and {game.asked(two)}: answers {said[0]} and {said[1]}, "
                f"needed {needed[0]} and {needed[1]}",
                "two answers",
                "\n".join(f"prompt {game.written(prompt)}" for prompt in (one, two)),
            )
    return Finding(id, name, "enclosure", 0, 1, Verdict.UNDECIDED, "no such pair was found")


def two_layers_find(run: Run, n: int, pairs: Pairs) -> Iterator[Finding]:
    """The induction head answers every prompt of the pairs, with the logits that it should have."""
    model = run.build(induction_heads, 4, n)
    prompts = np.array(pairs, dtype=np.int64).reshape(-1, n)
    needed, codes = induction(prompts)[:, -1], binary_codes(4)
    # Codes of two bits agree in 2 − 2·(digits that differ), and ⊥ has half of 2.
    stated = np.pad(codes[needed] @ codes.T, ((0, 0), (0, 1)), constant_values=1)
    as_stated = (model.logits(prompts)[:, -1].numpy() == stated).all(-1)
    right = (model(prompts)[:, -1].numpy() == needed) & as_stated
    logits = ", logits 2 − 2·(binary digits that differ) for each token and 1 for ⊥"
    yield _all_right(model, right, logits)
    try:
        Split(model, n, (1,), MARKER)
        layers = 1
    except InputError:
        layers = sum(block.attn is not None for block in model.blocks)
    name, words = f"{model.name} sends no such message", f"{layers} layers of attention"
    yield at_least("no-message", name, "exact", layers, 2, words=words)


def two_layers_compose(run: Run, s: int, pairs: Pairs) -> Iterator[Finding]:
    """The two-layer construction on the same f, g, x; its prompt ends in x, without the '?'."""
    model = run.build(composition, s)
    prompts = np.array(pairs, dtype=np.int64).reshape(-1, 2 * s + 2)[:, :-1]
    f, g, x = prompts[:, :s], prompts[:, s:-1], prompts[:, -1]
    yield _all_right(model, model(prompts)[:, -1].numpy() == compose(f, g, x))


def _all_right(model: Transformer, right: np.ndarray, logits: str = "") -> Finding:
    """Whether all of the prompts are answered right; none decide nothing."""
    count, total = int(right.sum()), len(right)
    return Finding(
        "two-layers",
        f"{model.name}, two layers, on the same prompts",
        exact_evidence(model),
        count,
        total,
        Verdict.of(count == total) if total else Verdict.UNDECIDED,
        f"{count} of {total} right" + ", logits as stated" * bool(logits and count),
        f"all right{logits}",
        f"float64 makes no rounding error: {exact_in(model).bits} bits are enough",
    )
