"""Attention, interventions and register probes on models over tokens whose answers are known."""

import numpy as np
import pytest
import torch
from refusals import rejects
from torch import nn

from constructions import gradient_descent, induction_heads, modern_hopfield_update, tripling
from constructions.blocks import Block
from constructions.circuits import circuit
from constructions.computation import to_circuit
from constructions.exactness import exact_in
from constructions.stock import to_encoder
from constructions.trained import PatchedAttention, RedirectedAttention, load
from theory.retrieval import find, induction
from verify.interpret import (
    Algorithms,
    attention,
    contents_of,
    patched,
    redirected,
    registers,
)

V, T = 6, 12
TOKENS = np.random.default_rng(0).integers(0, V, (40, T))
BUILT = induction_heads(V, T)
HEADS = BUILT.blocks[0].attn
BEFORE = np.eye(T, k=-1, dtype=bool)


def after_the_copy(tokens):
    return find(tokens)[..., None] == np.arange(T)


def test_built_heads_have_the_stated_patterns():
    previous = attention(BUILT, TOKENS, lambda tokens: BEFORE)
    assert (previous.weights[1, 1].mean, previous.weights[1, 1].error) == (1, 0)
    assert previous.weights[2, 1].mean < 0.5
    assert previous.best == (1, 1)
    matching = attention(BUILT, TOKENS, after_the_copy)
    assert matching.weights[2, 1].mean == 1
    assert matching.best == (2, 1)
    assert "layer 2, head 1  1.000" in str(matching)
    assert matching.to_json()[1]["mean"] == 1


def test_layers_without_heads_are_counted():
    """Also `redirected` counts them."""
    model = induction_heads(V, T)
    model.blocks.insert(0, Block(None, None))
    found = attention(model, TOKENS, lambda tokens: BEFORE)
    assert [*found.weights] == [(2, 1), (3, 1)]
    assert found.best == (2, 1)
    assert [*found.uniform] == [2, 3]
    redirected(model, 2, TOKENS)
    with rejects("layer"):
        redirected(model, 1, TOKENS)


def test_a_trained_model_in_another_dtype_has_about_the_same_weights():
    name = "induction-small-2-layers-seed0"
    tokens = np.random.default_rng(0).integers(0, 16, (20, 64))
    before = np.eye(64, k=-1, dtype=bool)
    full, half = (
        attention(model, tokens, lambda tokens: before).weights[1, 1].mean
        for model in (load(name), load(name).to(torch.bfloat16))
    )
    assert full > 0.8
    assert half == pytest.approx(full, abs=0.05)
    assert half != full


def test_uniform_attention_is_over_the_keys_up_to_the_query():
    causal = np.broadcast_to(np.tri(T) / np.arange(1, T + 1)[:, None], (40, 2, T, T))
    found = attention(None, TOKENS, lambda tokens: BEFORE, lambda model, tokens: [causal])
    wanted = np.mean([1 / (t + 1) for t in range(1, T)])
    assert found.uniform == {1: pytest.approx(wanted)}
    assert [found.weights[1, h].mean for h in (1, 2)] == pytest.approx([wanted] * 2)
    full = np.full((40, 1, T, T), 1 / T)
    found = attention(None, TOKENS, lambda tokens: BEFORE, lambda model, tokens: [full])
    assert found.uniform == {1: pytest.approx(1 / T)}


def test_a_redirected_head_copies_what_it_attends_to():
    places = np.random.default_rng(1).integers(0, np.arange(1, T + 1), (40, T))
    changed = redirected(BUILT, 2, places)
    wanted = np.take_along_axis(TOKENS, places, axis=1)
    np.testing.assert_array_equal(changed(TOKENS).numpy(), wanted)
    np.testing.assert_array_equal(BUILT(TOKENS).numpy(), induction(TOKENS))  # is not changed
    same = redirected(BUILT, 2, np.full((40, T), -1))
    np.testing.assert_array_equal(same(TOKENS).numpy(), induction(TOKENS))


def test_a_patched_head_has_the_given_weights():
    places = np.random.default_rng(1).integers(0, np.arange(1, T + 1), (40, T))
    front = len(BUILT.interface.prefix)
    pattern = np.zeros((40, front + T, front + T))
    np.put_along_axis(pattern[:, front:], (places + front)[..., None], 1, axis=-1)
    np.testing.assert_array_equal(
        patched(BUILT, 2, pattern)(TOKENS).numpy(), redirected(BUILT, 2, places)(TOKENS).numpy()
    )


def contents():
    """A one-hot code of the token, a random function of the token before, and the position."""
    before = np.random.default_rng(2).standard_normal(V)[np.roll(TOKENS, 1, axis=1)]
    before[:, 0] = 0
    return {
        "token": np.eye(V)[TOKENS],
        "before": before,
        "position": np.broadcast_to(np.arange(T), TOKENS.shape),
    }


class Embedded(nn.Module):
    """One-hot tokens, then one-hot tokens and those before."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(torch.eye(V))
        self.block = Shift()

    def forward(self, tokens):
        return self.block(self.embed(tokens))


class Shift(nn.Module):
    def forward(self, H):
        return torch.cat([H, nn.functional.pad(H[:, :-1], (0, 0, 1, 0))], -1)


def test_contents_are_read_where_they_are():
    found = registers(Embedded().eval(), TOKENS, contents(), ["embed", "block"])
    assert found.layers == ("embed", "block")
    mean = {name: [r2.mean for r2 in row] for name, row in found.found.items()}
    control = {name: [r2.mean for r2 in row] for name, row in found.control.items()}
    assert mean["token"] == pytest.approx([1, 1])
    assert mean["before"][1] == pytest.approx(1)
    assert mean["before"][0] < 0.2
    assert max(mean["position"]) < 0.5  # only the first position has no token before
    assert max(control["token"] + control["before"]) < 0.2
    assert "before" in str(found)
    assert found.to_json()[3]["layer"] == "block"


@pytest.mark.parametrize(
    ("scale", "origin"), [(1e-10, 0.0), (1.0, 1e5), (1e-10, 1e-5), (1e-200, 0.0), (1e200, 1e205)]
)
def test_scales_and_origins_of_streams_and_contents_change_no_r2(scale, origin):
    def streams(model, tokens):
        return [np.eye(V)[tokens], np.eye(V)[tokens] * scale + origin]

    given = contents() | {"constant": np.full(TOKENS.shape, 0.1)}
    given |= {f"{name}, moved": each * scale + origin for name, each in given.items()}
    found = registers(None, TOKENS, given, streams)
    for of in (found.found, found.control):
        for name in contents():
            wanted = pytest.approx(of[name][0].mean, abs=1e-6)
            assert [r2.mean for r2 in of[name] + of[f"{name}, moved"]] == [wanted] * 4
        assert np.isnan([r2.mean for r2 in of["constant"] + of["constant, moved"]]).all()


def test_what_is_read_from_positions_alone_is_read_in_the_control_too():
    def streams(model, tokens):
        return [np.broadcast_to(np.arange(T)[:, None] == np.arange(T), (*tokens.shape, T))]

    found = registers(None, TOKENS, contents(), streams)
    assert found.found["position"][0].mean == pytest.approx(1)
    assert found.control["position"][0].mean == pytest.approx(1)
    assert found.found["token"][0].mean < 0.1


def test_registers_of_a_built_model_are_read_from_its_last_stream():
    found = registers(BUILT, TOKENS, contents_of(BUILT, TOKENS))
    assert found.layers == ("embedding", "layer 1", "layer 2")
    last = {name: row[-1].mean for name, row in found.found.items()}
    assert [r2 for r2 in last.values() if not np.isnan(r2)] == pytest.approx(
        [1] * np.isfinite([*last.values()]).sum()
    )
    assert set(last) == set(BUILT.stream)


def shaped(*shape):
    return lambda model, tokens: [np.zeros(shape)]


BAD = {
    "one sequence": (lambda: attention(BUILT, TOKENS[:1], lambda t: BEFORE), ["tokens"]),
    "no tokens": (lambda: attention(BUILT, TOKENS + 0.5, lambda t: BEFORE), ["tokens"]),
    "other tokens": (lambda: attention(BUILT, TOKENS + V, lambda t: BEFORE), []),
    "no Booleans": (lambda: attention(BUILT, TOKENS, lambda t: BEFORE * 1.0), ["stated"]),
    "ragged": (lambda: attention(BUILT, TOKENS, lambda t: [[True], []]), ["stated"]),
    "bfloat16": (lambda: attention(BUILT, TOKENS, lambda t: torch.ones(2).bfloat16()), ["stated"]),
    "a gradient": (
        lambda: attention(BUILT, TOKENS, lambda t: torch.ones(2, requires_grad=True)),
        ["stated"],
    ),
    "other size": (lambda: attention(BUILT, TOKENS, lambda t: BEFORE[1:]), ["stated"]),
    "no keys": (lambda: attention(BUILT, TOKENS, lambda t: BEFORE & False), ["stated"]),
    "no patterns": (lambda: attention(Embedded(), TOKENS, lambda t: BEFORE), ["patterns"]),
    "other patterns": (
        lambda: attention(None, TOKENS, lambda t: BEFORE, shaped(40, T, T)),
        ["patterns"],
    ),
    "no layer": (lambda: redirected(BUILT, 3, TOKENS), ["layer"]),
    "layer 0": (lambda: patched(BUILT, 0, np.ones((1, 1, 1))), ["layer"]),
    "no position": (lambda: redirected(BUILT, 1, TOKENS + T), ["places"]),
    "other sequences": (lambda: redirected(BUILT, 1, TOKENS)(TOKENS[:3]), ["sequences"]),
    "other length": (lambda: patched(BUILT, 1, np.ones((40, 3, 3)))(TOKENS), ["tokens"]),
    "heads of no class": (lambda: PatchedAttention(None, np.ones((1, 3, 3))), ["heads"]),
    "weights that are no array": (lambda: PatchedAttention(HEADS, None), ["given"]),
    "weights that are no square": (lambda: PatchedAttention(HEADS, np.ones((1, 3, 2))), ["given"]),
    "redirected heads of no class": (lambda: RedirectedAttention([], TOKENS), ["heads"]),
    "places that are no integers": (lambda: RedirectedAttention(HEADS, [[0.5]]), ["places"]),
    "a place beyond the sequence": (lambda: RedirectedAttention(HEADS, [[1]]), ["places"]),
    "a place beyond int64": (lambda: RedirectedAttention(HEADS, [[2**64]]), ["places"]),
    "prompts of no class": (lambda: Algorithms([[]]), ["prompts"]),
    "over examples": (
        lambda: attention(gradient_descent(2, 1, 0.1), TOKENS, lambda t: BEFORE),
        ["gradient_descent", "tokens"],
    ),
    "redirected over examples": (
        lambda: redirected(gradient_descent(2, 1, 0.1), 1, TOKENS),
        ["gradient_descent", "tokens"],
    ),
    "registers over examples": (
        lambda: registers(gradient_descent(2, 1, 0.1), TOKENS, contents()),
        ["gradient_descent", "tokens"],
    ),
    "contents over graphs": (
        lambda: contents_of(tripling(3, 1), np.eye(3, dtype=int)),
        ["tripling", "tokens"],
    ),
    "contents over patterns": (
        lambda: contents_of(modern_hopfield_update(np.eye(2), 1.0), [[0, 1]]),
        ["modern_hopfield_update", "tokens"],
    ),
    "a pattern that fails": (lambda: attention(BUILT, TOKENS, lambda t: 1 // 0), ["function"]),
    "three sequences": (lambda: registers(BUILT, TOKENS[:3], {"a": TOKENS[:3]}), ["tokens"]),
    "no contents": (lambda: registers(BUILT, TOKENS, {}), ["contents"]),
    "other contents": (lambda: registers(BUILT, TOKENS, {"a": TOKENS[:, 1:]}), ["a"]),
    "text": (lambda: registers(BUILT, TOKENS, {"a": "b"}), ["a"]),
    "no layers": (lambda: registers(Embedded().eval(), TOKENS, contents()), ["streams"]),
    "other layers": (
        lambda: registers(Embedded().eval(), TOKENS, contents(), shaped(40, T)),
        ["streams"],
    ),
    "in training": (lambda: registers(Embedded(), TOKENS, contents(), ["embed"]), ["training"]),
    "attention without numbers": (lambda: attention(meta(), TOKENS, lambda t: BEFORE), ["meta"]),
    "contents without numbers": (lambda: contents_of(meta(), TOKENS), ["meta"]),
    "layers without numbers": (lambda: registers(meta(), TOKENS, contents()), ["meta"]),
    "a module that fails": (
        lambda: registers(Embedded().eval(), TOKENS + V, contents(), ["embed"]),
        ["shape"],
    ),
}


def meta():
    return induction_heads(V, T).to("meta")


@pytest.mark.parametrize("name", BAD)
def test_wrong_input_is_one_line(name, unchecked):
    call, names = BAD[name]
    with rejects(*names):
        call()


@pytest.mark.parametrize("change", [redirected, patched])
def test_what_reads_weights_refuses_a_model_whose_attention_is_replaced(change):
    """The weights are those of the original, so the original was decoded and translated."""
    places = np.zeros((len(TOKENS), T + 1), dtype=int)
    changed = redirected(BUILT, 2, places[:, 1:])
    if change is patched:
        changed = patched(BUILT, 2, np.eye(T + 1)[places])
    assert not torch.equal(changed(TOKENS), BUILT(TOKENS))
    with rejects("tokens"):
        changed.generate(TOKENS[:2, :4], 2)
    for translate in (to_encoder, circuit, lambda model: to_circuit(model, T), exact_in):
        with rejects("layer 2", "replaced"):
            translate(changed)
