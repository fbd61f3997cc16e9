"""Models of a world of facts and its documents: calibrated, Good–Turing, memoriser.

The strings of the documents have given probabilities, and the remaining mass is uniform on all
other strings (`string_model`), since no document shows which of them are facts.  A sample of such a
model is not a fact with probability

    calibrated     p(U)·|H|/|U|          good-turing  MF·|H|/|U|          memoriser  0

where p is the distribution of facts in documents, U the set of strings without a document, H the
set of strings that are not facts, and MF the fraction of documents whose fact occurs once.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from constructions.call import construction
from constructions.language.string_model import VocabularySize, string_model
from constructions.transformer import Transformer
from theory.kinds import Integers, Within
from theory.language.distributions import Distribution
from theory.language.documents import probabilities_of_seen
from theory.language.worlds import ModelName


@construction
def fact_model(
    vocabulary_size: VocabularySize,
    facts: Annotated[Any, Integers("F L", Within(least=0, below="vocabulary_size"))],
    p: Distribution,
    counts: Annotated[Any, Integers("F", Within(least=0))],
    name: ModelName,
) -> Transformer:
    """A transformer that models documents of facts: calibrated, Good–Turing or memoriser.

    The rows of `facts` (F, L) are F facts, strings of L symbols. A random document states fact i
    with the exact probability p_i, and counts_i documents of the training data state it; `p` and
    `counts` have shape (F,). A fact is seen if its count is not 0. If `name` is "calibrated", the
    model gives each seen fact its probability p_i. Otherwise the model gives the seen facts the
    probabilities (1 − ρ)·counts_i/n, where n is the number of documents. Here ρ is 0 for
    "memoriser". For "good-turing", ρ is the fraction of documents whose fact occurs in no other
    document. The remaining probability is uniform on all other strings of L symbols. The input of
    the model is BOS, followed by up to L − 1 symbols. `logits` are the logits of the next symbol,
    `generate` decodes greedily, and `constructions.language.sample` samples.

    Raises ValueError if all counts are 0, if `p` does not have one entry for each fact, for seen
    facts that are repeated, and for facts of one symbol or of more than 500. Also raises ValueError
    if all strings are seen facts and the sum of their probabilities is less than 1, or if the
    weights do not fit in memory.
    """
    probabilities = probabilities_of_seen(p, counts.tolist(), name)
    return string_model(vocabulary_size, facts[np.flatnonzero(counts)], probabilities)
