"""The claim `transplant`: what a small transformer learns with embeddings of another model."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from verify.arithmetic.number_models import (
    HEADS,
    MLPS,
    Adder,
    accuracy,
    adders,
    at_random,
    before_training,
    by_layer,
    even_share,
    filtered,
    high_share,
    masked,
    near_share,
    peaks,
    rank_of_filter,
)
from verify.claim import Run, claim
from verify.finding import Finding, Verdict, at_least, at_most, labelled

AHEAD = 0.2  # of the test pairs, by which rows of MiniLM are ahead of learned ones
PEAK, FEW = 2.0, 1  # times the median; periods of learned rows that may reach it
SIGNATURE = 0.9  # of the errors
ENOUGH = 30  # errors, below which nothing is said of them
WITHOUT_ORDER, EXACT, UNTRAINED = 0.2, 0.95, 0.02  # of the test pairs
LENS = 0.5  # of what the last layer has right, at most, after the first
CHEAP = 0.05  # of the test pairs, lost at most
DRAWS, QUICK = 20, 3  # random projections

ROWS = "minilm", "scratch", "shuffled", "gaussian", "fourier"
RIGHT = "test pairs right"
Share = Callable[[np.ndarray], float]


@claim(source="[Zhou2024], for other models; the models: constructions/trained", draws=True)
def transplant(run: Run) -> Iterator[Finding]:
    """With number embeddings of a language model a small transformer adds digit by digit.

    Two layers of four heads, width 64 and 128 ReLUs, with W_U = W_Eᵀ, learn to add numbers below
    150 from four fifths of the pairs, and are tested on the others, in both orders.  Their rows for
    the numbers are those of all-MiniLM-L6-v2 on 64 principal axes, frozen, or learned; or, as
    controls, frozen ones: MiniLM's in random order, Gaussian, and exact cosines and sines.  Three
    seeds of each, each judged by itself.  All thresholds were written down before any was trained,
    with the figures of trials of twice the width known.

    accuracy    with MiniLM's rows more than .2 more of the test pairs are right than with the best
                of the learned ones ([Zhou2024]: 100 % against 54 %, with those of GPT-2).
    peaks       in the logits over all test pairs periods 2, 2.5, 5 and 10 have more than twice the
                median of the bins from 29 on; with learned rows at most one of them has.
    learnt      each peak is larger than before training: untrained logits have the peaks of the
                rows, so that `peaks` alone would show nothing that was learned.
    even        at least .9 of the errors are even; with learned rows fewer.
    near        with learned rows at least .9 of the errors are within ±2; with MiniLM's fewer.
    controls    rows without order: at most .2 right, so that freezing is not what helps; exact
                cosines and sines: at least .95; no training: at most .02.
    lens        read after layer 1 at most half as many are right as after layer 2.
    parts       what heads add to the logits has a larger share from bin 29 on than what MLPs add
                ([Zhou2024]: heads high, MLPs low frequencies).
    low, high   a mask on what modules add to the logits: without the bins 1 … 28 of MLPs fewer are
                right than without those of heads; without the bins from 29 on of heads fewer than
                without those of MLPs ([Zhou2024], table).
    cheap       without the bins from 29 on of MLPs at most .05 fewer are right than with them
                ([Zhou2024]: 1.6 points).
    projection  filters of the stream as in [Zhou2024], h ↦ P h: the low one on MLPs costs more than
                every one of 20 random projections of as many dimensions; undecided where those
                leave less than .05 right, since then there is nothing to compare.
    """
    models = {rows: adders(rows) for rows in ROWS}
    given, learned = models["minilm"], models["scratch"]
    for each in given:
        yield from labelled(each.name, with_rows(each, learned))
        yield from labelled(each.name, by_parts(run, each))
    for each in learned:
        yield from labelled(each.name, from_scratch(each, given))
    yield from controls(models)
    if run.plot:
        from verify.arithmetic.transplant_picture import draw

        draw(run.plot, models)


def with_rows(adder: Adder, learned: list[Adder]) -> Iterator[Finding]:
    """What is said of a model with the rows of MiniLM beside those that learned theirs."""
    found, best = right(adder), max(right(other) for other in learned)
    yield above("accuracy", "more test pairs right than with learned rows", found, best + AHEAD)
    trained = peaks(adder.logits)
    before = peaks(before_training(adder.name, adder.pairs).logits)
    yield Finding(
        "peaks",
        "peaks in the spectrum of the logits",
        "trained",
        trained,
        PEAK,
        Verdict.of(min(trained.values()) > PEAK),
        listed(trained),
        f"each above {PEAK:g}",
    )
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


def from_scratch(adder: Adder, given: list[Adder]) -> Iterator[Finding]:
    """What is said of a model that learned its rows."""
    found = peaks(adder.logits)
    high = sum(value > PEAK for value in found.values())
    yield at_most(
        "peaks",
        "no peaks in the spectrum of the logits, but for one",
        "trained",
        high,
        FEW,
        words=listed(found),
        wanted=f"at most {FEW} above {PEAK:g}",
    )
    yield signature("near", "errors within ±2", adder, near_share, given)


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
    whole = right(adder)
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
    heads, mlps = high_share(adder, HEADS), high_share(adder, MLPS)
    name = "share of high bins in what heads add to the logits, and MLPs"
    yield more("parts", name, heads, mlps, f"heads {heads:.0%}, MLPs {mlps:.0%}", "heads more")
    without = {
        (module, high): masked(adder, modules, high)
        for module, modules in (("heads", HEADS), ("MLPs", MLPS))
        for high in (False, True)
    }
    for id, high, kept, cut in (("low", False, "heads", "MLPs"), ("high", True, "MLPs", "heads")):
        words = f"{cut} {without[cut, high]:.1%}, {kept} {without[kept, high]:.1%}"
        name = f"right without the {id} bins of what modules add to the logits"
        yield more(id, name, without[kept, high], without[cut, high], words, f"{cut} fewer")
    yield at_least(
        "cheap",
        "right without the high bins of MLPs",
        "trained",
        without["MLPs", True],
        whole - CHEAP,
        words=f"{without['MLPs', True]:.1%}",
        wanted=f"at most {CHEAP:.0%} below {whole:.1%}",
    )
    yield projection(run, adder)


def projection(run: Run, adder: Adder) -> Finding:
    """The filter of the stream beside random ones of as many dimensions."""
    rank, width = rank_of_filter(adder.model, high=False), adder.model.d_model
    found = filtered(adder, MLPS, high=False)
    draws = QUICK if run.quick else DRAWS
    control = [at_random(adder, MLPS, rank, run.rng) for _ in range(draws)]
    verdict = Verdict.of(found < min(control))
    return Finding(
        "projection",
        f"right where MLPs write through the low filter, that removes {rank} of {width} dimensions "
        f"(the high one {rank_of_filter(adder.model, high=True)})",
        "trained",
        found,
        control,
        verdict if max(control) >= CHEAP else Verdict.UNDECIDED,
        f"{found:.1%}",
        f"below all of {draws} random ones, {min(control):.1%} to {max(control):.1%}",
    )


def controls(models: dict[str, list[Adder]]) -> Iterator[Finding]:
    """Frozen rows without order, exact ones, and no training."""
    for each in (*models["shuffled"], *models["gaussian"]):
        yield from labelled(each.name, [few_right(each, WITHOUT_ORDER)])
    for each in models["fourier"]:
        share = right(each)
        words, wanted = f"{share:.1%}", f"at least {EXACT:.0%}"
        finding = at_least("accuracy", RIGHT, "trained", share, EXACT, words=words, wanted=wanted)
        yield from labelled(each.name, [finding])
    first = models["minilm"][0]
    before = before_training(first.name, first.pairs)
    yield from labelled("untrained", [few_right(before, UNTRAINED)])


def few_right(adder: Adder, most: float) -> Finding:
    """Of the test pairs."""
    share = right(adder)
    words, wanted = f"{share:.1%}", f"at most {most:.0%}"
    return at_most("accuracy", RIGHT, "trained", share, most, words=words, wanted=wanted)


def right(adder: Adder) -> float:
    """The share of test pairs whose sum is answered."""
    return accuracy(adder.logits, adder.sums)


def listed(found: dict[str, float]) -> str:
    """Peaks by period."""
    return ", ".join(f"{period}: {value:.1f}" for period, value in found.items())


def above(id: str, name: str, found: float, bound: float) -> Finding:
    """found > bound, shares."""
    return more(id, name, found, bound, f"{found:.1%}", f"above {bound:.1%}")


def more(id: str, name: str, larger: float, smaller: float, words: str, wanted: str) -> Finding:
    """larger > smaller."""
    verdict = Verdict.of(larger > smaller)
    return Finding(id, name, "trained", larger, smaller, verdict, words, wanted)
