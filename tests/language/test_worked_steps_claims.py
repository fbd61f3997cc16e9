"""The claims on worked steps: what they find, what they refuse, and their pictures."""

import numpy as np
import pytest

from theory.checks import InputError
from verify.claim import Run
from verify.finding import Verdict
from verify.language.bounds import never_wrong
from verify.language.direct_gradients import direct_gradients
from verify.language.linear_tokens import linear_tokens
from verify.language.one_step import one_gradient_step
from verify.language.parity_steps import parity_with_steps
from verify.language.restriction import restriction_access
from verify.language.worked_steps import reopened, worked_steps

SMALL = [
    (parity_with_steps, {"d": 9, "k": 4, "samples": 4}),
    (linear_tokens, {"d": 9, "k": 5, "samples": 4}),
    (direct_gradients, {"d": 5, "letters": 20}),
    (one_gradient_step, {"d": 16, "k": 8}),
    (worked_steps, {"inputs": 8, "gates": 10, "examples": 60}),
    (restriction_access, {"d": 9, "leaves": 4}),
]


@pytest.mark.parametrize(("claim", "options"), SMALL, ids=lambda each: getattr(each, "check", ""))
def test_they_hold_at_small_sizes(claim, options, tmp_path):
    picture = tmp_path / "p.png" if claim.draws else None
    found = list(claim.findings(Run(quick=True, plot=picture), **options))
    assert {each.verdict for each in found} == {Verdict.HOLDS}
    assert picture is None or picture.stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.parametrize("claim", [claim for claim, _ in SMALL], ids=lambda claim: claim.statement)
def test_they_hold_as_they_are(claim):
    assert claim.verdict(Run(seed=1), **claim.defaults) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("claim", "options", "message"),
    [
        (parity_with_steps, {"d": 1000}, "at most 256"),
        (parity_with_steps, {"d": 8, "k": 3}, "power of two"),
        (parity_with_steps, {"d": 8, "k": 16}, "power of two"),
        (linear_tokens, {"d": 4, "k": 5}, "k at most d"),
        (linear_tokens, {"d": 1000}, "at most 256"),
        (direct_gradients, {"d": 11}, "at most 10"),
        (direct_gradients, {"letters": 1000}, "at most 200"),
        (one_gradient_step, {"d": 500}, "at most 128"),
        (one_gradient_step, {"d": 4}, "at least 8"),
        (one_gradient_step, {"d": 16, "k": 6}, "power of two"),
        (one_gradient_step, {"d": 8, "k": 16}, "from 2 to d"),
        (worked_steps, {"gates": 0}, "at least 1"),
        (restriction_access, {"leaves": 1}, "at least 2"),
        (restriction_access, {"d": 4, "leaves": 6}, "at most 5"),
        (restriction_access, {"d": 4, "leaves": 3}, "a width of at most 4"),
    ],
)
def test_sizes_that_have_no_meaning_are_refused(claim, options, message):
    with pytest.raises(InputError, match=message) as refused:
        list(claim.findings(Run(quick=True), **{**claim.defaults, **options}))
    assert "\n" not in str(refused.value)


def test_a_learner_that_says_nothing_decides_nothing():
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
