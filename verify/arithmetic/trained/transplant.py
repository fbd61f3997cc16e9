"""The claim `transplant`: what a small transformer learns with embeddings of another model."""

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
    even_share,
    filtered,
    filtered_at_random,
    given_rows,
    high_share,
    masked,
    masked_at_random,
    near_share,
    peaks,
    rank_of_filter,
)
from verify.claim import Run, claim
from verify.evidence.statistics import above, below
from verify.finding import Finding, Verdict, at_least, at_most, labelled

AHEAD = 0.2  # of the test pairs, by which rows of MiniLM are ahead of learned ones
PEAK, FEW = 2.0, 1  # times the median; periods of learned rows that may reach it
SIGNATURE = 0.9  # of the errors
ENOUGH = 30  # errors, below which nothing is said of them
UNTRAINED = 0.02  # of the test pairs
LENS = 0.5  # of what the last layer has right, at most, after the first
CHEAP = 0.05  # of the test pairs, lost at most
DRAWS, QUICK = 20, 3  # random dimensions

ROWS = "minilm", "scratch"
LOW, HIGH = False, True
KIND = {"heads": HEADS, "MLPs": MLPS}
Share = Callable[[np.ndarray], float]


@claim(
    source="[Zhou2024], for other models; the models: constructions/trained",
    picture="verify.arithmetic.trained.transplant_picture:draw",
)
def transplant(run: Run) -> Iterator[Finding]:
    """Published observation: pretrained number embeddings help a small transformer to add.

    Two layers of four heads, width 128 and 512 ReLUs, with W_U = W_Eᵀ, learn to add numbers below
    150 from four fifths of the pairs, and are tested on the others, in both orders.  Their rows for
    the numbers are those of all-MiniLM-L6-v2 on 128 principal axes, frozen (`minilm`), or learned
    (`scratch`); every seed that ships is judged by itself.  Which of them is ahead depends on the
    recipe, which was chosen by trials (docs/trained.md).  All thresholds were written down before
    any of these was trained.

    accuracy    with MiniLM's rows more than .2 more of the test pairs are right than with the best
                of the learned ones, by three standard errors ([Zhou2024]: 100 % against 54 %, with
                those of GPT-2).
    peaks       in the logits over all test pairs periods 2, 2.5, 5 and 10 have more than twice the
                median of the bins from 29 on; with learned rows at most one of them has.
    learnt      each peak is larger than before training: untrained logits have the peaks of the
                rows, so that `peaks` alone would show nothing that was learned.
    even        at least .9 of the errors are even; with learned rows fewer.
    near        with learned rows at least .9 of the errors are within ±2; with MiniLM's fewer.
    rows        MiniLM's rows have the peaks themselves; in random order, and where they are
                learned, at most one of them.
    untrained   before training at most .02 of the test pairs are right.
    lens        read after layer 1 at most half as many are right as after layer 2.
    parts       what heads add to the logits has a larger share from bin 29 on than what MLPs add
                ([Zhou2024]: heads high, MLPs low frequencies).
    low, high   a mask on what modules add to the logits: without the bins 1 … 28 of MLPs fewer are
                right than without those of heads; without the bins from 29 on of heads fewer than
                without those of MLPs ([Zhou2024], table).
    cheap       without the bins from 29 on of MLPs at most .05 fewer are right than with them
                ([Zhou2024]: 1.6 points).
    random      both masks, low of MLPs and high of heads, cost more than every one of 20 random
                choices of as many dimensions of the logits; undecided where those leave less than
                .05 right, since then there is nothing to compare.
    projection  filters of the stream as in [Zhou2024], h ↦ P h: the low one on MLPs costs more than
                every one of 20 random projections of as many dimensions; undecided as above.  (The
                high one would remove the whole stream: it is narrower than there are high bins.)
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
    """What is said of a model with the rows of MiniLM beside those that learned theirs."""
    best = max(learned, key=lambda other: other.right.mean.mean)
    ahead = adder.right.ahead_of(best.right)
    yield above(
        "accuracy",
        "more test pairs right than with learned rows",
        ahead,
        AHEAD,
        words=f"{adder.right.mean:.1%}, {ahead:.1%} more than {best.right.mean:.1%}",
        wanted=f"more than {AHEAD:.0%} more",
    )
    trained, before = peaks(adder.logits.T), peaks_before(adder)
    yield all_peaks("peaks", "peaks in the spectrum of the logits", trained)
    yield Finding(
        "learnt",
        "peaks larger than before training",
        "trained",
        trained,
        before,
        Verdict.of(all(trained[T] > before[T] for T in trained)),
        listed(trained),
        f"before training {listed(before)}",
    )
    yield signature("even", "even errors", adder, even_share, learned)


def peaks_before(adder: Adder) -> dict[str, float]:
    """Those of the logits before training."""
    return peaks(before_training(adder.name, adder.pairs).logits.T)


def from_scratch(adder: Adder, given: list[Adder]) -> Iterator[Finding]:
    """What is said of a model that learned its rows."""
    name = "no peaks in the spectrum of the logits, but for one"
    yield few_peaks("peaks", name, peaks(adder.logits.T))
    yield few_peaks("rows", "nor in that of the rows", peaks(given_rows(adder.model)))
    yield signature("near", "errors within ±2", adder, near_share, given)


def all_peaks(id: str, name: str, found: dict[str, float]) -> Finding:
    """Each above `PEAK`."""
    holds = Verdict.of(min(found.values()) > PEAK)
    wanted = f"each above {PEAK:g}"
    return Finding(id, name, "trained", found, PEAK, holds, listed(found), wanted)


def few_peaks(id: str, name: str, found: dict[str, float]) -> Finding:
    """At most `FEW` above `PEAK`."""
    count, wanted = sum(value > PEAK for value in found.values()), f"at most {FEW} above {PEAK:g}"
    return at_most(id, name, "trained", count, FEW, words=listed(found), wanted=wanted)


def signature(id: str, name: str, adder: Adder, share: Share, others: list[Adder]) -> Finding:
    """Nearly all errors are of a kind, and of those of others fewer are."""
    count = len(adder.errors)
    found, most = share(adder.errors), max(share(other.errors) for other in others)
    verdict = Verdict.of(found >= SIGNATURE and found > most)
    return Finding(
        id,
        name,
        "trained",
        found,
        {"least": SIGNATURE, "others": most},
        verdict if count >= ENOUGH else Verdict.UNDECIDED,
        f"{found:.1%} of {count}",
        f"at least {SIGNATURE:.0%}; of other rows at most {most:.1%}",
    )


def by_parts(run: Run, adder: Adder) -> Iterator[Finding]:
    """What layers, heads and MLPs do, and what is lost without bins of theirs."""
    whole = adder.right.mean.mean
    *_, first, last = layers = by_layer(adder)
    yield Finding(
        "lens",
        "right if the stream is read after the embedding, layer 1 and layer 2",
        "trained",
        layers,
        LENS,
        Verdict.of(first <= LENS * last),
        ", ".join(f"{share:.1%}" for share in layers),
        f"after layer 1 at most {LENS:.0%} of the last",
    )
    shares = {module: high_share(adder, (module,)) for module in (*HEADS, *MLPS)}
    heads, mlps = high_share(adder, HEADS), high_share(adder, MLPS)
    each = ", ".join(f"{module} {share:.0%}" for module, share in shares.items())
    name = "share of high bins in what heads add to the logits, and MLPs"
    yield more("parts", name, heads, mlps, f"{heads:.0%}, {mlps:.0%} ({each})", "heads more")
    without = {
        (kind, high): masked(adder, modules, high)
        for kind, modules in KIND.items()
        for high in (LOW, HIGH)
    }
    for id, high, kept, cut in (("low", LOW, "heads", "MLPs"), ("high", HIGH, "MLPs", "heads")):
        words = f"{cut} {without[cut, high]:.1%}, {kept} {without[kept, high]:.1%}"
        name = f"right without the {id} bins of what modules add to the logits"
        yield more(id, name, without[kept, high], without[cut, high], words, f"{cut} fewer")
        drawn = draws(run, masked_at_random, adder, KIND[cut], high)
        name = f"right without the {id} bins of {cut}"
        yield below_random(f"{id}/random", name, without[cut, high], drawn)
    yield at_least(
        "cheap",
        "right without the high bins of MLPs",
        "trained",
        without["MLPs", HIGH],
        whole - CHEAP,
        words=f"{without['MLPs', HIGH]:.1%}",
        wanted=f"at most {CHEAP:.0%} below {whole:.1%}",
    )
    rank, width = rank_of_filter(adder.model, LOW), adder.model.d_model
    name = f"right where MLPs write through the low filter, that removes {rank} of {width} axes"
    drawn = draws(run, filtered_at_random, adder, MLPS, rank)
    yield below_random("projection", name, filtered(adder, MLPS, LOW), drawn)


def draws(run: Run, draw: Callable[..., float], *values: Any) -> list[float]:
    """What is right for so many random choices."""
    return [draw(*values, run.rng) for _ in range(QUICK if run.quick else DRAWS)]


def below_random(id: str, name: str, found: float, control: list[float]) -> Finding:
    """Fewer are right than with every random choice of as many dimensions."""
    return Finding(
        id,
        name,
        "trained",
        found,
        control,
        Verdict.of(found < min(control)) if max(control) >= CHEAP else Verdict.UNDECIDED,
        f"{found:.1%}",
        f"below all of {len(control)} random ones, {min(control):.1%} to {max(control):.1%}",
    )


def controls(given: Adder) -> Iterator[Finding]:
    """The rows by themselves, and in random order; and no training."""
    shuffled = untrained(preset("addition", "shuffled")).requires_grad_(False)
    name = "peaks in the spectrum of the rows"
    yield all_peaks("minilm/rows", name, peaks(given_rows(given.model)))
    yield few_peaks("shuffled/rows", "no peaks in random order", peaks(given_rows(shuffled)))
    found = before_training(given.name, given.pairs).right.mean
    words, wanted = f"{found:.1%}", f"at most {UNTRAINED:.0%}"
    yield below("untrained", "test pairs right", found, UNTRAINED, words=words, wanted=wanted)


def listed(found: dict[str, float]) -> str:
    """Peaks by period."""
    return ", ".join(f"{period}: {value:.1f}" for period, value in found.items())


def more(id: str, name: str, larger: float, smaller: float, words: str, wanted: str) -> Finding:
    """larger > smaller."""
    verdict = Verdict.of(larger > smaller)
    return Finding(id, name, "trained", larger, smaller, verdict, words, wanted)
