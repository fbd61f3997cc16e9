"""Claims on the shipped checkpoints: what they say, and that untrained models do not pass."""

from dataclasses import fields, replace

import numpy as np
import pytest

import theory.regression as r
from constructions import gradient_descent, newton, online_gradient_descent
from constructions.trained import Configuration, checkpoint, preset, shipped, sidecar
from constructions.trained.models import untrained
from theory.checks import InputError
from theory.regression import gaussian_prompts
from verify.claim import Run
from verify.finding import Verdict
from verify.trained import checkpoints, growth
from verify.trained.ill_conditioned import best, ill_conditioned
from verify.trained.induced_weights import induced
from verify.trained.induction import induction_trained
from verify.trained.layers import layers
from verify.trained.linear_depth import linear_depth
from verify.trained.lstm import lstm
from verify.trained.newton_or_gd import _growth as newton_or_gd_growth
from verify.trained.newton_or_gd import newton_or_gd
from verify.trained.noisy import noisy
from verify.trained.predictors import Algorithms, labels_of, predictions_of
from verify.trained.probes import Probed, read, read_outs
from verify.trained.published import KINDS, beside_published, cells, published
from verify.trained.similarities import Table, Tables, save_cells
from verify.trained.statistics import resampled, sign_of

SEED0 = {"checkpoint": "regression-small-seed0"}  # the commands of the README take all seeds
CLAIMS = {
    "layers": (layers, {"samples": 1000, **SEED0}),
    "newton-or-gd": (newton_or_gd, {"samples": 2000, **SEED0}),
    "ill-conditioned": (ill_conditioned, {"samples": 300}),
    "induced-weights": (induced, {"samples": 20, **SEED0}),
    "noisy": (noisy, {"samples": 500}),
    "lstm": (lstm, {"samples": 300, "transformer": "regression-small-seed0"}),
    "linear-depth": (linear_depth, {"samples": 4000}),
    "induction-trained": (induction_trained, {"samples": 40}),
}
# On these small models the last layer is by 0.001 to 0.004 more like gradient descent.
CLOSER = "the last layer is more like Newton than gradient descent"
FAILING = {
    "layers": ("layer 1 improves on the embedding",),
    "newton-or-gd": (CLOSER, "on [λmax/100, λmax]: exponential growth"),
    "lstm": ("the first layer is as good as the last",),
    "ill-conditioned": (CLOSER,),
    "linear-depth": ("of 27 terms or more",),
    "induced-weights": (
        "the weights of the last layer are more like Newton's",
        "less of the error is nonlinear in the query than linear",
        "linear growth",
        "exponential growth",
    ),
}


def not_holding(findings):
    return [(f.name, f.measured) for f in findings if f.verdict is not Verdict.HOLDS]


# These run as commands of the README too; every finding is tested on planted models.
SLOW = ("newton-or-gd", "ill-conditioned", "induced-weights")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CLAIMS]
)
def test_what_the_shipped_checkpoints_say(name, tmp_path):
    claim, options = CLAIMS[name]
    picture = tmp_path / "picture.png"
    wrong = not_holding(claim.findings(Run(seed=1, quick=True, plot=picture), **options))
    if name in FAILING:
        assert wrong
        assert all(finding.endswith(FAILING[name]) for finding, _ in wrong)
    else:
        assert wrong == []
    assert picture.stat().st_size > 10_000


@pytest.mark.parametrize("name", sorted(CLAIMS.keys() - {"induced-weights"}))
def test_untrained_models_do_not_pass(name, monkeypatch):
    """The same shapes with random weights; planted models tell each finding by itself."""

    def random(each):
        made = Configuration.from_json(sidecar(each)["configuration"])
        return untrained(made).requires_grad_(False)

    monkeypatch.setattr("constructions.trained.load", random)
    claim, options = CLAIMS[name]
    few = {**options, "samples": 200}
    assert claim.verdict(Run(seed=1, quick=True), **few) is not Verdict.HOLDS


def test_a_read_out_is_the_least_squares_solution():
    """Against lstsq, on the rows of a small model; and the best, so that no other does better."""
    made = Configuration.from_json(sidecar("regression-small-seed0")["configuration"])
    model = untrained(made).requires_grad_(False)
    fitted, p = (gaussian_prompts(m, 10, 5, seed=m) for m in (30, 7))
    found, *halves = read(model, read_outs(model, fitted), p.x, p.y, p.x_query)
    assert found.shape == (7, 7, 11)
    for half, said in enumerate(halves):
        part = gaussian_prompts(30, 10, 5, seed=30)
        part = replace(part, **{f.name: getattr(part, f.name)[half::2] for f in fields(part)})
        np.testing.assert_allclose(
            said, read(model, read_outs(model, part)[:1], p.x, p.y, p.x_query)[0], atol=1e-6
        )
    for layer, (H, K) in enumerate(
        zip(
            model.representations(fitted.x, fitted.y, fitted.x_query),
            model.representations(p.x, p.y, p.x_query),
            strict=True,
        )
    ):
        X, Z = (
            np.concatenate([M.double().numpy(), np.ones((*M.shape[:-1], 1))], axis=-1)
            for M in (H, K)
        )
        rows = X.reshape(-1, X.shape[-1])
        w = np.linalg.lstsq(rows, labels_of(fitted).ravel(), rcond=1e-5)[0]
        np.testing.assert_allclose(found[layer], Z @ w, atol=2e-2)


def test_predictions_are_in_chunks(monkeypatch):
    model = untrained(Configuration.from_json(sidecar("regression-small-seed0")["configuration"]))
    model.requires_grad_(False)
    p = gaussian_prompts(5, 4, 5, seed=0)
    whole = predictions_of(model, p)
    monkeypatch.setattr("verify.trained.predictors.CHUNK", 2)
    np.testing.assert_allclose(predictions_of(model, p), whole, atol=1e-5)
    assert whole.shape == (5, 5)


def test_constructions_predict_what_the_algorithms_do():
    """All prefixes at once, or query by query; nothing is said of no examples."""
    p = gaussian_prompts(5, 6, 3, seed=0)
    a = Algorithms(p)
    online = predictions_of(online_gradient_descent(3, 6), p)
    largest = a.spectrum.largest.max()
    steps = predictions_of(newton(3, 4, 1 / largest**2), p)
    causal = predictions_of(gradient_descent(3, 4, 1 / largest, causal=True), p)
    assert online.shape == steps.shape == causal.shape == (5, 7)
    i, t = 2, 4
    x, y, query = p.x[i, :t], p.y[i, :t], p.x[i, t]
    for said, w in (
        (online, r.online_gradient_descent(x, y, None)),
        (steps, r.newton(x, y, 4, 1 / largest**2)),
        (causal, r.gradient_descent(x, y, 4, 1 / largest)),
    ):
        assert said[i, t] == pytest.approx(w @ query)
        assert (said[:, 0] == 0).all()


def test_algorithms_against_their_definitions():
    p = gaussian_prompts(4, 6, 3, seed=2)
    a = Algorithms(p)
    online, step_size = a.online_gradient_descent()
    w = r.online_gradient_descent(p.x, p.y, step_size)
    np.testing.assert_allclose(online[0, :, -1], (w * p.x_query).sum(-1))
    assert online.shape == (1, 4, 7)
    assert (online[..., 0] == 0).all()
    t, i = 4, 1
    x, y, query = p.x[i, :t], p.y[i, :t], p.x[i, t]
    largest = np.linalg.eigvalsh(x.T @ x)[-1]
    w = r.gradient_descent(x, y, 4, 1.25 / largest)
    assert a.gradient_descent([1, 4], 1.25)[1, i, t] == pytest.approx(w @ query)
    w = r.newton(x, y, 3, 1 / largest**2)
    assert a.newton([3])[0, i, t] == pytest.approx(w @ query)
    w = r.chebyshev(x, y, 5, largest / 30, largest)
    assert a.momentum([5], 30)[0, i, t] == pytest.approx(w @ query)


def test_matching_and_growth():
    steps = np.array([1, 2, 4, 8])
    table = np.array([[0.9, 0.1, 0, 0], [0.1, 0.9, 0, 0], [0, 0, 0.9, 0.9], [0, 0, 0.1, 0.1]])
    assert growth.matching(steps, table).tolist() == [1, 2, 4]
    fallen = np.array([[0.9, 0, 0, 0.9], [0, 0.9, 0, 0], [0, 0, 0.9, 0], [0, 0, 0, 0]])
    assert growth.matching(steps, fallen).tolist() == [1, 2, 4, 1]
    assert best(steps, np.array([0.5, 0.985, 0.99, 0.7])) == (4, 0.99)
    for values, kind in (
        ([1, 3, 5, 7, 9], "linear"),
        ([5, 10, 15, 20, 25, 30], "linear"),
        ([1, 3, 9, 27, 81], "exponential"),
        ([0, 1, 16, 64, 256], "exponential"),
        ([9, 15, 18, 20, 22, 24], "logarithmic"),
        ([64] * 6, "none"),
        ([0] * 6, "none"),
        ([1, 9], "none"),
        ([1, 5, 9], "none"),
        ([1, 1, 9], "none"),
        ([81, 27, 9, 3, 1], "none"),
    ):
        assert growth.growth_of(np.array(values)) == kind


@pytest.mark.parametrize(
    ("plant", "wanted"),
    [
        (lambda a: a.gradient_descent([5, 10, 15, 20, 25, 30], 1.9), ("other", "other")),
        (lambda a: a.gradient_descent([2, 8, 32, 128, 512, 2048], 1.9), ("", "holds")),
        (lambda a: a.newton([2, 5, 8, 11, 14, 17]), ("holds", "holds")),
        (lambda a: a.newton([17, 14, 11, 8, 5, 2]), ("other", "other")),
        (lambda a: a.newton([12, 15, 17, 18, 19, 20]), ("other", "")),
        (lambda a: 0 * a.newton([0] * 6), ("other", "other")),
        (lambda a: np.stack([a.least_squares()] * 6), ("other", "other")),
    ],
)
def test_growth_of_planted_layers(plant, wanted):
    """Layers that are an algorithm after so many steps: linear for Newton, exponential for GD."""
    p = gaussian_prompts(100, 10, 5, seed=0)
    planted = plant(Algorithms(p))
    model = untrained(Configuration.from_json(sidecar("regression-small-seed0")["configuration"]))
    said = np.concatenate([0 * planted[:1], planted])
    tables = Tables.of(Probed(model, p, said, np.stack([said, said])))
    for table, kind, verdict in zip(
        (tables.newton, tables.gradient_descent), ("linear", "exponential"), wanted, strict=True
    ):
        found = growth.growth(Run(seed=0), "a", "b", table.steps, table.cosines, kind).verdict
        if verdict:
            assert (found is Verdict.HOLDS) == (verdict == "holds")


def test_tables_are_cosines_and_squared_differences():
    """Layers that are twice Newton's answers: another cosine, and another distance."""
    p = gaussian_prompts(6, 10, 5, seed=0)
    model = untrained(Configuration.from_json(sidecar("regression-small-seed0")["configuration"]))
    a = Algorithms(p)
    said = np.stack([2 * a.newton([k])[0] for k in (0, 2, 5)])
    probed = Probed(model, p, said, np.stack([said, said]))
    newton_table = Tables.of(probed).newton
    i, layer, prompt = 3, 1, 4
    first = (a.newton([i])[0] - a.labels)[prompt, 1:]
    second = (said[layer + 1] - a.labels)[prompt, 1:]
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert newton_table.cosines[i, layer, prompt] == pytest.approx(cosine)
    square = ((first - second) ** 2).mean() / (p.x**2).sum(-1).mean()
    assert newton_table.squares[i, layer, prompt] == pytest.approx(square)


def test_growth_by_likeness_and_by_difference_are_two_findings():
    steps, layers_ = np.arange(200), [2, 8, 14, 20, 26]

    def alike(best):
        table = -np.abs(steps[:, None] - np.array(best)).astype(float)
        return np.repeat(table[..., None], 30, axis=-1)

    by_cosine = Table("a", steps, alike(layers_), -alike([2, 6, 18, 54, 162]))
    found = Tables(by_cosine, by_cosine, by_cosine, ())
    verdicts = [f.verdict for f in newton_or_gd_growth(Run(), "a", found)]
    holds, fails = Verdict.HOLDS, Verdict.FAILS
    assert verdicts == [holds, fails, fails, holds]


def test_growth_by_prompts_drawn_again():
    """Layer i is alike to 2i steps on every prompt, or to 2^i; undecided where noise drowns it."""
    steps, rng = np.arange(40), np.random.default_rng(0)

    def alike(best, noise):
        table = -np.abs(steps[:, None] - np.array(best)).astype(float)
        return table[..., None] + noise * rng.standard_normal((*table.shape, 50))

    def verdict(best, wanted, noise=0.1):
        return growth.growth(Run(seed=0), "a", "b", steps, alike(best, noise), wanted).verdict

    assert verdict([2, 4, 6, 8, 10], "linear") is Verdict.HOLDS
    assert verdict([2, 4, 6, 8, 10], "exponential") is Verdict.FAILS
    assert verdict([2, 4, 8, 16, 32], "exponential") is Verdict.HOLDS
    assert verdict([2, 4, 6, 8, 10], "linear", 3.0) is Verdict.UNDECIDED


def test_means_of_prompts_drawn_again():
    """Over many prompts they scatter as means do; each is a mean of values that are there."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((3, 400))
    again = resampled(rng, values)
    assert again.shape == (200, 3)
    np.testing.assert_allclose(again.mean(0), values.mean(-1), atol=0.02)
    np.testing.assert_allclose(again.std(0), values.std(-1) / 20, rtol=0.2)
    whole = resampled(rng, rng.integers(0, 2, (1, 7)).astype(float)) * 7
    np.testing.assert_allclose(whole, whole.round(), atol=1e-9)


def table_of(steps, means, spread=0.001):
    """Four prompts of which every cell has that mean, and that standard error."""
    cosines = means[..., None] + spread * np.sqrt(3) * np.array([1, -1, 1, -1])
    return Table("some", steps, cosines, 1 - cosines)


def test_cell_by_cell_beside_the_published_tables():
    tables = {kind: published(f"isotropic_{kind}") for kind in KINDS}
    same = {kind: table_of(*each) for kind, each in tables.items()}
    found = Tables(same["newton"], same["newton"], same["gradient_descent"], ())
    findings = list(cells("a", found, "isotropic"))
    assert [f.verdict for f in findings] == [Verdict.HOLDS] * 2
    assert "276 of 276" in findings[0].measured
    steps, means = tables["newton"]
    for shift, verdict in ((0.06, "HOLDS"), (0.0725, "UNDECIDED"), (-0.08, "FAILS")):
        moved = means.copy()
        moved[3, 4] += shift
        off = table_of(steps[2:], moved[2:])
        newton, _ = cells("a", replace(found, newton=off), "isotropic")
        assert newton.verdict is Verdict[verdict]
        agree = 252 if verdict == "HOLDS" else 251
        assert f"{agree} of 252 cells agree; the largest difference is" in newton.measured
    few = table_of(steps, means, spread=0.1)
    newton, _ = cells("a", replace(found, newton=few), "isotropic")
    assert newton.verdict is Verdict.UNDECIDED


def test_every_cell_is_saved(tmp_path):
    steps, means = np.array([1, 2]), np.array([[0.5, 0.6, 0.7], [0.8, 0.9, 1.0]])
    low, high = (Tables(*[table_of(steps, means + shift)] * 3, ()) for shift in (0, 0.02))
    save_cells(tmp_path / "cells.csv", {"a": low, "b": high})
    head, *rows = (tmp_path / "cells.csv").read_text().splitlines()
    assert head == "model,algorithm,steps,layer,similarity,standard_error"
    assert len(rows) == 3 * 3 * 6
    assert rows[0] == "a,some,1,1,0.5000,0.0010"
    assert rows[-1] == "mean of 2,some,2,3,1.0100,0.0100"


def test_the_size_of_the_published_models():
    small = untrained(Configuration.from_json(sidecar("regression-small-seed0")["configuration"]))
    assert not beside_published(small, "isotropic")
    large = untrained(preset("regression", "paper"))
    assert beside_published(large, "isotropic")
    assert not beside_published(large, "ill-conditioned")


def test_published_tables_are_those_of_the_paper():
    """Figures quoted in the text beside the tables."""
    steps, newton = published("isotropic_newton")
    assert newton.max() == 0.994
    assert steps[newton[:, -1].argmax()] == 21
    steps, descent = published("isotropic_gradient_descent")
    assert descent.max() == 0.988
    assert steps[descent.argmax(axis=0)].tolist() == [
        1,
        1,
        4,
        8,
        32,
        64,
        256,
        512,
        1024,
        4096,
        4096,
        4096,
    ]
    steps, newton = published("ill_conditioned_newton")
    assert newton[:, -1].max() == newton[steps == 20, -1] == 0.988


def test_the_sign_of_a_mean():
    assert sign_of(3.1, 1.0) is Verdict.HOLDS
    assert sign_of(-3.1, 1.0) is Verdict.FAILS
    assert sign_of(2.9, 1.0) is sign_of(-2.9, 1.0) is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("claim", "options", "message"),
    [
        (
            layers,
            {"checkpoint": "nothing"},
            r"^no checkpoint nothing: shipped are .*regression-small",
        ),
        (
            layers,
            {"checkpoint": "regression-small-lstm"},
            "is a RegressionLSTM: this claim is about",
        ),
        (layers, {"checkpoint": "induction-small-1-layer"}, "is a TokenTransformer: this claim"),
        (lstm, {"checkpoint": "regression-small"}, "is a RegressionTransformer: this claim"),
        (layers, {"checkpoint": "no/such.safetensors"}, "^no checkpoint no/such.safetensors"),
        (layers, {"samples": 1}, "^samples is 1: give a number at least 20"),
        (noisy, {"checkpoint": "regression-small-seed0"}, "seed0 was trained without noise: give"),
        (noisy, {"noiseless": "regression-small-noise0.5"}, "was not trained on the prompts of"),
        (
            noisy,
            {"noiseless": "regression-small-ill-conditioned"},
            "was not trained on the prompts",
        ),
        (
            ill_conditioned,
            {"checkpoint": "regression-small-seed0"},
            "seed0 was trained on isotropic prompts: give another checkpoint",
        ),
        (
            lstm,
            {"transformer": "regression-small-ill-conditioned"},
            "were trained on different prompts: give two of the same task",
        ),
    ],
)
def test_bad_input(claim, options, message):
    with pytest.raises(InputError, match=message):
        list(claim.findings(Run(), **options))


def test_all_seeds_are_reported(monkeypatch):
    monkeypatch.setattr("verify.trained.probes.FITTED", 400)
    assert checkpoints.seeds_of("induction-small-2-layers") == ["induction-small-2-layers-seed0"]
    isotropic = [n for n in shipped() if n.startswith("regression-small-seed")]
    assert checkpoints.seeds_of("regression-small") == isotropic
    findings = [f.name for f in layers.findings(Run(quick=True), samples=50)]
    assert all(any(name in finding for finding in findings) for name in isotropic)


def test_a_checkpoint_without_its_log(tmp_path, monkeypatch):
    from verify.trained.induction import _transition

    for name in ("induction-small-1-layer-seed0.safetensors", "induction-small-1-layer-seed0.json"):
        (tmp_path / name).write_bytes((checkpoint.SHIPPED / name).read_bytes())
    with pytest.raises(InputError, match="has no log beside it"):
        _transition(str(tmp_path / "induction-small-1-layer-seed0.safetensors"))


def test_a_convex_loss_is_no_transition(monkeypatch):
    from verify.trained.induction import _transition

    rng = np.random.default_rng(0)
    flat = [{"step": 20 * i, "loss": 2.7 + 0.01 * rng.standard_normal()} for i in range(300)]
    monkeypatch.setattr("constructions.trained.log_of", lambda name: flat)
    assert _transition("a").verdict is Verdict.FAILS
    log = [{"step": 20 * i, "loss": 3 * 0.98**i} for i in range(300)]
    monkeypatch.setattr("constructions.trained.log_of", lambda name: log)
    assert _transition("a").verdict is Verdict.FAILS
    for size in (0.02, 0.05, 0.1):
        for floor in (0.0, 0.02):
            noisy_decay = [
                {**line, "loss": (floor + line["loss"]) * (1 + size * rng.standard_normal())}
                for line in log
            ]
            monkeypatch.setattr("constructions.trained.log_of", lambda name, log=noisy_decay: log)
            assert _transition("a").verdict is Verdict.FAILS
    jump = [
        {**line, "loss": 3.0 - 2.5 * (line["step"] > 3000) - 1e-4 * i} for i, line in enumerate(log)
    ]
    monkeypatch.setattr("constructions.trained.log_of", lambda name: jump)
    assert _transition("a").verdict is Verdict.HOLDS
