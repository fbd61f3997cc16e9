"""The claim `counting`: formulas of past counting logic as transformers of uniform attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from constructions.computation import from_formula
from constructions.transformer import Transformer
from theory.computation.counting import (
    Formula,
    counting_depth,
    counting_words,
    random_formula,
    symbols,
)
from theory.computation.counting import checked_alphabet as checked
from theory.computation.counting import holds as by_definition
from theory.computation.counting_syntax import ABC, DYCK_1, MAJORITY, in_language, parse
from theory.computation.dyck import adversarial_words
from theory.sequences import all_sequences
from verify.claim import Run, claim, option
from verify.computation.options import Length, Samples
from verify.evidence.gaps import averaging, gap_finding
from verify.evidence.restoring import same_as_hardmax
from verify.evidence.sequences import (
    answers_equal,
    equal_over_q,
    exact_evidence,
    families_of,
    registers_hold,
)
from verify.evidence.size import size
from verify.evidence.statement import OverTokens
from verify.finding import Finding, at_least, at_most, equal, labelled

ALL = {
    1: 9,
    2: 9,
    3: 7,
    4: 5,
}  # symbols of the longest words that are all run, by the size of the alphabet


NAMED = {"majority": (MAJORITY, "ab"), "dyck-1": (DYCK_1, "ab"), "abc": (ABC, "abc")}
"""Formulas and their alphabets."""


@claim(
    faults_seen=[
        {"max_length": 7, "samples": 8, "depth": 2},
        {"formula": "#(#a = 2 & #b > 0) - #b < 1 | b", "max_length": 7, "samples": 8},
    ],
)
def counting(
    run: Run,
    *,
    formula: Annotated[
        str | None, option("a formula such as '#a = #b & #(#a < #b) = 0'; by default several")
    ] = None,
    alphabet: Annotated[
        str | None, option("the alphabet of the words; by default the symbols of the formula")
    ] = None,
    depth: Annotated[
        int,
        option("the counting depth of random formulas", min=0, max=8, only={"formula": (None,)}),
    ] = 2,
    max_length: Length = 60,
    samples: Samples = 50,
) -> Iterator[Finding]:
    """For every formula of past counting logic (C-RASP) of counting depth d and every T, a
    transformer of at most 2d layers, with one head of uniform attention in each, outputs whether
    the formula holds after each symbol of all words of at most T symbols.

    The formulas compare numbers of earlier positions at which other formulas hold, and d is the
    nesting depth of these counts.  All scores are 0, so softmax is exact at any inverse
    temperature.  Majority takes 1 layer, and Dyck-1 and aⁿbⁿcⁿ take 2 layers each.  Each comparison
    of numbers in a formula is computed by ReLUs, as a function that rises from 0 to 1 with slope
    Θ(T).
    """
    for name, (chosen, over) in _chosen(run, formula, alphabet, depth).items():
        statement = built(run, name, chosen, over)
        model = statement.at(len(over), max_length).model
        found = [layers(model, chosen)]
        if name in NAMED:
            found.append(size(model, f"counting-{name}"))
            found.append(_language(name, len(over), run.quick))
        yield from labelled(name, found)
        yield from labelled(name, _agreement(run, statement, len(over), model, samples))
        for number, block in enumerate(model.blocks, start=1):
            if block.attn is not None:
                yield gap_finding(name, model, averaging(model, number))
        if model.n_layers == 0:  # the formula depends only on the symbol
            continue
        short = statement.at(len(over), min(max_length, 8)).model
        rows = np.concatenate(
            [r[:1] for r in words_of(run, name, len(over), min(max_length, 8), 1)]
        )
        yield from labelled(name, [same_as_hardmax("softmax/same", short, rows)])


def _chosen(
    run: Run, text: str | None, alphabet: str | None, depth: int
) -> dict[str, tuple[Formula, str]]:
    """Formulas with their alphabets, by name.

    The formula given in options; otherwise the named ones, and random ones over two alphabets.
    """
    if text is not None:
        formula = parse(text)
        given = "".join(sorted(symbols(formula))) or "a" if alphabet is None else alphabet
        return {"formula": (formula, checked(given, formula))}
    named, drawn = (NAMED, ("ab", "abc")) if alphabet is None else ({}, (alphabet,))
    rng = np.random.default_rng(run.seed)
    return dict(named) | {
        f"random-{over}": (random_formula(over, depth, rng), over) for over in drawn
    }


def built(run: Run, name: str, formula: Formula, alphabet: str) -> OverTokens:
    """The statement that the model of a formula equals the definition of the formula."""
    return OverTokens(
        name,
        lambda V, n: run.build(from_formula, formula, alphabet, n),
        lambda words: by_definition(formula, words, alphabet).astype(int),
        symbols=len(alphabet),
        shown=lambda word: "".join(alphabet[a] for a in word),
    )


def layers(model: Transformer, formula: Formula) -> Finding:
    """Checks that a formula of counting depth d takes a model of at most 2d layers."""
    d, shown = counting_depth(formula), str(formula)
    return at_most(
        "layers",
        "number of layers of the model for a formula of counting depth d",
        "exact",
        model.n_layers,
        layers_stated(d),
        words=f"{model.n_layers} for d = {d}, for the formula "
        f"{shown if len(shown) < 99 else shown[:98] + '…'}",
        wanted="at most 2d",
    )


def layers_stated(d: int) -> int:
    """The stated largest number of layers, 2d, for a formula of counting depth d."""
    return 2 * d


def _language(name: str, V: int, quick: bool) -> Finding:
    """Checks on all short words that the formula defines its language."""
    words = all_sequences(6 if quick else ALL[V], V)
    wrong = (in_language(name, words) != by_definition(NAMED[name][0], words, NAMED[name][1])).any(
        -1
    )
    return equal(
        "language",
        f"truth value of the formula, and whether the prefix is in the language {name}, for all "
        f"prefixes of words of {words.shape[1]} symbols",
        f"on {words[wrong.argmax()].tolist()}" if wrong.any() else None,
        words=f"equal on {len(words)} words",
    )


def _agreement(
    run: Run, statement: OverTokens, V: int, model: Transformer, samples: int
) -> Iterator[Finding]:
    """Compares model and definition on all short and on random and adversarial long words."""
    max_length = min(ALL.get(V, 3), 5 if run.quick else 9)
    short, words = statement.at(V, max_length).model, all_sequences(max_length, V)
    yield answers_equal(
        "all-short", f"every word of at most {max_length} symbols", statement, [(short, words)]
    )
    n = model.interface.max_length
    families = words_of(run, statement.label, V, n, run.limited(8, samples=samples))
    yield answers_equal(
        "long",
        f"random and adversarial words of {n} symbols",
        statement,
        [(model, rows) for rows in run.progress(families, statement.label)],
        f" of {len(families)} families",
    )
    yield at_least(
        "apart",
        f"smallest distance between the two logits, on words of {max_length} symbols",
        exact_evidence(short),
        apart(short, words),
        short.interface.margin,
        wanted=f"≥ {short.interface.margin:g}, the margin declared by the model",
    )
    rows = np.concatenate([rows[:1] for rows in families])[:6]
    yield equal_over_q(statement, model, rows, f"({n} symbols)")
    if not model.stages:  # a formula that depends only on the symbol has no other register
        return
    rows = np.concatenate([rows[:4] for rows in families])
    yield registers_hold(statement, model, rows, f"({n} symbols)")


def apart(model: Transformer, words: np.ndarray) -> float:
    """The smallest difference between the two logits of a model on words (…, T)."""
    logits = model.logits(words).numpy()
    return float(abs(logits[..., 1] - logits[..., 0]).min())


def words_of(run: Run, name: str, V: int, n: int, samples: int) -> list[np.ndarray]:
    """Random words, and words on which counts nearly tie or brackets nearly close."""
    families = families_of(run, V, n, samples) | counting_words(V, n, run.rng)
    if name == "dyck-1":
        families |= adversarial_words(n, 1, run.rng)
    return list(families.values())
