"""One layer of unique-hard attention: subcubes on which random models are constant."""

from __future__ import annotations

from itertools import count, islice

import numpy as np

from constructions.computation.parity_of_retrieved import parity_of_retrieved
from constructions.computation.to_circuit import to_circuit
from theory.computation import largest_constant_subcube
from theory.sequences import all_sequences


def free_bits(H: int, n: int, n_models: int, rng: np.random.Generator) -> list[int]:
    """The dimensions of the largest constant subcubes of n_models random models of H heads.

    A constant subcube fixes some of the n bits so that the answer does not depend on the others,
    whose number is the dimension.  The heads of the first model attend to H different positions.
    The heads of the other models order positions and bits at random.
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
