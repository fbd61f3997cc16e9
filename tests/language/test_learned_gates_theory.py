"""Linear tokens, gates, restrictions, and gradients without a chain of thought."""

import math
from fractions import Fraction

import numpy as np
import pytest
from refusals import rejects

from theory.language import (
    FUNCTIONS,
    GateLearner,
    bits_by_elimination,
    circuit,
    coefficients_by_solving,
    enough_examples,
    enough_for_terms,
    enough_restrictions,
    hypotheses,
    least_step_signal,
    linear_tokens,
    mean_signal_bound,
    parity_tree,
    random_circuit,
    random_tree,
    restricted,
    restricted_terms,
    restrictions,
    signals,
    terms_by_restriction,
    tokens_by_regression,
    tree_by_restriction,
    tree_value,
    with_steps,
)
from theory.sequences import all_sequences


def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 8, 10])
def test_linear_tokens_are_the_digits_of_the_count(k):
    words = all_sequences(10, 2)
    positions = rng().permutation(10)[:k].tolist()
    tokens, count = linear_tokens(words, positions), words[:, positions].sum(axis=1)
    assert tokens.shape[1] == int(math.log2(k)) + 1
    assert (tokens @ (1 << np.arange(tokens.shape[1])[::-1]) == count).all()
    assert (tokens[:, -1] == count % 2).all()


def test_positions_are_found_from_linear_equations_and_over_gf2():
    words = rng().integers(2, size=(90, 64))
    positions = sorted(rng().permutation(64)[:32].tolist())
    tokens = linear_tokens(words, positions)
    solved = coefficients_by_solving(words[:75], tokens[:75])
    assert solved == [Fraction(int(i in positions)) for i in range(64)]
    assert bits_by_elimination(words[:80], tokens[:80, -1]) == positions
    assert coefficients_by_solving(words[:60], tokens[:60]) is None
    assert bits_by_elimination(words[:60], tokens[:60, -1]) is None


def test_regressions_decode_from_their_own_tokens():
    words, positions = all_sequences(5, 2), [0, 2, 3]
    tokens = linear_tokens(words, positions)
    assert (tokens_by_regression(words, tokens, words) == tokens).all()
    # A first token that is always taught as 0 leads the second one astray.
    astray = tokens_by_regression(words, np.column_stack([0 * tokens[:, 0], tokens[:, 1]]), words)
    assert (astray[:, 0] == 0).all()
    assert (astray[:, 1] != tokens[:, 1]).any()


def test_many_tokens_are_decoded_in_turn():
    """Token 16 is x_0 and x_1, and token 17 x_0 xor x_1: no linear form of the bits alone, but of
    the bits and token 16.  So are the last two tokens, after 14 more."""
    words = all_sequences(3, 2)
    a, b = words[:, 0], words[:, 1]
    copies, both = [words[:, t % 3] for t in range(16)], [a & b, a ^ b]
    tokens = np.column_stack([*copies, *both, *copies[2:], *both])
    assert (tokens_by_regression(words, tokens, words) == tokens).all()
    # Without token 16, no linear form gives token 17.
    astray = tokens_by_regression(words, np.delete(tokens, 16, axis=1)[:, :17], words)
    assert (astray[:, :16] == tokens[:, :16]).all()
    assert (astray[:, 16] != a ^ b).any()


def test_one_example_too_few_leaves_bits_open():
    assert bits_by_elimination([[1, 0]], [1]) is None
    assert bits_by_elimination([[1, 0], [1, 1]], [1, 0]) == [0, 1]
    # z_1 is x_1 on two words, and z_0 = x_0 + x_1 − 2z_1 is x_0 − x_1 as well.
    words = [[1, 1], [1, 0]]
    assert coefficients_by_solving(words, linear_tokens(words, [0, 1])) is None
    words += [[0, 1]]
    assert coefficients_by_solving(words, linear_tokens(words, [0, 1])) == [1, 1]


def test_examples_of_no_parity_are_rejected():
    words = rng().integers(2, size=(40, 6))
    tokens = linear_tokens(words, [0, 1, 2])
    tokens[5, -1] ^= 1
    with rejects("parities"):
        bits_by_elimination(words, tokens[:, -1])
    with rejects("tokens"):
        coefficients_by_solving(words, tokens)


def test_gates_by_a_dictionary_of_all_hypotheses():
    """The version space by definition: all pairs and functions, all examples."""
    generator = rng()
    made = random_circuit(4, 3, generator)
    seen = made.wires(generator.integers(2, size=(5, 4)))
    learner, everything = GateLearner(4, seen), all_sequences(4, 2)
    found = learner(everything)
    for x, row in zip(everything, found, strict=True):
        wires = x.tolist()
        for gate in range(4, 7):
            found = set()
            for b in range(gate):
                for a in range(b):
                    for f in FUNCTIONS:
                        if all(f >> (2 * s[a] + s[b]) & 1 == s[gate] for s in seen):
                            found |= {
                                f >> (2 * p + q) & 1
                                for p in ((0, 1) if wires[a] < 0 else (wires[a],))
                                for q in ((0, 1) if wires[b] < 0 else (wires[b],))
                            }
            wires.append(found.pop() if len(found) == 1 else -1)
        assert wires == row.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_gates_are_never_wrong_and_in_the_end_all_decided(seed):
    generator = np.random.default_rng(seed)
    made, everything = random_circuit(6, 8, generator), all_sequences(6, 2)
    truth = made.wires(everything)
    for N in (0, 1, 5, 20, 64):
        found = GateLearner(6, truth[generator.permutation(64)[:N]])(everything)
        assert (found[found >= 0] == truth[found >= 0]).all()
    assert (found == truth).all()


def test_enough_examples_are_as_many_as_the_formula_says():
    total = 3 * hypotheses(4, 3)
    assert hypotheses(4, 3) == 10 * math.comb(6, 2)
    N = enough_examples(4, 3, 0.1, 0.05)
    assert math.ceil(total / 0.1 * math.log(total / 0.05)) == N
    assert total * (1 - 0.1 / total) ** N <= 0.05


def test_a_restricted_tree_answers_as_the_tree_does():
    tree = random_tree(6, 6, rng())
    for row in restrictions(6, 0.5, 50, rng()):
        left = restricted(tree, row)
        for word in all_sequences(6, 2):
            whole = np.where(row < 0, word, row)
            assert tree_value(left, word) == tree_value(tree, whole)


def row(*bits):
    return np.array(bits)


def test_a_leaf_that_is_seen_alone_is_not_believed():
    assert tree_by_restriction(2, [(row(0, 0), 1)]) is None
    assert tree_by_restriction(2, [(row(-1, 0), 1)]) is None
    assert tree_by_restriction(2, [(row(-1, 0), 1), (row(0, -1), 1)]) == 1
    with rejects("tree"):
        tree_by_restriction(1, [(row(-1), 1), (row(-1), 0)])


def test_terms_are_found_whole():
    terms = {frozenset({(0, 1), (1, 0)}), frozenset({(1, 1), (2, 1), (3, 0)})}
    n = enough_for_terms(3, 2, 0.5, 1e-3)
    assert n == math.ceil(8 * math.log(2000))
    seen = [restricted_terms(terms, row) for row in restrictions(5, 0.5, n, rng())]
    assert terms_by_restriction(seen) == terms
    # From one sample in which a term is not whole, it is wrong.
    assert terms_by_restriction([restricted_terms(terms, row(-1, 0, -1, 1, -1))]) != terms


def test_the_signals_of_all_sets_are_those_of_the_definition_and_add_up():
    gradients = rng().integers(-5, 6, size=(16, 3))
    words = all_sequences(4, 2)
    wanted = [(((1 - 2 * (words @ S % 2)) @ gradients) ** 2).sum() for S in words]
    assert signals(gradients).tolist() == wanted
    assert signals(gradients).sum() == 16 * (gradients**2).sum()
    assert mean_signal_bound(4, 2) == Fraction(1, 6)


def test_the_signal_of_a_node_by_all_words():
    """φ = 4z² − 1 at w = 0: E y∇φ and E‖∇φ‖² over a cube, in fractions."""
    tree, bits = parity_tree(6, [5, 0, 2, 3]), 1 - 2 * all_sequences(6, 2)
    x = with_steps(tree, bits)
    for m in range(6, 9):
        # m²∂φ/∂w_j/8 = z(x_j − z), times m²
        total = x[:, :m].sum(1)
        slopes = total[:, None] * (m * x[:, :m] - total[:, None])
        found = [Fraction(int(each), len(x)) for each in x[:, m] @ slopes]
        wanted = [Fraction(m * int(child)) - 2 for child in tree.scores[m - 6, :m]]
        assert found == wanted
        whole = Fraction(int((slopes**2).sum()), len(x))
        fraction = sum(each**2 for each in found) / whole
        assert least_step_signal(m) <= fraction < 2 * least_step_signal(m)


def test_sizes_for_restrictions_are_the_least_of_their_union_bounds():
    for d, s, depth, mu, delta in ((10, 5, 3, 0.3, 0.01), (40, 8, 7, 0.5, 0.1)):
        n = enough_restrictions(d, s, depth, mu, delta)
        free = ((1 + mu) / 2) ** depth * mu**2
        assert 2 * s * d * math.exp(-free * n) <= delta < 2 * s * d * math.exp(-free * (n - 1))


BAD = [
    (lambda: linear_tokens([[0, 1]], [0, 0]), "positions"),
    (lambda: circuit(2, [(0, 2, 8)]), "gate 0"),
    (lambda: circuit(2, [(0, 1, 3)]), "gate 0 3"),
    (lambda: circuit(2, [(0, 1)]), "gate"),
    (lambda: circuit(2, [(0, 1, 8)]).wires([[0, 1, 1]]), "inputs"),
    (lambda: GateLearner(2, np.zeros((1, 500), dtype=int)), "wires"),
    (lambda: GateLearner(2, [[0, 1, 0]])([[0]]), "inputs"),
    (lambda: random_tree(2, 5, rng()), "n_leaves"),
    (lambda: enough_for_terms(400, 2, 0.3, 0.1), "mu"),
    (lambda: signals(np.ones((3, 2))), "gradients"),
    (lambda: signals([[2**40], [2**40]]), "gradients 4.84e+24"),
    (lambda: signals([[2**31, -(2**31)], [0, 0]]), "gradients 9.22e+18"),
]


@pytest.mark.parametrize(("call", "parameter"), BAD)
def test_bad_input_is_rejected_in_one_line(call, parameter):
    with rejects(*parameter.split()):
        call()


def test_without_the_half_squares_of_gradients_are_four_times_as_large():
    """f = θx₁ over the four parities of two bits: the loss (f − χ_S)² has gradients 2θ − 2[S = {1}]
    of variance ¾ over S, three times E‖∇f‖²/4; that of ½(f − χ_S)² has a quarter of it."""
    words = 1 - 2 * all_sequences(2, 2)
    parities = [words[:, list(S)].prod(axis=1) for S in ((), (0,), (1,), (0, 1))]
    for factor, variance in ((Fraction(2), Fraction(3, 4)), (Fraction(1), Fraction(3, 16))):
        slopes = [
            factor
            * sum(Fraction(int((x - y) * x), 4) for x, y in zip(words[:, 0], chi, strict=True))
            for chi in parities
        ]
        mean = sum(slopes) / 4
        assert sum((slope - mean) ** 2 for slope in slopes) / 4 == variance
    assert Fraction(3, 16) <= Fraction(1, 4) < Fraction(3, 4)
