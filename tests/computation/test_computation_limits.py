"""Limits of parameters of computation: the last value is accepted, and the next one is refused."""

from string import ascii_lowercase

import pytest
from refusals import rejects

from constructions.computation import first_symbol, parity, semiautomaton, shortcut, turing_machine
from theory.computation import MACHINES, S3, flip_flop, gridworld
from theory.computation.attention_rounds import Cluster
from theory.computation.counting import Count, Symbol, checked_alphabet, holds
from theory.computation.counting_syntax import parse


def test_messages_of_a_round():
    everyone = [((0, i), (0, j), "word") for i in range(2) for j in range(2)]
    assert len(Cluster(2).exchange(everyone)) == 2
    with rejects("2", "1"):
        Cluster(1).exchange(everyone)


def test_tokens_of_a_machine():
    interface = turing_machine(MACHINES["busy-beaver-2"], 4).interface
    for tokens in ([[0]], 0, [0.5], ["0"]):
        with rejects("tokens"):
            interface.steps(tokens)
    last = interface.vocabulary_size - 1
    assert len(interface.steps([last])) == 1
    with rejects(str(last + 1)):
        interface.steps([last + 1])


def test_alphabets_and_bounds_of_formulas(unchecked):
    a = Symbol("a")
    assert checked_alphabet(ascii_lowercase, a) == ascii_lowercase
    for alphabet in ("A", "aä", "aa", "", ["a"], None):
        with rejects("alphabet"):
            checked_alphabet(alphabet, a)
    for symbol in ("A", "ä", "", "ab", None):
        with rejects("symbol" if symbol is None else str(symbol) or "symbol"):
            Symbol(symbol)
    for size in (2**20, -(2**20)):
        Count(((size, a),), 0, None)
        Count(((1, a),), size, size)
        for beyond in (size + 1, size - 1):
            if abs(beyond) > 2**20:
                for terms, bound in ((((beyond, a),), 0), (((1, a),), beyond)):
                    with rejects(str(beyond).lstrip("-")):
                        Count(terms, bound, None)


@pytest.mark.parametrize("text", ["{M}#a > {M}", "-{M}#a < -{M}", "!({M}#a <= {M})"])
def test_formulas_with_the_largest_numbers(text):
    assert holds(parse(text.format(M=2**20)), [0, 0, 1, 0], "ab").tolist() == [False, *[True] * 3]
    with rejects(str(2**20 + 1)):
        parse(text.format(M=2**20 + 1))


def test_sharpness_of_robust_forms():
    for build in (semiautomaton, shortcut):
        assert build(flip_flop(2), 4, form="robust", sharpness=20.0)([[1, 2]]).tolist() == [[0, 1]]
        with rejects("sharpness", "20.0", "robust"):
            build(flip_flop(2), 4, form="lean", sharpness=20.0)


@pytest.mark.parametrize("build", [first_symbol, parity])
def test_sharpness_above_the_logarithm_of_two(build):
    assert build(3)([[1, 0, 0]]).tolist() == [[1]]
    assert build(3, sharpness=0.694)([[1, 0, 0]]).tolist() == [[1]]
    with rejects("sharpness"):
        build(3, sharpness=0.693)


def test_radix_at_its_limits():
    """As many as the tokens, and n^r ≤ 10^6 for n states."""
    assert semiautomaton(S3, 3, radix=3)([[0, 0, 0]]).shape == (1, 3)
    with rejects("radix", "4", "3"):
        semiautomaton(S3, 3, radix=4)
    with rejects("radix", "3"):
        semiautomaton(gridworld(100), 8, radix=3)
