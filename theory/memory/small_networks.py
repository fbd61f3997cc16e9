"""Small classical networks: all their states, and the cycles of their synchronous updates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from theory.memory.hopfield import hopfield_fields


def all_states(d: int) -> np.ndarray:
    """All 2^d states (2^d, d) of d neurons; bit i of the index of a state is 1 if s_i = +1."""
    return 2 * (np.arange(2**d)[:, None] >> np.arange(d) & 1) - 1


def number(s: ArrayLike) -> np.ndarray:
    """The indices (…) of states (…, d) in `all_states`."""
    return np.asarray((np.asarray(s) > 0) @ (1 << np.arange(np.shape(s)[-1])))


@dataclass(frozen=True)
class SmallNetwork:
    """A classical network of d neurons with integer weights (d, d) and integer biases (d,).

    The weights are symmetric with zero diagonal.
    """

    weights: np.ndarray
    bias: np.ndarray

    @cached_property
    def states(self) -> np.ndarray:
        """All 2^d states (2^d, d) of the d neurons."""
        return all_states(len(self.bias))

    @cached_property
    def fields(self) -> np.ndarray:
        """The fields (2^d, d) of all d neurons in every state."""
        return hopfield_fields(self.weights, self.states, self.bias)

    @cached_property
    def energies(self) -> np.ndarray:
        """The energies −Σ_{j<i} w_ij s_i s_j − Σ_i b_i s_i (2^d,) of all states s, in integers."""
        s = self.states
        return -np.vecdot(s @ np.tril(self.weights, -1), s) - s @ self.bias

    def flipped(self, i: int) -> np.ndarray:
        """The index (2^d,), for every state, of the state in which only neuron i differs."""
        return np.arange(len(self.states)) ^ (1 << i)

    def field(self, here: int, there: int) -> int:
        """The field, in the state of index `here`, of the neuron that differs in state `there`.

        The states of index `here` and `there` differ in exactly one neuron.
        """
        return int(self.fields[here, (here ^ there).bit_length() - 1])

    def at(self, k: int, i: int | None = None) -> str:
        """A text that describes the network, the state of index k, and neuron i if i is given."""
        neuron = "" if i is None else f", neuron {i}"
        return f"{self}, s = {self.states[k].tolist()}{neuron}"

    def __str__(self) -> str:
        return f"W = {self.weights.tolist()}, b = {self.bias.tolist()}"


def random_networks(rng: np.random.Generator, most: int, count: int) -> Iterator[SmallNetwork]:
    """An iterator of random networks of 1 to `most` neurons, `count` networks of each size.

    Many weights are 0, so that some neurons have the field 0 in some states.
    """
    for d in range(1, most + 1):
        for size in range(1, count + 1):
            upper = np.triu(rng.integers(-size, size + 1, (d, d)), 1)
            bias = rng.integers(-size, size + 1, d) * (size % 2)
            yield SmallNetwork(upper + upper.T, bias)


def walk(w: np.ndarray, b: np.ndarray | int = 0) -> np.ndarray:
    """Three numbers (3, 2^d) on the cycle that synchronous updates reach from each of 2^d states.

    The weights w (d, d) need not be symmetric, and the bias b is (d,). The first row contains the
    numbers of updates until the cycle is reached, the second row the lengths of the cycles, and
    the third row the indices of the first states on the cycles.
    """
    s = all_states(len(w))
    h = s @ w.T + b
    after = number(np.where(h == 0, s, h)).tolist()
    found = []
    for state in range(len(s)):
        seen: dict[int, int] = {}
        while state not in seen:
            seen[state] = len(seen)
            state = after[state]
        found.append((seen[state], len(seen) - seen[state], state))
    return np.array(found).T
