"""Pictures of the claims on trained models."""

import matplotlib.figure
import numpy as np
import pytest

from verify.interpret.similarity import Likeness
from verify.regression.trained.pictures import weights_picture


@pytest.mark.parametrize(("least", "extend"), [(0.41, "neither"), (0.39, "min"), (-0.5, "min")])
def test_a_colour_bar_is_extended_where_similarities_are_below_it(least, extend, monkeypatch):
    drawn = []
    original = matplotlib.figure.Figure.colorbar

    def colorbar(*args, **kwargs):
        drawn.append(original(*args, **kwargs))
        return drawn[-1]

    monkeypatch.setattr(matplotlib.figure.Figure, "colorbar", colorbar)
    high = Likeness("a", np.array([1, 2]), np.full((2, 3, 1), 0.9))
    other = Likeness(
        "b", np.array([1, 2]), np.array([0.9, least])[:, None, None] * np.ones(3)[:, None]
    )
    weights_picture({"model": (high, other)})
    assert [each.extend for each in drawn] == ["neither", extend]
