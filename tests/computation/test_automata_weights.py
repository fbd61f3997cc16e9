"""Automata as transformers: composed maps, and shortcuts."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.computation import semiautomaton, shortcut
from theory.computation import (
    A5,
    BENCHMARK_AUTOMATA,
    S3,
    NotSolvable,
    Semiautomaton,
    benchmark_automaton,
    cyclic,
    flip_flop,
    random_semiautomaton,
)
from theory.sequences import all_sequences

SOLVABLE = [name for name in BENCHMARK_AUTOMATA if name not in ("A5", "all-maps-4")]
SIZES = {  # layers, heads, width, units in all
    "parity": (2, 1, 14, 4), "mod-3": (2, 1, 17, 6), "mod-6": (2, 1, 26, 12),
    "flip-flop": (1, 1, 11, 6), "mod-3-with-reset": (3, 1, 23, 21),
    "S3": (4, 2, 28, 40), "D4": (4, 1, 20, 9), "A4": (4, 2, 28, 32), "Q8": (4, 2, 28, 20),
    "S4": (6, 2, 37, 194), "dyck-2": (3, 1, 20, 20), "dyck-4": (5, 1, 30, 72),
    "gridworld-3": (2, 1, 15, 10), "gridworld-4": (3, 1, 20, 20), "gridworld-6": (5, 1, 30, 72),
    "all-maps-2": (3, 1, 18, 10), "all-maps-3": (8, 2, 43, 740),
}  # fmt: skip


def units(model) -> int:
    return sum(len(block.mlp.b_in) for block in model.blocks if block.mlp is not None)


def size(model) -> tuple[int, ...]:
    return model.n_layers, model.n_heads, model.d_model, units(model)


@pytest.mark.parametrize("name", BENCHMARK_AUTOMATA)
@pytest.mark.parametrize("settings", [{}, {"form": "robust"}], ids=["lean", "robust"])
def test_composed_maps_on_all_short_words(name, settings):
    automaton = benchmark_automaton(name)
    length = {2: 6, 3: 5}[automaton.n_symbols]
    model, words = semiautomaton(automaton, length, **settings), None
    words = all_sequences(length, automaton.n_symbols)
    assert (model(words).numpy() == automaton.run(words)).all()
    n, L = automaton.n_states, model.n_layers
    per_layer = 2 * n * n if settings else n * n + n
    assert size(model) == (3, 1, 2 * n + 2, per_layer * L)


@pytest.mark.parametrize(("radix", "layers"), [(2, 5), (3, 3), (4, 3), (5, 2)])
def test_a_larger_radix_takes_fewer_layers(radix, layers):
    model = semiautomaton(S3, 25, radix=radix)
    words = np.random.default_rng(0).integers(2, size=(50, 25))
    assert (model(words).numpy() == S3.run(words)).all()
    assert (model.n_layers, model.n_heads) == (layers, radix - 1)
    if radix > 2:
        assert units(model) == (2 * 3**radix + 6 * radix) * layers
        assert model.d_model == 6 * radix + 2


@pytest.mark.parametrize("T", [1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 200])
def test_layers_double_the_length(T):
    model = semiautomaton(A5, T)
    assert model.n_layers == (T - 1).bit_length()
    words = np.random.default_rng(T).integers(2, size=(20, T))
    for length in {1, T // 2 or 1, T}:
        assert (model(words[:, :length]).numpy() == A5.run(words[:, :length])).all()


@pytest.mark.parametrize("name", SOLVABLE)
@pytest.mark.parametrize(
    "settings", [{}, {"form": "robust"}, {"compact": True}], ids=["lean", "robust", "compact"]
)
def test_shortcuts_on_all_short_and_some_long_words(name, settings):
    automaton = benchmark_automaton(name)
    model = shortcut(automaton, 60, **settings)
    for T in (1, 2, 5):
        words = all_sequences(T, automaton.n_symbols)
        assert (model(words).numpy() == automaton.run(words)).all()
    words = np.random.default_rng(2).integers(automaton.n_symbols, size=(12, 60))
    words[:3] = [[0] * 60, [automaton.n_symbols - 1] * 60, [0, 1] * 30]
    assert (model(words).numpy() == automaton.run(words)).all()
    layers, heads, width, lean = SIZES[name]
    if settings.get("form") == "robust":
        assert size(model) == (layers, heads, width, 2 * lean)
    elif "compact" not in settings:
        assert size(model) == SIZES[name]


def test_all_maps_on_three_states_compactly():
    assert size(shortcut("all-maps-3", 10, compact=True)) == (9, 2, 46, 115)


@pytest.mark.parametrize("name", ["S3", "dyck-2", "all-maps-2"])
def test_nothing_but_positions_grows_with_the_length(name):
    small, large = (
        shortcut(name, 10),
        shortcut(name, 1000),
    )
    assert size(small) == size(large)
    assert torch.equal(small.embed.W_E, large.embed.W_E)
    for a, b in zip(small.blocks, large.blocks, strict=True):
        assert torch.equal(a.attn.W_V, b.attn.W_V)
        if a.mlp is not None:
            assert torch.equal(a.mlp.W_in, b.mlp.W_in)
    automaton = benchmark_automaton(name)
    words = np.random.default_rng(0).integers(automaton.n_symbols, size=(3, 300))
    words[1:] = [[0], [1]]
    assert (large(words).numpy() == automaton.run(words)).all()


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3))
def test_random_automata(seed, n, symbols):
    automaton = random_semiautomaton(n, symbols, seed)
    words = np.random.default_rng(seed).integers(symbols, size=(20, 13))
    for model in (
        semiautomaton(automaton, 13),
        semiautomaton(automaton, 13, form="robust"),
        semiautomaton(automaton, 13, radix=3),
        shortcut(automaton, 13, compact=bool(seed % 2)),
    ):
        assert (model(words).numpy() == automaton.run(words)).all()


@pytest.mark.parametrize(
    "build",
    [
        lambda T: semiautomaton(S3, T, form="robust"),
        lambda T: semiautomaton(A5, T, form="robust"),
        lambda T: shortcut(S3, T, form="robust"),
        lambda T: shortcut("dyck-4", T, form="robust"),
        lambda T: shortcut(flip_flop(), T, form="robust"),
    ],
)
def test_softmax_leaves_no_trace_at_a_sharpness_that_no_length_changes(build):
    short, long = build(12), build(150)
    sharpness = short.least_sharpness()
    assert long.least_sharpness() == sharpness < 8
    assert long.softmax_error(sharpness).logits == 0
    symbols = long.interface.vocabulary_size
    words = np.random.default_rng(5).integers(symbols, size=(4, 150))
    soft = long.sharpened(sharpness)
    # Leaks are of a few per cent; what is left is rounding of positions' squares.
    assert max(max(layer) for layer in long.softmax_error(sharpness).leaks) > 1e-3
    assert float((soft.logits(words) - long.logits(words)).abs().max()) < 1e-9
    with rejects("sharpness"):
        long.sharpened(0.5 * sharpness)


def test_lean_units_let_softmax_errors_through():
    lean = semiautomaton(S3, 200)
    for block in lean.blocks:
        block.attn.normalise, block.attn.scale = "softmax", 4.2
    words = np.random.default_rng(6).integers(2, size=(10, 200))
    assert (lean(words).numpy() != S3.run(words)).any()


def test_an_automaton_of_one_state_needs_nothing():
    automaton = Semiautomaton(((0,),))
    for model in (shortcut(automaton, 5), semiautomaton(automaton, 5)):
        assert model([0, 0, 0]).tolist() == [0, 0, 0]
    assert shortcut(automaton, 5).n_layers == 0


def test_symbols_alone_need_no_layer():
    automaton = Semiautomaton(((1, 1, 1), (0, 0, 0)))
    model = shortcut(automaton, 5)
    assert (model.n_layers, model([0, 1, 1, 0]).tolist()) == (0, [1, 0, 0, 1])


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: semiautomaton(S3, 4, radix=5), "radix 4"),
        (lambda: semiautomaton(S3, 4, radix=10**400), "radix 4"),
        (lambda: semiautomaton(S3, 5, radix=3, form="robust"), "radix"),
        (lambda: semiautomaton("Q8", 9, radix=9), "radix"),
        (lambda: semiautomaton(cyclic(20_000), 9), "GiB"),
        (lambda: semiautomaton(cyclic(20_000), 9, form="robust"), "GiB"),
        (lambda: shortcut(S3, 5, form="robust", sharpness=0.1), "sharpness"),
        (lambda: semiautomaton(S3, 5)([0, 1, 2]), "tokens"),
        (lambda: semiautomaton(S3, 5)([0] * 6), "max_length"),
    ],
)
def test_what_cannot_be_built_is_refused(call, names):
    with rejects(*names.split()):
        call()


def test_a5_has_no_shortcut():
    with pytest.raises(NotSolvable):
        shortcut(A5, 10)


def test_tables_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr(sys.modules[shortcut.__module__], "MOST_UNITS", 50)
    with rejects("50", "compact"):
        shortcut("S4", 10)
