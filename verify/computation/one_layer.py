"""One layer of unique-hard attention: subcubes on which random models are constant."""

from __future__ import annotations

from itertools import count, islice

import numpy as np

from constructions.computation.parity_of_retrieved import parity_of_retrieved
from constructions.computation.to_circuit import to_circuit
from theory.computation import largest_constant_subcube
from theory.sequences import all_sequences


def free_bits(H: int, n: int, n_models: int, rng: np.random.Generator) -> list[int]:
    """For `n_models` random models of H heads, the dimension of the largest constant subcube.

    A constant subcube fixes some of the n bits so that the answer does not depend on the other
    bits. The dimension is the number of the other bits.  The heads of the first model attend to H
    different positions. Each head of the other models attends to the token that is first in a
    random order of the pairs (position, bit).
    """
    return list(islice((_free(H, n, at == 0, rng) for at in count()), n_models))


def _free(H: int, n: int, apart: bool, rng: np.random.Generator) -> int:
    if apart:
        ranks = np.array([np.roll(np.arange(n), -1 - h) for h in range(H)])
        bit_weights = np.zeros(H, dtype=np.int64)
    else:
        ranks = np.array([rng.permutation(n) for _ in range(H)])
        bit_weights = 2 * rng.integers(-n, n, H) + 1
    circuit = to_circuit(parity_of_retrieved(ranks, bit_weights), n, "and-or")
    return largest_constant_subcube(circuit.answers(all_sequences(n, 2)), 2).dimension
