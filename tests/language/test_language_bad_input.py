"""Bad input of language that kinds of parameters cannot express: nested data, methods, costs."""

from fractions import Fraction as F

import numpy as np
import pytest
from refusals import rejects

from constructions import string_model
from constructions.computation import circuit_evaluator
from constructions.language import string_probabilities
from theory import language as L

HALF, NAN = [F(1, 2), F(1, 2)], float("nan")
EVEN, TREE = L.even_process(), L.parity_tree(4, [0, 1])
OTHERS = [[1, 0], [1, 0, 0]]
WORLD = L.world(10, 100, 10, "zipf", 0)
VALID = L.is_it_valid([1], [[1, 0]], [[1, 0]], [[0]])
MANY = L.source([1], [[[F(1, 20)]]] * 20)
FORGETS_NOTHING = L.source(
    HALF,
    [
        [[F(1, 3), F(1, 7)], [F(1, 5), F(1, 11)]],
        [[F(1, 3), F(4, 21)], [F(1, 2), F(23, 110)]],
    ],
)
FAR = [[10**6, 20], [3 * 10**6, -10], [0, 0]]
NEARLY = [F(n, 110_000_001) for n in (100_000_000, 1, 10_000_000)]
WORDS, LABELS = np.array([[1, 0], [1, 1]]), np.array([0, 1])


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        # Good and Turing
        (lambda: L.seen_once([1, 1, 1], 2), "counts"),
        (lambda: L.mean_difference([F(1, 3), F(2, 3)], 10**9), "documents"),
        (lambda: L.mean_square([F(1, 3), F(2, 3)], 10**9), "documents"),
        # sources and decisions
        (lambda: EVEN.probability([0, 2]), "word 2"),
        # methods, whose kinds tests/kinds does not try
        (lambda: EVEN.probability([-1]), "word"),
        (lambda: WORLD.model("calibrated").over_confidence(NAN), "tau"),
        (lambda: WORLD.model("calibrated").deterministic_bound(-1), "tau"),
        (lambda: WORLD.model("calibrated").miscalibration_in(10**400), "bins"),
        (lambda: WORLD.model("liar"), "name"),
        (lambda: L.StringDistributions([0.5, 0.25, 0.25], [1, 0, 0]), "p"),
        (lambda: L.StringDistributions([1.0], [1.0]), "p"),
        (lambda: L.StringDistributions([0.5, 0.1], [0.5, 0.5]), "p"),
        (lambda: L.StringDistributions([0.5, 0.5], [0.5, 0.9]), "g"),
        (lambda: L.StringDistributions([0.5, NAN], [0.5, 0.5]), "p"),
        (lambda: VALID.misclassified(NAN), "t"),
        (lambda: VALID.over_confidence(0.5), "t"),
        (lambda: L.is_it_valid(HALF, OTHERS, OTHERS, [[0], [0]]).choice_bound, "prompts"),
        (lambda: L.is_it_valid([1], [[1, 0, 0]], [[1, 0, 0]], [[0, 1]]).choice_bound, "prompts"),
        (lambda: L.window_entropy_by_definition(MANY, 12, 1), "20^12"),
        (lambda: L.most_sampling_error(F(9, 10), 3), "least"),
        # covers and certificates
        (lambda: L.nearest_in_cover([], 1, 3), "q"),
        (lambda: L.margin_certificate(5, 1e200, 1e200, 1, 1e-200, 10, 0.1), "margin"),
        # a conjunction and its learners
        (lambda: L.Conjunction(5, (0, 4)).labels([[1, 0]]), "words"),
        (lambda: L.Conjunction(5, (0, 2)).labels([[1, 0]]), "words"),
        (lambda: L.elimination(WORDS, LABELS)([[1, 0, 1]]), "words"),
        (lambda: L.log_choices(10**9, 5 * 10**8), "k"),
        # trees of parities
        (lambda: L.gradient(TREE, 4, np.ones((0, 4))), "bits"),
        (lambda: L.one_step(TREE, np.ones((0, 4))), "bits"),
        (lambda: L.noise_tolerance(L.parity_tree(10**5, [0, 1])), "d"),
        (lambda: L.enough_samples(TREE, 0.1, F(3)), "tolerance"),
        # gates
        (lambda: L.random_circuit(2, 10**8, 0), "n_gates"),
        (lambda: L.enough_examples(2, 1, 1e-320, 0.1), "epsilon"),
        # restrictions
        (lambda: L.random_tree(10**5, 10**5, 0), "d"),
        (lambda: L.restrictions(10**7, 0.5, 10**9, 0), "restrictions"),
        (lambda: L.restricted((9, 0, 1), [0, 1]), "tree"),
        (lambda: L.restricted((0, 1), [0, 1]), "tree"),
        (lambda: L.restricted((2, 0, 1), [0, 1]), "2"),
        (lambda: L.tree_value("x", [0]), "leaf"),
        (lambda: L.tree_by_restriction(3, [([-1, -1], (0, 0, 1))]), "restriction"),
        (lambda: L.enough_restrictions(5, 2, 10**6, 0.3, 0.1), "depth"),
        (lambda: L.restricted_terms([frozenset({(9, 1)})], [0, 1]), "terms"),
        (lambda: L.restricted_terms([frozenset({(2, 1)})], [0, 1]), "terms"),
        (lambda: L.restricted_terms([frozenset({(-1, 1)})], [0, 1]), "variable 1"),
        (lambda: L.restricted_terms([frozenset({("x", 1)})], [0, 1]), "variable"),
        (lambda: L.tree_by_restriction(2, [([-1, 0], 0, 1)]), "samples"),
        (lambda: L.tree_by_restriction(1, [([-1], (7, 0, 1))]), "samples"),
        (lambda: L.restricted_terms([frozenset({(0, 2)})], [0, 1]), "literal"),
        (lambda: L.restricted_terms([frozenset({(0, 1, 1)})], [0, 1]), "literal"),
        # labels and sources
        (lambda: L.one_step(TREE, np.ones((2, 4)), np.ones((2, 3))), "labels"),
        (lambda: L.conditional_entropy(FORGETS_NOTHING, 16), "t"),
        (lambda: L.mean_difference([], 3), "p"),
        (lambda: L.mean_difference([F(3, 2), F(-1, 2)], 3), "p"),
        # models
        (lambda: string_probabilities(circuit_evaluator(2, 2), 2), "21"),
        (lambda: L.projection(L.log_linear([F(1, 3)] * 3, FAR), NEARLY), "p"),
        (lambda: string_model(2, [[0, 1] * 500], [1]), "strings"),
    ],
)
def test_bad_input_is_rejected(call, parameter, unchecked):
    with rejects(*parameter.split()):
        call()


def test_logarithms_are_compared_with_each_other_and_with_0_alone():
    assert L.log(2) > 0
    with pytest.raises(TypeError):
        assert L.log(2) < 1


def test_a_seed_is_as_good_as_its_generator(unchecked):
    assert L.random_conjunction(9, 3, 5) == L.random_conjunction(9, 3, np.random.default_rng(5))


def test_the_first_bits_are_enough_for_labels():
    words = np.array([[1, 1, 0], [1, 0, 1]])
    assert L.Conjunction(9, (0, 1)).labels(words).tolist() == [1, 0]
