"""The claim `transplant`: addition learned by a small transformer with pretrained embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from constructions.trained import preset, untrained
from verify.arithmetic.trained.number_models import (
    HEADS,
    MLPS,
    Adder,
    adders,
    before_training,
    by_layer,
    even_fraction,
    filtered,
    filtered_at_random,
    high_fraction,
    masked,
    masked_at_random,
    near_fraction,
    peaks,
    rank_of_filter,
    tied_embedding,
)
from verify.claim import Run, claim
from verify.evidence.statistics import above, below
from verify.finding import Finding, Verdict, at_least, at_most, labelled

AHEAD = 0.2  # smallest difference of the accuracies with rows of MiniLM and with learned rows
PEAK, FEW = 2.0, 1  # peak in units of the median; number of periods at which learned rows may peak
SIGNATURE = 0.9  # smallest fraction of the errors
ENOUGH = 30  # smallest number of errors for a verdict on them
UNTRAINED = 0.02  # largest accuracy before training
LENS = 0.5  # largest accuracy after layer 1, divided by the accuracy after layer 2
CHEAP = 0.05  # largest loss of accuracy
DRAWS, QUICK = 20, 3  # random sets of dimensions

RATIO = "size of the Fourier bins of four periods divided by the median size, in the spectrum"
ROWS = "minilm", "scratch"
LOW, HIGH = False, True
KIND = {"heads": HEADS, "MLPs": MLPS}
Fraction = Callable[[np.ndarray], float]


@claim(
    picture="verify.arithmetic.trained.transplant_picture:draw",
)
def transplant(run: Run) -> Iterator[Finding]:
    """Published observation: pretrained number embeddings help a small transformer to add.

    Models of two layers, with four heads and 512 ReLUs in each layer and with width 128, learn to
    add numbers below 150 from four fifths of the pairs. Their unembedding is the transposed
    embedding. The models are tested on the other pairs, in both orders. In the models `minilm`, the
    embedding is frozen: the rows are the embeddings of numbers in all-MiniLM-L6-v2, projected to
    128 principal axes. In the models `scratch`, the embedding is learned. Every seed of the shipped
    models is evaluated separately. Bin b of a Fourier spectrum over p numbers has the period p/b,
    and “MiniLM's rows” and “learned rows” are the embeddings of the two kinds of model. The
    training recipe decides which of the two embeddings has the higher accuracy; the recipe was
    chosen by trials (docs/training-notes.md). All thresholds were written down before any of these
    models was trained.

    accuracy    the accuracy with MiniLM's rows minus the accuracy with the best learned rows is
                above .2, by three standard errors ([Zhou2024]: 100 % and 54 %, with rows of GPT-2).
    peaks       with MiniLM's rows, in the Fourier spectrum of the logits over all test pairs, the
                bins of periods 2, 2.5, 5 and 10 exceed twice the median of the bins ≥ 29. With
                learned rows, at most one of the four bins exceeds twice the median.
    learnt      each of the four peaks is larger than before training. Untrained logits have the
                peaks of the rows, so `peaks` alone would not show that anything was learned.
    even        with MiniLM's rows at least .9 of the errors are even; the fraction of even errors
                is larger than with learned rows.
    near        with learned rows at least .9 of the errors are within ±2; the fraction of errors
                within ±2 is larger than with MiniLM's rows.
    rows        MiniLM's rows have the four peaks; MiniLM's rows in random order, and learned rows,
                have at most one of these peaks.
    untrained   before training, the accuracy is at most .02.
    lens        if the unembedding is applied to the residual stream after layer 1, the accuracy is
                at most half of the accuracy after layer 2.
    parts       a larger fraction of the contribution to the logits is in bins ≥ 29 for heads than
                for MLPs ([Zhou2024]: heads write high frequencies, MLPs low frequencies).
    low, high   bins of the contributions to the logits are removed by masks. If the bins 1 … 28 are
                removed, the accuracy is lower for removal from MLPs than for removal from heads. If
                bins ≥ 29 are removed, the accuracy is lower for removal from heads than for removal
                from MLPs ([Zhou2024], table).
    cheap       without bins ≥ 29 of MLPs, the accuracy is at most .05 lower than with all bins
                ([Zhou2024]: .016).
    random      removal of the low bins (1 … 28) from MLPs, and removal of the high bins (≥ 29) from
                heads, each reduce the accuracy more than removal of each of 20 random sets of
                equally many dimensions of the logits. The check is undecided if the accuracy is
                below .05 for all random sets.
    projection  the residual stream is filtered as in [Zhou2024]. A filter that removes the low bins
                from the outputs of MLPs reduces the accuracy more than each of 20 random
                projections of equal rank. The check is undecided if the accuracy is below .05 for
                all random projections. (A filter of the high bins would remove the whole stream,
                whose width is below the number of high bins.)
    """
    models = {rows: adders(rows)[: 1 if run.quick else None] for rows in ROWS}
    given, learned = models["minilm"], models["scratch"]
    for each in given:
        yield from labelled(each.name, with_rows(each, learned))
        yield from labelled(each.name, by_parts(run, each))
    for each in learned:
        yield from labelled(each.name, from_scratch(each, given))
    yield from controls(given[0])
    run.draw(models)


def with_rows(adder: Adder, learned: list[Adder]) -> Iterator[Finding]:
    """The findings on a model with MiniLM's rows, compared with models with learned rows."""
    best = max(learned, key=lambda other: other.right.mean.mean)
    ahead = adder.right.ahead_of(best.right)
    yield above(
        "accuracy",
        "(test accuracy with rows of MiniLM) − (best test accuracy with learned rows)",
        ahead,
        AHEAD,
        words=f"{ahead:.1%}, the difference of {adder.right.mean:.1%} and {best.right.mean:.1%}",
        wanted=f"above {AHEAD:.0%}, by 3 standard errors",
    )
    trained, before = peaks(adder.logits.T), peaks_before(adder)
    yield all_peaks("peaks", f"{RATIO} of the logits", trained)
    yield Finding(
        "learnt",
        f"{RATIO} of the logits, compared with the size before training",
        "trained",
        trained,
        before,
        Verdict.of(all(trained[T] > before[T] for T in trained)),
        listed(trained),
        f"each larger than before training: {listed(before)}",
    )
    name = "fraction of even errors among the errors of the predictions"
    yield signature("even", name, adder, even_fraction, learned)


def peaks_before(adder: Adder) -> dict[str, float]:
    """The peaks in the spectrum of the logits before training, by period."""
    return peaks(before_training(adder.name, adder.pairs).logits.T)


def from_scratch(adder: Adder, given: list[Adder]) -> Iterator[Finding]:
    """The findings on a model with learned rows, compared with models with MiniLM's rows."""
    yield few_peaks("peaks", f"{RATIO} of the logits", peaks(adder.logits.T))
    yield few_peaks("rows", f"{RATIO} of the embedding", peaks(tied_embedding(adder.model)))
    name = "fraction of errors within ±2 among the errors of the predictions"
    yield signature("near", name, adder, near_fraction, given)


def all_peaks(id: str, name: str, found: dict[str, float]) -> Finding:
    """The finding that the peaks at all periods are above `PEAK`."""
    holds = Verdict.of(min(found.values()) > PEAK)
    wanted = f"each above {PEAK:g}"
    return Finding(id, name, "trained", found, PEAK, holds, listed(found), wanted)


def few_peaks(id: str, name: str, found: dict[str, float]) -> Finding:
    """The finding that the peaks of at most `FEW` periods are above `PEAK`."""
    count = sum(value > PEAK for value in found.values())
    wanted = f"at most {FEW} of these above {PEAK:g}"
    return at_most(id, name, "trained", count, FEW, words=listed(found), wanted=wanted)


def signature(id: str, name: str, adder: Adder, part: Fraction, others: list[Adder]) -> Finding:
    """The finding that at least a fraction `SIGNATURE` of the errors is of one kind.

    `part` computes the fraction of errors of the kind.  The fraction must also be larger than for
    each of the models `others`.
    """
    count = len(adder.errors)
    found, most = part(adder.errors), max(part(other.errors) for other in others)
    verdict = Verdict.of(found >= SIGNATURE and found > most)
    return Finding(
        id,
        name,
        "trained",
        found,
        {"least": SIGNATURE, "others": most},
        verdict if count >= ENOUGH else Verdict.UNDECIDED,
        f"{found:.1%} of {count} errors",
        f"at least {SIGNATURE:.0%}, and above {most:.1%}, the largest fraction with the other "
        "embedding",
    )


def by_parts(run: Run, adder: Adder) -> Iterator[Finding]:
    """The findings on accuracies by layer, and on accuracies without bins of heads or of MLPs."""
    whole = adder.right.mean.mean
    *_, first, last = layers = by_layer(adder)
    yield Finding(
        "lens",
        "accuracy if the unembedding is applied to the residual stream after the embedding, after "
        "layer 1 and after layer 2",
        "trained",
        layers,
        LENS,
        Verdict.of(first <= LENS * last),
        ", ".join(f"{found:.1%}" for found in layers),
        f"the accuracy after layer 1 is at most {LENS:.0%} of the accuracy after layer 2",
    )
    parts = {module: high_fraction(adder, (module,)) for module in (*HEADS, *MLPS)}
    heads, mlps = high_fraction(adder, HEADS), high_fraction(adder, MLPS)
    layer_of = {"heads": "the heads of layer", "mlp": "the MLP of layer"}
    each = ", ".join(
        f"{part:.0%} for {layer_of[module.split()[0]]} {module.split()[1]}"
        for module, part in parts.items()
    )
    name = (
        "fraction of the contribution to the logits that is in Fourier bins ≥ 29, for all heads "
        "and for all MLPs"
    )
    words = f"{heads:.0%} for all heads, {mlps:.0%} for all MLPs; separately, {each}"
    yield more("parts", name, heads, mlps, words, "larger for heads")
    without = {
        (kind, high): masked(adder, modules, high)
        for kind, modules in KIND.items()
        for high in (LOW, HIGH)
    }
    for id, high, kept, cut in (("low", LOW, "heads", "MLPs"), ("high", HIGH, "MLPs", "heads")):
        words = f"{without[cut, high]:.1%} for {cut}, {without[kept, high]:.1%} for {kept}"
        bins = "high Fourier bins (≥ 29)" if high else "low Fourier bins (1 … 28)"
        name = f"accuracy if the {bins} are removed from what {cut} or {kept} add to the logits"
        wanted = f"lower for {cut}"
        yield more(id, name, without[kept, high], without[cut, high], words, wanted)
        drawn = draws(run, masked_at_random, adder, KIND[cut], high)
        name = f"accuracy if the {bins} are removed from what {cut} add to the logits"
        yield below_random(f"{id}/random", name, without[cut, high], drawn)
    yield at_least(
        "cheap",
        "accuracy if the high Fourier bins (≥ 29) are removed from what MLPs add to the logits",
        "trained",
        without["MLPs", HIGH],
        whole - CHEAP,
        words=f"{without['MLPs', HIGH]:.1%}",
        wanted=f"at least {whole - CHEAP:.1%}, which is {100 * CHEAP:g} points below the accuracy "
        "with all bins",
    )
    rank, width = rank_of_filter(adder.model, LOW), adder.model.d_model
    name = (
        f"accuracy if a filter removes the low Fourier bins ({rank} of {width} dimensions) from "
        "the outputs of MLPs to the residual stream"
    )
    drawn = draws(run, filtered_at_random, adder, MLPS, rank)
    yield below_random("projection", name, filtered(adder, MLPS, LOW), drawn)


def draws(run: Run, draw: Callable[..., float], *values: Any) -> list[float]:
    """The accuracies if random dimensions are removed, for several draws."""
    return [draw(*values, run.rng) for _ in range(QUICK if run.quick else DRAWS)]


def below_random(id: str, name: str, found: float, control: list[float]) -> Finding:
    """The finding that an accuracy is below the accuracies with random dimensions removed.

    In every random draw, as many dimensions are removed as for the accuracy `found`.
    """
    return Finding(
        id,
        name,
        "trained",
        found,
        control,
        Verdict.of(found < min(control)) if max(control) >= CHEAP else Verdict.UNDECIDED,
        f"{found:.1%}",
        f"below the accuracy in each of {len(control)} draws in which as many random dimensions "
        f"are removed, {min(control):.1%} to {max(control):.1%}",
    )


def controls(given: Adder) -> Iterator[Finding]:
    """The findings on three controls: MiniLM's rows, the rows in random order, no training."""
    shuffled = untrained(preset("addition", "shuffled")).requires_grad_(False)
    name = f"{RATIO} of the number embeddings of MiniLM"
    yield all_peaks("minilm/rows", name, peaks(tied_embedding(given.model)))
    name += ", with the numbers in random order"
    yield few_peaks("shuffled/rows", name, peaks(tied_embedding(shuffled)))
    found = before_training(given.name, given.pairs).right.mean
    words, wanted = f"{found:.1%}", f"at most {UNTRAINED:.0%}"
    name = "test accuracy of a model with rows of MiniLM before training"
    yield below("untrained", name, found, UNTRAINED, words=words, wanted=wanted)


def listed(found: dict[str, float]) -> str:
    """The peaks by period, in words."""
    return ", ".join(f"{value:.1f} at period {period}" for period, value in found.items())


def more(id: str, name: str, larger: float, smaller: float, words: str, wanted: str) -> Finding:
    """The finding that `larger` is greater than `smaller`."""
    verdict = Verdict.of(larger > smaller)
    return Finding(id, name, "trained", larger, smaller, verdict, words, wanted)
