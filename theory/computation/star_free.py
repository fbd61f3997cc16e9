"""Formulas of past LTL that define star-free languages.

A regular language is star-free iff the monoid of its minimal automaton is aperiodic
[Schutzenberger1965], and iff a formula of past LTL defines the language [Kamp1968], [YCA2024].  The
formula is built from the cascade of the minimal automaton.  For a star-free language this cascade
has flip-flops and no counters.  A flip-flop has a value v, other than its first value, iff

    no value has been set since v was set.

The value that is set is a function of the symbol and of the earlier flip-flops, for which formulas
have already been built.

Proof that there are no counters: a counter belongs to a holonomy group with a permutation p ≠ 1 of
the tiles of a set, and some word induces p.  In an aperiodic monoid the map x of this word
satisfies xⁿ = xⁿ⁺¹ for some n, so pⁿ = pⁿ⁺¹ and p = 1, a contradiction.  Conversely, the monoid of
a cascade of flip-flops is aperiodic, since this monoid divides a wreath product of monoids that
consist of constant maps and the identity [KrohnRhodes1965].
"""

from __future__ import annotations

from collections.abc import Iterable

from theory.computation.cascade import NONE, Cascade, Table, cascade
from theory.computation.kinds import Alphabet
from theory.computation.languages import Language
from theory.computation.monoids import monoid
from theory.computation.products import NotSolvable
from theory.computation.semiautomata import Semiautomaton
from theory.computation.temporal_logic import TRUE, And, Formula, Not, Or, Since, Symbol
from theory.kinds import InputError, Steps, checked


@checked
def formula_of(language: Language) -> Formula:
    """A formula of past linear temporal logic (past LTL) that defines a star-free language.

    The formula holds at the last position of a non-empty word iff the word is in the language.
    Raises ValueError for a language that is not star-free. The message gives a word that permutes
    states of the minimal automaton in a cycle.
    """
    least = language.minimal()
    if (circle := monoid(least.automaton).circle()) is not None:
        word, states = circle
        around = " → ".join(map(str, (*states, states[0])))
        raise InputError(
            f"the word {least.spelled([*word])} permutes states {around} of the minimal automaton "
            f"of {least.automaton.name}, so this language is not star-free: use semiautomaton(…)"
        )
    return from_cascade(cascade(least.automaton), least.accepting, least.alphabet)


@checked
def from_cascade(cascade: Cascade, accepted: Iterable[Steps], alphabet: Alphabet) -> Formula:
    """A formula of past LTL that holds iff the state that a cascade computes is in `accepted`.

    Past LTL is past linear temporal logic. A cascade computes the state of an automaton by counters
    and flip-flops. The given cascade must have no counters. The formula is evaluated at the last
    position of a word, and the state is the state after the word. The characters of `alphabet` are
    the symbols of the automaton.

    Raises ValueError if (a) the cascade has counters, or (b) the numbers of symbols of the alphabet
    and of the automaton differ.
    """
    if len(alphabet) != cascade.automaton.n_symbols:
        raise InputError(
            f"the alphabet is {alphabet!r}: give a text of "
            f"{cascade.automaton.n_symbols} characters, one for each symbol of "
            f"{cascade.automaton.name}"
        )
    if any(stage.kind == "counter" for stage in cascade.stages):
        raise InputError(
            f"the cascade of {cascade.automaton} has counters, which past LTL cannot express: give "
            "an automaton with an aperiodic monoid"
        )
    variables: list[list[Formula]] = [[*map(Symbol, alphabet)]]

    def among(table: Table, *wanted: int) -> Formula:
        """The formula that holds iff the entry of a table is in `wanted`."""
        rows = [key for key, entry in table.rows.items() if entry in wanted]
        if len(rows) == len(table.rows):
            return TRUE
        literals = (
            (variables[v][a] for v, a in zip(table.reads, key, strict=True)) for key in rows
        )
        return Or(tuple(And(tuple(each)) for each in literals))

    for stage in cascade.stages:
        values = range(stage.size)
        if stage.kind == "table":
            variables.append([among(stage.table, v) for v in values])
            continue
        others = [v for v in values if v != stage.first]
        value: dict[int, Formula] = {
            v: Since(among(stage.table, NONE), among(stage.table, v)) for v in others
        }
        value[stage.first] = Not(Or(tuple(value[v] for v in others)))
        variables.append([value[v] for v in values])
    return among(cascade.answer, *accepted)


def has_flip_flops_only(A: Semiautomaton) -> bool:
    """Whether an automaton has a cascade of flip-flops, without counters."""
    try:
        return all(stage.kind != "counter" for stage in cascade(A).stages)
    except NotSolvable:
        return False
