"""Newton's method under a causal mask, by pause tokens."""

import numpy as np
import pytest

from constructions import newton, newton_with_pauses

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("d", "k", "n"), [(1, 1, 1), (2, 0, 3), (3, 4, 5), (2, 6, 1)])
def test_it_is_newtons_method_from_the_identity(d, k, n):
    x, y, queries = RNG.normal(size=(7, n, d)), RNG.normal(size=(7, n)), RNG.normal(size=(7, d))
    wanted = newton(d, k, 2.0**-6, start="identity")(x, y, queries)
    model = newton_with_pauses(d, k, 2.0**-6)
    np.testing.assert_allclose(model(x, y, queries), wanted, rtol=1e-12, atol=1e-13)
    assert model.prompt(x, y, queries).tokens.shape[-2] == n + d * k + 1
    assert model.is_causal


def test_several_queries_stand_at_the_end_of_one_prompt():
    x, y, queries = RNG.normal(size=(4, 2)), RNG.normal(size=4), RNG.normal(size=(5, 2))
    model = newton_with_pauses(2, 2, 0.125)
    one_by_one = [model(x, y, query).item() for query in queries]
    np.testing.assert_allclose(model(x, y, queries), one_by_one, rtol=1e-14)


def test_tokens_within_a_group_need_not_be_right_and_those_behind_it_are():
    """After layer 2, group 0 holds a part of the sum, and group 1 the whole: W_1 e_a."""
    d, k, alpha = 2, 2, 0.125
    x, y, query = RNG.normal(size=(4, d)), RNG.normal(size=4), RNG.normal(size=d)
    model = newton_with_pauses(d, k, alpha)
    after = list(model.streams(x, y, query))[2][..., model.stream["u"]].numpy()
    W = alpha * x.T @ x
    W = W - W @ W / 2
    np.testing.assert_allclose(after[4 + d : 4 + 2 * d], W, rtol=1e-13)
    assert not np.allclose(after[4 : 4 + d], W, rtol=1e-3)
