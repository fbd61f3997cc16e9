"""Models before training: shapes, causality, seeds, and the number systems that read them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import Transformer
from constructions.arithmetic.sums import Sums
from constructions.examples import Examples, alternating, packed
from constructions.graphs.graph import Graph
from constructions.structures.cells import Sketch
from constructions.tokens import Tokens
from constructions.trained import Configuration, preset, untrained
from constructions.trained.feedforward import FeedForward
from constructions.trained.labels import LAST, Patches, Words
from constructions.trained.lookup import LookupNetwork, PointsAndQueries
from constructions.trained.lstm import LSTM, LSTMShape
from constructions.trained.models import SHAPES
from constructions.trained.presets import PRESETS as KNOWN
from constructions.trained.presets import name_of
from constructions.trained.quadratic import QuadraticNetwork
from constructions.trained.sketch import SketchNetwork
from constructions.trained.transformers import TransformerShape
from theory.kinds import InputError
from theory.regression import gaussian_prompts
from verify.domains import Ball
from verify.domains.forward import outputs

PRESETS = {
    "transformer": preset("regression"),
    "lstm": preset("regression", model="lstm"),
    "ill-conditioned": preset("regression", covariance="ill-conditioned"),
}


@pytest.fixture(scope="module", params=PRESETS)
def regressor(request):
    return untrained(PRESETS[request.param])


def prompts(n=4, d=5, m=3, seed=0):
    p = gaussian_prompts(m, n, d, seed=seed)
    return p.x, p.y, p.x_query


def test_every_preset_is_a_model_with_an_interface():
    """Which one, and whether it has positions and a final layer norm."""
    for task, made in KNOWN.items():
        for size, model in made:
            if task == "regression" and size in ("paper", "medium"):
                continue
            built = untrained(preset(task, size, model=model))
            kinds = {"lstm": LSTM, "mlp": FeedForward, "cnn": FeedForward}
            kinds |= {"quadratic": QuadraticNetwork, "lookup": LookupNetwork}
            kinds |= {"sketch": SketchNetwork}
            assert type(built) is kinds.get(model, Transformer)
            found = built.interface
            if task == "search":
                law, _, number = size.partition("-")
                sized = found.d if law == "sphere" else found.n
                wanted = 100 if law == "paper" else int(number)
                assert (type(found), sized) == (PointsAndQueries, wanted)
                continue
            if task == "counts":
                assert (type(found), found.vocabulary_size, found.n_cells) == (Sketch, 100, 32)
                continue
            if task in ("addition", "modular"):
                assert (type(found), found.context) == (Sums, 3)
                continue
            if task == "digits":
                sees = Patches, 64 if model in ("mlp", "cnn") else 4
                assert (type(found), found.size**2) == sees
                continue
            if task == "text" and model == "lstm":
                assert (type(found), found.answered) == (Words, LAST)
                continue
            if task == "connectivity":
                assert (type(found), built.d_model) == (Graph, 64 if size == "small" else 32)
                continue
            if task != "regression":
                assert isinstance(found, Tokens)
                lengths = {"automata": 40, "facts": 4, "parity": 22, "even-process": 10, "text": 17}
                lengths["chomsky"] = 101
                context = lengths.get(task, 64)
                assert built.pos_embed.W_pos.shape[0] == found.context == context
                continue
            assert isinstance(found, Examples)
            wanted = (packed, False) if size == "linear" else (alternating, True)
            assert (found.encode, found.at_most) == wanted
            if model == "transformer":
                assert (built.pos_embed is None) == (built.ln_final is None) == (size == "linear")
                assert {block.attn.masks[0] for block in built.blocks} == {
                    "context-only" if size == "linear" else "causal"
                }


def test_one_prediction_for_each_prefix_which_sees_no_more(regressor):
    x, y, query = prompts()
    said = regressor(x, y, query)
    assert said.shape == (3, 5)
    for t in range(4):
        shorter = regressor(x[:, :t], y[:, :t], x[:, t]) if t else None
        if shorter is not None:
            torch.testing.assert_close(shorter[:, t], said[:, t], rtol=1e-4, atol=1e-4)
    other = regressor(x, y + np.array([0, 0, 0, 1.0]), query)
    torch.testing.assert_close(other[:, :4], said[:, :4])
    assert (other[:, 4] != said[:, 4]).all()


def test_the_last_representation_is_what_the_read_out_sees(regressor):
    x, y, query = prompts()
    *_, last = regressor.representations(x, y, query)
    assert len([*regressor.representations(x, y, query)]) == regressor.n_layers + 1
    read = regressor.unembed(last)[..., 0]
    scale = regressor(x, y, query) / read
    torch.testing.assert_close(scale, torch.full_like(scale, scale.flatten()[0].item()))


NETWORKS = {name: preset("digits", model=name) for name in ("mlp", "cnn")}


@pytest.mark.parametrize("made", [*PRESETS.values(), *NETWORKS.values()])
def test_seeds_determine_the_weights(made):
    first, again, other = (
        torch.cat([W.flatten() for W in untrained(replace(made, seed=seed)).parameters()])
        for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_bad_prompts_of_a_regressor_are_rejected(regressor):
    x, y, query = prompts()
    for given, names in (
        ((x[..., :3], y, query[..., :3]), "x 3"),
        (prompts(11), "x 11 10"),
        ((x, y[:, :2], query), "y 2 4"),
        ((x * np.nan, y, query), "x"),
    ):
        with rejects(*names.split()):
            regressor(*given)


def test_queries_of_linear_attention_do_not_see_each_other():
    """Eight at once, as in training, have the answers that each has alone."""
    model = untrained(preset("regression", "linear"))
    x, y, _ = prompts(20)
    queries = np.random.default_rng(1).normal(size=(8, 3, 5))
    alone = torch.stack([model(x, y, query) for query in queries])
    torch.testing.assert_close(model(x, y, queries), alone, rtol=1e-4, atol=1e-5)
    with rejects("x", "4", "20"):
        model(*prompts(4))


def test_token_models():
    model = untrained(preset("induction", n_layers=1))
    assert model.generate(np.array([3, 1, 2]), 5).shape == (5,)
    tokens = np.arange(10) % 3
    logits = model.logits(tokens)
    assert logits.shape == (10, 16)
    assert torch.equal(model(tokens), logits.argmax(-1))
    torch.testing.assert_close(model.logits(tokens[:4]), logits[:4], rtol=1e-4, atol=1e-5)
    for bad, names in (
        (np.full(65, 0), "65 max_length"),
        (np.array([16]), "tokens 16"),
        (torch.tensor([0.5]), "tokens float32"),
    ):
        with rejects(*names.split()):
            model(bad)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_a_trained_transformer_in_balls(layer_norm):
    """Layer norm, softmax and ReLU MLP enclosed: the same weights, another number system."""
    made = preset("regression")
    shape = TransformerShape(2, 2, 8, 12, layer_norm)
    model = untrained(replace(made, shape=shape)).double().requires_grad_(False)
    x, y, query = prompts(3, m=1)
    with Ball.precision(200):
        enclosed = outputs(model, model.prompt(x[0], y[0], query[0]), Ball()).tolist()
        wanted = [float(row[0]) for row in enclosed]
        assert all(row[0].rad() < 1e-40 for row in enclosed)
    np.testing.assert_allclose(model(x, y, query)[0].numpy(), wanted, rtol=1e-11, atol=1e-12)


def test_presets():
    paper = untrained(preset("regression", "paper"))
    assert sum(W.numel() for W in paper.parameters()) == pytest.approx(9.5e6, rel=0.02)
    lstm = untrained(preset("regression", "paper", model="lstm"))
    assert sum(W.numel() for W in lstm.parameters()) == pytest.approx(5.3e6, rel=0.02)
    linear = untrained(preset("regression", "linear", n_layers=3))
    assert (linear.n_layers, linear.n_heads) == (3, 4)
    assert linear(*prompts(20)).shape == (3,)


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"task": "regression", "size": "linear", "model": "lstm"}, "model"),
        ({"task": "hop", "model": "lstm"}, "model"),
        ({"task": "induction", "size": "paper"}, "size"),
        ({"task": "regression", "foo": 1}, "foo"),
        ({"task": "regression", "points": 3}, "points"),
        ({"task": "induction", "k": 1}, "k"),
        ({"task": "hop", "automaton": "S3"}, "automaton"),
        ({"task": "automata", "automaton": "A5", "stay": 0.5}, "A5"),
        ({"task": "hop", "noise": 1.0}, "noise"),
        ({"task": "chomsky", "problem": "binary multiplication"}, "problem"),
        ({"task": "hop", "problem": "reverse string"}, "problem"),
        ({"task": "counts", "size": "sketch-32", "n_layers": 2}, "n_layers"),
        ({"task": "modular", "size": "p7", "n_layers": 2}, "n_layers"),
    ],
)
def test_presets_that_there_are_not_are_rejected(arguments, parameter):
    with rejects(parameter):
        preset(**arguments)


def test_a_size_that_a_task_lacks_is_followed_by_its_own_sizes():
    with pytest.raises(InputError) as caught:
        preset("regression", "x")
    for size in {size for sizes in KNOWN.values() for size, _ in sizes}:
        assert (repr(size) in str(caught.value)) == ((size, "transformer") in KNOWN["regression"])


def test_a_model_that_a_preset_lacks_is_followed_by_those_that_it_has():
    for model in ("rnn", "lstm"):
        with pytest.raises(InputError) as caught:
            preset("automata", model=model)
        assert [kind for kind in SHAPES if repr(kind) in str(caught.value)] == (
            ["transformer"] if model == "rnn" else ["transformer", "lstm"]
        )
    with rejects("rnn", "transformer", "mlp", "cnn", "lstm"):
        preset("digits", model="rnn")


@pytest.mark.parametrize(
    ("name", "task", "size", "options"),
    [
        ("regression-ten-seed3", "regression", "ten", {"seed": 3}),
        (
            "regression-small-lstm-ill-conditioned-noise0.5-seed0",
            "regression",
            "small",
            {"model": "lstm", "covariance": "ill-conditioned", "noise": 0.5},
        ),
        ("regression-linear-3-layers-seed0", "regression", "linear", {"n_layers": 3}),
        ("induction-small-1-layer-seed0", "induction", "small", {"n_layers": 1}),
        ("bigrams-small-2-layers-seed0", "bigrams", "small", {}),
        ("hop-small-4-layers-k2-seed0", "hop", "small", {"k": 2}),
        ("automata-small-4-layers-parity-seed0", "automata", "small", {}),
        (
            "automata-small-2-layers-flip-flop-stay0.8-seed1",
            "automata",
            "small",
            {"automaton": "flip-flop", "stay": 0.8, "n_layers": 2, "seed": 1},
        ),
        (
            "chomsky-small-3-layers-modular-arithmetic-brackets-seed0",
            "chomsky",
            "small",
            {"problem": "modular arithmetic, brackets"},
        ),
    ],
)
def test_names(name, task, size, options):
    assert name_of(task, size, preset(task, size, **options)) == name


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: TransformerShape(1, 4, 10, 0), "d_model"),
        (lambda: replace(preset("hop"), shape=LSTMShape(1, 8)), "shape"),
    ],
)
def test_shapes_that_do_not_fit_are_rejected(call, parameter):
    with rejects(parameter):
        call()


def test_the_learning_rate():
    made = replace(preset("regression"), steps=1000, warmup=100, final_rate=0.1)
    rates = [made.rate(step) for step in range(1001)]
    assert rates[0] == 0.01
    assert rates[99] == rates[100] == 1
    assert rates[550] == pytest.approx(0.55)
    assert rates[325] == pytest.approx(0.1 + 0.9 * (1 + 0.5**0.5) / 2)  # a quarter: cos 45°
    assert rates[1000] == pytest.approx(0.1)
    assert max(rates) == 1


@pytest.mark.parametrize("name", ["small", "paper", "linear"])
def test_a_configuration_survives_json(name):
    made = preset("regression", name, noise=0.25, seed=3)
    assert Configuration.from_json(made.to_json()) == made
    for tokens in (preset("bigrams"), preset("automata", automaton="flip-flop", stay=0.8)):
        assert Configuration.from_json(tokens.to_json()) == tokens


def test_records_that_are_none():
    record = preset("regression").to_json()
    without = {key: value for key, value in record.items() if key != "task"}
    for other, named in (
        ({**record, "version": 0}, "version"),
        (without, "task"),
        ({**record, "colour": "red"}, "colour"),
    ):
        with rejects(named):
            Configuration.from_json(other)
