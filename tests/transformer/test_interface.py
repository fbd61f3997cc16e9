"""One way to call every model: prompts, logits, streams, generated tokens, and errors."""

import numpy as np
import pytest
import torch
from refusals import rejects

import constructions as built
from constructions.interface import Prompt, all_below
from constructions.trained import load

RNG = np.random.default_rng(0)
X, Y, Q = RNG.standard_normal((6, 3)), RNG.standard_normal(6), RNG.standard_normal(3)
Y20 = np.ones(20)
STATES, PATTERNS = np.array([[1, -1, 1]]), np.array([[1, 1, -1], [1, -1, 1]])
UNIT = np.eye(3)[:2]
TEXT = "Jane is a teacher. What is the profession of Jane?"
CALLS = {
    "newton": (built.newton(3, 2, 2.0**-8), (X, Y, Q)),
    "interleaved": (built.newton(3, 2, 2.0**-8, interleaved=True), (X, Y, Q)),
    "ladder": (built.newton(3, 2, 2.0**-8, "ladder"), (X, Y, Q)),
    "causal": (built.gradient_descent(3, 2, 0.01, causal=True), (X, Y, Q)),
    "online": (built.online_gradient_descent(3, 6), (X, Y, Q)),
    "nearest": (built.nearest_neighbour(3), (X, Y, Q)),
    "induction": (built.induction_heads(4, 9), ([1, 2, 1],)),
    "composition": (built.composition(2), ([1, 0, 0, 1, 1],)),
    "facts": (built.fact_lookup(256), (TEXT,)),
    "modern": (built.modern_hopfield_update(PATTERNS * 1.0, 2.0), (STATES * 0.5,)),
    "classical": (built.hopfield_update(np.ones((3, 3)) - np.eye(3)), (STATES,)),
    "hebbian": (built.hebbian_attention(PATTERNS), (STATES,)),
    "attention": (built.hopfield_attention(np.eye(3), np.eye(3), np.eye(3)), (X, X)),
    "sphere": (built.sphere_dynamics(3, 1.0, 0.5, 2), (UNIT,)),
    "trained": (load("regression-small-seed0"), (X @ np.ones((3, 5)), Y, np.ones(5))),
    "linear": (
        load("regression-linear-2-layers-seed0"),
        (np.ones((20, 5)), np.ones(20), np.ones(5)),
    ),
    "lstm": (load("regression-small-lstm-seed0"), (X @ np.ones((3, 5)), Y, np.ones(5))),
    "tokens": (load("induction-small-2-layers-seed0"), ([1, 2, 1],)),
}
each = pytest.mark.parametrize("name", CALLS)


@each
def test_every_model_is_called_the_same_way(name):
    model, inputs = CALLS[name]
    prompt = model.prompt(*inputs)
    assert isinstance(prompt, Prompt)
    *_, last = streams = list(model.streams(*inputs))
    assert len(streams) == model.n_layers + 1
    logits = model.logits(*inputs)
    with torch.no_grad():
        read = model.unembedding(model.seen(last[..., prompt.answers, :]))
    assert torch.equal(logits, read)
    seen = list(model.representations(*inputs))
    assert [H.shape[:-1] for H in seen] == [logits.shape[:-1]] * len(streams)
    answers = model(*inputs)
    given = model.interface.check(model.like, *inputs)
    wanted = model.interface.read(logits, *given)
    assert torch.equal(answers, wanted) if isinstance(answers, torch.Tensor) else answers == wanted


@each
def test_the_wrong_number_of_inputs_is_one_line(name):
    model, inputs = CALLS[name]
    with rejects(f"{len(inputs) + 1} inputs"):
        model(*inputs, 1)


@each
def test_every_model_prints_what_each_layer_does(name):
    model, _ = CALLS[name]
    if name != "lstm":
        assert "layer" in str(model)
        assert all(block.lines for block in model.blocks)


def test_layers_that_repeat_are_said_to_repeat():
    text = str(built.sphere_dynamics(3, 1.0, 0.5, 5))
    assert "layers 1–5, each softmax head" in text
    text = str(built.hyperpower(2, 3, 3, 0.5))
    assert "layers 3–4, each head" in text
    assert "layer 5   head" in text


@pytest.mark.parametrize("name", ["newton", "composition", "lstm"])
def test_what_is_not_over_tokens_does_not_generate(name):
    with rejects("tokens"):
        CALLS[name][0].generate([0], 1)


@pytest.mark.parametrize(
    ("model", "scale", "kind"),
    [
        (built.newton(3, 20, 1.0), 1.0, "float64"),
        (built.newton(3, 5, 1e-3), 1e60, "float64"),
        (built.gradient_descent(3, 5, 1e-2).float(), 1e10, "float32"),
    ],
)
def test_answers_that_overflow_are_refused_and_their_logits_shown(model, scale, kind):
    with rejects(kind):
        model(scale * X, Y, Q)
    assert not torch.isfinite(model.logits(scale * X, Y, Q)).all()


def test_softmax_error_is_refused_where_no_gap_is_proved():
    for model in (built.nearest_neighbour(2), built.newton(2, 1, 0.5, interleaved=True)):
        with rejects("scores"):
            model.softmax_error(2.0)


@pytest.mark.parametrize(
    "model", [built.interpolation_search(8, 2), built.bucket_table(4, 4)], ids=str
)
def test_softmax_error_is_refused_where_prompts_have_any_length(model):
    for asked in (model.softmax_error, model.least_sharpness):
        with rejects("scores"):
            asked(2.0)


@pytest.mark.filterwarnings("ignore:Complex modules")
@pytest.mark.parametrize("layout", ["direct", "ladder"])
def test_a_weight_that_a_format_makes_zero_is_refused(layout):
    model = built.newton(2, 1, 1e-50, layout)
    with rejects("torch.float32"):
        model.float()
    with rejects("torch.complex64"):
        model.to(torch.complex64)
    assert model.like.dtype is torch.float64


@pytest.mark.parametrize(("base", "length"), [(2, 17), (3, 11), (70_000, 1), (1, 3)])
def test_all_sequences_are_listed_once_beyond_one_batch_too(base, length):
    batches = [*all_below([base] * length, [length], base**length)]
    numbers = np.concatenate(batches) @ base ** np.arange(length)
    assert np.array_equal(np.sort(numbers), np.arange(base**length))
    assert all_below([base] * length, [length], base**length - 1) is None


@pytest.mark.parametrize("wrong", ["x", None, -1, 2.5])
@pytest.mark.parametrize("model", [built.induction_heads(2, 3), built.squaring(3, 1)])
def test_the_most_inputs_are_an_integer(model, wrong, unchecked):
    with rejects("most"):
        model.interface.all_inputs(wrong, True)
