"""Models of a world of facts and its documents: calibrated, Good–Turing, memoriser.

The strings that occur among the documents are given with their probabilities, and the rest is
uniform on all others (`string_model`): no document shows which of them are facts.  A sample of such
a model is a falsehood with the probability

    calibrated     p(U)·|H|/|U|          good-turing  MF·|H|/|U|          memoriser  0
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from constructions.call import construction
from constructions.language.string_model import VocabularySize, string_model
from constructions.transformer import Transformer
from theory.kinds import Integers, Within
from theory.language.distributions import Distribution
from theory.language.documents import chances_of_seen
from theory.language.worlds import ModelName


@construction
def fact_model(
    facts: Annotated[Any, Integers("F L", Within(least=0, below="vocabulary_size"))],
    p: Distribution,
    counts: Annotated[Any, Integers("F", Within(least=0))],
    vocabulary_size: VocabularySize,
    name: ModelName,
) -> Transformer:
    """The model called "calibrated", "good-turing" or "memoriser" of the strings `facts` (|F|, L),
    which have the exact probabilities p (|F|,) and were seen `counts` (|F|,) times.

    As every `string_model` it takes BOS and up to L − 1 symbols; `logits` are those of the next
    symbol, `generate` goes on with the most probable ones and `constructions.sample` draws them.

    Raises ValueError for counts that are all 0, other than one probability for each fact, and as
    `string_model`.
    """
    chances = chances_of_seen(p, counts.tolist(), name)
    return string_model(facts[np.flatnonzero(counts)], chances, vocabulary_size)
