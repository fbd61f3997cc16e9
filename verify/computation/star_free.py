"""The claim `star-free`: past LTL by unique-hard attention, and aperiodic monoids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from constructions.computation import from_formula
from constructions.computation.semiautomaton import Form
from theory.computation import (
    Formula,
    Language,
    formula,
    formula_of,
    language_of,
    random_formula,
    regular_expression,
)
from theory.computation.temporal_logic import holds as by_definition
from theory.computation.temporal_logic import sinces, temporal_depth
from theory.computation.temporal_program import Program, language_of_program, program
from theory.sequences import random_sequences
from verify.claim import Run, claim, option
from verify.computation.aperiodic import aperiodic_iff_flip_flops
from verify.computation.options import Length, Samples
from verify.computation.temporal_logic import (
    bits_restored,
    head_states,
    tables_written,
)
from verify.evidence.gaps import gap_finding
from verify.evidence.restoring import leak_bound, same_as_hardmax, sharpness_at_two_lengths
from verify.evidence.sequences import computes
from verify.evidence.size import units
from verify.evidence.statement import OverTokens
from verify.finding import Finding, equal, labelled

ALPHABET = "ab"
ALTERNATE = "b and yesterday a and historically (a and not yesterday a or b and yesterday a)"
NAMED = {  # formulas and equivalent regular expressions
    "alternating": (ALTERNATE, "(ab)+", "ab"),
    "aa": ("a and yesterday a or once (a and yesterday a)", ".*aa.*", "ab"),
    "since": ("a since b", ".*ba*.", "abc"),
    "nested": (None, "(a(ab)*b)*", "ab"),
}


@dataclass(frozen=True)
class Case:
    """A language to check: a label, a formula, an alphabet, and a regular expression if given."""

    label: str
    formula: Formula
    alphabet: str
    expression: Language | None = None


@claim(
    picture="verify.retrieval.pictures:draw",
    faults_seen=[
        {"max_length": 5, "samples": 8},
        {"formula": "c since once a", "max_length": 4, "alphabet": "abc"},
    ],
)
def star_free(
    run: Run,
    *,
    formula: Annotated[
        str | None, option("a formula of past LTL, such as 'a since b'", metavar="FORMULA")
    ] = None,
    regex: Annotated[
        str | None, option("a regular expression, such as '(ab)+'", metavar="EXPRESSION")
    ] = None,
    alphabet: Annotated[
        str | None,
        option("the alphabet of the words; by default ab, or the symbols of the expression"),
    ] = None,
    depth: Annotated[
        int,
        option(
            "the temporal depth of a random formula",
            min=0,
            max=20,
            only={"formula": (None,), "regex": (None,)},
        ),
    ] = 3,
    max_length: Length = 40,
    samples: Samples = 20,
) -> Iterator[Finding]:
    """For every past-LTL formula of temporal depth d and every T, at most d layers of unique-hard
    attention with a strictly causal mask output, after each symbol of words of at most T symbols,
    whether the formula holds.

    Each subformula “φ since ψ” is one head, which attends to the latest earlier token where ψ or ¬φ
    holds. MLPs compute the Boolean connectives.  Depth, heads and width do not depend on T.  In a
    robust form of the construction, softmax has the same outputs at every inverse temperature above
    a bound that does not depend on T.

    A regular language whose minimal automaton has an aperiodic monoid is defined by a past-LTL
    formula.  The monoid is aperiodic iff the cascade of the automaton (its Krohn–Rhodes
    decomposition) consists of flip-flops.  The equivalence of aperiodic monoids and cascades of
    flip-flops is checked for all automata with two symbols and three states.
    """
    cases = chosen(run, formula, regex, alphabet, depth)
    for case in cases:
        yield from _shown(run, case, max_length, samples)
    if formula is None and regex is None:
        yield aperiodic_iff_flip_flops(2 if run.quick else 3)
    case = cases[0]
    row = run.rng.integers(len(case.alphabet), size=min(max_length, 12))
    model = recognises(run, case, "lean").at(len(case.alphabet), len(row)).model
    run.draw(model, row, [case.alphabet[a] for a in row])


def chosen(
    run: Run, text: str | None, regex: str | None, alphabet: str | None, depth: int
) -> list[Case]:
    """The language that the options define; by default several languages, one of them random."""
    given = ALPHABET if alphabet is None else alphabet
    if text is None and regex is None:
        drawn = random_formula(given, depth, np.random.default_rng(run.seed))
        names = [*NAMED][:1] if run.quick else [*NAMED]
        return [*(_case(name, *NAMED[name]) for name in names), Case("random", drawn, given)]
    if regex is None:
        return [_case("formula", text, None, given)]
    return [_case("regex" if text is None else "formula", text, regex, alphabet)]


def _case(label: str, text: str | None, regex: str | None, alphabet: str | None) -> Case:
    expression = None if regex is None else regular_expression(regex, alphabet)
    if expression is not None:
        alphabet = expression.alphabet
    assert alphabet is not None
    if text is not None:
        return Case(label, formula(text, alphabet), alphabet, expression)
    assert expression is not None
    return Case(label, formula_of(expression), alphabet, expression)


def recognises(run: Run, case: Case, form: Form) -> OverTokens:
    """The statement that the model equals the expression's automaton, or else the formula."""

    def answers(words: np.ndarray) -> np.ndarray:
        if case.expression is not None:
            return case.expression.contains_prefixes(words).astype(np.int64)
        return by_definition(case.formula, words, case.alphabet).astype(np.int64)

    levels = Counter(temporal_depth(node) for node in sinces(case.formula))
    return OverTokens(
        f"{case.label}/{form}",
        lambda V, n: run.build(from_formula, case.formula, case.alphabet, n, form=form),
        answers,
        shown=lambda row: "".join(case.alphabet[a] for a in row),
        symbols=len(case.alphabet),
        theorem="star-free" if form == "lean" else "star-free-robust",
        parameters={"d": len(levels), "h": max(levels.values(), default=0)},
    )


def _shown(run: Run, case: Case, max_length: int, samples: int) -> Iterator[Finding]:
    """The evidence on one language."""
    V, by = len(case.alphabet), program(case.formula, case.alphabet)
    yield from labelled(case.label, equivalent(case, by))
    for form in ("lean", "robust"):
        statement = recognises(run, case, form)
        model = statement.at(V, max_length).model
        size, longest = f", {sum(units(model))} ReLUs in all", 8 if V == 2 else 5
        yield from computes(run, statement, V, max_length, samples, size, V, longest)
        for states in head_states(model, by):
            yield gap_finding(statement.label, model, states)
        yield from labelled(statement.label, tables_written(model, by))
    if by.steps:
        yield from labelled(case.label, robust(run, case, by, max_length))


def robust(run: Run, case: Case, by: Program, max_length: int) -> Iterator[Finding]:
    """Evidence that softmax computes the same bits at one sharpness for words of all lengths."""
    V, at = len(case.alphabet), recognises(run, case, "robust").at
    yield from bits_restored(at(V, max_length).model, by)
    k = max(sum(v > 0 for v in table.reads) for table in (*by.tables, by.answer))
    yield sharpness_at_two_lengths(
        "softmax/sharpness",
        lambda T: at(V, T).model,
        max_length,
        leak_bound(1 / (8 * k)),
        f"ln(32k + 2), where a truth table reads at most k = {k} bits",
    )
    rows = random_sequences(2, min(max_length, 12), V, run.rng)
    yield same_as_hardmax("softmax/same", at(V, min(max_length, 12)).model, rows)


def equivalent(case: Case, by: Program) -> Iterator[Finding]:
    """Checks that the truth tables and the regular expression define the language of the formula.

    For each comparison, the product of the two languages' automata is searched for a state that
    only one of the automata accepts.
    """
    language = language_of(case.formula, case.alphabet, case.label)
    tabled = language_of_program(by, case.alphabet)
    yield _same_language("tables/formula", "the truth tables", tabled, language)
    if case.expression is not None:
        yield _same_language("expression", "the regular expression", case.expression, language)


def _same_language(id: str, what: str, one: Language, other: Language) -> Finding:
    word = one.differs(other)
    states = f"{one.automaton.n_states} and {other.automaton.n_states} states"
    return equal(
        id,
        f"{what} and the formula define the same language, on words of every length",
        None if word is None else f"the languages differ on {word}",
        words=f"the automata of {states} are equivalent",
        wanted="equal",
    )
