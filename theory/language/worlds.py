"""Worlds of facts, and three models of them; the strings that are no facts are a number only.

    calibrated     p on what was seen, p(U)/|U| on each string that was not
    Good–Turing    (1 − MF)·count/n on what was seen, MF/|U| on each string that was not
    memoriser      count/n on what was seen, 0 elsewhere

Which strings are facts is random, and uniformly so (regular): no model that is made from documents
can tell a fact that was not seen from a string that is none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theory import checks
from theory.checks import InputError
from theory.language.hallucination import Levels

LAWS = "zipf", "uniform"
MODELS = "calibrated", "good-turing", "memoriser"
MOST = 10**8  # facts, documents or prompts that memory and patience hold
MOST_STRINGS = 2**53  # which float64 counts


@dataclass(frozen=True)
class World:
    """Facts of the chances p (|F|,), `counts` (|F|,) of them in n documents, among |H| others."""

    p: np.ndarray
    counts: np.ndarray
    others: int

    @property
    def documents(self) -> int:
        """n."""
        return int(self.counts.sum())

    @property
    def facts(self) -> int:
        """|F|."""
        return len(self.p)

    @property
    def unseen(self) -> int:
        """|U|: the strings that were not seen."""
        return self.others + int((self.counts == 0).sum())

    @property
    def seen_once(self) -> float:
        """MF."""
        return float((self.counts == 1).sum() / self.documents)

    @property
    def mean_seen_once(self) -> float:
        """E MF = Σ p(1 − p)^{n−1}, over corpora of as many documents."""
        return float((self.p * (1 - self.p) ** (self.documents - 1)).sum())

    @property
    def unseen_mass(self) -> float:
        """p(U)."""
        return float(self.p[self.counts == 0].sum())

    def model(self, name: str) -> Levels:
        """One of the `MODELS`: a group for each fact that was seen, and one of all the rest."""
        checks.one_of("name", name, MODELS)
        seen = self.counts > 0
        shares = self.counts[seen] / self.documents
        if name == "calibrated":
            known, rest = self.p[seen], self.unseen_mass
        else:
            rest = self.seen_once if name == "good-turing" else 0.0
            known = (1 - rest) * shares
        ones = np.ones(len(known))
        return Levels(
            np.append(ones, self.unseen),
            np.append(ones, self.facts - len(known)),
            np.append(self.p[seen], self.unseen_mass),
            np.append(known, rest / self.unseen),
            np.append(ones < 1, True),
            np.append(ones, 1.0),
        )


def world(
    facts: int, others: int, documents: int, law: str, seed: int | np.random.Generator
) -> World:
    """A world and its documents, drawn from chances ∝ 1/rank ("zipf") or all equal ("uniform").

    Raises `ValueError` for numbers below 1 or too large, fewer other strings than facts,
    another law, and a seed that is none.
    """
    F, H = checks.dimension("facts", facts), checks.dimension("others", others)
    n = checks.dimension("documents", documents)
    checks.one_of("law", law, LAWS)
    if max(F, n) > MOST or H > MOST_STRINGS:
        raise InputError(
            f"{F:.3g} facts, {n:.3g} documents and {H:.3g} other strings: give at most {MOST:.0e} "
            "of the first two and 2^53 of the last"
        )
    if H < F:
        raise InputError(f"there are {H} other strings for {F} facts: give at least as many")
    rng = checks.generator("seed", seed)
    weights = 1 / np.arange(1, F + 1) if law == "zipf" else np.ones(F)
    p = weights / weights.sum()
    drawn = rng.choice(F, size=n, p=p)
    return World(p, np.bincount(drawn, minlength=F), H)


@dataclass(frozen=True)
class Prompted:
    """Equally likely prompts, each with one right answer of m; `answered` (prompts,) says how often
    the documents answered each, and α with what chance a document does."""

    answered: np.ndarray
    documents: int
    answers: int
    alpha: float

    @property
    def prompts(self) -> int:
        """Their number."""
        return len(self.answered)

    @property
    def once(self) -> float:
        """sr: prompts answered exactly once, over N."""
        return float((self.answered == 1).sum() / self.documents)

    @property
    def mean_once(self) -> float:
        """E sr = α(1 − α/C)^{N−1} of C prompts, over as many documents."""
        return self.alpha * (1 - self.alpha / self.prompts) ** (self.documents - 1)

    @property
    def never(self) -> float:
        """The share of prompts that were never answered."""
        return float((self.answered == 0).mean())

    @property
    def missing(self) -> float:
        """MM = Σ μα over prompts never answered."""
        return self.alpha * self.never

    @property
    def squares(self) -> float:
        """Σ μ²α² over them."""
        return self.alpha**2 * self.never / self.prompts

    def calibrated(self) -> Levels:
        """The model that knows the answers that it saw, and spreads α over all m where it saw none:
        "don't know" with chance 1 − α at every prompt."""
        new, old, m, a = self.never, 1 - self.never, self.answers, self.alpha
        silent = 1 - a
        #      any answer,   "don't know",  the answer,  another,      "don't know"
        return Levels(
            np.array([m, 1, 1, m - 1, 1]),
            np.array([1, 1, 1, 0, 1]),
            np.array([new * a, new * silent, old * a, 0, old * silent]),
            np.array([a / m, silent, a, 0, silent]),
            np.array([True, False, False, False, False]),
            np.array([new, new, old, old, old]),
        )

    def errors(self) -> tuple[float, float]:
        """How often the calibrated model errs when it is sampled, and when it says what is most
        probable: MM·(m − 1)/m, and 0 if 1 − α > α/m, as it then says "don't know"."""
        m = self.answers
        sampled = self.missing * (m - 1) / m
        most = 0.0 if 1 - self.alpha > self.alpha / m else self.never * (m - 1) / m
        return sampled, most


def prompted(
    prompts: int, answers: int, documents: int, alpha: float, seed: int | np.random.Generator
) -> Prompted:
    """Documents that take a uniform prompt each and answer it with chance α, 0 < α ≤ 1.

    Raises `ValueError` for numbers below 1 or too large, another α, and a seed that is none.
    """
    C, m = checks.dimension("prompts", prompts), checks.dimension("answers", answers)
    N, a = checks.dimension("documents", documents), checks.positive_number("alpha", alpha)
    if a > 1:
        raise InputError(f"alpha is {a:g}: give a chance above 0 and at most 1")
    if max(C, N) > MOST:
        raise InputError(f"{C:.3g} prompts and {N:.3g} documents: give at most {MOST:.0e} of each")
    rng = checks.generator("seed", seed)
    asked = rng.integers(C, size=int(rng.binomial(N, a)))
    return Prompted(np.bincount(asked, minlength=C), N, m, a)
