"""Models of a world of facts and its documents: calibrated, Good–Turing, memoriser.

The strings that were seen are given with their chances, and all others share the rest evenly
(`string_model`): which of them are facts no document tells.  Sampled, such a model says what is no
fact as often as `theory.language.hallucination` has it:

    calibrated     p(U)·|H|/|U|          good-turing  MF·|H|/|U|          memoriser  0
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from constructions.language.string_model import string_model
from constructions.transformer import Transformer
from theory import checks
from theory.checks import InputError
from theory.language.distributions import Exact
from theory.language.documents import chances_of_seen


def fact_model(
    facts: ArrayLike, p: Iterable[Exact], counts: ArrayLike, vocabulary_size: int, name: str
) -> Transformer:
    """The model called "calibrated", "good-turing" or "memoriser" of the strings `facts` (|F|, L),
    which have the exact chances p (|F|,) and were seen `counts` (|F|,) times.

    As every `string_model` it takes BOS and up to L − 1 letters; `logits` are those of the next
    letter, `generate` goes on with the most probable ones and `constructions.sample` draws them.

    Raises ValueError for counts that are none or all 0, and as `string_model`.
    """
    strings = checks.tokens("facts", facts, checks.dimension("vocabulary_size", vocabulary_size))
    times = checks.tokens("counts", counts)
    if strings.ndim != 2 or times.shape != strings.shape[:1]:
        raise InputError(
            f"facts have shape {strings.shape} and counts {times.shape}: give (|F|, L) and (|F|,)"
        )
    chances = chances_of_seen(p, times.tolist(), name)
    return string_model(strings[np.flatnonzero(times)], chances, vocabulary_size)
