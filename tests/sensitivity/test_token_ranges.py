"""Functions of tokens and estimates at many sizes, compared with definitions."""

from fractions import Fraction
from functools import partial
from itertools import product
from math import log, sqrt

import numpy as np
import pytest
from refusals import rejects
from sensitivity_by_definition import RATES

from theory import sensitivity as s
from theory.sensitivity import tokens

# Tokens

TOKENS = [(2, 1), (2, 7), (3, 5), (5, 4), (17, 2), (33, 2), (130, 1), (300, 1)]


@pytest.mark.parametrize(("V", "T"), TOKENS)
@pytest.mark.parametrize("labels", [1, 2, 5])
def test_profiles_of_tokens(V, T, labels):
    """By the frequencies of each value on each line of sequences."""
    values = np.random.default_rng(V).integers(-labels, 0, V**T) * 7
    cube, profile = values.reshape((V,) * T), []
    for axis in range(T):
        counts = [(cube == v).sum(axis, keepdims=True).astype(object) for v in np.unique(values)]
        same = sum(int((count**2).sum()) for count in counts)
        profile.append(1 - Fraction(same, V ** (T + 1)))
    assert s.redrawn_profile(values, V) == profile
    assert s.forced_profile(values, V) == [p * V / (V - 1) for p in profile]
    for delta in RATES:
        assert s.hybrid_bound(values, V, delta) == delta * sum(profile)
    assert s.hybrid_bound(values, V, 0.375) == pytest.approx(0.375 * float(sum(profile)))
    parts(values, V, T)
    if T * V**T < 5000:
        function = dict(zip(product(range(V), repeat=T), values.tolist(), strict=True)).__getitem__
        assert s.forced_profile_by_definition(function, V, T) == s.forced_profile(values, V)


def parts(values, V, T):
    """The weights by noise on one token after another: a polynomial in 1 − δ."""
    weights = s.efron_stein_weights(values, V)
    assert sum(weights) == 1
    for delta in RATES:
        agree = 0
        for v in np.unique(values):
            smooth = e = (values == v).astype(object).reshape((V,) * T)
            p, q = delta.as_integer_ratio()
            for axis in range(T):
                smooth = (q - p) * V * smooth + p * smooth.sum(axis, keepdims=True)
            agree += Fraction((e * smooth).sum(), (q * V * V) ** T)
        assert s.change_when_redrawn(values, V, delta) == 1 - agree
        assert sum((1 - delta) ** k * w for k, w in enumerate(weights)) == agree
        if V**T < 700:
            assert s.change_when_redrawn_by_definition(values, V, delta) == 1 - agree


def test_degrees_of_functions_of_tokens():
    """A function of the last j tokens has no weight above degree j, and some at j if a parity."""
    for j in range(9):
        values = np.bitwise_count(np.arange(2**8) & 2**j - 1).astype(int) % 2
        weights = s.efron_stein_weights(values, 2)
        assert weights == [Fraction(1, 2) * ((k == 0) + (k == j)) for k in range(9)]


@pytest.mark.parametrize(
    ("function", "work"),
    [
        (s.efron_stein_weights, 2 * 2**3 * 2**3),
        (partial(s.change_when_redrawn, delta=0.5), 2 * 2**3 * 2**3),
        (partial(s.change_when_redrawn_by_definition, delta=0.5), 4**3),
    ],
)
def test_work_over_tokens(function, work, monkeypatch):
    """Values times sequences times sets, or pairs of sequences, and at most 2^27."""
    assert tokens.WORK == 2**27
    values = np.arange(8) % 2
    monkeypatch.setattr(tokens, "WORK", work)
    function(values, vocabulary_size=2)
    monkeypatch.setattr(tokens, "WORK", work - 1)
    with rejects():
        function(values, vocabulary_size=2)


def test_work_by_definition(monkeypatch):
    """Sequences times positions times symbols; also where the power alone is too large to write."""
    for V, T in ((2, 22), (3, 14), (11_586, 1), (2, 10**9)):
        with rejects("vocabulary_size", "length"):
            s.forced_profile_by_definition(sum, V, T)
    for V, T in ((2, 3), (5, 2), (9, 1)):
        monkeypatch.setattr(tokens, "WORK", T * V ** (T + 1))
        assert s.forced_profile_by_definition(sum, V, T) == [1] * T
        monkeypatch.setattr(tokens, "WORK", T * V ** (T + 1) - 1)
        with rejects("vocabulary_size", "length"):
            s.forced_profile_by_definition(sum, V, T)


@pytest.mark.parametrize("count", [1, 2, 33, 1000, 10**9])
@pytest.mark.parametrize("eta", [1e-300, 0.001, 0.05, 0.5, 0.999])
def test_radius_and_interval(count, eta):
    radius = sqrt((log(2) - log(eta)) / count / 2)
    for places in ([0.0], [1.0], [0.25, 0.5], np.linspace(0.2, 0.6, 300)):
        found, mean = s.Estimate(places, count, eta), sum(places) / len(places)
        assert found.radius == pytest.approx(radius, rel=1e-12)
        assert found.value == pytest.approx(mean)
        limits = np.clip([mean - radius, mean + radius], 0, 1)
        assert found.interval == pytest.approx(tuple(limits), abs=1e-12)
        assert str(found) == f"{found.value:.3f} ± {found.radius:.3f}"


@pytest.mark.parametrize("V", [2, 3, 4, 31, 32, 33, 62, 130, 1000, 2**40])
def test_changed_tokens(V):
    """Differences of new and old tokens, modulo V, in up to 8 intervals of equal probability."""
    rng = np.random.default_rng(V)
    N, T = 4000, 3
    rows = np.concatenate([rng.integers(0, V, (N - 2, T)), [[0] * T, [V - 1] * T]])
    for change, least in ((s.redrawn(V), 0), (s.forced(V), 1)):
        met = list(change(rows, np.random.default_rng(1)))
        assert len(met) == T
        for place, changed in enumerate(met):
            assert (np.delete(changed, place, 1) == np.delete(rows, place, 1)).all()
            steps = (changed[:, place] - rows[:, place]) % V
            assert 0 <= changed.min() <= changed.max() < V
            assert least <= steps.min()
            edges = np.linspace(least, V, min(V - least, 8) + 1)
            widths = np.diff(np.ceil(edges)) / (V - least)
            found = np.histogram(steps + 0.0, np.ceil(edges) - 0.5)[0]
            assert (abs(found - N * widths) <= 6 * np.sqrt(N * widths)).all()
            if V < 200:
                assert len(np.unique(steps)) == V - least
        for wrong in (V, -1):
            with rejects("inputs"):
                next(change(np.array([[0], [wrong]]), rng))


def test_a_label_that_changes_only_far_away():
    found = s.sensitivity(lambda x: x[:, 0] > 30, np.zeros((4000, 1), int), s.forced(62))
    assert abs(found.value - 31 / 61) < 0.05


@pytest.mark.parametrize(("N", "T"), [(1, 1), (1, 300), (300, 33), (5000, 2)])
@pytest.mark.parametrize("labels", [1, 2, 40])
def test_fractions_of_changed_predictions(N, T, labels):
    """Label j of an input is token j mod T; place i changes row r iff (r + i) mod 3 is 0."""
    rows, i = np.arange(N)[:, None], np.arange(T)

    def change(x, rng):
        for place in range(T):
            yield x ^ (((rows + i) % 3 == 0) & (i == place))

    def model(x):
        read = x[:, np.arange(labels) % T]
        return read[:, 0] if labels == 1 else read.reshape(N, *(labels // 2, 2)[labels < 2 :])

    found = s.sensitivity(model, np.zeros((N, T), int), change)
    wanted = [((np.arange(N) + p) % 3 == 0).mean() if p < labels else 0 for p in range(T)]
    assert found.by_place.tolist() == wanted
    assert (found.count, found.eta) == (N, 0.05)


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((2, 1, 1), 1),
        ((3, 2, 3), 1),
        ((2, 3, 12, 20), 4),
        ((2, 18, 9), 9),
        ((1, 66, 33), 33),
        ((2, 130, 130), 65),
    ],
)
@pytest.mark.parametrize("sigma", [0.25, 3.0, 1e6])
def test_patches(shape, size, sigma):
    """Each patch in turn, row by row, and nothing else; the noise has its deviation."""
    images = np.random.default_rng(0).normal(size=shape)
    noise = []
    tops, lefts = range(0, shape[-2], size), range(0, shape[-1], size)
    met = list(s.noisy_patches(size, sigma)(images, np.random.default_rng(1)))
    for (top, left), changed in zip(product(tops, lefts), met, strict=True):
        inside = np.zeros(shape, dtype=bool)
        inside[..., top : top + size, left : left + size] = True
        assert ((changed != images) == inside).all()
        noise.append((changed - images)[inside] / sigma)
    noise = np.concatenate(noise)
    assert noise.size == images.size
    assert abs(noise.mean()) < 6 / sqrt(noise.size)
    if noise.size > 500:
        for power, moment in ((2, 1), (4, 3)):
            bound = 6 * sqrt({2: 2, 4: 96}[power] / noise.size)
            assert abs((noise**power).mean() - moment) < bound
