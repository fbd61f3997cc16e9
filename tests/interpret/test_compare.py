"""Layers whose algorithm is known are found, layer by layer and step by step."""

import numpy as np
import pytest
from descent import Descent
from refusals import rejects

from constructions import gradient_descent, newton, online_gradient_descent
from theory.regression import gaussian_prompts
from verify.evidence.statistics import Mean
from verify.finding import Verdict
from verify.interpret import algorithms, compare, nearer, outputs, predictions_of, probe
from verify.interpret.comparison import Cell, Comparison
from verify.interpret.similarity import Table

D, N, STEPS = 3, 6, range(9)
FITTED, MEASURED = (gaussian_prompts(m, N, D, seed=m) for m in (400, 60))
KNOWN = algorithms(MEASURED)
STEP = float(1 / KNOWN.spectrum.largest.max() / 2)
DESCENT = KNOWN.spectrum.gradient_descent(STEPS, STEP)


def found(layers, algorithm=DESCENT, steps=STEPS):
    return compare(layers, "an algorithm", steps, algorithm)


def unembedded(model, x, y, x_query):
    """The predictions of the model's own unembedding, applied after each layer."""
    return [model.unembedding(H)[..., 0] for H in model.representations(x, y, x_query)]


def test_layers_of_built_gradient_descent_are_its_iterates():
    model = gradient_descent(D, 5, STEP, causal=True)
    compared = found(outputs(model, MEASURED, unembedded))
    assert compared.best.tolist() == [0, 1, 2, 3, 4, 5]
    assert compared.decided.all()
    similar = [compared.at(i, i).similarity.mean for i in range(6)]
    assert similar == pytest.approx([1] * 6, abs=1e-9)
    to_fourth = nearer(compared.at("stream 4", 4), compared.at("stream 4", 5))
    assert to_fourth.verdict is Verdict.HOLDS
    assert nearer(compared.at(4, 5), compared.at(4, 4)).verdict is Verdict.FAILS


def test_layers_of_built_newton_are_its_iterates():
    """After layer l, register u of a query is M x_query/2^j for the iterate M after l − 1 steps."""
    k, alpha = 4, float(1 / KNOWN.spectrum.largest.max() ** 2)
    model = newton(D, k, alpha)
    at = {stage.after: float(stage.times) for stage in model.stages if stage.register == "u"}

    def estimates(model, x, y, x_query):
        rows = np.concatenate([x, x_query[:, None]], 1)
        read = np.zeros((k + 1, *rows.shape[:2]))
        for t in range(1, len(rows[0])):
            streams = [*model.streams(x[:, :t], y[:, :t], rows[:, t])]
            weights = (y[:, :t, None] * x[:, :t]).sum(1)
            for layer, times in at.items():
                u = streams[layer][:, -1, model.stream["u"]].numpy()
                read[layer - 1, :, t] = times * (u * weights).sum(-1)
        return [*read]

    iterates = KNOWN.spectrum.newton(STEPS, alpha)
    compared = found(outputs(model, MEASURED, estimates), iterates)
    assert compared.best.tolist() == [0, 1, 2, 3, 4]
    assert compared.decided.all()
    whole = found(outputs(model, MEASURED), iterates)
    assert (whole.names, whole.best.tolist()) == (("output",), [4])
    assert whole.at("output", 4).similarity.mean == pytest.approx(1)


def predicted(model, names):
    """Predictions of blocks, which are the last column of their outputs."""

    def read(model, x, y, x_query):
        found = []
        hooks = [
            model.get_submodule(name).register_forward_hook(lambda _, __, H: found.append(H))
            for name in names
        ]
        model(x, y, x_query)
        for hook in hooks:
            hook.remove()
        return [H[..., -1] for H in found]

    return outputs(model, MEASURED, read)


def test_a_wrong_layer_is_found():
    """Block 2 is a step in the wrong direction."""
    names = [f"blocks.{i}" for i in range(4)]
    model = Descent([STEP, -STEP, STEP, STEP]).eval().double()
    compared = found(predicted(model, names))
    similar = [compared.at(i, i + 1).similarity.mean for i in range(4)]
    assert similar[0] == pytest.approx(1, abs=1e-9)
    assert max(similar[1:]) < 0.999
    right = found(predicted(Descent([STEP] * 4).eval().double(), names))
    assert right.best.tolist() == [1, 2, 3, 4]
    assert right.decided.all()


def test_a_function_without_layers_is_compared_as_a_whole():
    online = outputs(online_gradient_descent(D, N), MEASURED)
    wanted = KNOWN.online_gradient_descent()[0]
    assert found(online, wanted, [1]).at("output", 1).similarity.mean > 0.5
    at_queries = predictions_of(lambda x, y, x_query: 2 * x_query[:, 0], MEASURED)
    rows = np.concatenate([MEASURED.x, MEASURED.x_query[:, None]], 1)
    np.testing.assert_array_equal(at_queries[:, 1:], 2 * rows[:, 1:, 0])
    assert not at_queries[:, 0].any()


def test_models_are_the_unit_of_several():
    """Three seeds that agree at layer 1 and not at layer 2."""
    names = ["blocks.0", "blocks.1"]
    models = [Descent([STEP, more * STEP]).eval().double() for more in (1, 2, 3)]
    compared = found([predicted(each, names) for each in models])
    assert compared.decided.tolist() == [True, False]
    assert set(compared.among[:, 0]) == {1}
    assert compared.among[:2, 1].tolist() == [2, 2]  # the first model, on both halves
    assert compared.among[2:, 1].min() > 2
    assert compared.at(1, 2).similarity.freedom == 2
    assert str(compared).count("undecided") == 1
    rows = compared.to_json()["layers"]
    assert [row["decided"] for row in rows] == [True, False]


def table(alike, steps=None):
    alike = np.asarray(alike, float)
    return Table("a", np.array(steps or range(len(alike))), alike, np.zeros(alike.shape))


def test_the_largest_number_of_steps_decides_nothing():
    assert Comparison(("layer",), (table([[[0.1] * 8], [[0.9] * 8]]),)).decided.tolist() == [False]
    assert Comparison(("layer",), (table([[[0.1] * 8]]),)).decided.tolist() == [True]
    for best, steps in ((4, [4, 2, 1]), (1, [4, 2, 1]), (4, [1, 4, 2]), (2, [1, 4, 2])):
        alike = [[[0.9 if k == best else 0.1] * 8] for k in steps]
        assert Comparison(("layer",), (table(alike, steps),)).decided.tolist() == [best < 4]


def test_halves_of_the_prompts_that_disagree_decide_nothing():
    first, second = [1.0, 0.2] * 4, [0.1, 0.9] * 4
    compared = Comparison(("layer",), (table([[first], [second]]),))
    assert (compared.best.tolist(), compared.decided.tolist()) == ([0], [False])
    assert compared.among.ravel().tolist() == [0, 1]


def cell(values, layer="a"):
    return Cell("an algorithm, 1 steps", layer, np.atleast_2d(values))


def test_nearer_is_decided_by_the_difference_and_by_both_halves():
    rng = np.random.default_rng(0)
    noise, same = rng.standard_normal(400) / 10, np.zeros(400)
    assert nearer(cell(noise + 0.1), cell(same)).verdict is Verdict.HOLDS
    assert nearer(cell(noise - 0.1), cell(same)).verdict is Verdict.FAILS
    assert nearer(cell(noise), cell(same)).verdict is Verdict.UNDECIDED
    odd = np.where(np.arange(400) % 2, 1.0, -0.1)
    one_half = nearer(cell(odd), cell(same))
    assert (one_half.difference.mean > 0.4, one_half.verdict) == (True, Verdict.UNDECIDED)
    assert "undecided" in str(one_half)
    # two models decide nothing, and many do: they are the unit
    of_models = np.tile(noise + 0.1, (2, 1)) + np.array([[0.01], [-0.01]])
    two = nearer(cell(of_models), cell(np.zeros((2, 400))))
    assert isinstance(two.difference, Mean)
    assert (two.difference.freedom, two.verdict) == (1, Verdict.UNDECIDED)
    many = np.tile(of_models, (10, 1))
    assert nearer(cell(many), cell(0 * many)).verdict is Verdict.HOLDS
    with rejects("first", "second"):
        nearer(cell(noise), cell(noise, "b"))


def test_nearer_compares_the_same_models_on_the_same_prompts():
    built = [gradient_descent(D, k, STEP, causal=True) for k in (2, 3)]
    others = gaussian_prompts(60, N, D, seed=9)
    known = algorithms(others).spectrum.gradient_descent(STEPS, STEP)

    def last(model, prompts, algorithm):
        return found(outputs(model, prompts), algorithm).at("output", 2)

    first = last(built[0], MEASURED, DESCENT)
    assert nearer(first, last(built[0], MEASURED, DESCENT)).difference.mean == 0
    with rejects("first", "second", "prompts"):
        nearer(first, last(built[0], others, known))
    with rejects("first", "second", "models"):
        nearer(first, last(built[1], MEASURED, DESCENT))


def test_wrong_numbers_of_algorithms():
    known = algorithms(MEASURED)
    for call, name in (
        (lambda: known.newton([-1]), "steps"),
        (lambda: known.gradient_descent([1], 0.0), "factor"),
        (lambda: known.gradient_descent([1], "1"), "factor"),
        (lambda: known.momentum([1], 0.5), "condition"),
        (lambda: known.bayes(-1.0), "noise"),
        (lambda: known.filtered(2.0, np.nan), "doublings"),
    ):
        with rejects(name):
            call()


def test_wrong_comparisons():
    probed = outputs(lambda x, y, q: q[:, 0], MEASURED)
    with rejects("predictions"):
        found(probed, DESCENT[:, :, 1:])
    with rejects("predictions"):
        found(probed, DESCENT[:3])
    with rejects("steps", "3"):
        found(probed, DESCENT[[0, 3, 2, 3]], [0, 3, 2, 3])
    with rejects("probed"):
        found([])
    with rejects("probed"):
        found([probed, outputs(lambda x, y, q: q[:, 0], gaussian_prompts(60, N, D, seed=0))])
    with rejects("probed"):
        model = gradient_descent(D, 2, STEP, causal=True)
        found([probed, probe(model, FITTED).on(MEASURED)])
    few = gaussian_prompts(3, N, D, seed=0)
    with rejects("probed"):
        found(outputs(lambda x, y, q: q[:, 0], few), DESCENT[:, :3])
    with rejects("steps"):
        found(probed).at(0, 99)
    for layer in (1, "no", 1.5, True):
        with rejects("layer"):
            found(probed).at(layer, 1)
