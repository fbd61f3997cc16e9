"""A program that decodes values of expressions with brackets and products [Deletang2023].

The values of all brackets are decoded in the order in which the brackets close. The value of the
last one is the answer; if there are no brackets, the value of the expression d or −d is.  A bracket
contains an operand, or two operands and an operator; an operand is d, −d or a bracket.

    second operand    ends before the closing bracket; if it is a bracket, its value is the latest
    operator          the latest operator at the depth of the bracket, if it is in the bracket
    first operand     ends before the operator; if it is a bracket, its value is number m, where m
                      brackets close before the operator

An operator is found by its depth, and by the number of operators and opening brackets of this depth
up to it: if the latest one of these is the opening bracket, there is no operator.  All this is
looked up where brackets close.

An expression with k > 0 brackets takes k decoded tokens, at most a third of its length.  The
compiled program has 7 layers.
"""

from __future__ import annotations

from collections.abc import Sequence

from theory.programs.chomsky.context_free import EXPRESSION
from theory.programs.chomsky.regular import DIGITS, MODULUS
from theory.programs.chomsky.scratchpads import (
    EQUALS,
    Scratchpad,
    at,
    count,
    function_of,
    numbered,
    token_in,
)
from theory.programs.language import (
    Aggregate,
    Full,
    Map,
    Select,
    SelectorWidth,
    SOp,
    indices,
    tokens,
)
from theory.programs.values import Value

VALUES = tuple(range(MODULUS))
OPERATORS = ("+", "−", "·")
SIGN = "sign"  # a minus sign before a digit
BRACKET = "bracket"


def bracketed_products() -> SOp:
    """The next value, in constant depth."""
    before = at(indices - 1, tokens, "(")
    symbol = function_of(_symbol, tokens, before).named("symbol")
    ending = function_of(_operand, tokens, at(indices - 1, symbol, "("))
    operand = at(indices - 1, ending, BRACKET).named("operand")  # that ends before here

    earlier = Select(indices, indices, "<")
    closed = SelectorWidth(earlier & Select(tokens, Full(")"), "==")).named("closed")
    depth = (count(token_in(("(",))) - closed).named("depth")
    begins = Map(lambda symbol: int(symbol in ("(", *OPERATORS)), symbol)
    same_depth = Select(depth, depth, "==") & Select(begins, Full(1), "==")
    number = SelectorWidth(same_depth).named("number")
    latest = same_depth & Select(number, number, "==")
    looked_up = (  # with defaults
        (Aggregate(latest, symbol, "("), "("),  # the operator, or "(" for one operand
        (Aggregate(latest, operand, BRACKET), BRACKET),  # the first operand
        (Aggregate(latest, closed, 0), 0),  # its number, if it is a bracket
        (operand, BRACKET),  # the second operand
    )

    closes = function_of(_closes, tokens, operand)
    is_value = token_in(VALUES)
    next_number = count(is_value) + 1
    operator, first, first_number, second = (
        numbered(closes, next_number, values, default) for values, default in looked_up
    )
    one = function_of(_value, first, numbered(is_value, first_number, tokens, 0))
    other = function_of(_value, second, tokens)
    return function_of(_result, operator, one, other)


def _symbol(token: Value, before: Value) -> Value:
    """The token, or "sign" for a minus sign before a digit."""
    return SIGN if token == "−" and before in ("(", *OPERATORS) else token


def _operand(token: Value, before: Value) -> Value:
    """The value modulo 5 of the number that ends here, or that a bracket ends here, or neither."""
    if token in DIGITS:
        return (-1 if before == SIGN else 1) * DIGITS.index(token) % MODULUS
    return BRACKET


def _closes(token: Value, operand: Value) -> int:
    """Whether a bracket closes here; "=" closes an expression without brackets."""
    return int(token == ")" or (token == EQUALS and operand != BRACKET))


def _value(operand: Value, of_bracket: Value) -> Value:
    value = of_bracket if operand == BRACKET else operand
    return value if value in VALUES else 0


def _result(operator: str, one: int, other: int) -> int:
    results = {"+": one + other, "−": one - other, "·": one * other}
    return results.get(operator, other) % MODULUS


def _steps(x: Sequence[int]) -> int:
    """One for each bracket, and one if there are no brackets."""
    return max(1, sum(EXPRESSION[token] == ")" for token in x))


BRACKETED_PRODUCTS = Scratchpad(bracketed_products, (), _steps, lambda n: max(1, n // 3))
