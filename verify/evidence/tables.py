"""Statements of certificates that contain their function: a table of answers, or coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from flint import fmpq_poly

from constructions.transformer import Transformer
from theory.kinds import InputError
from verify.evidence.certificates import Statement, weights
from verify.evidence.function_of_tokens import Answers, answered


def by_table(model: Transformer, answers: Answers, lengths: range) -> Iterator[Statement]:
    """Yields the statements that a model has the answers of a table to all sequences of a length.

    There is one statement for each length. For a causal model, the statement for the largest length
    implies those for smaller ones. A row of the table contains the answers at the last tokens of a
    sequence; ⊥ is the number after the last answer.

    Raises InputError for a model with softmax or ReLU heads, for tokens that are not allowed at
    every position, and for answers at tokens other than the last ones of the prompt.
    """
    of = model.interface
    wrong = {attn.normalise for attn in model.attentions} - {"linear", "hardmax"}
    if wrong:
        raise InputError(
            f"{model.name} has {min(wrong)} heads, and certificates are about linear and hardmax "
            "heads: certify the model without a sharpness"
        )
    held = weights(model)
    for length in lengths[-1:] if model.is_causal else lengths:
        rows = np.array([*product(range(of.vocabulary_size), repeat=length)], dtype=np.int64)
        before, where = len(of.prefix), answered(model, length)
        behind, _ = of.ends(length)
        last = range(before + length - len(where), before + length)
        if of.slots is not None or behind or where != last:
            raise InputError(
                f"{model.name} does not take all sequences, or does not answer at the last tokens "
                "of its prompts, which certificates cannot express: print the findings instead"
            )
        table = answers(rows)
        table = np.where(table < 0, of.n_answers, table).tolist()
        yield {
            "kind": "sequences",
            "name": f"{model.name}: a table, on all sequences of {length} of "
            f"{of.vocabulary_size} symbols",
            "letters": of.vocabulary_size,
            "length": length,
            "prefix": list(of.prefix),
            "table": table,
            "examples": of.n_examples,
            "model": held,
        }


def by_coefficients(model: Transformer, g: fmpq_poly) -> Statement:
    """Returns the statement that the prediction is xᵀ g(S) b, for all n and all inputs.

    S = XᵀX and b = Xᵀy for examples X with labels y, and x is a query. The model consists of linear
    heads without MLPs, and d ≥ 2. The statement contains the coefficients of g, the constant first.
    """
    return {
        "kind": "formula",
        "name": f"{model.name}: a polynomial of degree {max(g.degree(), 0)}, for all n and inputs",
        "registers": [*model.stream.widths.values()],
        "coefficients": [str(c) for c in g.coeffs()],
        "model": weights(model),
    }
