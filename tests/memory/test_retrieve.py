"""`retrieve` against the definition in float64, and the error that pruning may make."""

import math
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects
from torch.utils._python_dispatch import TorchDispatchMode

from constructions.memory.retrieve import BLOCK, CHUNK, FEW, GROUP, retrieve
from theory.memory.modern_hopfield import modern_hopfield_step as definition
from theory.memory.retrieval_bounds import update_rounding
from verify.memory.modern_hopfield_retrieve import DIMENSION, N_PATTERNS, _crowd

retrieve_module = sys.modules["constructions.memory.retrieve"]  # the package has the function


def sphere(count, d, seed, dtype=torch.float64):
    rows = torch.randn(count, d, generator=torch.Generator().manual_seed(seed), dtype=dtype)
    return rows / rows.norm(dim=1, keepdim=True)


def near(patterns, count, noise=0.05, seed=1):
    """Noisy versions of the first patterns."""
    generator = torch.Generator().manual_seed(seed)
    rows = patterns[torch.arange(count) % len(patterns)]
    return rows + noise * torch.randn(rows.shape, generator=generator, dtype=rows.dtype)


@pytest.fixture
def no_dense(monkeypatch):
    """Every retrieval is pruned."""
    monkeypatch.setattr(retrieve_module, "SELECTED_AT_MOST", 1.0)
    monkeypatch.setattr(retrieve_module, "_dense", None)


@given(
    st.integers(1, 70),
    st.integers(1, 5),
    st.lists(st.integers(0, 9), max_size=2),
    st.floats(1e-3, 1e3),
    st.integers(0, 4),
)
def test_the_definition(count, d, leading, beta, steps):
    patterns = sphere(count, d, seed=count)
    queries = torch.randn(*leading, d, generator=torch.Generator().manual_seed(d)).double()
    found = retrieve(patterns, queries, beta, steps)
    assert found.shape == queries.shape
    # Scores of at most β‖ξ‖ are rounded d times, sums N times; each further update multiplies by β.
    per_update = (2 * d * beta * (1 + 3 * d) + count) * np.finfo(float).eps
    expected = definition(patterns, queries, beta, steps)
    error = np.abs(found.numpy() - expected).max(initial=0)
    assert error <= min(2.0, steps * per_update * max(1.0, beta) ** max(steps - 1, 0))


@pytest.mark.parametrize("steps", [8, 9, 31])
def test_many_updates(steps):
    """At β‖x‖² < 1 updates are contractions, so that errors do not grow."""
    patterns, queries = sphere(40, 9, seed=1), 5 * sphere(6, 9, seed=2)
    found = retrieve(patterns, queries, 0.5, steps)
    assert np.allclose(found, definition(patterns, queries, 0.5, steps), rtol=0, atol=1e-13)
    assert not np.allclose(found, retrieve(patterns, queries, 0.5, 2), rtol=0, atol=1e-13)


@pytest.mark.parametrize("count", [1, GROUP - 1, GROUP, GROUP + 1, BLOCK, BLOCK + GROUP + 3, 5000])
@pytest.mark.parametrize("queries", [FEW, CHUNK + 1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_pruning_at_any_size(count, queries, dtype, no_dense):
    patterns = sphere(count, 16, seed=2, dtype=dtype)
    states = near(patterns, queries)
    error = retrieve(patterns, states, 100.0) - torch.from_numpy(
        definition(patterns, states, 100.0)
    )
    # Scores of size 100 are rounded; twice that, and the tolerance.
    allowed = (1 + 2 * 100 * 16) * torch.finfo(dtype).eps
    assert error.norm(dim=1).max() <= allowed


right = retrieve_module._window


def test_the_window_takes_the_longest_euclidean_norm(monkeypatch):
    seen = []
    monkeypatch.setattr(retrieve_module, "_window", lambda *given: seen.append(given) or 1.0)
    patterns = 3 * sphere(3000, 8, seed=4)
    patterns[7] *= 2
    retrieve(patterns, near(patterns, FEW), 20.0, 2)
    assert [given[2] for given in seen] == pytest.approx([6.0, 6.0])


def test_a_score_may_be_rounded_out_of_the_window(monkeypatch):
    """As far off as a sum of d products can be, the groups just inside are still selected."""
    noise = np.random.default_rng(0).standard_normal((FEW + DIMENSION, DIMENSION))
    gap = right(N_PATTERNS, 20.0, 1.0, 1e-2, 1, 0)
    patterns, states = _crowd(gap, noise)
    longest = np.linalg.norm(patterns, axis=1).max()
    off = 1.9 * DIMENSION * 2.0**-52 * longest * np.linalg.norm(states, axis=1).min()
    exact = retrieve_module._largest

    def rounded(patterns, states):
        scores = exact(patterns, states)
        return torch.where(scores < scores.amax(0), scores - off, scores)

    monkeypatch.setattr(retrieve_module, "_largest", rounded)
    monkeypatch.setattr(retrieve_module, "_crowded", lambda *given: False)
    found = retrieve(patterns, states, 20.0, tolerance=1e-2).numpy()
    assert abs(found - patterns[0]).max(axis=1).min() > 1e-4


@given(
    N=st.integers(1, 10**9),
    beta=st.floats(1e-6, 1e6),
    M=st.floats(1e-3, 1e3),
    tolerance=st.floats(1e-300, 1e3),
    steps=st.integers(1, 5),
)
def test_the_window_is_that_of_the_proof(N, beta, M, tolerance, steps):
    """The weight dropped, 2N·e^{−βw}, times the slopes after it, is at most tolerance/steps."""
    for following in range(steps):
        window = right(N, beta, M, tolerance, steps, following)
        grows = max(0.0, math.log(beta) + 2 * math.log(M)) * following
        wanted = math.log(2 * N * steps) + grows - math.log(tolerance)
        assert window * beta == pytest.approx(max(0.0, wanted), rel=1e-12, abs=1e-10)


@pytest.mark.parametrize("steps", [2, 5])
def test_the_error_of_several_updates(steps, no_dense):
    """States that fall into the same basin from near its edge, where errors grow."""
    patterns = 2 * sphere(3000, 8, seed=4)
    states = near(patterns, FEW, noise=0.2)
    found = retrieve(patterns, states, 20.0, steps, tolerance=1e-4)
    error = np.linalg.norm(found.numpy() - definition(patterns, states, 20.0, steps), axis=1)
    assert error.max() <= 1e-4 * 2


def test_queries_with_many_patterns_in_the_window_are_computed_densely():
    patterns = sphere(6400, 16, seed=5)
    states = near(patterns, 2 * FEW)
    states[3], states[70] = 0.0, 1e-3 * states[70]  # all scores are equal; all are close
    found = retrieve(patterns, states, 300.0)
    error = np.abs(found.numpy() - definition(patterns, states, 300.0))
    assert error.max() <= 2 * 300 * 16 * 2.2e-16


@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("beta", [8.0, 1000.0])
def test_the_number_of_updates(steps, beta, monkeypatch):
    calls = []
    for name in ("_dense", "_pruned"):
        done = getattr(retrieve_module, name)

        def counted(*given, done=done, name=name):
            calls.append(name)
            return done(*given)

        monkeypatch.setattr(retrieve_module, name, counted)
    patterns = sphere(2000, 16, seed=6)
    queries = near(patterns, FEW)
    assert retrieve(patterns, queries, beta, steps).data_ptr() != queries.data_ptr()
    assert calls == [("_dense" if beta < 100 else "_pruned")] * steps


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_nothing_is_pruned_in_dtypes_of_low_precision(dtype, monkeypatch):
    monkeypatch.setattr(retrieve_module, "_pruned", None)
    patterns = torch.as_tensor(sphere(2000, 16, seed=6)).to(dtype)
    assert retrieve(patterns, patterns[: 2 * FEW], 1000.0).dtype == dtype


@pytest.mark.parametrize("beta", [8.0, 1000.0])
def test_no_tensor_has_a_score_for_every_pattern_and_query(beta):
    class Largest(TorchDispatchMode):
        size = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            for tensor in made if isinstance(made, tuple | list) else (made,):
                if isinstance(tensor, torch.Tensor):
                    self.size = max(self.size, tensor.numel())
            return made

    patterns = sphere(20_000, 8, seed=7, dtype=torch.float32)
    states = near(patterns, 2_000)
    with Largest() as seen:
        retrieve(patterns, states, beta)
    assert seen.size <= max(patterns.numel(), BLOCK * CHUNK) < len(patterns) * len(states) / 50


def test_huge_and_tiny_beta():
    patterns = sphere(500, 6, seed=8)
    states = near(patterns, FEW)
    nearest = patterns[(states @ patterns.T).argmax(1)]
    assert torch.equal(retrieve(patterns, states, 1e12), nearest)
    mean = patterns.mean(0)
    assert (retrieve(patterns, states, 1e-9) - mean).abs().max() < 1e-8


def test_beyond_the_range_of_exp_it_is_still_a_pattern_of_largest_score():
    patterns = sphere(5000, 16, seed=2, dtype=torch.float32)
    found = retrieve(patterns, near(patterns, FEW), 1e30)
    assert torch.equal(found, patterns[:FEW])


def test_any_tolerance_above_0_is_accepted():
    """From 2 on every point of the hull will do, and a window is never negative."""
    patterns = sphere(5000, 16, seed=2)
    assert torch.isfinite(retrieve(patterns, near(patterns, FEW), 100.0, 2, tolerance=1e9)).all()
    assert torch.isfinite(retrieve(patterns, near(patterns, FEW), 1e3, 2, tolerance=5e-324)).all()


@pytest.mark.parametrize("beta", [1.0, 300.0, 1e4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("queries", [3, FEW])
def test_the_whole_error_is_within_tolerance_and_rounding(beta, dtype, queries):
    patterns = 2 * sphere(3000, 8, seed=11, dtype=dtype)
    states = near(patterns, queries)
    eps, M = torch.finfo(dtype).eps, 2 * (1 + 1e-6)
    size = float(states.norm(dim=1).max())
    error = retrieve(patterns, states, beta).double() - torch.from_numpy(
        definition(patterns, states, beta)
    )
    bound, reference = (update_rounding(3000, 8, beta, M, size, e) for e in (eps, 2.0**-52))
    assert error.norm(dim=1).max() <= eps * M + bound + reference


def test_the_error_stated_for_float32():
    eps = torch.finfo(torch.float32).eps
    assert update_rounding(1000, 64, 1e3, 1.0, 1.0, eps) == pytest.approx(2e-2, rel=0.1)
    assert update_rounding(1000, 64, 1e5, 1.0, 1.0, eps) > 2.0


def test_equal_patterns_share_their_weight():
    patterns = torch.ones(3 * GROUP, 2)
    found = retrieve(patterns, torch.randn(FEW, 2), 1e6)
    assert torch.equal(found, torch.ones(FEW, 2))


def test_dtypes():
    assert retrieve([[1, 0], [0, 1]], [1, 0], 1.0).dtype == torch.float32
    assert retrieve(np.eye(2), np.ones(2), 1.0).dtype == torch.float64
    half = sphere(4000, 8, seed=9).to(torch.bfloat16)
    found = retrieve(half, near(half, FEW), 1000.0)
    assert found.dtype == torch.bfloat16
    assert (found.double() - half[:FEW].double()).abs().max() <= 0.02


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: retrieve(torch.ones(2, 3), torch.ones(4), 1.0), "queries"),
        (lambda: retrieve(torch.ones(3), torch.ones(3), 1.0), "patterns"),
        (lambda: retrieve(torch.ones(0, 3), torch.ones(3), 1.0), "patterns"),
        (lambda: retrieve(torch.full((2, 3), math.nan), torch.ones(3), 1.0), "patterns"),
        (lambda: retrieve(torch.ones(2, 3), torch.full((3,), math.inf), 1.0), "queries"),
        (lambda: retrieve(torch.full((2, 3), 1e30), torch.full((3,), 1e30), 1.0), "scores"),
    ],
)
def test_bad_input(call, name, unchecked):
    with rejects(name):
        call()


@pytest.mark.parametrize(
    ("M", "query", "beta"),
    [(1.8e19, 0.0, 1.0), (1e9, 3e29, 1.0), (1.8e9, 0.0, 1e20), (1.8e19, 0.0, 1e-9)],
)
def test_the_largest_scores_are_below_the_largest_number(M, query, beta):
    """max(1, β)·M(‖ξ‖ + M) is at most 3.4e38, and above it with 1.2 times as long patterns."""
    patterns, state = torch.tensor([[M], [-M]]), torch.tensor([query])
    assert torch.isfinite(retrieve(patterns, state, beta, 2)).all()
    with rejects("patterns"):
        retrieve(1.2 * patterns, state, beta, 2)


@pytest.mark.parametrize("size", [1e-25, 3e-19, 2e-18, 1e-3, 1e10, 1e18])
def test_products_do_not_underflow_beyond_the_bound_on_rounding(size):
    """Scores of size 1 with patterns of all sizes, or a refusal, after which scaling helps."""
    points, eps = sphere(5, 3, seed=3, dtype=torch.float32), 2.0**-23
    patterns, states, beta = size * points, size * near(points, 2), 4.0 / size**2
    if size < 1e-18:
        with rejects("patterns", "beta"):
            retrieve(patterns, states, beta)
        patterns, states, beta = patterns / size, states / size, 4.0
    wanted = definition(patterns.double(), states.double(), beta)
    M = float(patterns.double().norm(dim=1).max())
    bound = eps * M + update_rounding(5, 3, beta, M, float(states.double().norm(dim=1).max()), eps)
    found = retrieve(patterns, states, beta).double().numpy()
    assert np.linalg.norm(found - wanted, axis=1).max() <= bound < 0.1 * M


def test_patterns_that_are_not_normal_numbers_are_refused():
    points = sphere(5, 3, seed=3, dtype=torch.float32)
    assert torch.isfinite(retrieve(2e-38 * points, points, 1.0)).all()
    assert not retrieve(0 * points, points, 1.0).any()
    with rejects("patterns", "beta"):
        retrieve(1e-38 * points, points, 1.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_one_bad_pattern_among_many_raises(bad):
    patterns = sphere(3000, 16, seed=10)
    states = near(patterns, FEW)
    patterns[2000, 3] = bad
    with rejects("patterns"):
        retrieve(patterns, states, 1000.0)


def test_arrays_that_are_read_only_or_run_backwards():
    patterns = sphere(50, 4, seed=7).numpy()[::-1]
    patterns.flags.writeable = False
    found = retrieve(patterns, patterns[:3], 20.0)
    assert torch.equal(found, retrieve(patterns.copy(), patterns[:3].copy(), 20.0))
