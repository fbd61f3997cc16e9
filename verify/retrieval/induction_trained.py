"""The claim `induction-trained`: gradient descent finds the induction heads that were built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import numpy as np

from theory.checks import InputError
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.trained.checkpoints import described, models_of
from verify.trained.circuits import attended, attention_of, circuits_of, decoded, lives_of
from verify.trained.statistics import (
    ERRORS,
    LEVEL,
    RESAMPLED,
    agreed,
    estimated,
    resampled,
    sign_of,
)

if TYPE_CHECKING:
    from constructions.retrieval import SequenceModel
    from constructions.trained.models import TokenTransformer

LEARNED, NOT_LEARNED = 0.95, 0.5  # shares of right answers
ATTENDED = 0.8  # of a head's attention where the built head puts all of it
CLEAR = 10  # times the noise of the log, by which a window has to fall more than the one before
NEAR = 25  # lines of the log to both sides, whose noise is looked at
WINDOW = 0.02  # of all steps, in which the fall of the loss is looked at


@claim(source="[Olsson2022]; the built heads: constructions/retrieval/induction.py", draws=True)
def induction_trained(
    run: Run,
    *,
    samples: Annotated[int, option("fresh sequences", min=20)] = 400,
) -> Iterator[Finding]:
    """Two trained layers are the built induction heads; one trained layer does not learn the task.

    Attention-only, one head a layer, on the latest-match task.  In the trained weights a head of
    layer 1 looks at the token before and one of layer 2 at what followed the latest copy; the
    circuits between embedding, heads and read-out are those of the construction, and a linear map
    of the trained stream tells most of each of its registers, from the layer that writes it to the
    last that reads it, and not before.
    """
    from constructions import induction_heads
    from constructions.trained import log_of
    from constructions.trained.models import TokenTransformer

    models = models_of("induction-small-2-layers", TokenTransformer)
    alone = models_of("induction-small-1-layer", TokenTransformer)
    some = next(iter(models.values()))
    tokens, wanted = _sequences(run, some, samples)
    built = induction_heads(some.vocabulary_size, some.max_length)
    for name, model in models.items():
        yield _accuracy(name, model, tokens, wanted, at_least=LEARNED)
    for name, model in alone.items():
        yield _accuracy(name, model, tokens, wanted, below=NOT_LEARNED)
    for name, model in models.items():
        yield from _heads(name, model, built, tokens)
        yield from _circuits(name, model)
        yield from _registers(run, name, model, built, tokens)
        yield _transition(name)
    if run.plot:
        from verify.trained.induction_picture import draw

        logs = {described(name): log_of(name) for name in (*models, *alone)}
        draw(run.plot, some, built, tokens[0, :24], logs)


def _sequences(run: Run, model: TokenTransformer, samples: int) -> tuple[np.ndarray, np.ndarray]:
    from theory.retrieval import induction

    tokens = run.rng.integers(0, model.vocabulary_size, (samples, model.max_length))
    return tokens, induction(tokens)


def _accuracy(
    name: str,
    model: TokenTransformer,
    tokens: np.ndarray,
    wanted: np.ndarray,
    *,
    at_least: float = 0.0,
    below: float = 1.0,
) -> Finding:
    """The share of right answers, where there is one; its standard error is over sequences."""
    right = np.where(wanted >= 0, model(tokens).numpy() == wanted, False)
    counted = (wanted >= 0).sum(1)
    share = right.sum() / counted.sum()
    # A ratio of means: its error is that of the residuals right − share·counted.
    error = (right.sum(1) - share * counted).std(ddof=1) / np.sqrt(len(tokens)) / counted.mean()
    low, high = share - ERRORS * error, share + ERRORS * error
    holds = low >= at_least and high < below
    fails = high < at_least or low >= below
    verdict = Verdict.HOLDS if holds else Verdict.FAILS if fails else Verdict.UNDECIDED
    bound = f"at least {at_least:.0%}" if at_least else f"below {below:.0%}"
    return Finding(
        f"{described(name)}: right on {len(tokens)} fresh sequences",
        "trained",
        f"{share:.2%} ± {error:.2%}",
        bound,
        verdict,
    )


def _heads(
    name: str, model: TokenTransformer, built: SequenceModel, tokens: np.ndarray
) -> Iterator[Finding]:
    """Attention where the built heads look, in the trained and in the built model."""
    from theory.retrieval import find

    T = tokens.shape[1]
    before = np.broadcast_to(np.arange(-1, T - 1), tokens.shape)
    maps, exact = attention_of(model, tokens), attention_of(built, tokens, len(built.prompt.prefix))
    for layer, kind, place in ((0, "previous-token", before), (1, "matching", find(tokens))):
        shares, built_shares = (attended(attention[layer], place) for attention in (maps, exact))
        mean, spread = estimated(shares)
        verdicts = [sign_of(mean - ATTENDED, spread), Verdict.of(bool((built_shares == 1).all()))]
        yield Finding(
            f"{described(name)}: layer {layer + 1} has a {kind} head",
            "trained",
            f"{mean:.2%} ± {spread:.2%} of its attention is there (built: "
            f"{built_shares.mean():.0%})",
            f"at least {ATTENDED:.0%}, by {ERRORS:g} standard errors",
            Verdict.together(verdicts),
        )


def _circuits(name: str, model: TokenTransformer) -> Iterator[Finding]:
    words = {
        "position": "position → position before (layer 1)",
        "match": "token → token that layer 1 carried (layer 2)",
        "copy": "token looked at → logit (layer 2)",
    }
    for kind, (matrix, place) in circuits_of(model).items():
        share = float((matrix.argmax(1) == place).mean())
        chance = float((1 / np.isfinite(matrix).sum(1)).mean())
        yield Finding(
            f"{described(name)}: circuit {words[kind]}",
            "trained",
            f"the largest entry of {share:.1%} of {len(matrix)} rows is the built one's",
            f"at least 90%; by chance {chance:.1%}",
            Verdict.of(share >= 0.9),
        )


def _registers(
    run: Run, name: str, model: TokenTransformer, built: SequenceModel, tokens: np.ndarray
) -> Iterator[Finding]:
    """R² on held-out sequences of linear read-outs of the built registers from the trained stream.

    `code` is the token itself, `previous` the token before, `answer` what is to be said; the others
    are functions of the position.  Decided by sequences drawn again.
    """
    lives = lives_of(built, tokens)
    makers = "the embedding", "layer 1", "layer 2"
    takers = "layer 1", "layer 2", "the read-out"
    for register, (left, whole) in decoded(model, built, tokens).items():
        live, values = lives[register], 1 - left.sum(-1) / whole.sum()
        again = resampled(run.rng, np.vstack([left, whole]))
        known = 1 - again[:, :-1] / again[:, -1:]  # R² of the sets (RESAMPLED, layers)
        so = (known[:, live] > 1 / 2).all(1) & (known[:, : live.start] < 1 / 2).all(1)
        yield Finding(
            f"{described(name)}: register {register}, written by {makers[live.start]}, last read "
            f"by {takers[live[-1]]}",
            "trained",
            f"R² {', '.join(f'{value:.2f}' for value in values)} embedded and by layer; so in "
            f"{so.mean():.1%} of {RESAMPLED} resampled sets",
            "above 1/2 from there to there"
            + (", below before" if live.start else "")
            + f", in at least {1 - LEVEL:.1%} of them",
            agreed(float(so.mean())),
        )


def _transition(name: str) -> Finding:
    """Whether the loss falls faster later than earlier, which no convex decay does."""
    from constructions.trained import log_of

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
    clear = after - before >= CLEAR * noise
    return Finding(
        f"{described(name)}: a phase transition in the log",
        "trained",
        f"from step {steps[steepest + width]} to {steps[steepest + 2 * width]} the loss falls by "
        f"{after:.2f}, from {loss[steepest + width]:.2f}: {faster:.1f} times as much as in as many "
        "steps before",
        f"at least twice (a convex decay: at most once), and more by {CLEAR} times the noise there "
        f"({noise:.2g})",
        Verdict.of(faster >= 2 and clear),
    )
