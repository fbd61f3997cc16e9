"""Both sides of the limits of what is compared, probed and redirected."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from refusals import rejects
from torch import nn

from constructions import gradient_descent, induction_heads
from theory.kinds import InputError
from theory.regression import gaussian_prompts
from verify.interpret import (
    attention,
    compare,
    induced_weights,
    nearer,
    outputs,
    probe,
    redirected,
    registers,
)
from verify.interpret.comparison import Cell
from verify.interpret.models import called

V, T = 3, 5
TOKENS = np.random.default_rng(0).integers(0, V, (6, T))
BUILT = induction_heads(V, T)
BEFORE = np.eye(T, k=-1, dtype=bool)
EVERY = np.zeros((1, 6, 4))
PROMPTS = gaussian_prompts(6, 3, 2, seed=1)


def cell(values, errors=None):
    return Cell("an algorithm, 1 steps", "a", values, errors)


def none(model, x, y, x_query):
    return [np.zeros((len(x), x.shape[1] + 1, 1))]


def zero(x, y, x_query):
    return np.zeros((len(x), x.shape[1] + 1))


def test_the_fewest_sequences_and_prompts():
    assert attention(BUILT, TOKENS[:2], lambda tokens: BEFORE).weights
    assert registers(BUILT, TOKENS[:4], {"token": TOKENS[:4]}).layers
    two = gaussian_prompts(2, 3, 2, seed=0)
    assert probe(None, two, none).on(PROMPTS)
    with rejects("fitted"):
        probe(None, gaussian_prompts(1, 3, 2, seed=0), none)
    four = gaussian_prompts(4, 3, 2, seed=0)
    assert compare(outputs(zero, four), "none", [0], EVERY[:, :4])


@pytest.mark.parametrize("into", [torch.as_tensor, np.asarray])
def test_complex_numbers_lose_no_imaginary_part(into):
    with rejects("outputs", "real"):
        outputs(lambda x, y, x_query: into(zero(x, y, x_query) + 1j), PROMPTS)
    with rejects("content", "real"):
        registers(BUILT, TOKENS, {"content": into(TOKENS + 1j)})


class InPlace(nn.Module):
    """A module from elsewhere that overwrites its inputs."""

    def forward(self, x, y, x_query):
        found = torch.cat([x.sum(-1), x_query.sum(-1, keepdim=True)], 1)
        for each in (x, y, x_query):
            each.mul_(0)
        return found


def overwrites(x, y, x_query):
    return InPlace()(*map(torch.as_tensor, (x, y, x_query))).numpy()


def test_models_that_overwrite_their_inputs_change_no_prompts():
    prompts = gaussian_prompts(6, 3, 2, seed=1)

    def streams(model, x, y, x_query):
        return [np.stack([overwrites(x, y, x_query)] * 2, -1)]

    def pattern(tokens):
        tokens[:] = 0
        return BEFORE

    for model in (overwrites, InPlace().eval()):
        wanted = np.concatenate([PROMPTS.x.sum(-1), PROMPTS.x_query.sum(-1)[:, None]], 1)
        assert np.allclose(outputs(model, prompts).predictions[-1], wanted)
    assert probe(None, prompts, streams).on(prompts)
    tokens = TOKENS.copy()
    own = attention(BUILT, tokens, pattern).weights
    assert own == attention(BUILT, TOKENS, lambda tokens: BEFORE).weights
    assert np.array_equal(tokens, TOKENS)
    for name in ("x", "y", "x_query"):
        assert np.array_equal(getattr(prompts, name), getattr(PROMPTS, name))


def test_the_last_position():
    redirected(BUILT, 1, np.full((6, T), T - 1))
    with rejects("places"):
        redirected(BUILT, 1, np.full((6, T), T))


def test_similarities_of_as_many_models_and_prompts_are_compared():
    one, two = np.zeros((1, 6)), np.zeros((2, 6))
    for first, second in ((one, two), (two, one), (one, one[:, :1])):
        with rejects("first", "second"):
            nearer(cell(first), cell(second))
    errors = np.ones((1, 6, 4))
    assert nearer(cell(one, errors), cell(one)).difference.mean == 0
    assert nearer(cell(one), cell(one, errors)).difference.mean == 0
    with rejects("first", "second"):
        nearer(cell(one, errors), cell(one, 2 * errors))


def test_models_with_the_same_layers_on_the_same_prompts_are_compared():
    measured = outputs(zero, PROMPTS)
    assert compare([measured, measured], "none", [0], EVERY)
    more = replace(measured, predictions=np.zeros((2, 6, 4)))
    named = replace(measured, names=("other",))
    wider = replace(PROMPTS, x=np.zeros((6, 3, 3)), x_query=np.zeros((6, 3)))
    for other in (more, named, replace(measured, prompts=wider)):
        with rejects("probed"):
            compare([measured, other], "none", [0], EVERY)


class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(torch.eye(V))

    def forward(self, tokens):
        return self.embed(tokens)


def test_the_module_itself_is_no_stream():
    model = Embedded().eval()
    assert registers(model, TOKENS, {"token": TOKENS}, ["embed"]).layers == ("embed",)
    with rejects("streams"):
        registers(model, TOKENS, {"token": TOKENS}, [""])


@pytest.mark.parametrize("shape", [(6, T, 1, 1), (6, T + 1), (5, T), (6,), (6, T, 0)])
def test_contents_are_numbers_or_vectors_at_the_tokens(shape):
    with rejects("a"):
        registers(BUILT, TOKENS, {"a": np.zeros(shape)})


@pytest.mark.parametrize("shape", [(6, T + 1, 2), (7, T, 2), (6, T), (6, T, 2, 1), (6,), ()])
def test_streams_are_vectors_at_the_tokens(shape):
    with rejects("streams"):
        registers(None, TOKENS, {"token": TOKENS}, lambda model, tokens: [np.zeros(shape)])


def test_errors_within_a_model_of_this_library_are_its_own():
    model = induction_heads(V, T)
    model.embed.W_E.data = model.embed.W_E.data[:, :2]
    with pytest.raises(RuntimeError) as caught:
        called(model, TOKENS)
    assert not isinstance(caught.value, InputError)
    with rejects("streams", "function"):
        called(lambda tokens: model(tokens), TOKENS, of=BUILT, name="streams")


def test_functions_that_return_no_arrays():
    for wrong in (None, 1):
        with rejects("streams"):
            registers(BUILT, TOKENS, {"token": TOKENS}, streams=lambda *_, wrong=wrong: wrong)
        with rejects("patterns"):
            attention(BUILT, TOKENS, lambda tokens: BEFORE, patterns=lambda *_, wrong=wrong: wrong)


@pytest.mark.parametrize("tokens", [slice(None, "a"), slice(None, None, 0), slice(0, 1.5)])
def test_slices_of_tokens_have_integers_and_a_step(tokens):
    with rejects("tokens"):
        probe(nn.Identity(), PROMPTS, streams=none, tokens=tokens)


def test_streams_of_registers_have_a_layer():
    with rejects("streams"):
        registers(BUILT, TOKENS, {"token": TOKENS}, streams=[])


PROBES = probe(gradient_descent(2, 2, 0.02, causal=True), gaussian_prompts(60, 3, 2, seed=0))


@pytest.mark.parametrize("sets", [[], ()])
def test_at_least_one_set_of_probes_is_read(sets):
    with rejects("sets"):
        PROBES.read(PROMPTS.x, PROMPTS.y, PROMPTS.x_query, sets=sets)


@pytest.mark.parametrize("w", [None, "x", PROMPTS.w[0], PROMPTS.w[:, :1], PROMPTS.w[:5]])
def test_induced_weights_need_the_weights_of_all_prompts(w, unchecked):
    queries = np.random.default_rng(0).normal(size=(6, 5, 2))
    with rejects("w"):
        induced_weights(PROBES, replace(PROMPTS, w=w), queries)


def test_a_progress_that_omits_numbers_is_refused():
    queries = np.random.default_rng(0).normal(size=(6, 5, 2))
    with rejects("progress", "2"):
        induced_weights(PROBES, PROMPTS, queries, progress=lambda numbers: [1, 3])
