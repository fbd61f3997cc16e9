"""Formulas of past LTL as transformers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.assembly import mlp
from constructions.computation import from_formula, temporal_logic
from constructions.primitives import And
from constructions.stream import Stream, one
from theory.computation import formula, random_formula
from theory.computation.temporal_logic import Formula, Or, Since, holds, sinces, temporal_depth
from theory.sequences import all_sequences

ALTERNATE = "b and yesterday a and historically (a and not yesterday a or b and yesterday a)"
SIZES = {  # layers, heads, width, units: lean, then robust
    "a": ((0, 0, 2, 0), (0, 0, 2, 0)),
    "true": ((0, 0, 2, 0), (0, 0, 2, 0)),
    "once a or not once a": ((0, 0, 2, 0), (0, 0, 2, 0)),
    "a since b": ((1, 1, 4, 0), (1, 1, 5, 2)),
    "not yesterday true": ((1, 1, 5, 1), (1, 1, 6, 2)),
    "once a and once b": ((1, 2, 6, 1), (1, 2, 6, 2)),
    "a and yesterday a or once (a and yesterday a)": ((2, 1, 7, 3), (2, 1, 7, 6)),
    ALTERNATE: ((2, 1, 7, 3), (2, 1, 7, 6)),
    "once (a and once (b and once a))": ((3, 1, 8, 2), (3, 1, 9, 6)),
}


def size(model) -> tuple[int, ...]:
    units = sum(len(block.mlp.b_in) for block in model.blocks if block.mlp is not None)
    return model.n_layers, model.n_heads, model.d_model, units


@pytest.mark.parametrize("text", SIZES)
@pytest.mark.parametrize("form", ["lean", "robust"])
def test_all_words_of_at_most_eight_symbols(text, form):
    model = from_formula(text, "ab", 8, form=form)
    words = all_sequences(8, 2)
    wanted = holds(formula(text, "ab"), words, "ab")
    assert (model(words).numpy() == wanted).all()
    assert (model(words[:, :3]).numpy() == wanted[:, :3]).all()
    assert size(model) == SIZES[text][form == "robust"]


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(0, 3), st.sampled_from(["a", "ab", "abc"]))
def test_random_formulas(seed, depth, alphabet):
    of, V = random_formula(alphabet, depth, seed), len(alphabet)
    words = np.random.default_rng(seed).integers(V, size=(20, 14))
    for form in ("lean", "robust"):
        model = from_formula(of, alphabet, 14, form=form)
        assert (model(words).numpy() == holds(of, words, alphabet)).all()
        assert model.n_layers <= temporal_depth(of)
        assert model.d_model <= V + 3 * len(sinces(of)) + 2


def test_nothing_but_positions_and_the_flag_grows_with_the_length():
    small, large = (from_formula(ALTERNATE, "ab", T) for T in (10, 1000))
    assert size(small) == size(large)
    assert torch.equal(small.embed.W_E, large.embed.W_E)
    for a, b in zip(small.blocks, large.blocks, strict=True):
        assert torch.equal(a.attn.W_V, b.attn.W_V)
        assert torch.equal(a.mlp.W_in, b.mlp.W_in)
    words = np.random.default_rng(1).integers(2, size=(3, 1000))
    words[0] = np.arange(1000) % 2
    assert (
        large(words).numpy() == holds(formula(ALTERNATE, "ab"), words[:, :60], "ab").any()
    ).any()
    assert large(words[0])[1::2].all()


@pytest.mark.parametrize("text", [ALTERNATE, "a since b", "once (a and once (b and once a))"])
def test_softmax_leaves_no_trace_at_a_sharpness_that_no_length_changes(text):
    short, long = (from_formula(text, "ab", T, form="robust") for T in (12, 150))
    sharpness = short.least_sharpness()
    assert long.least_sharpness() == sharpness < 5
    assert long.softmax_error(sharpness).logits == 0
    words = np.random.default_rng(5).integers(2, size=(4, 150))
    soft = long.sharpened(sharpness)
    assert max(max(layer) for layer in long.softmax_error(sharpness).leaks) > 1e-2
    assert float((soft.logits(words) - long.logits(words)).abs().max()) < 1e-9
    with rejects("sharpness"):
        from_formula(text, "ab", 12, form="robust", sharpness=sharpness / 2)


def test_what_is_carried_from_many_symbols_is_at_most_one():
    few, many = (
        from_formula("yesterday true", alphabet, 9, form="robust") for alphabet in ("a", "abcdefgh")
    )
    assert few.least_sharpness() == many.least_sharpness()


def test_flat_ands_forgive_a_quarter_in_all():
    stream = Stream(a=1, b=1, out=1)
    a, b = stream.read("a"), stream.read("b")
    flat = mlp(stream, [And((a, one - b), "out", 2.0, flat=True)])
    exact = {(0, 0): 0, (1, 0): 2, (0, 1): 0, (1, 1): 0}
    for (p, q), wanted in exact.items():
        for off in (0.0, 0.125):
            H = torch.tensor([[abs(p - off), abs(q - off), 0.0]], dtype=torch.float64)
            assert float(flat(H)[0, 2]) == wanted
    assert "if off by a quarter in all" in str(And((a, b), "out", flat=True))


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: from_formula("a and", "ab", 5), "character 6"),
        (lambda: from_formula("a", "ab", 5, sharpness=9.0), "sharpness"),
        (lambda: from_formula("once a", "ab", 5, form="robust", sharpness=0.1), "sharpness"),
        (lambda: from_formula("#a > 1", "ab", 5, form="robust"), "form"),
        (lambda: from_formula(formula("c", "abc"), "ab", 5), "alphabet c"),
        (lambda: from_formula("once a", "ab", 5)([0, 2]), "tokens"),
        (lambda: from_formula("once a", "ab", 5)([0] * 6), "max_length"),
    ],
)
def test_what_cannot_be_built_is_rejected(call, names):
    with rejects(*names.split()):
        call()


def test_tables_that_are_too_large_are_rejected(monkeypatch):
    monkeypatch.setattr(temporal_logic, "MOST_CUBES", 2)
    with rejects("3", "2"):
        from_formula(ALTERNATE, "ab", 5)


def test_a_formula_that_is_built_in_python():
    a, b = formula("a", "ab"), formula("b", "ab")
    of: Formula = Or((Since(a, b), b))
    assert from_formula(of, "ab", 4)([0, 1, 0, 0]).tolist() == [0, 1, 1, 1]
