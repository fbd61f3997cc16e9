"""The published tables, and models beside them."""

from dataclasses import replace

import numpy as np
import pytest

from constructions.trained import preset, untrained
from verify.evidence.checkpoints import Trained
from verify.finding import Verdict
from verify.interpret.similarity import Table
from verify.regression.trained import published as published_module
from verify.regression.trained.published import (
    beside_published,
    cells,
    growth_in_published_tables,
    published,
)
from verify.regression.trained.similarities import Tables, save_cells


def table_of(steps, means, spread=0.001):
    """Four prompts of which every cell has that mean, and that standard error."""
    cosines = means[..., None] + spread * np.sqrt(3) * np.array([1, -1, 1, -1])
    return Table("some", steps, cosines, 1 - cosines)


def test_cell_by_cell_beside_the_published_tables():
    theirs, descent = (table_of(each.steps, each.mean) for each in published("isotropic"))
    found = Tables(theirs, theirs, descent, (), 1.0)
    findings = list(cells(found, "isotropic"))
    assert [f.id for f in findings] == ["cells/newton", "cells/gradient-descent"]
    assert [f.verdict for f in findings] == [Verdict.HOLDS] * 2
    assert findings[0].measured["agree"] == findings[0].measured["of"] == 276
    steps, means = theirs.steps, theirs.mean
    for shift, verdict in ((0.06, "HOLDS"), (0.0725, "UNDECIDED"), (-0.08, "FAILS")):
        moved = means.copy()
        moved[3, 4] += shift
        off = table_of(steps[2:], moved[2:])
        newton, _ = cells(replace(found, newton=off), "isotropic")
        assert newton.verdict is Verdict[verdict]
        assert newton.measured["agree"] == (252 if verdict == "HOLDS" else 251)
        assert newton.measured["of"] == 252
        assert newton.measured["largest"] == pytest.approx(abs(shift))
    few = table_of(steps, means, spread=0.1)
    newton, _ = cells(replace(found, newton=few), "isotropic")
    assert newton.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(("law", "verdict"), [("unclear", "UNDECIDED"), ("other", "FAILS")])
def test_growth_that_is_not_clear_decides_nothing(law, verdict, monkeypatch):
    monkeypatch.setattr(published_module, "growth_of", lambda steps: law)
    assert [f.verdict for f in growth_in_published_tables()] == [Verdict[verdict]] * 2


def test_every_cell_is_saved(tmp_path):
    steps, means = np.array([1, 2]), np.array([[0.5, 0.6, 0.7], [0.8, 0.9, 1.0]])
    low, high = (Tables(*[table_of(steps, means + shift)] * 3, (), 1.0) for shift in (0, 0.02))
    save_cells(tmp_path / "cells.csv", {"a": low, "b": high})
    head, *rows = (tmp_path / "cells.csv").read_text().splitlines()
    assert head == "model,algorithm,steps,layer,similarity,standard_error"
    assert len(rows) == 3 * 3 * 6
    assert rows[0] == "a,some,1,1,0.5000,0.0010"
    assert rows[-1] == "mean of 2,some,2,3,1.0100,0.0100"


@pytest.mark.parametrize(("size", "covariance"), [("small", ""), ("paper", "isotropic")])
def test_the_size_of_the_published_models(size, covariance):
    made = preset("regression", size)
    trained = Trained(size, untrained(made), made.task)
    for each in ("isotropic", "ill-conditioned"):
        assert beside_published(trained, each) == (each == covariance)


def test_published_tables_are_those_of_the_paper():
    """Figures quoted in the text beside the tables."""
    newton, descent = published("isotropic")
    assert newton.mean.max() == 0.994
    assert newton.best[-1] == 21
    assert descent.mean.max() == 0.988
    assert descent.best.tolist() == [1, 1, 4, 8, 32, 64, 256, 512, 1024, 4096, 4096, 4096]
    newton, descent = published("ill_conditioned")
    assert newton.last == newton.mean[newton.steps == 20, -1] == 0.988
    assert (descent.best[-1], descent.last) == (3000, 0.986)
