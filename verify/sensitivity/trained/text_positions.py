"""The claim `text-positions`: on which of sixteen words predictions of trained networks depend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, NamedTuple

import numpy as np

from constructions.trained.tasks import text
from theory.sensitivity import forced
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import absent
from verify.evidence.groups import all_below, listed, paired
from verify.evidence.statistics import BY, Mean, above, below, errors_for, ratio
from verify.finding import Finding, Verdict, labelled
from verify.sensitivity.trained.classifiers import (
    Seen,
    before_training,
    changes,
    learnt,
    seeds_of,
)

NAMES = {
    "transformer": ("text-small-2-layers-token", "a softmax transformer trained on text"),
    "LSTM, last": ("text-small-lstm-2-layers-last", "an LSTM trained on text"),
    "LSTM, mean": ("text-small-lstm-2-layers-mean", "an LSTM trained on text"),
}
END = 4  # words at each end of the sixteen
EVEN = 0.75, 4 / 3  # last over first, for what is called uniform
QUICK = 100  # windows


class Profile(NamedTuple):
    """Shares of changed answers (windows, words), on windows of training and held out."""

    trained: np.ndarray
    held_out: np.ndarray

    @property
    def by_word(self) -> np.ndarray:
        """By position, over all windows."""
        return np.concatenate(self).mean(0)

    @property
    def ends(self) -> Mean:
        """The last words over the first."""
        both = np.concatenate(self)
        return ratio(both[:, -END:].sum(1), both[:, :END].sum(1))


@claim(
    source="[Vasudeva2024], second hand; the models: constructions/trained/tasks/text.py",
    picture="verify.sensitivity.trained.pictures:draw_text",
)
def text_positions(
    run: Run, *, times: Annotated[int, option("random words in each place", min=1)] = 3
) -> Iterator[Finding]:
    """Published observation: transformers depend on all words alike, LSTMs more on recent ones.

    A word of sixteen becomes a random other one of 256, each in turn, and Sens is the fraction of
    predictions that change.  A transformer that is read at a token of its own, and LSTMs that are
    read at their last state or at the mean of all, three seeds of each, were trained until 95 % of
    1513 windows were right.  A window begins anywhere in a text, so that the evidence stands
    everywhere alike.  What is stated here was written down before these models were trained; of
    wider ones it was known that transformers were even, that LSTMs read at the last state had .4 of
    the influence in the last four words, and that they were not more sensitive.

    learnt     95 % of the windows of training.
    uniform    of a transformer, the last four words have between 3/4 and 4/3 of the influence of
               the first four, each seed, by 3 standard errors over windows (undecided if one of the
               bounds is as near).
    positions  of a transformer, no position has 4/3 of the influence of the mean one, by as many
               errors.  It was added after, as what the ends say is not said of all positions.
    recency    of an LSTM, the last four have more, by 3 standard errors.
    sensitive  every seed of the LSTM is more sensitive than every seed of the transformer, on
               windows held out, and on those of training, by standard errors over windows (which
               were added after); fails where all are less, undecided else.  If kinds did not
               differ, each of the four comparisons would hold with probability 1/20.
    controls   naive Bayes from words counted in training, which no position matters to, has to be
               uniform, at the ends and at all positions; and one whose weights rise from 1 to 16
               has to have recency.
    """
    if not text.available():
        why = f"this version of Python has other topics than {text.VERSION}"
        yield absent("texts", why, f"run it with Python {text.VERSION}")
        return
    seeds, windows = seeds_of(NAMES), [part[0].numpy() for part in text.split_windows()]
    if run.quick:
        windows = [part[:QUICK] for part in windows]

    change = forced(text.KNOWN + 1)

    def profile(model: object) -> Profile:
        return Profile(*(changes(model, part, change, run.seed, times) for part in windows))

    found: dict[str, list[Profile]] = {kind: [] for kind in seeds}
    models = [(kind, seen) for kind, each in seeds.items() for seen in each]
    for kind, seen in run.progress(models, "models"):
        own = profile(seen.model)
        found[kind].append(own)
        before = changes(before_training(seen), windows[1], change, run.seed)
        yield from labelled(seen.name, of_one(kind, seen, own, before))
    yield from sensitive(found)
    topics = text.split_windows()[0]
    counts = word_counts(topics[0].numpy(), topics[1].numpy(), text.KNOWN + 1)
    even, rising = np.ones(text.LENGTH), np.arange(1, text.LENGTH + 1)
    told, known = profile(naive_bayes(counts, even)), naive_bayes(counts, even)(windows[1])
    share = float((known == text.split_windows()[1][1].numpy()[: len(known)]).mean())
    finding = uniform(told)
    finding.words += f"; right on windows held out {share:.1%}"
    yield from labelled("naive-Bayes", [finding, positions(told)])
    yield from labelled("rising-weights", [recency(profile(naive_bayes(counts, rising)))])
    run.draw({k: [p.by_word for p in each] for k, each in found.items()})


def of_one(kind: str, seen: Seen, own: Profile, before: np.ndarray) -> Iterator[Finding]:
    """What is said of one model, beside the changes (windows, words) of before it was trained."""
    words = f"Sens {own.trained.mean():.3f}, held out {own.held_out.mean():.3f}"
    yield learnt(seen, f"{words}; by position {listed(own.by_word)}")
    judged = uniform if kind == "transformer" else recency
    finding = judged(own)
    first, last = before[:, :END].mean(), before[:, -END:].mean()
    finding.words += f"; before training {last:.3f} beside {first:.3f}"
    yield finding
    if kind == "transformer":
        yield positions(own)


def uniform(own: Profile) -> Finding:
    """The last words have the influence of the first, about."""
    found, (low, high) = own.ends, EVEN
    reach = errors_for(found.freedom) * found.error
    verdict = Verdict.UNDECIDED
    if low < found.mean - reach and found.mean + reach < high:
        verdict = Verdict.HOLDS
    elif found.mean + reach < low or found.mean - reach > high:
        verdict = Verdict.FAILS
    return Finding(
        "uniform",
        f"influence of the last {END} words over that of the first",
        "trained",
        found.value,
        EVEN,
        verdict,
        f"{found:.2f}",
        f"from {low:.2f} to {high:.2f}, {BY}",
    )


def positions(own: Profile) -> Finding:
    """No position has much more influence than the mean one."""
    shares = of_the_mean(own)
    most = max(shares, key=lambda share: share.mean)
    least = min(share.mean for share in shares)
    return below(
        "positions",
        "influence of the position that has most, over the mean",
        most,
        EVEN[1],
        words=f"{most:.2f}; of that which has least {least:.2f}",
        wanted=f"below {EVEN[1]:.2f}, {BY}",
    )


def of_the_mean(own: Profile) -> list[Mean]:
    """The influence of each position over that of the mean one."""
    both = np.concatenate(own)
    return [ratio(row, both.mean(1)) for row in both.T]


def recency(own: Profile) -> Finding:
    """The last words have more influence than the first."""
    name = f"influence of the last {END} words over that of the first"
    words = f"{own.ends:.2f}"
    return above("recency", name, own.ends, 1.0, words=words, wanted=f"above 1, {BY}")


def sensitive(found: dict[str, list[Profile]]) -> Iterator[Finding]:
    """Every transformer below every LSTM."""
    own, *others = NAMES
    for kind in others:
        for where, name in (("held_out", "held out"), ("trained", "of training")):
            low, high = ([getattr(each, where).mean(1) for each in found[k]] for k in (own, kind))
            id = f"sensitive/{kind.replace(', ', '-')}/{name.replace(' ', '-')}"
            words = f"Sens of the {own} below the {kind}, windows {name}"
            yield all_below(id, words, low, high, paired)


def word_counts(windows: np.ndarray, topics: np.ndarray, V: int) -> np.ndarray:
    """How often a word stands in windows of a topic, (topics, V), and once more."""
    counts = np.ones((topics.max() + 1, V))
    np.add.at(counts, (topics[:, None], windows), 1)
    return counts


def naive_bayes(counts: np.ndarray, weights: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Windows → the topic of largest Σ weight · log P(word | topic)."""
    log = np.log(counts / counts.sum(1, keepdims=True))
    return lambda windows: (weights * log[:, windows]).sum(-1).argmax(0)
