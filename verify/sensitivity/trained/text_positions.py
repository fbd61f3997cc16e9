"""The claim `text-positions`: the influence of sixteen words on trained networks."""

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
UNIFORM = 0.75, 4 / 3  # range of last over first for a uniform profile
QUICK = 100  # windows


class Profile(NamedTuple):
    """The fraction of replacements of each word that change the prediction of one model.

    The arrays `trained` and `held_out` have the shape (windows, words), for the windows of training
    and for held-out windows.
    """

    trained: np.ndarray
    held_out: np.ndarray

    @property
    def by_word(self) -> np.ndarray:
        """The influence of each position, over all windows."""
        return np.concatenate(self).mean(0)

    @property
    def ends(self) -> Mean:
        """The ratio of the influence of the last words to the influence of the first words."""
        both = np.concatenate(self)
        return ratio(both[:, -END:].sum(1), both[:, :END].sum(1))


@claim(
    picture="verify.sensitivity.trained.pictures:draw_text",
)
def text_positions(
    run: Run, *, times: Annotated[int, option("random words in each place", min=1, max=1000)] = 3
) -> Iterator[Finding]:
    """Published observation: transformers depend on all words alike, but LSTMs depend more on
    recent words.

    A model predicts the topic of a window of sixteen words from a vocabulary of 256. Each of the
    sixteen words in turn is replaced by a random other word. The influence of a position is the
    fraction of replacements at this position that change the prediction, and the sensitivity Sens
    is the mean influence. Three kinds of model were trained to accuracy .95 on 1513 windows, with
    three seeds of each kind: transformers with a CLS token, LSTMs with a linear output of their
    last state, and LSTMs with a linear output of the mean of all states. A window begins at a
    random place in a text, so that all positions are equally informative. The findings were stated
    before these models were trained. Three facts about wider models were known: transformers
    depended on all positions alike; in LSTMs with the last state, the last four words had .4 of the
    total influence; and these LSTMs were not more sensitive than the transformers.

    learnt     the accuracy on the training windows is at least .95.
    uniform    in a transformer, the last four words have between 3/4 and 4/3 of the influence of
               the first four, for each seed, by 3 standard errors over windows. The finding is
               undecided if one of the two bounds is within 3 standard errors.
    positions  in a transformer, every position has less than 4/3 of the mean influence, by 3
               standard errors. This finding was added later, because the finding `uniform` compares
               only the first four and the last four words.
    recency    in an LSTM, the last four words have more influence than the first four, by 3
               standard errors.
    sensitive  for each of the two kinds of LSTM, every seed of the LSTM is more sensitive than
               every seed of the transformer, by 3 standard errors over windows (the standard errors
               were added later). The comparison fails if every seed of the LSTM is less sensitive,
               and is undecided otherwise. The comparison is made on held-out windows and on
               training windows, so there are four comparisons. If the two kinds of model did not
               differ, each comparison would hold with probability 1/20.
    controls   naive Bayes on word counts, for which positions do not matter, must satisfy `uniform`
               and `positions`; naive Bayes with weights from 1 to 16 for the positions must satisfy
               `recency`.
    """
    if not text.available():
        why = f"the topics of this version of Python differ from those of {text.VERSION}"
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
    equal, rising = np.ones(text.LENGTH), np.arange(1, text.LENGTH + 1)
    control, predicted = profile(naive_bayes(counts, equal)), naive_bayes(counts, equal)(windows[1])
    wanted = text.split_windows()[1][1].numpy()[: len(predicted)]
    finding = uniform(control)
    finding.words += (
        f"; the accuracy on held-out windows is {float((predicted == wanted).mean()):.1%}"
    )
    yield from labelled("naive-Bayes", [finding, positions(control)])
    yield from labelled("rising-weights", [recency(profile(naive_bayes(counts, rising)))])
    run.draw({k: [p.by_word for p in each] for k, each in found.items()})


def of_one(kind: str, seen: Seen, own: Profile, before: np.ndarray) -> Iterator[Finding]:
    """Yields the findings on one model: its accuracy, its influence by position, and its Sens.

    `before` (windows, words) contains the fractions of replacements that change the prediction of
    the model before training.
    """
    words = (
        "Sens (the fraction of word replacements that change the prediction) is "
        f"{own.trained.mean():.3f} on windows of training and {own.held_out.mean():.3f} on "
        "held-out windows; the influence of the words, from the first to the last, is "
    )
    yield learnt(seen, words + listed(own.by_word).replace(" ", ", "))
    judged = uniform if kind == "transformer" else recency
    finding = judged(own)
    first, last = before[:, :END].mean(), before[:, -END:].mean()
    finding.words += (
        f"; before training, the mean influence of the last {END} words is {last:.3f}, and that of "
        f"the first {END} words {first:.3f}"
    )
    yield finding
    if kind == "transformer":
        yield positions(own)


def uniform(own: Profile) -> Finding:
    """The finding that the last words and the first words have similar influence."""
    found, (low, high) = own.ends, UNIFORM
    reach = errors_for(found.freedom) * found.error
    verdict = Verdict.UNDECIDED
    if low < found.mean - reach and found.mean + reach < high:
        verdict = Verdict.HOLDS
    elif found.mean + reach < low or found.mean - reach > high:
        verdict = Verdict.FAILS
    return Finding(
        "uniform",
        f"(influence of the last {END} words) / (influence of the first {END} words)",
        "trained",
        found.value,
        UNIFORM,
        verdict,
        f"{found:.2f}",
        f"from {low:.2f} to {high:.2f}, {BY}",
    )


def positions(own: Profile) -> Finding:
    """The finding that no position has much more than the mean influence."""
    ratios = of_the_mean(own)
    most = max(ratios, key=lambda each: each.mean)
    least = min(each.mean for each in ratios)
    return below(
        "positions",
        "(largest influence of a position) / (mean influence of all positions)",
        most,
        UNIFORM[1],
        words=f"{most:.2f}; (smallest influence) / (mean influence) is {least:.2f}",
        wanted=f"below {UNIFORM[1]:.2f}, {BY}",
    )


def of_the_mean(own: Profile) -> list[Mean]:
    """The influence of each position, divided by the mean influence."""
    both = np.concatenate(own)
    return [ratio(row, both.mean(1)) for row in both.T]


def recency(own: Profile) -> Finding:
    """The finding that the last words have more influence than the first words."""
    name = f"(influence of the last {END} words) / (influence of the first {END} words)"
    words = f"{own.ends:.2f}"
    return above("recency", name, own.ends, 1.0, words=words, wanted=f"above 1, {BY}")


def sensitive(found: dict[str, list[Profile]]) -> Iterator[Finding]:
    """Sens of every transformer compared with Sens of every LSTM."""
    own, *others = NAMES
    for kind in others:
        for where, name in (("held_out", "held out"), ("trained", "of training")):
            low, high = ([getattr(each, where).mean(1) for each in found[k]] for k in (own, kind))
            id = f"sensitive/{kind.replace(', ', '-')}/{name.replace(' ', '-')}"
            which = "last state" if kind.endswith("last") else "mean of all states"
            kinds = f"the {own}", f"the LSTM that reads the {which}"
            windows = f"windows {name}" if name == "of training" else "held-out windows"
            title = f"Sens of {kinds[0]}, compared with Sens of {kinds[1]}, on {windows}"
            yield all_below(id, title, low, high, paired, kinds=kinds)


def word_counts(windows: np.ndarray, topics: np.ndarray, V: int) -> np.ndarray:
    """The counts, plus 1, of each of V words in the windows of each topic, (topics, V)."""
    counts = np.ones((topics.max() + 1, V))
    np.add.at(counts, (topics[:, None], windows), 1)
    return counts


def naive_bayes(counts: np.ndarray, weights: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The naive Bayes classifier of windows, argmax over topics of Σ weight·log P(word | topic).

    The sum is over the words of a window, with a weight for each position in `weights`. P(word |
    topic) is the fraction of the word in the `counts` (topics, words) of its topic.
    """
    log = np.log(counts / counts.sum(1, keepdims=True))
    return lambda windows: (weights * log[:, windows]).sum(-1).argmax(0)
