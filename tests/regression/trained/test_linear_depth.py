"""The claim `linear-depth` on models whose answers are known."""

from functools import cache

import numpy as np
import pytest
import torch

from constructions.trained.tasks.regression import Regression
from theory.regression import ols
from verify.evidence.checkpoints import Trained
from verify.finding import Verdict
from verify.regression.trained import linear_depth as claim
from verify.regression.trained.linear_depth import fewest, linear_depth

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
N = 20


class Answers:
    """A model that answers the query by a rule."""

    def __init__(self, rule):
        self.rule = rule

    def named(self, name):
        return Trained(name, self, Regression(5, N + 1))

    def __call__(self, x, y, x_query):
        return torch.from_numpy(self.rule(x, y, x_query))


@pytest.fixture
def stated_once(monkeypatch):
    """The exact errors of ladders and polynomials, which are the same for all models."""
    for name in ("best_step_size", "gradient_descent_error", "polynomial_errors"):
        monkeypatch.setattr(claim, name, cache(getattr(claim, name)))


def test_linear_depth(verdicts, stated_once):
    """Shorter steps are no better than the ladder's, and are polynomials of few terms."""

    def found(rule):
        """What is found of each depth, by rule(layers)."""
        names = [f"regression-linear-{k}-layer{'s' * (k > 1)}-seed0" for k in (1, 2, 3, 4)]
        models = {name: Answers(rule(k)) for k, name in enumerate(names, 1)}
        made = verdicts(linear_depth, models, samples=3000)
        assert [id for id in made if "1-layer-" in id] == [f"{names[0]}/one-step"]
        return [made[f"{names[0]}/one-step"]], *(
            [made[f"{name}/ladder"], made[f"{name}/terms"]] for name in names[1:]
        )

    def solved(x, y, x_query):
        return np.vecdot(ols(x, y), x_query)

    sizes = {1: 0.78, 2: 0.37, 3: 0.3, 4: 0.27}  # about the best, and then half of it

    def ladder(layers):
        def rule(x, y, x_query):
            S, b = x.swapaxes(1, 2) @ x / N, np.matvec(x.swapaxes(1, 2), y) / N
            w = np.zeros_like(b)
            for _ in range(3 ** (layers - 1)):
                w += sizes[layers] * (b - np.matvec(S, w))
            return np.vecdot(w, x_query)

        return rule

    assert found(ladder) == ([HOLDS], *[[FAILS, FAILS]] * 3)
    assert found(lambda _: solved) == ([HOLDS], *[[HOLDS, HOLDS]] * 3)
    assert found(lambda _: lambda x, *_: np.zeros(len(x))) == ([FAILS], *[[FAILS, FAILS]] * 3)
    sizes[1] = 0.95  # by 20 %, which makes the error about 10 % larger
    assert found(ladder)[0] == [FAILS]


def test_the_fewest_terms():
    best = np.array([5.0, 3.0, 3.5, 1.0])
    assert [fewest(error, best) for error in (6.0, 5.0, 3.0, 2.0, 1.0, 0.5)] == [1, 1, 2, 4, 4, 5]
