"""The claims on chains of thought: verdicts, noise, and options that do not go together."""

import sys

import numpy as np
import pytest
from refusals import rejects

from verify.claim import Run
from verify.finding import Verdict
from verify.language.bounds import never_wrong
from verify.language.direct_gradients import direct_gradients
from verify.language.learned_gates import reopened
from verify.language.linear_tokens import GUESSED, RIGHT, _learned, linear_tokens
from verify.language.one_gradient_step import one_gradient_step
from verify.language.parity_with_steps import parity_with_steps
from verify.language.restriction_access import _terms, restriction_access
from verify.language.sparse_and import sparse_and
from verify.language.sparse_and_growth import sparse_and_growth


def test_a_learner_without_outputs_is_undecided():
    assert never_wrong("right", "", 0, 0).verdict is Verdict.UNDECIDED
    assert never_wrong("right", "", 0, 3).verdict is Verdict.HOLDS
    assert never_wrong("right", "", 1, 3).verdict is Verdict.FAILS


def test_what_is_open_again_is_the_largest_fall():
    assert reopened([0.25, 0.75, 0.5, 1.0]) == 0.25
    assert reopened([0.25, 0.5, 1.0]) == -0.25


def test_noise_is_that_of_the_samples():
    """The finding on the noise is not about rounding: with more samples it falls as 1/n."""
    from theory.language import gradient_by_counting, one_step, parity_tree

    tree, rng = parity_tree(10, range(4)), np.random.default_rng(0)
    exact = np.array([float(u) for u in gradient_by_counting(tree, 12)])
    squares = []
    for n in (500, 8000):
        steps = [one_step(tree, rng.choice([-1, 1], (n, 10)))[2, :12] for _ in range(20)]
        squares.append(n * np.mean([(step - exact) ** 2 for step in steps]))
    assert 0.7 < squares[0] / squares[1] < 1.4


@pytest.mark.parametrize(
    ("claim", "options", "parameter"),
    [
        (parity_with_steps, {"d": 1000}, "d"),
        (parity_with_steps, {"d": 8, "k": 3}, "k"),
        (linear_tokens, {"d": 4, "k": 5}, "k"),
        (linear_tokens, {"d": 1000}, "d"),
        (direct_gradients, {"bits": 1000}, "bits"),
        (one_gradient_step, {"d": 500}, "d"),
        (one_gradient_step, {"d": 16, "k": 6}, "k"),
        (restriction_access, {"d": 4, "n_leaves": 6}, "n_leaves"),
        (restriction_access, {"d": 4, "n_leaves": 3}, "width"),
        (sparse_and, {"bits": 5000}, "bits"),
        (sparse_and_growth, {"bits": 900}, "bits"),
    ],
)
def test_combinations_that_no_range_of_an_option_excludes_are_rejected(claim, options, parameter):
    with rejects(parameter):
        list(claim.findings(Run(quick=True), **{**claim.defaults, **options}))


def test_terms_that_share_variables_may_be_learned_from_a_tenth_of_the_restrictions():
    """At d = 3, one restriction reveals all terms of 3 literals."""
    found = {d: list(_terms(Run(seed=0), d, 3)) for d in (3, 10)}
    assert [f.id for f in found[3]] == ["found"]
    assert [f.id for f in found[10]] == ["found", "too-few"]
    assert {f.verdict for d in found for f in found[d]} == {Verdict.HOLDS}


def _around(right, guessed, by):
    return (right if right == 1 else right + by), guessed + by


@pytest.mark.parametrize(("right", "guessed"), [(1, 0.5), (RIGHT - 0.01, 0.5), (1, GUESSED + 0.01)])
def test_regressions_are_right_only_with_the_tokens_of_the_words(right, guessed, monkeypatch):
    """The mean accuracies are others, with the tokens of the words or of other words."""
    module = sys.modules["verify.language.linear_tokens"]
    shares = [
        share
        for seed in range(module.LEARNERS)
        for share in _around(right, guessed, 0.002 * (-1) ** seed)
    ]
    monkeypatch.setattr(module, "definition", lambda words, positions: np.zeros((len(words), 1)))
    monkeypatch.setattr(
        module,
        "tokens_by_regression",
        lambda words, tokens, queries: (
            np.arange(len(queries))[:, None] >= round(shares.pop(0) * len(queries))
        ),
    )
    found = _learned(Run())
    assert found.verdict is (Verdict.HOLDS if (right, guessed) == (1, 0.5) else Verdict.FAILS)
