"""Common properties of models on tokens: exact runs, batches, causality, copies, bad input."""

import copy
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import check_line, rejects
from token_models import MODELS as BUILD

import constructions
from constructions import induction_heads, nearest_neighbour, previous_token
from constructions.stream import Stream
from theory.kinds import InputError
from verify.domains import Rational, outputs, streams

Q = Rational()
MODELS = {name: build(3, 7) for name, build in BUILD.items()}
every = pytest.mark.parametrize("name", MODELS)
causal = pytest.mark.parametrize("name", [name for name in MODELS if name != "composition"])


def floats(matrix):
    """The float64 nearest to every rational."""
    return [[int(e.p) / int(e.q) for e in row] for row in matrix.tolist()]


def tokens_for(model, rng, *batch):
    T = model.interface.length or int(rng.integers(1, model.interface.max_length + 1))
    return rng.integers(model.interface.vocabulary_size, size=(*batch, T))


@every
@pytest.mark.parametrize("seed", range(4))
def test_the_forward_pass_over_q(name, seed):
    """Every register after every layer: torch rounds the averages of tied tokens, nothing else."""
    model = MODELS[name]
    tokens = tokens_for(model, np.random.default_rng(seed))
    prompt = model.prompt(tokens)
    for rational, H in zip(streams(model, prompt, Q), model.streams(tokens), strict=True):
        assert floats(rational) == H.tolist()
    unembedding = outputs(model, prompt, Q)
    assert model.logits(tokens).tolist() == floats(unembedding)
    # The answer is the first of the largest, in exact arithmetic.
    best = [max(range(len(row)), key=row.__getitem__) for row in unembedding.tolist()]
    V = model.interface.vocabulary_size
    assert model(tokens).tolist() == [v if v < V else -1 for v in best]


@every
@settings(max_examples=6)
@given(batch=st.lists(st.integers(1, 3), max_size=3), seed=st.integers(0, 99))
def test_leading_dimensions_are_separate_sequences(name, batch, seed):
    model = MODELS[name]
    tokens = tokens_for(model, np.random.default_rng(seed), *batch)
    answers, logits = model(tokens), model.logits(tokens)
    assert answers.shape == tokens.shape
    assert answers.dtype == torch.int64
    assert logits.shape[:-1] == tokens.shape
    for place in np.ndindex(*batch):
        assert torch.equal(model(tokens[place]), answers[place])
        assert torch.equal(model.logits(tokens[place]), logits[place])


@every
def test_lists_arrays_and_tensors_of_any_integers_are_tokens(name):
    model = MODELS[name]
    tokens = tokens_for(model, np.random.default_rng(0), 2)
    wanted = model(tokens)
    for same in (
        tokens.tolist(),
        tokens.astype(np.uint8),
        tokens[:, ::-1][:, ::-1],
        torch.as_tensor(tokens),
        torch.as_tensor(tokens, dtype=torch.int32),
    ):
        assert torch.equal(model(same), wanted)


@causal
@settings(max_examples=10)
@given(seed=st.integers(0, 99))
def test_later_tokens_change_nothing_before_them(name, seed):
    model, rng = MODELS[name], np.random.default_rng(seed)
    tokens = rng.integers(model.interface.vocabulary_size, size=model.interface.max_length)
    cut = int(rng.integers(1, len(tokens) + 1))
    other = np.concatenate([tokens[:cut], rng.permutation(tokens[cut:])])
    logits = model.logits(tokens)[:cut]
    assert torch.equal(model.logits(other)[:cut], logits)
    assert torch.equal(model.logits(tokens[:cut]), logits)
    assert torch.equal(model(tokens[:cut]), model(tokens)[:cut])


@every
def test_a_sharpened_model_shares_its_weights(name):
    model = BUILD[name](3, 7)
    weights = {key: values.clone() for key, values in model.state_dict().items()}
    beta = model.least_sharpness() * 1.001
    soft, tokens = model.sharpened(beta), tokens_for(model, np.random.default_rng(0), 4)
    assert type(soft) is type(model)
    assert soft.name == model.name
    for ours, theirs in zip(model.parameters(), soft.parameters(), strict=True):
        assert ours.data_ptr() == theirs.data_ptr()
    for block, softer in zip(model.blocks, soft.blocks, strict=True):
        assert (block.attn.normalise, block.attn.scale) == ("hardmax", 1.0)
        assert (softer.attn.normalise, softer.attn.scale) == ("softmax", beta)
    assert all(torch.equal(weights[key], values) for key, values in model.state_dict().items())
    assert torch.equal(soft(tokens), model(tokens))
    hard = soft.sharpened(None)
    assert torch.equal(hard.logits(tokens), model.logits(tokens))
    assert soft.blocks[0].attn.normalise == "softmax"
    built = BUILD[name](3, 7, sharpness=beta)
    assert torch.equal(built.logits(tokens), soft.logits(tokens))


@every
def test_printing_shows_the_layers_and_the_registers(name):
    model = MODELS[name]
    text = str(model)
    assert text.startswith(f"{model.name}: {model.n_layers} layer")
    assert f"width {model.d_model}, {model.n_parameters} weights" in text
    assert isinstance(model.stream, Stream)
    assert f"stream  {model.stream}" in text
    assert text.count("hardmax head: ") == sum(block.attn.n_heads for block in model.blocks)
    assert all(f"layer {i + 1} " in text for i in range(model.n_layers))
    if name not in ("facts", "skip-gram"):  # the name is the call that builds the model
        assert str(eval(model.name, vars(constructions).copy())) == text


@every
def test_deep_copies_are_separate(name):
    model, tokens = MODELS[name], tokens_for(MODELS[name], np.random.default_rng(0), 3)
    single = copy.deepcopy(model).to(torch.float32)
    assert single.logits(tokens).dtype == torch.float32
    assert model.logits(tokens).dtype == torch.float64
    assert torch.equal(single(tokens), model(tokens))


@every
@pytest.mark.parametrize(
    "tokens",
    [
        [0, -1, 0],
        [0, 99],
        [0.0, 1.0],
        [True, False],
        [],
        np.zeros((3, 0), dtype=int),
        [[0, 1], [0]],
        0,
        "words",
        torch.zeros(3),
        [0] * 8,
    ],
    ids=str,
)
def test_bad_tokens(name, tokens):
    text = name == "facts" and isinstance(tokens, str)  # which is read
    for call in (MODELS[name], MODELS[name].logits):
        with rejects("words" if text else "tokens"):
            call(tokens)


def test_the_remedy_for_a_long_sequence_is_a_longer_model():
    with rejects("max_length=9"):
        MODELS["latest"]([0] * 9)
    assert len(induction_heads(3, 9)([0] * 9)) == 9


@pytest.mark.parametrize("T", [1, 6])
def test_composition_takes_prompts_of_its_length_only(T):
    with rejects(f"{T} tokens", "7"):
        MODELS["composition"]([0] * T)


def test_generation_continues_a_pattern_and_ends_at_bottom():
    tokens = [3, 1, 2, 3]
    assert induction_heads(4, 20)(tokens).tolist() == [-1, -1, -1, 1]
    generated = induction_heads(4, 20).generate([tokens, [0, 1, 2, 3]], 8)
    assert generated.tolist() == [[1, 2, 3, 1, 2, 3, 1, 2], [-1] * 8]
    assert generated.dtype == torch.int64
    # The last token of a text without repeats has no answer, and nothing comes after ⊥.
    assert previous_token(4, 9).generate([2], 3).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("name", ["mean, self", "first, self", "unigram", "skip-gram"])
def test_each_generated_token_is_the_answer_to_all_before_it(name):
    model, sequence = MODELS[name], [[0, 1, 0], [2, 2, 1]]
    generated = model.generate(sequence, 4)
    assert generated.shape == (2, 4)
    whole = torch.cat([torch.tensor(sequence), generated], dim=-1)
    for step in range(4):
        assert torch.equal(model(whole[:, : 3 + step])[:, -1], generated[:, step])
    assert torch.equal(model.generate(sequence[0], 4), generated[0])
    assert model.generate(sequence, 0).shape == (2, 0)


@pytest.mark.parametrize(
    ("model", "tokens", "steps", "name"),
    [
        ("latest", [0, 1], 7, "max_length=8"),
        ("latest", [0, 5], 2, "tokens"),
        ("latest", [0, 1], -1, "steps"),
        ("composition", [0] * 7, 1, "composition"),
        ("regression", [0], 1, "nearest_neighbour"),
    ],
)
def test_what_cannot_be_continued(model, tokens, steps, name, unchecked):
    model = nearest_neighbour(2) if model == "regression" else MODELS[model]
    with rejects(name):
        model.generate(tokens, steps)


@pytest.mark.parametrize("name", ["latest", "average", "facts"])
@pytest.mark.parametrize("sharpness", [0.0, -2.0, float("nan"), float("inf"), -float("inf")])
def test_bad_sharpness(name, sharpness):
    with rejects("sharpness"):
        MODELS[name].sharpened(sharpness)


def assert_names_one_that_works(call, model, sharpness, least):
    with pytest.raises(InputError) as refusal:
        call(sharpness=sharpness)
    check_line(str(refusal.value), "sharpness", str(model.interface.context))
    named = float(str(refusal.value).rpartition(" ")[2])
    # Shown to six digits, of what is found to one part in a thousand.
    assert least <= named <= least * 1.001 + 0.01
    assert call(sharpness=named).blocks[0].attn.scale == named


@pytest.mark.parametrize("name", [name for name in MODELS if name != "average"])
def test_too_small_a_sharpness_is_rejected_with_one_that_works(name):
    model, least = MODELS[name], MODELS[name].least_sharpness()
    assert_names_one_that_works(model.sharpened, model, 0.99 * least, least)
    if name in ("latest", "skip-gram"):
        assert_names_one_that_works(partial(BUILD[name], 3, 7), model, 1e-3 * least, least)


def test_patterns_that_do_not_fit_are_rejected():
    model = induction_heads(3, 2_000_000)
    tokens = np.zeros(2_000_000, dtype=np.int64)
    with rejects("2000001 tokens"):
        next(model.patterns(tokens))
