"""Programs in RASP: the language, its interpreter and a library of programs.

`evaluate` computes the values of a program at a sequence by definition, in exact rationals.
"""

from theory.programs.foreign import program_of
from theory.programs.interpreter import NoValue, evaluate, trace
from theory.programs.language import (
    Aggregate,
    Expression,
    Full,
    Length,
    LinearSequenceMap,
    Map,
    Pair,
    Select,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SelectorWidth,
    SequenceMap,
    SOp,
    expressions,
    indices,
    length,
    tokens,
)

__all__ = [
    "Aggregate",
    "Expression",
    "Full",
    "Length",
    "LinearSequenceMap",
    "Map",
    "NoValue",
    "Pair",
    "SOp",
    "Select",
    "Selector",
    "SelectorAnd",
    "SelectorNot",
    "SelectorOr",
    "SelectorWidth",
    "SequenceMap",
    "evaluate",
    "expressions",
    "indices",
    "length",
    "program_of",
    "tokens",
    "trace",
]
