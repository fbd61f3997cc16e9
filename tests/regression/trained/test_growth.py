"""Which steps match the layers of a model, and how they grow."""

import numpy as np
import pytest

from constructions.trained.tasks.regression import Regression
from theory.regression import gaussian_prompts, growth_of, matching_steps
from verify.claim import Run
from verify.evidence.checkpoints import Trained
from verify.finding import Verdict
from verify.interpret import Algorithms
from verify.interpret.similarity import Likeness, Table
from verify.regression.trained.newton_or_gd import growth_by_layer
from verify.regression.trained.probes import Probed
from verify.regression.trained.similarities import Tables, growth

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED


def probed_layers(p, said):
    """A model given by the predictions of its layers (layers + 1, m, n + 1) only."""
    return Probed(p, said, np.stack([said, said]), trained=Trained("a", None, Regression(5, 11)))


def test_matching_and_growth():
    steps = np.array([1, 2, 4, 8])
    table = np.array([[0.9, 0.1, 0, 0], [0.1, 0.9, 0, 0], [0, 0, 0.9, 0.9], [0, 0, 0.1, 0.1]])
    assert matching_steps(steps, table).tolist() == [1, 2, 4]
    fallen = np.array([[0.9, 0, 0, 0.9], [0, 0.9, 0, 0], [0, 0, 0.9, 0], [0, 0, 0, 0]])
    assert matching_steps(steps, fallen).tolist() == [1, 2, 4, 1]
    likeness = Likeness("a", steps, np.array([0.5, 0.985, 0.99, 0.7])[:, None, None])
    assert (likeness.best, likeness.last) == (4, 0.99)
    for values, kind in (
        ([1, 3, 5, 7, 9], "linear"),
        ([5, 10, 15, 20, 25, 30], "linear"),
        ([1, 3, 9, 27, 81], "exponential"),
        ([1, 4, 16, 64, 256], "exponential"),
        ([0, 1, 16, 64, 256], "unclear"),
        ([1, 4, 9, 16, 25, 36], "quadratic"),
        ([2, 8, 18, 32, 50], "quadratic"),
        ([1, 8, 27, 64, 125], "cubic"),
        ([0, 3, 9, 14, 17], "unclear"),
        ([9, 15, 18, 20, 22, 24], "logarithmic"),
        ([64] * 6, "none"),
        ([0] * 6, "none"),
        ([1, 9], "unclear"),
        ([1, 5, 9], "unclear"),
        ([1, 1, 9], "unclear"),
        ([81, 27, 9, 3, 1], "none"),
    ):
        assert growth_of(np.array(values)) == kind


@pytest.mark.parametrize("layers", [5, 6, 12])
def test_random_increasing_sequences_have_no_law(layers):
    """One in twenty passes, in whatever units; of k², k³ and 2^k steps none as another law."""
    rng = np.random.default_rng(1)
    draws = np.sort(rng.uniform(1, 100, (2000, layers)), axis=-1)
    assert np.mean([growth_of(row) != "unclear" for row in draws]) < 0.07
    draws = np.sort(2 ** rng.uniform(0, 12, (2000, layers)), axis=-1)
    assert np.mean([growth_of(row) != "unclear" for row in draws]) < 0.07
    k = np.arange(1, layers + 1)
    laws = [growth_of(np.round(steps)) for steps in (3 * k, 2 * k**2, k**3, 3.0 * 2**k)]
    assert laws == ["linear", "quadratic", "cubic", "exponential"]


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
    tables = Tables.of(probed_layers(p, np.concatenate([0 * planted[:1], planted])))
    for table, kind, verdict in zip(
        (tables.newton, tables.gradient_descent), ("linear", "exponential"), wanted, strict=True
    ):
        found = growth(Run(seed=0), "a", "b", table, kind).verdict
        if verdict:
            assert (found is HOLDS) == (verdict == "holds")


def test_tables_are_cosines_and_squared_differences():
    """Layers that are twice Newton's answers: another cosine, and another distance."""
    p = gaussian_prompts(6, 10, 5, seed=0)
    a = Algorithms(p)
    said = np.stack([2 * a.newton([k])[0] for k in (0, 2, 5)])
    table = Tables.of(probed_layers(p, said)).newton
    i, layer, prompt = 3, 1, 4
    first = (a.newton([i])[0] - a.labels)[prompt, 1:]
    second = (said[layer + 1] - a.labels)[prompt, 1:]
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert table.alike[i, layer, prompt] == pytest.approx(cosine)
    square = ((first - second) ** 2).mean() / (p.x**2).sum(-1).mean()
    assert table.squares[i, layer, prompt] == pytest.approx(square)


def test_growth_by_likeness_and_by_difference_are_two_findings():
    steps = np.arange(200)

    def alike(best):
        table = -np.abs(steps[:, None] - np.array(best)).astype(float)
        return np.repeat(table[..., None], 30, axis=-1)

    table = Table("a", steps, alike([2, 8, 14, 20, 26]), -alike([2, 6, 18, 54, 162]))
    found = growth_by_layer(Run(), Tables(table, table, table, (table, table, table), 1.0))
    assert {f.id: f.verdict for f in found} == {
        "newton": HOLDS,
        "newton/squares": FAILS,
        "gradient-descent": FAILS,
        "gradient-descent/squares": HOLDS,
        "momentum-10": FAILS,
        "momentum-30": FAILS,
        "momentum-100": FAILS,
    }


@pytest.mark.parametrize(
    ("steps", "wanted", "noise", "verdict"),
    [
        ([2, 4, 6, 8, 10], "linear", 0.1, HOLDS),
        ([2, 4, 6, 8, 10], "exponential", 0.1, FAILS),
        ([2, 4, 8, 16, 32], "exponential", 0.1, HOLDS),
        ([2, 4, 6, 8, 10], "linear", 3.0, UNDECIDED),
    ],
)
def test_growth_by_prompts_drawn_again(steps, wanted, noise, verdict):
    """Layer i is alike to 2i steps on every prompt, or to 2^i; undecided where noise drowns it."""
    every, rng = np.arange(40), np.random.default_rng(0)
    table = -np.abs(every[:, None] - np.array(steps)).astype(float)
    alike = table[..., None] + noise * rng.standard_normal((*table.shape, 50))
    found = growth(Run(seed=0), "a", "b", Likeness("c", every, alike), wanted)
    assert found.verdict is verdict
    assert found.measured["steps"].tolist() == steps or verdict is UNDECIDED
