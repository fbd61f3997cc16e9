"""The claim `induction-trained`: trained transformers compared with hand-built induction heads."""

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
from verify.evidence.statistics import BY, Mean, above, below, estimated, fraction_of
from verify.finding import Finding, Verdict, at_least, labelled
from verify.interpret.interventions import redirected
from verify.retrieval.trained.circuits import attended, attention_of, circuits_of

KIND = "a softmax transformer trained on hop"
LEARNED, NOT_LEARNED = 0.95, 0.5  # accuracies
ATTENDED = 0.8  # smallest attention weight where the built head has weight 1
SAME = 0.9  # smallest fraction of equal answers under the same intervention
LARGEST = 0.9  # smallest fraction of rows with the largest entry of the built circuit
CLEAR = 10  # smallest excess of a fall over the previous fall, in units of the log's noise
NEAR = 25  # lines of the log on both sides, from which the noise is estimated
WINDOW = 0.02  # fraction of all steps over which a fall of the loss is measured


@claim(
    picture="verify.retrieval.trained.induction_picture:draw",
)
def induction_trained(
    run: Run, *, samples: Annotated[int, option("fresh sequences", min=20, max=10**5)] = 400
) -> Iterator[Finding]:
    """Published observation: two trained layers form an induction head, one layer does not.

    Attention-only transformers with one head per layer are trained on the following task: at each
    token, output the token after the latest earlier copy of the present token. Four properties are
    tested. First, the head of layer 1 attends to the previous token, and the head of layer 2
    attends to the token after the latest copy. Second, the products of the weight matrices along
    the paths from the embedding through the heads to the unembedding have, in at least 90 % of
    their rows, the largest entry in the same column as in the hand-built induction head. Third, the
    loss falls in a sudden transition during training. Fourth, let the head of layer 1 or of layer 2
    attend to random earlier positions instead. Then the trained model has the same outputs as the
    hand-built model whose head attends to the same positions.
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
    """Compares the model's accuracy, at the positions that have an answer, with a bound."""
    wanted = induction(tokens)
    accuracy = fraction_of(model(tokens).numpy() == wanted, wanted >= 0)
    name = f"accuracy on {len(tokens)} fresh sequences"
    words, limit = f"{accuracy:.2%}", f"{to} {bound:.0%}"
    return compare("right", name, accuracy, bound, words=words, wanted=limit)


def heads(model: Transformer, built: Transformer, tokens: np.ndarray) -> Iterator[Finding]:
    """Findings on the attention weights of trained heads at the positions of the built heads."""
    before = np.broadcast_to(np.arange(-1, tokens.shape[1] - 1), tokens.shape)
    maps, exact = attention_of(model, tokens), attention_of(built, tokens)
    at = {1: "previous position", 2: "position after the latest copy of the token"}
    for layer, kind, place in ((1, "previous-token", before), (2, "matching", find(tokens))):
        weights, wanted = (attended(each[layer - 1], place) for each in (maps, exact))
        mean = estimated(weights)
        found = above(
            kind,
            f"mean attention weight of layer {layer} at the {at[layer]}",
            mean,
            ATTENDED,
            words=f"{mean:.2%}, and {wanted.mean():.0%} in the built model",
            wanted=f"at least {ATTENDED:.0%}, {BY}",
        )
        if not (wanted == 1).all():
            found.verdict = Verdict.FAILS
        yield found


def circuits(model: Transformer) -> Iterator[Finding]:
    """Findings on the fraction of a circuit's rows whose largest entry is as in the built model."""
    words = {
        "position": "of layer 1 from a position to the position before",
        "match": "of layer 2 from a token to the token copied by layer 1",
        "copy": "of layer 2 from the token attended to, to the logits",
    }
    for kind, (matrix, place) in circuits_of(model).items():
        fraction = float((matrix.argmax(1) == place).mean())
        uniform = float((1 / np.isfinite(matrix).sum(1)).mean())
        yield at_least(
            f"circuit/{kind}",
            f"fraction of rows of the circuit {words[kind]}, in which the largest entry is in the "
            "same column as in the built model",
            "trained",
            fraction,
            LARGEST,
            words=f"{fraction:.1%} of {len(matrix)} rows",
            wanted=f"at least {LARGEST:.0%}, while uniform guesses give {uniform:.1%}",
        )


def interventions(
    run: Run, model: Transformer, built: Transformer, tokens: np.ndarray
) -> Iterator[Finding]:
    """Compares the answers of trained and built models if a head attends to random earlier tokens.

    Answers are compared at the positions where the built model has an answer. For layer 1, the
    finding also states how often the answer of the trained model is the token at any matching
    position, not only at the latest. The finding contains two baselines: a model that chooses a
    matching position at random, and a model whose answers are random tokens.
    """
    earlier = np.maximum(np.arange(tokens.shape[1]), 1)
    for layer in (1, 2):
        places = run.rng.integers(0, earlier, tokens.shape)
        found, wanted = (redirected(each, layer, places)(tokens).numpy() for each in (model, built))
        equal = fraction_of(found == wanted, wanted >= 0)
        yield above(
            f"intervention/layer-{layer}",
            "fraction of answers equal to those of the built model, if the head of layer "
            f"{layer} of both models attends to random earlier positions",
            equal,
            SAME,
            words=f"{equal:.2%}"
            + (_after_some_copy(run, tokens, places, found, wanted) if layer == 1 else ""),
            wanted=f"above {SAME:.0%}, {BY}, while uniform guesses give "
            f"{1 / len(model.embed.W_E):.1%}",
        )


def _after_some_copy(
    run: Run, tokens: np.ndarray, places: np.ndarray, found: np.ndarray, wanted: np.ndarray
) -> str:
    """The fraction of answers at any matching position and the two baselines, in words.

    A position matches if, after the redirection, layer 1 copies the current token there.
    """
    T, V = tokens.shape[1], int(tokens.max()) + 1
    copied = np.take_along_axis(tokens, places, axis=1)
    copies = (copied[:, None] == tokens[..., None]) & np.tri(T, dtype=bool)

    def follow(answers: np.ndarray) -> Mean:
        after = (copies & (tokens[:, None] == answers[..., None])).any(-1)
        return fraction_of(after, copies.any(-1))

    drawn = (copies * run.rng.random(copies.shape)).argmax(-1)
    after_any = np.take_along_axis(tokens, drawn, axis=1)
    agree = fraction_of(after_any == wanted, wanted >= 0)
    random = follow(run.rng.integers(0, V, found.shape))
    return (
        f", while the tokens at random matching positions give {agree.mean:.0%}; the answer is the "
        f"token at some matching position in {follow(found):.2%}, while random tokens give "
        f"{random.mean:.0%}"
    )


def transition(name: str) -> Finding:
    """Checks that the training loss falls suddenly: faster at some later steps than just before."""
    log = log_of(name)
    if len(log) < 2 * NEAR:
        raise InputError(
            f"{name} has a log of {len(log)} lines: give a checkpoint with a log of at least "
            f"{2 * NEAR} lines"
        )
    steps, loss = (np.array([line[key] for line in log]) for key in ("step", "loss"))
    width = max(1, round(WINDOW * len(steps)))
    falls = loss[:-width] - loss[width:]
    later, earlier = falls[width:], falls[:-width]
    steepest = int((later - earlier).argmax())  # start of the window before the steepest increase
    # later − earlier is a second difference; its noise is estimated from neighbouring lines.
    around = loss[max(steepest - NEAR, 0) : steepest + NEAR]
    noise = float(np.median(np.abs(np.diff(around, 2))) / 0.6745)
    before, after = float(earlier[steepest]), float(later[steepest])
    faster = after / max(before, noise)
    return Finding(
        "transition",
        "sudden fall of the training loss",
        "trained",
        {"times as fast": faster, "faster by": after - before},
        {"times as fast": 2, "faster by": CLEAR * noise},
        Verdict.of(faster >= 2 and after - before >= CLEAR * noise),
        f"from step {steps[steepest + width]} to {steps[steepest + 2 * width]} the loss falls by "
        f"{after:.2f} from {loss[steepest + width]:.2f}, which is {faster:.1f} times the fall over "
        "equally many steps before",
        "at least 2 times, while a convex decay gives at most 1 times, and a difference of the two "
        f"falls of at least {CLEAR} times the noise of {noise:.2g}",
    )
