"""Models of `constructions.language` at many sizes, compared with definitions."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from language_by_definition import law, rng
from refusals import rejects

from constructions.language import (
    fact_model,
    log_probabilities,
    parity_by_linear_tokens,
    parity_with_steps,
    sample,
    sampling,
    string_model,
    string_probabilities,
)
from constructions.language.parity_with_steps import sharpness_for_steps
from theory import language as L


@pytest.mark.parametrize("k", [1, 2, 3, 4, 31, 32, 33, 63, 64, 65, 127, 128, 130])
def test_digits_of_counts(k):
    d = 150
    positions = rng(k).permutation(d)[:k]
    words = (rng(1).random((40, d)) < np.linspace(0, 1, 40)[:, None]).astype(int)
    words[-2], words[-1] = 0, 1
    digits = len(f"{k:b}")
    wanted = [[int(x) for x in f"{int(w[positions].sum()):0{digits}b}"] for w in words]
    assert L.linear_tokens(words, positions).tolist() == wanted
    model = parity_by_linear_tokens(d, positions)
    assert model.generate(words, digits).tolist() == wanted
    logits = model.logits(words)
    assert (logits[:, : d - 1, 2] == 2 * k + 1).all()
    assert (logits[:, : d - 1, :2] <= 2 * k).all()
    assert (logits[:, d - 1, 2] == 0).all()
    answers = model(words)
    assert (answers[:, : d - 1] == -1).all()
    assert (answers[:, d - 1] == np.array(wanted)[:, 0]).all()


@pytest.mark.parametrize(("d", "k"), [(2, 2), (33, 16), (65, 64), (130, 2)])
@pytest.mark.parametrize("soft", [False, True])
def test_long_chains_of_thought(d, k, soft):
    positions = rng(k).permutation(d)[:k]
    least = math.log(3.5 * (d + k))
    assert sharpness_for_steps(d, k) == pytest.approx(least)
    words = rng(d).integers(2, size=(3, d))
    model = parity_with_steps(d, k, positions, sharpness=least * (1 + 1e-12) if soft else None)
    level, nodes = words[:, positions], []
    while level.shape[1] > 1:
        level = level[:, ::2] ^ level[:, 1::2]
        nodes.append(level)
    nodes = np.concatenate(nodes, axis=1)
    assert (model.generate(words, k - 1).numpy() == nodes).all()
    history = np.concatenate([words, nodes[:, :-1]], axis=1)
    answers, logits = model(history), model.logits(history)
    assert (answers[:, : d - 1] == -1).all()
    assert (answers[:, d - 1 :].numpy() == nodes).all()
    assert np.allclose(logits[:, : d - 1, 2], 2)
    assert np.allclose(logits[:, d - 1 :, 2], 0)
    if soft:
        with rejects("sharpness"):
            parity_with_steps(d, k, positions, sharpness=least * (1 - 1e-9))
    default = parity_with_steps(d, k).generate(words, k - 1)
    assert (default[:, -1].numpy() == words[:, :k].sum(1) % 2).all()


@pytest.mark.parametrize(
    ("V", "length", "m"),
    [
        (1, 2, 1),
        (2, 2, 4),
        (2, 9, 5),
        (100, 3, 1),
        (5, 4, 65),
        (9, 4, 7),
        (33, 2, 17),
        (33, 2, 1),
    ],
)
def test_models_of_strings(V, length, m):
    whole = m == V**length
    draw = rng(V + length)
    codes = draw.choice(V**length, m, replace=False)
    given = codes[:, None] // V ** np.arange(length)[::-1] % V
    p = law(m, zeros=True) if whole else [x * F(2, 3) for x in law(m)]
    model = string_model(V, given, p)
    wanted = np.full(V**length, 0.0 if whole else 1 / 3 / max(1, V**length - m))
    wanted[codes] = [float(x) for x in p]
    assert np.allclose(string_probabilities(model, length), wanted, rtol=1e-12, atol=1e-25)
    assert string_probabilities(model, length - 1).sum() == pytest.approx(1)
    assert string_probabilities(model, length - 1).shape == (V ** (length - 1),)
    some = given[[i for i in range(m) if p[i]]]
    found = log_probabilities(model, np.insert(some, 0, V, axis=1)).sum(-1).numpy()
    assert np.allclose(found, [math.log(x) for x in p if x])
    if m < V**length:
        counts, facts = [*range(m)], given
        if m > 1:
            for name in ("calibrated", "good-turing", "memoriser"):
                known = L.probabilities_of_seen(law(m), counts, name)
                left = 1 - float(sum(known))
                wanted = np.full(V**length, left / (V**length - (m - 1)))
                wanted[codes[1:]] = [float(x) for x in known]
                of = fact_model(V, facts, law(m), counts, name)
                found = string_probabilities(of, length)
                assert np.allclose(found, wanted, rtol=1e-12, atol=1e-25)


def test_prefixes_are_run_in_blocks_by_models_that_share_nothing_between_them(monkeypatch):
    model = string_model(2, [[0, 1] * 4], [F(2, 3)])
    wanted = string_probabilities(model, 8)
    monkeypatch.setattr(sampling, "answers_at_every_prefix", lambda model: False)
    monkeypatch.setattr(sampling, "AT_ONCE", 24)
    assert np.allclose(string_probabilities(model, 8), wanted, rtol=1e-12, atol=1e-25)


@pytest.mark.parametrize("length", [2, 27, 40])
def test_of_one_symbol_there_is_one_string(length):
    assert string_probabilities(string_model(1, [[0] * length], [F(1)]), length).tolist() == [1.0]


def test_models_of_many_documents():
    """Probabilities by hand, for counts of up to a million documents."""
    facts, counts, n = [[0, 1], [2, 2], [1, 0], [2, 0]], [1, 1500, 10**6, 0], 1001501
    p = [F(1, 2), F(1, 3), F(1, 12), F(1, 12)]
    wanted = {
        "calibrated": [*p[:3], F(1, 12)],
        "memoriser": [*(F(count, n) for count in counts[:3]), 0],
        "good-turing": [*(F(n - 1, n) * F(count, n) for count in counts[:3]), F(1, n)],
    }
    for name, (*known, left) in wanted.items():
        found = string_probabilities(fact_model(3, facts, p, counts, name), 2).numpy()
        each = np.full(9, float(left) / 6)
        each[[1, 8, 3]] = [float(x) for x in known]
        assert np.allclose(found, each, rtol=1e-12, atol=1e-27)


@pytest.mark.parametrize("tiny", [F(1, 10**13), F(1, 10**20), F(1, 10**27)])
def test_logits_of_tiny_probabilities(tiny):
    """Logits of strings, or of all other strings together, of probability down to 1e-27."""
    model = string_model(
        3, [[0, 0, 0], [0, 0, 1], [0, 1, 2], [1, 1, 1]], [1 - 3 * tiny, *[tiny] * 3]
    )
    assert model.logits([3])[0].tolist() == pytest.approx(
        [math.log(1 - tiny), math.log(tiny), -64], rel=1e-14, abs=1e-15
    )
    after = model.logits([3, 0])[1].tolist()
    assert after[:2] == pytest.approx([math.log(1 - tiny / (1 - tiny)), math.log(tiny)], rel=1e-12)
    assert model.logits([3, 0, 0])[2, 1].item() == pytest.approx(
        math.log(tiny / (1 - 2 * tiny)), rel=1e-14
    )
    rest = string_model(2, [[0, 0]], [1 - tiny])
    assert rest.logits([2])[0, 1].item() == pytest.approx(math.log(tiny * F(2, 3)), rel=1e-14)


@pytest.mark.parametrize(("V", "length"), [(2, 9), (33, 2)])
def test_samples(V, length):
    """Frequencies of the given strings, and of each first symbol, within five errors."""
    draw = rng(V)
    codes = draw.choice(V**length, 5, replace=False)
    given = codes[:, None] // V ** np.arange(length)[::-1] % V
    p = [F(1, 4), F(1, 8), F(1, 16), F(1, 16), F(1, 4)]
    model = string_model(V, given, p)
    drawn = sample(model, np.full((3, 1000, 1), V), length, 7).numpy().reshape(3000, length)
    for row, x in zip(given, map(float, p), strict=True):
        assert abs((drawn == row).all(1).mean() - x) < 5 * (x * (1 - x) / 3000) ** 0.5
    first = string_probabilities(model, 1).numpy()
    counted = np.bincount(drawn[:, 0], minlength=V) / 3000
    assert (abs(counted - first) <= 5 * (first * (1 - first) / 3000) ** 0.5).all()
    few = sample(model, [V, *given[0][:-1]], 1, 3)
    assert few.shape == (1,)
    with rejects("steps"):
        sample(model, [V, *given[0][:-1]], 2, 3)
    with rejects("length"):
        string_probabilities(model, 28)
