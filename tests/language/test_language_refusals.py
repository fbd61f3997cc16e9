"""What the functions of language refuse in one line: wrong kinds and numbers, sizes without end."""

from fractions import Fraction as F

import numpy as np
import pytest
from refusals import rejects

from constructions import log_probabilities, sample, string_model, string_probabilities
from theory import language as L

HALF, NAN = [F(1, 2), F(1, 2)], float("nan")
EVEN, TREE = L.even_process(), L.parity_tree(4, [0, 1])
WORLD = L.world(10, 100, 10, "zipf", 0)
VALID = L.is_it_valid([1], [[1, 0]], [[1, 0]], [[0]])
MANY = L.source([1], [[[F(1, 20)]]] * 20)
WORDS, LABELS = np.array([[1, 0], [1, 1]]), np.array([0, 1])


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        # worlds and bounds
        (lambda: L.world(10, 100, 5, "zipf", -1), "seed"),
        (lambda: L.prompted(10, 5, 10, 0.5, "x"), "seed"),
        (lambda: L.fact_strings(2, 2, 1.5), "seed"),
        (lambda: WORLD.model("calibrated").over_confidence(NAN), "tau"),
        (lambda: WORLD.model("calibrated").sure_bound(-1), "tau"),
        (lambda: L.expected_bound(1.5, 0, 10, 100, 5), "seen_once"),
        (lambda: L.expected_bound(F(1, 2), -1, 10, 100, 5), "over"),
        (lambda: L.printed_bound(0.5, NAN, 10, 100, 50, 0.1), "miscalibration"),
        (lambda: L.printed_prompted_bound("x", 0, 5, 10), "once"),
        (lambda: L.levels([1, 0], [1, 0], 0, [1]), "facts"),
        (lambda: L.chances_of_seen(HALF, 3, "memoriser"), "counts"),
        (lambda: VALID.misclassified(NAN), "t"),
        (lambda: VALID.over_confidence(0.5), "t"),
        # Good and Turing
        (lambda: L.seen_once([1, -1], 3), "counts"),
        (lambda: L.seen_once([1, 1, 1], 2), "counts"),
        (lambda: L.mean_difference([F(1, 3), F(2, 3)], 10**9), "documents"),
        (lambda: L.mean_square([F(1, 3), F(2, 3)], 10**9), "documents"),
        (lambda: L.most_mean_difference(10**9), "documents"),
        (lambda: L.most_mean_square(10**9), "documents"),
        # sources and decisions
        (lambda: EVEN.chance([0, 2]), "symbol 2"),
        (lambda: EVEN.chance([-1]), "symbol"),
        (lambda: L.source([1], 5), "steps"),
        (lambda: L.conditional_entropy("x", 2), "of"),
        (lambda: L.conditional_entropy(EVEN, 10**9), "t"),
        (lambda: L.window_entropy_by_definition(EVEN, 5, 7), "window"),
        (lambda: L.window_entropy_by_definition(EVEN, 5, -1), "window"),
        (lambda: L.window_entropy_by_definition(MANY, 12, 1), "20^12"),
        (lambda: L.greedy_text(EVEN, 10**9), "length"),
        (lambda: L.most_probable_text(None, 3), "of"),
        (lambda: L.most_sampling_error(F(9, 10), 3), "least"),
        (lambda: L.most_sampling_error(NAN, 3), "least"),
        # logarithms and families
        (lambda: L.binary_kl("a", F(1, 2)), "a"),
        (lambda: L.at_most_rational(L.log(2), 0.7), "bound"),
        (lambda: L.at_most_rational(0.5, F(1, 2)), "value"),
        (lambda: L.projection("x", HALF), "family"),
        (lambda: L.separating_direction(None, HALF), "family"),
        (lambda: L.closest_common_scale(2), "delta"),
        (lambda: L.rescaled(HALF, 0, 2), "A"),
        # covers and certificates
        (lambda: L.nearest_in_cover([0.5], 1, 3), "q"),
        (lambda: L.nearest_in_cover([], 1, 3), "q"),
        (lambda: L.margin_certificate(5, 1e200, 1e200, 1, 1e-200, 10, 0.1), "margin"),
        (lambda: L.error_between(3, [1]), "first"),
        (lambda: L.error_between([-1], [1]), "first"),
        # a conjunction and its learners
        (lambda: L.random_conjunction(5, 2, None), "rng"),
        (lambda: L.random_conjunction(10**12, 2, 0), "T"),
        (lambda: L.Conjunction(5, (0, 4)).labels([[1, 0]]), "words"),
        (lambda: L.balanced_accuracy([NAN, 1.0], LABELS), "scores"),
        (lambda: L.balanced_accuracy([1.0], LABELS), "scores"),
        (lambda: L.balanced_accuracy([1.0, 2.0], [3, 0]), "labels"),
        (lambda: L.elimination(WORDS, [1]), "words"),
        (lambda: L.elimination(WORDS + 1, LABELS), "words"),
        (lambda: L.elimination(WORDS, LABELS)([[1, 0, 1]]), "words"),
        (lambda: L.l1_logistic(WORDS, LABELS, -1), "penalty"),
        (lambda: L.attention(WORDS[:, 0], LABELS), "words"),
        (lambda: L.log_choices(10**9, 5 * 10**8), "k"),
        (lambda: L.least_samples(5000, 2000), "k"),
        (lambda: L.least_samples(5, 2, "x"), "probability"),
        # trees of parities
        (lambda: L.parity_tree(4, 3), "letters"),
        (lambda: L.parity_tree(10**30, [0, 1]), "d"),
        (lambda: L.with_steps("x", [1, -1]), "tree"),
        (lambda: L.relations(None, 4), "tree"),
        (lambda: L.gradient(TREE, 4, [[1] * 4], printed="no"), "printed"),
        (lambda: L.gradient(TREE, 4, np.ones((0, 4))), "bits"),
        (lambda: L.one_step(TREE, np.ones((0, 4))), "bits"),
        (lambda: L.room_for_noise(L.parity_tree(10**5, [0, 1])), "d"),
        (lambda: L.enough_samples(TREE, 0.1, NAN), "room"),
        (lambda: L.enough_samples(TREE, 0.1, F(3)), "room"),
        (lambda: L.linear_tokens([[0, 1]], None), "letters"),
        (lambda: L.mean_signal_bound(10**9, 5 * 10**8), "d"),
        # gates
        (lambda: L.circuit(2, [3]), "gate"),
        (lambda: L.circuit(2, None), "gates"),
        (lambda: L.random_circuit(1, 1, 0), "inputs"),
        (lambda: L.random_circuit(2, -1, 0), "gates"),
        (lambda: L.random_circuit(2, 10**8, 0), "gates"),
        (lambda: L.hypotheses(1, 1), "inputs"),
        (lambda: L.enough_examples(2, 1, 1e-320, 0.1), "epsilon"),
        # restrictions
        (lambda: L.random_tree(10**5, 10**5, 0), "d"),
        (lambda: L.restrictions(10**7, 0.5, 10**9, 0), "restrictions"),
        (lambda: L.restricted((9, 0, 1), [0, 1]), "tree"),
        (lambda: L.restricted((0, 1), [0, 1]), "tree"),
        (lambda: L.restricted((0, 0, 1), [5, 1]), "restriction"),
        (lambda: L.says("x", [0]), "leaf"),
        (lambda: L.says((0, 0, 1), [-1]), "word"),
        (lambda: L.tree_by_restriction(3, [([-1, -1], (0, 0, 1))]), "restriction"),
        (lambda: L.tree_by_restriction(2, [3]), "sample"),
        (lambda: L.enough_restrictions(5, 2, 10**6, 0.3, 0.1), "depth"),
        (lambda: L.restricted_terms([frozenset({(9, 1)})], [0, 1]), "terms"),
        (lambda: L.restricted_terms([3], [0, 1]), "term"),
        (lambda: L.terms_by_restriction([[frozenset({3})]]), "literal"),
        # models
        (lambda: string_model([[0, 1] * 500], [1], 2), "strings"),
        (lambda: sample("x", [2], 1, 0), "model"),
        (lambda: sample(string_model([[0, 1]], [1], 2), [2], 1, -1), "seed"),
        (lambda: log_probabilities(None, [2, 0]), "model"),
        (lambda: string_probabilities("x", 2), "model"),
    ],
)
def test_what_is_refused(call, parameter, unchecked):
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
