"""Times of associative memories and of plain code: `python benchmarks/memory.py [THREADS]`.

Modern: one update of 256 queries (noisy patterns, unit length) among N patterns of dimension 64 in
float32: `retrieve`, softmax(β Q Xᵀ) X in torch, and scaled_dot_product_attention(scale = β).
Classical: 64 states of d = 1000 neurons (patterns with a tenth of the bits flipped), synchronous
until the cycle and asynchronous until nothing changes, against loops in numpy.
Ratios are medians over turns, in each of which every call runs once.  A few minutes; 1.5 GiB.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os
import sys

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import statistics
from collections.abc import Mapping

import numpy as np
import torch
from timing import Call, in_turn, ratio
from torch.nn.functional import scaled_dot_product_attention

from constructions import retrieve
from theory.memory import (
    asynchronous_update,
    flipped,
    hebb,
    hebb_synchronous_run,
    random_patterns,
)

QUERIES, DIMENSION, NOISE = 256, 64, 0.05
STATES, NEURONS = 64, 1000


def table(label: str, calls: Mapping[str, Call], repeats: int) -> None:
    """A row: the time of the first call, and the ratios of the times of the others to it."""
    times = in_turn(calls, repeats)
    ours, *others = calls
    cells = [f"{label:24} {1e3 * statistics.median(times[ours]):9.1f} ms"]
    cells += [f"{ratio(times, other, ours):9.2f} × {other}" for other in others]
    print("".join(cells), flush=True)


def modern(N: int, beta: float) -> None:
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(N, DIMENSION, generator=generator)
    X /= X.norm(dim=1, keepdim=True)
    Q = X[:QUERIES] + NOISE * torch.randn(QUERIES, DIMENSION, generator=generator)
    Q /= Q.norm(dim=1, keepdim=True)
    keys, queries = X[None, None], Q[None, None]
    calls: dict[str, Call] = {
        "retrieve": lambda: retrieve(X, Q, beta),
        "attention": lambda: scaled_dot_product_attention(queries, keys, keys, scale=beta),
        "softmax": lambda: torch.softmax(beta * Q @ X.T, dim=-1) @ X,
    }
    table(f"N = {N:>9,}, β = {beta:g}", calls, {10**4: 21, 10**5: 9}.get(N, 5))


def synchronous_loop(weights: np.ndarray, s: np.ndarray) -> np.ndarray:
    """One state after the other, until the state of two steps before recurs."""
    ends = []
    for state in s.astype(float):
        before, now = None, state
        while True:
            fields = weights @ now
            after = np.where(fields == 0, now, np.sign(fields))
            if np.array_equal(after, now) or (before is not None and np.array_equal(after, before)):
                break
            before, now = now, after
        ends.append(now)
    return np.array(ends)


def asynchronous_loop(weights: np.ndarray, s: np.ndarray, seed: int) -> np.ndarray:
    """One state and one neuron after the other, each with its field, until nothing changes."""
    rng, ends = np.random.default_rng(seed), s.astype(float)
    for state in ends:
        changed = True
        while changed:
            changed = False
            for i in rng.permutation(len(state)):
                field = weights[i] @ state
                if field * state[i] < 0:
                    state[i], changed = -state[i], True
    return ends


def classical(P: int) -> None:
    rng = np.random.default_rng(0)
    patterns = random_patterns(P, NEURONS, rng)
    states = flipped(patterns[np.arange(STATES) % P], NEURONS // 10, rng)
    weights = hebb(patterns)
    floats = weights.astype(float)
    table(
        f"synchronous, P = {P}",
        {
            "batched": lambda: hebb_synchronous_run(patterns, states),
            "loop": lambda: synchronous_loop(floats, states),
        },
        5,
    )
    table(
        f"asynchronous, P = {P}",
        {
            "incremental": lambda: asynchronous_update(weights, states, np.random.default_rng(1)),
            "loop": lambda: asynchronous_loop(floats, states, 1),
        },
        3,
    )


def main() -> None:
    torch.set_num_threads(THREADS)
    print(f"{THREADS} thread(s), torch {torch.__version__}, numpy {np.__version__}")
    print(f"\nModern: {QUERIES} queries, d = {DIMENSION}; how many times as long the others take")
    for N in (10**4, 10**5, 10**6):
        for beta in (8.0, 64.0):
            modern(N, beta)
    print(f"\nClassical: {STATES} states, d = {NEURONS}; how many times as long a loop takes")
    for P in (50, 100, 120, 150):
        classical(P)


if __name__ == "__main__":
    main()
