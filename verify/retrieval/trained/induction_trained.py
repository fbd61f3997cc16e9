"""The claim `induction-trained`: gradient descent finds the induction heads that were built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

import numpy as np

from constructions import induction_heads
from constructions.trained import log_of
from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.retrieval import find, induction
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import models_of
from verify.evidence.statistics import BY, Mean, above, below, estimated, share_of
from verify.finding import Finding, Verdict, at_least, labelled
from verify.retrieval.trained.circuits import attended, attention_of, circuits_of, looking_at

KIND = "a softmax transformer trained on hop"
LEARNED, NOT_LEARNED = 0.95, 0.5  # shares of right answers
ATTENDED = 0.8  # of a head's attention where the built head puts all of it
SAME = 0.9  # of answers under the same intervention
LARGEST = 0.9  # of a circuit's rows, with the largest entry where the built one has it
CLEAR = 10  # times the noise of the log, by which a window has to fall more than the one before
NEAR = 25  # lines of the log to both sides, whose noise is looked at
WINDOW = 0.02  # of all steps, in which the fall of the loss is looked at


@claim(
    source="[Olsson2022]; the built heads: constructions/retrieval/induction.py",
    picture="verify.retrieval.trained.induction_picture:draw",
)
def induction_trained(
    run: Run, *, samples: Annotated[int, option("fresh sequences", min=20)] = 400
) -> Iterator[Finding]:
    """Published observation: two trained layers form an induction head, one layer learns none.

    Attention-only transformers with one head a layer, trained on the latest-match task.  Tested:
    the head of layer 1 attends to the token before and that of layer 2 to what followed the latest
    copy; the circuits between embedding, heads and unembedding are those of the construction; the
    loss falls in a sudden transition; and with the attention of layer 1 or 2 redirected at random
    the trained model answers as the built one then does.
    """
    two = models_of("induction-small-2-layers", KIND)
    alone = models_of("induction-small-1-layer", KIND)
    V, T = two[0].task.vocabulary_size, two[0].task.length
    tokens, built = run.rng.integers(0, V, (samples, T)), induction_heads(V, T)
    for each in two:
        yield from labelled(each.name, [right(each.model, tokens, above, LEARNED, "at least")])
    for each in alone:
        yield from labelled(each.name, [right(each.model, tokens, below, NOT_LEARNED, "below")])
    for each in two:
        yield from labelled(each.name, heads(each.model, built, tokens))
        yield from labelled(each.name, circuits(each.model))
        yield from labelled(each.name, interventions(run, each.model, built, tokens))
        yield from labelled(each.name, [transition(each.name)])
    logs = {each.name: log_of(each.name) for each in (*two, *alone)}
    run.draw(two[0].model, built, tokens[0, :24], logs)


def right(
    model: Transformer, tokens: np.ndarray, compare: Callable[..., Finding], bound: float, to: str
) -> Finding:
    """The share of right answers, where there is one, compared (above, below) to a bound."""
    wanted = induction(tokens)
    share = share_of(model(tokens).numpy() == wanted, wanted >= 0)
    name = f"right on {len(tokens)} fresh sequences"
    return compare("right", name, share, bound, words=f"{share:.2%}", wanted=f"{to} {bound:.0%}")


def heads(model: Transformer, built: Transformer, tokens: np.ndarray) -> Iterator[Finding]:
    """Attention where the built heads look, in the trained and in the built model."""
    before = np.broadcast_to(np.arange(-1, tokens.shape[1] - 1), tokens.shape)
    maps, exact = attention_of(model, tokens), attention_of(built, tokens)
    for layer, kind, place in ((1, "previous-token", before), (2, "matching", find(tokens))):
        shares, wanted = (attended(each[layer - 1], place) for each in (maps, exact))
        share = estimated(shares)
        found = above(
            kind,
            f"layer {layer} has a {kind} head",
            share,
            ATTENDED,
            words=f"{share:.2%} of its attention is there (built: {wanted.mean():.0%})",
            wanted=f"at least {ATTENDED:.0%}, {BY}",
        )
        if not (wanted == 1).all():
            found.verdict = Verdict.FAILS
        yield found


def circuits(model: Transformer) -> Iterator[Finding]:
    """Rows of the circuits whose largest entry is where the built one has it."""
    words = {
        "position": "position → position before (layer 1)",
        "match": "token → token that layer 1 carried (layer 2)",
        "copy": "token looked at → logit (layer 2)",
    }
    for kind, (matrix, place) in circuits_of(model).items():
        share = float((matrix.argmax(1) == place).mean())
        chance = float((1 / np.isfinite(matrix).sum(1)).mean())
        yield at_least(
            f"circuit/{kind}",
            f"circuit {words[kind]}",
            "trained",
            share,
            LARGEST,
            words=f"the largest entry of {share:.1%} of {len(matrix)} rows is the built one's",
            wanted=f"at least {LARGEST:.0%}; by chance {chance:.1%}",
        )


def interventions(
    run: Run, model: Transformer, built: Transformer, tokens: np.ndarray
) -> Iterator[Finding]:
    """A head is made to look at random earlier tokens, in the trained and in the built model: their
    answers stay the same, where the built one has one.

    For layer 1 it is told, too, how often the answer follows some token that was made to carry a
    copy, not the latest of them; and of both shares what a model has that answers after one of the
    copies, whichever, and what one has that says any token.
    """
    earlier = np.maximum(np.arange(tokens.shape[1]), 1)
    for layer in (1, 2):
        places = run.rng.integers(0, earlier, tokens.shape)
        said, wanted = (looking_at(each, layer, places)(tokens).numpy() for each in (model, built))
        share = share_of(said == wanted, wanted >= 0)
        yield above(
            f"intervention/layer-{layer}",
            f"made to look elsewhere in layer {layer}, it answers as the built model then does",
            share,
            SAME,
            words=f"{share:.2%}"
            + (_after_some_copy(run, tokens, places, said, wanted) if layer == 1 else ""),
            wanted=f"above {SAME:.0%}, {BY}; by chance {1 / len(model.embed.W_E):.1%}",
        )


def _after_some_copy(
    run: Run, tokens: np.ndarray, places: np.ndarray, said: np.ndarray, wanted: np.ndarray
) -> str:
    """In words, how many answers are a token, up to here, that was made to carry this one; and what
    those do that are drawn from these tokens, and from all."""
    T, V = tokens.shape[1], int(tokens.max()) + 1
    carried = np.take_along_axis(tokens, places, axis=1)
    copies = (carried[:, None] == tokens[..., None]) & np.tri(T, dtype=bool)

    def follow(answers: np.ndarray) -> Mean:
        after = (copies & (tokens[:, None] == answers[..., None])).any(-1)
        return share_of(after, copies.any(-1))

    drawn = (copies * run.rng.random(copies.shape)).argmax(-1)
    after_any = np.take_along_axis(tokens, drawn, axis=1)
    agree = share_of(after_any == wanted, wanted >= 0)
    random = follow(run.rng.integers(0, V, said.shape))
    return (
        f", where one that answers after any copy has {agree.mean:.0%}; {follow(said):.2%} of its "
        f"answers follow some copy, of random ones {random.mean:.0%}"
    )


def transition(name: str) -> Finding:
    """Whether the loss falls faster later than earlier, which no convex decay does."""
    log = log_of(name)
    if len(log) < 2 * NEAR:
        raise InputError(
            f"{name} has no log beside it, or one of less than {2 * NEAR} lines: its loss along "
            "training is not known"
        )
    steps, loss = (np.array([line[key] for line in log]) for key in ("step", "loss"))
    width = max(1, round(WINDOW * len(steps)))
    falls = loss[:-width] - loss[width:]
    later, earlier = falls[width:], falls[:-width]
    steepest = int((later - earlier).argmax())  # begins a window; the next is steeper
    # later − earlier is a second difference; its noise is that of neighbouring lines thereabouts.
    around = loss[max(steepest - NEAR, 0) : steepest + NEAR]
    noise = float(np.median(np.abs(np.diff(around, 2))) / 0.6745)
    before, after = float(earlier[steepest]), float(later[steepest])
    faster = after / max(before, noise)
    return Finding(
        "transition",
        "a phase transition in the log",
        "trained",
        {"times as fast": faster, "faster by": after - before},
        {"times as fast": 2, "faster by": CLEAR * noise},
        Verdict.of(faster >= 2 and after - before >= CLEAR * noise),
        f"from step {steps[steepest + width]} to {steps[steepest + 2 * width]} the loss falls by "
        f"{after:.2f}, from {loss[steepest + width]:.2f}: {faster:.1f} times as much as in as many "
        "steps before",
        f"at least twice (a convex decay: at most once), and more by {CLEAR} times the noise there "
        f"({noise:.2g})",
    )
