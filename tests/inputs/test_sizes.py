"""Sizes that no memory holds are refused in one line, at once, by every public builder."""

import inspect

import numpy as np
import pytest

import constructions
from constructions import (
    arithmetic,
    computation,
    graphs,
    language,
    memory,
    regression,
    retrieval,
    sensitivity,
    structures,
)
from theory import machine
from theory.checks import InputError
from theory.computation import MACHINES, S3, list_ranking

HUGE = 10**12
SMALL = {
    # arguments at which each builder works
    "newton": {"d": 1, "k": 1, "alpha": 0.5},
    "gradient_descent": {"d": 1, "k": 1, "step_size": 0.5},
    "chebyshev": {"d": 1, "k": 1, "smallest": 1.0, "largest": 2.0},
    "hyperpower": {"d": 1, "k": 1, "order": 2, "alpha": 0.5},
    "newton_with_pauses": {"d": 1, "k": 1, "alpha": 0.5},
    "online_gradient_descent": {"d": 1, "n": 1},
    "broad_average": {"vocabulary_size": 2, "max_length": 3},
    "composition": {"size": 2},
    "fact_lookup": {"max_length": 8},
    "hop": {"k": 1, "vocabulary_size": 2, "max_length": 3},
    "in_context_ngram": {"vocabulary_size": 2, "order": 1, "max_length": 3, "pseudo_counts": 0},
    "induction_heads": {"vocabulary_size": 2, "max_length": 3},
    "nearest_neighbour": {"d": 1},
    "previous_token": {"vocabulary_size": 2, "max_length": 3},
    "gridworld_walk": {"steps": 1, "max_length": 3, "start": 0},
    "dyck": {"k": 1, "max_length": 3},
    "from_counting": {"formula": "#a >= #b", "max_length": 3},
    "from_formula": {"of": "a", "letters": "ab", "max_length": 3},
    "circuit_evaluator": {"n_inputs": 1, "n_gates": 1},
    "turing_machine": {"machine": MACHINES["busy-beaver-2"], "max_length": 3},
    "scratchpad": {"automaton": S3, "length": 3},
    "prefix_sums": {"length": 3, "s": 2},
    "connected_components": {"vertices": 2, "edges": 1},
    "pram": {"program": list_ranking(2)},
    "parity": {"max_length": 3},
    "parity_bounded": {"length": 3},
    "first_letter": {"max_length": 3},
    "first_letter_bounded": {"max_length": 3},
    "majority": {"max_length": 3},
    "semiautomaton": {"automaton": S3, "max_length": 3},
    "shortcut": {"automaton": S3, "max_length": 3},
    "squaring": {"n": 2, "layers": 1},
    "search": {"nodes": 2},
    "tripling": {"n": 2, "layers": 1},
    "disentangled": {"n": 2, "layers": 1},
    "two_cycles": {"layers": 1},
    "parity_with_steps": {"d": 2, "k": 2},
    "parity_by_linear_tokens": {"d": 2, "letters": [0]},
    "adder": {"largest": 7, "step": 5, "alpha": 0.5, "bits": 14},
    "linear_adder": {"largest": 7},
    "modular_addition": {"p": 5},
    "skip_gram": {"table": [[0.0]], "max_length": 3},
    "hopfield_update": {"weights": np.zeros((2, 2)), "steps": 1},
    "hebbian_attention": {"patterns": [[1, -1]], "steps": 1},
    "modern_hopfield_update": {"patterns": [[1.0, 2.0]], "beta": 1.0, "steps": 1},
    "sphere_dynamics": {"d": 2, "beta": 1.0, "step_size": 0.5, "n_layers": 1},
    "hopfield_attention": {"W_Q": [[1.0]], "W_K": [[1.0]], "W_V": [[1.0]]},
    "subset_parity": {"d": 3, "positions": [0, 2]},
    "conjunction": {"d": 3, "positions": [0, 2]},
    "junta": {"d": 3, "positions": [0, 2], "table": [0, 1, 1, 0]},
    "fact_model": {
        "facts": [[0, 0], [1, 1]],
        "p": [0, 1],
        "counts": [1, 0],
        "vocabulary_size": 2,
        "name": "memoriser",
    },
    "string_model": {"strings": [[0, 0], [1, 1]], "chances": [0, 0], "vocabulary_size": 2},
    "binary_search": {"lookups": 1, "largest": 9},
    "interpolation_search": {"N": 2, "lookups": 1, "largest": 9},
    "sort": {"n": 2, "largest": 9},
    "kd_layout": {"N": 3, "d": 1, "largest": 9},
    "kd_descent": {"lookups": 1, "d": 1, "largest": 9},
    "bucket_table": {"N": 2, "T": 1, "largest": 9},
    "count_min": {"hashes": [[0, 1]], "cells": 2, "longest": 9},
}
# Chebyshev takes ⌈log₃(2k + 1)⌉ layers and hop ⌊log₂k⌋ + 2, a few for any number that one types; a
# step of whatever order is as many powers of three.  A range of numbers takes no memory.
FREE = {("chebyshev", "k"), ("hop", "k"), ("hyperpower", "order")}
FREE |= {(name, "largest") for name in ("binary_search", "interpolation_search", "sort")}
FREE |= {("kd_layout", "largest"), ("kd_descent", "largest"), ("count_min", "longest")}
CASES = [
    (name, argument)
    for name, given in SMALL.items()
    for argument, value in given.items()
    if isinstance(value, int) and (name, argument) not in FREE
]
MORE = [
    ("newton", {"k": 10**9, "layout": "ladder"}),
    ("newton", {"d": HUGE, "layout": "ladder"}),
    ("newton", {"k": HUGE, "layout": "paper", "n": 4}),
    ("newton", {"d": HUGE, "interleaved": True}),
    ("gradient_descent", {"k": HUGE, "causal": True}),
    ("gradient_descent", {"d": HUGE, "layout": "ladder"}),
    ("hyperpower", {"k": 10**9, "order": 10**9}),
    ("hop", {"k": 10**400}),
    ("induction_heads", {"vocabulary_size": 5, "max_length": 10**10}),
    ("induction_heads", {"max_length": HUGE, "match": "mean"}),
    ("in_context_ngram", {"order": 10**6}),
]


def test_every_builder_is_here():
    topics = arithmetic, computation, graphs, language
    topics += memory, regression, retrieval, sensitivity, structures
    public = {name for topic in topics for name in topic.__all__}
    no_builders = {"retrieve", "Inverse", "Prediction", "to_circuit", "predictions"}
    no_builders |= {"sample", "log_probabilities", "string_probabilities"}
    assert set(SMALL) == public - no_builders
    for name, given in SMALL.items():
        build = getattr(constructions, name)
        assert build(**given).n_layers >= 0
        counted = [
            p for p, v in inspect.signature(build).parameters.items() if v.annotation == "int"
        ]
        assert set(counted) <= set(given), name


@pytest.mark.parametrize(("name", "changed"), [(n, {a: HUGE}) for n, a in CASES] + MORE, ids=str)
def test_what_no_memory_holds_is_refused_at_once(name, changed, monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 2**34)
    with pytest.raises(InputError) as refusal:
        getattr(constructions, name)(**SMALL[name] | changed)
    assert "\n" not in str(refusal.value)
    number = any(letter.isdigit() for letter in str(refusal.value))
    assert number, "it says how much it would take"


@pytest.mark.parametrize(("name", "argument"), sorted(FREE))
def test_what_takes_few_layers_at_any_size_is_built(name, argument):
    assert getattr(constructions, name)(**SMALL[name] | {argument: 10**9}).n_layers < 40


def test_the_message_says_how_much_it_would_take(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 2**34)
    with pytest.raises(
        InputError, match=r"^the weights of 1e\+10 tokens and positions need 4.77e\+03 GiB"
    ):
        constructions.induction_heads(5, 10**10)
    with pytest.raises(
        InputError, match=r"of 6.309e\+08 layers of width 28 need .* GiB .* build a sm"
    ):
        constructions.newton(d=5, k=10**9, alpha=0.1, layout="ladder")


@pytest.mark.parametrize(
    "call",
    [
        lambda: constructions.newton(2, 10**5, 0.1, "ladder"),
        lambda: constructions.gradient_descent(2, 10**5, 0.1),
        lambda: constructions.online_gradient_descent(2, 10**5),
    ],
)
def test_more_layers_than_are_built_in_minutes_are_refused(call, monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 2**50)
    with pytest.raises(InputError, match=r"layers are more than 10000: take fewer"):
        call()
