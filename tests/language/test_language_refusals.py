"""What the functions of language refuse in one line: wrong kinds and numbers, sizes without end."""

from fractions import Fraction as F

import numpy as np
import pytest

from constructions import log_probabilities, sample, string_model, string_probabilities
from theory import language as L
from theory.checks import InputError

HALF, NAN = [F(1, 2), F(1, 2)], float("nan")
EVEN, TREE = L.even_process(), L.parity_tree(4, [0, 1])
WORLD = L.world(10, 100, 10, "zipf", 0)
VALID = L.is_it_valid([1], [[1, 0]], [[1, 0]], [[0]])
MANY = L.source([1], [[[F(1, 20)]]] * 20)
WORDS, LABELS = np.array([[1, 0], [1, 1]]), np.array([0, 1])


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        # worlds and bounds
        (lambda: L.world(10, 100, 5, "zipf", -1), "seed is -1: give a seed"),
        (lambda: L.prompted(10, 5, 10, 0.5, "x"), "seed is 'x'"),
        (lambda: L.fact_strings(2, 2, 1.5), "seed is 1.5"),
        (lambda: WORLD.model("calibrated").over_confidence(NAN), "tau contains NaN"),
        (lambda: WORLD.model("calibrated").sure_bound(-1), "tau is -1: give a threshold"),
        (lambda: L.expected_bound(1.5, 0, 10, 100, 5), "seen_once is 1.5: give a probability"),
        (lambda: L.expected_bound(F(1, 2), -1, 10, 100, 5), "over is -1"),
        (lambda: L.printed_bound(0.5, NAN, 10, 100, 50, 0.1), "miscalibration contains NaN"),
        (lambda: L.printed_prompted_bound("x", 0, 5, 10), "once is of type text"),
        (lambda: L.levels([1, 0], [1, 0], 0, [1]), "facts cannot be read from this int"),
        (lambda: L.chances_of_seen(HALF, 3, "memoriser"), "counts cannot be read"),
        (lambda: VALID.misclassified(NAN), "t contains nan: give integers or fractions"),
        (lambda: VALID.over_confidence(0.5), "t contains 0.5"),
        # Good and Turing
        (lambda: L.seen_once([1, -1], 3), "counts is -1"),
        (lambda: L.seen_once([1, 1, 1], 2), "sum to 3 and there are 2 documents"),
        (lambda: L.mean_difference([F(1, 3), F(2, 3)], 10**9), "2 fractions of 2e.09 bits"),
        (lambda: L.mean_square([F(1, 3), F(2, 3)], 10**9), "give fewer documents"),
        (lambda: L.most_mean_difference(10**9), "give at most 50000"),
        (lambda: L.most_mean_square(10**9), "give at most 50000"),
        # sources and decisions
        (lambda: EVEN.chance([0, 2]), "a symbol is 2: give numbers from 0 to 1"),
        (lambda: EVEN.chance([-1]), "a symbol is -1"),
        (lambda: L.source([1], 5), "steps cannot be read"),
        (lambda: L.conditional_entropy("x", 2), "give a source, such as even_process"),
        (lambda: L.conditional_entropy(EVEN, 10**9), "give at most 200"),
        (lambda: L.window_entropy_by_definition(EVEN, 5, 7), "the window is 7 and t is 5"),
        (lambda: L.window_entropy_by_definition(EVEN, 5, -1), "window is -1"),
        (lambda: L.window_entropy_by_definition(MANY, 12, 1), "20.12 words"),
        (lambda: L.greedy_text(EVEN, 10**9), "give at most 2000"),
        (lambda: L.most_probable_text(None, 3), "of is None: give a source"),
        (lambda: L.most_sampling_error(F(9, 10), 3), "from 0 to 1 − 1/3"),
        (lambda: L.most_sampling_error(NAN, 3), "least contains nan"),
        # logarithms and families
        (lambda: L.binary_kl("a", F(1, 2)), "a and b contains 'a'"),
        (lambda: L.at_most_rational(L.log(2), 0.7), "bound contains 0.7"),
        (lambda: L.at_most_rational(0.5, F(1, 2)), "value is 0.5: give one of `log`"),
        (lambda: L.projection("x", HALF), "family is 'x': give one that `log_linear`"),
        (lambda: L.separating_direction(None, HALF), "family is None"),
        (lambda: L.closest_common_scale(2), "from −1 to 1"),
        (lambda: L.rescaled(HALF, 0, 2), "A cannot be read from this int"),
        # covers and certificates
        (lambda: L.nearest_in_cover([0.5], 1, 3), "q contains 0.5"),
        (lambda: L.nearest_in_cover([], 1, 3), "the dimension of q is 0"),
        (lambda: L.margin_certificate(5, 1e200, 1e200, 1, 1e-200, 10, 0.1), "over the margin"),
        (lambda: L.error_between(3, [1]), "first cannot be read"),
        (lambda: L.error_between([-1], [1]), "a position in first is -1"),
        # a conjunction and its learners
        (lambda: L.random_conjunction(5, 2, None), "rng is None: give a seed"),
        (lambda: L.random_conjunction(10**12, 2, 0), "give at most 100000000"),
        (lambda: L.Conjunction(5, (0, 4)).labels([[1, 0]]), r"shape \(1, 2\)"),
        (lambda: L.balanced_accuracy([NAN, 1.0], LABELS), "scores contains NaN"),
        (lambda: L.balanced_accuracy([1.0], LABELS), r"shape \(1,\) and labels \(2,\)"),
        (lambda: L.balanced_accuracy([1.0, 2.0], [3, 0]), "labels contain 3"),
        (lambda: L.elimination(WORDS, [1]), r"words have shape \(2, 2\) and labels \(1,\)"),
        (lambda: L.elimination(WORDS + 1, LABELS), "words contain 2"),
        (lambda: L.elimination(WORDS, LABELS)([[1, 0, 1]]), "learned from 2 bits"),
        (lambda: L.l1_logistic(WORDS, LABELS, -1), "penalty contains -1"),
        (lambda: L.attention(WORDS[:, 0], LABELS), "give .m, T. and .m,."),
        (lambda: L.log_choices(10**9, 5 * 10**8), "of at most 10000"),
        (lambda: L.least_samples(5000, 2000), "k is 2000: give at most 1000"),
        (lambda: L.least_samples(5, 2, "x"), "probability is of type text"),
        # trees of parities
        (lambda: L.parity_tree(4, 3), "letters cannot be read from this int"),
        (lambda: L.parity_tree(10**30, [0, 1]), "give at most 100000000"),
        (lambda: L.with_steps("x", [1, -1]), "tree is 'x': give one that `parity_tree` makes"),
        (lambda: L.relations(None, 4), "tree is None"),
        (lambda: L.gradient(TREE, 4, [[1] * 4], printed="no"), "printed is 'no'"),
        (lambda: L.gradient(TREE, 4, np.ones((0, 4))), "at least one word"),
        (lambda: L.one_step(TREE, np.ones((0, 4))), "at least one word"),
        (lambda: L.room_for_noise(L.parity_tree(10**5, [0, 1])), "d . k is 100002"),
        (lambda: L.enough_samples(TREE, 0.1, NAN), "room contains nan"),
        (lambda: L.enough_samples(TREE, 0.1, F(3)), "never more than ½"),
        (lambda: L.linear_tokens([[0, 1]], None), "letters cannot be read"),
        (lambda: L.mean_signal_bound(10**9, 5 * 10**8), "d is 1000000000: give at most 100000"),
        # gates
        (lambda: L.circuit(2, [3]), "a gate cannot be read from this int"),
        (lambda: L.circuit(2, None), "gates cannot be read"),
        (lambda: L.random_circuit(1, 1, 0), "inputs is 1: give at least two"),
        (lambda: L.random_circuit(2, -1, 0), "gates is -1"),
        (lambda: L.random_circuit(2, 10**8, 0), "inputs . gates is 100000002"),
        (lambda: L.hypotheses(1, 1), "give at least two"),
        (lambda: L.enough_examples(2, 1, 1e-320, 0.1), "no computer counts"),
        # restrictions
        (lambda: L.random_tree(10**5, 10**5, 0), "give at most 1000000"),
        (lambda: L.restrictions(10**7, 0.5, 10**9, 0), "GiB"),
        (lambda: L.restricted((9, 0, 1), [0, 1]), "variables from 0 to 1"),
        (lambda: L.restricted((0, 1), [0, 1]), "give .variable, at 0, at 1."),
        (lambda: L.restricted((0, 0, 1), [5, 1]), "0, 1 or −1 where it is free"),
        (lambda: L.says("x", [0]), "a leaf is 'x'"),
        (lambda: L.says((0, 0, 1), [-1]), "0 or 1"),
        (lambda: L.tree_by_restriction(3, [([-1, -1], (0, 0, 1))]), r"give \(3,\)"),
        (lambda: L.tree_by_restriction(2, [3]), "a sample cannot be read"),
        (lambda: L.enough_restrictions(5, 2, 10**6, 0.3, 0.1), "trees of depth 1000000"),
        (lambda: L.restricted_terms([frozenset({(9, 1)})], [0, 1]), "variables above 1"),
        (lambda: L.restricted_terms([3], [0, 1]), "a term is 3: give a frozenset"),
        (lambda: L.terms_by_restriction([[frozenset({3})]]), "a literal is 3"),
        # models
        (lambda: string_model([[0, 1] * 500], [1], 2), "give at most 500"),
        (lambda: sample("x", [2], 1, 0), "model is a str"),
        (lambda: sample(string_model([[0, 1]], [1], 2), [2], 1, -1), "seed is -1"),
        (lambda: log_probabilities(None, [2, 0]), "model is a NoneType"),
        (lambda: string_probabilities("x", 2), "model is a str"),
    ],
)
def test_what_is_refused(call, message, unchecked):
    with pytest.raises(InputError, match=message) as refusal:
        call()
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300


def test_logarithms_are_compared_with_each_other_and_with_0_alone():
    assert L.log(2) > 0
    with pytest.raises(TypeError, match="'<' not supported between instances of 'Log' and 'int'"):
        assert L.log(2) < 1


def test_a_seed_is_as_good_as_its_generator(unchecked):
    assert L.random_conjunction(9, 3, 5) == L.random_conjunction(9, 3, np.random.default_rng(5))


def test_the_first_bits_are_enough_for_labels():
    words = np.array([[1, 1, 0], [1, 0, 1]])
    assert L.Conjunction(9, (0, 1)).labels(words).tolist() == [1, 0]
