"""Fresh prompts for trained models."""

from __future__ import annotations

import numpy as np

from constructions.trained.tasks.regression import Regression
from theory.regression import Prompts, gaussian_prompts, ill_conditioned_prompts


def prompts_of(
    task: Regression, n_prompts: int, seed: int | np.random.Generator, *, further: int = 0
) -> Prompts:
    """Fresh prompts of the task of a trained model, with `further` additional examples."""
    draw = gaussian_prompts if task.covariance == "isotropic" else ill_conditioned_prompts
    return draw(n_prompts, task.points - 1 + further, task.d, noise=task.noise, seed=seed)
