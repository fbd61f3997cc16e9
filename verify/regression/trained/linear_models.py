"""The trained linear transformers, and the prompts on which they are compared."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from theory.regression import Prompts

DEPTHS = (1, 2, 3, 4)  # layers of the models
QUICK = 1000  # largest number of prompts in a quick run
LARGEST = 3.0  # means are over prompts whose S/n has eigenvalues of at most this


def largest_eigenvalues(p: Prompts) -> np.ndarray:
    """The largest eigenvalue of XᵀX/n for each prompt, (m,).

    There are m prompts `p`, and X are the n examples of a prompt.
    """
    x = p.x
    return np.asarray(np.linalg.eigvalsh(x.swapaxes(-1, -2) @ x)[:, -1] / x.shape[-2])


def usual(p: Prompts, largest: float) -> Prompts:
    """The prompts for which XᵀX/n has no eigenvalue above `largest`.

    X are the n examples of a prompt in `p`.
    """
    kept = largest_eigenvalues(p) <= largest
    return Prompts(*(getattr(p, field.name)[kept] for field in fields(p)))
