"""Induction heads: their logits, and the sharpness that they need."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from constructions import induction_heads
from constructions.tokens import binary_codes
from theory.retrieval import induction_by_definition, ngram_by_definition, random_sequences

CONVENTIONS = list(itertools.product(("latest", "first", "mean"), ("bottom", "self")))
every = pytest.mark.parametrize(("match", "no_match"), CONVENTIONS)


@every
@pytest.mark.parametrize("V", [1, 2, 3, 5])
def test_logits_are_those_of_the_definition(match, no_match, V):
    tokens = random_sequences(20, 9, V, seed=V)
    logits = induction_heads(V, 9, match, no_match).logits(tokens)
    assert logits.shape == (20, 9, V + (no_match == "bottom"))
    codes = binary_codes(V)
    r = codes.shape[1]
    for row, found in zip(tokens, logits.tolist(), strict=True):
        if match == "mean":
            shares = ngram_by_definition(row, V, 2, 0)
            for token, here in zip(row, shares, strict=True):
                none = Fraction(1 - sum(here))
                if no_match == "bottom":
                    here.append(none)
                else:
                    here[token] += none
            # Frequencies are rounded once.
            assert found == [[float(share) for share in here] for here in shares]
            continue
        wanted = induction_by_definition(row, match, "bottom")
        answer = np.array([codes[v] if v >= 0 else np.zeros(r) for v in wanted])
        if no_match == "bottom":
            expected = np.pad(answer @ codes.T, ((0, 0), (0, 1)), constant_values=r / 2)
        else:
            expected = (2 * answer + codes[row]) @ codes.T
        assert found == expected.tolist()


def test_the_sharpness_needed_hardly_grows_with_the_length():
    """The second layer's leak is 4q/(1 − q)² at any length, and the first one's is far below."""
    needed = [induction_heads(8, n).least_sharpness() for n in (16, 128, 1024, 8192)]
    assert max(needed) <= min(needed) * 1.002
    assert max(needed) < 4
