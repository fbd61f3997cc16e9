"""Compares the spectral engine with plain loops, on one thread: `python benchmarks/spectral.py`.

64 isotropic prompts, d = 20, 41 points, the prediction at every prefix t = 1, …, 40, for Newton
after k = 1, …, 23 steps and for gradient descent after 100, 1000 and 3000. The engine's time
includes its eigendecompositions. Three loops, all with this library's plain solvers:

    rerun        per prefix and per step count, from the start; batched over the 64 prompts
    iterate      per prefix once, all step counts from one run; batched over the 64 prompts
    per prompt   as rerun, one prompt at a time, as in published scripts

Each loop is paired with engine runs just before and after it; the result is the median ratio of the
pairs. Differences between loop and engine are absolute, for predictions of size √20.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import statistics
import time
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from theory.regression import (
    PrefixSpectrum,
    Prompts,
    gaussian_prompts,
    gradient_descent,
    gradient_descent_iterates,
    newton,
    newton_inverses,
    normal_equations,
)

Solver = Callable[[np.ndarray, np.ndarray, int, np.ndarray], np.ndarray]
Iterates = Callable[[np.ndarray, np.ndarray, np.ndarray], Iterator[np.ndarray]]


def newton_weights(x: np.ndarray, y: np.ndarray, alpha: np.ndarray) -> Iterator[np.ndarray]:
    """Yields the weights w_0, w_1, … of Newton from αS."""
    S, b = normal_equations(x, y)
    return (np.matvec(M, b) for M in newton_inverses(S, alpha))


def rerun(
    p: Prompts, solver: Solver, steps: list[int], parameters: np.ndarray, batch: int
) -> np.ndarray:
    """Predictions (steps, prompts, n), one run of the solver for each and `batch` prompts."""
    prompts, n, _ = p.x.shape
    following = np.concatenate([p.x, p.x_query[:, None]], axis=1)
    predictions = np.empty((len(steps), prompts, n))
    for first in range(0, prompts, batch):
        rows = slice(first, first + batch)
        for t in range(1, n + 1):
            for i, k in enumerate(steps):
                w = solver(p.x[rows, :t], p.y[rows, :t], k, parameters[rows, t])
                predictions[i, rows, t - 1] = np.vecdot(w, following[rows, t])
    return predictions


def iterate(p: Prompts, iterates: Iterates, steps: list[int], parameters: np.ndarray) -> np.ndarray:
    """Predictions (steps, prompts, n), one run of the solver for all step counts of a prefix."""
    prompts, n, _ = p.x.shape
    following = np.concatenate([p.x, p.x_query[:, None]], axis=1)
    predictions = np.empty((len(steps), prompts, n))
    for t in range(1, n + 1):
        run = islice(iterates(p.x[:, :t], p.y[:, :t], parameters[:, t]), max(steps) + 1)
        for k, w in enumerate(run):
            if k in steps:
                predictions[steps.index(k), :, t - 1] = np.vecdot(w, following[:, t])
    return predictions


def timed(function: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def compare(
    name: str, engine: Callable[[], np.ndarray], loop: Callable[[], np.ndarray], repeats: int
) -> None:
    """Prints the median times of loop and engine, their median paired ratio, and the difference."""
    print(f"{name}: measuring …", flush=True)
    loops, engines, ratios = [], [], []
    for _ in range(repeats):
        before = [timed(engine)[0] for _ in range(3)]
        slow, expected = timed(loop)
        after = [timed(engine)[0] for _ in range(3)]
        loops.append(slow)
        engines.append(statistics.median(before + after))
        ratios.append(slow / engines[-1])
    difference = np.abs(engine() - expected).max()
    print(
        f"{name}: loop {statistics.median(loops):.3g} s, engine {statistics.median(engines):.3g} s,"
        f" ratio {statistics.median(ratios):.3g}, largest difference {difference:.2g}",
        flush=True,
    )


def main() -> None:
    p = gaussian_prompts(64, 40, 20, seed=0)
    largest = PrefixSpectrum(p.x, p.y, p.x_query).largest
    alpha, step_size = 1 / largest**2, 1 / largest
    newton_steps, descent_steps = list(range(1, 24)), [100, 1000, 3000]

    def newton_engine() -> np.ndarray:
        return PrefixSpectrum(p.x, p.y, p.x_query).newton(newton_steps, alpha)[..., 1:]

    def descent_engine() -> np.ndarray:
        spectrum = PrefixSpectrum(p.x, p.y, p.x_query)
        return spectrum.gradient_descent(descent_steps, step_size)[..., 1:]

    newton_engine()
    descent_engine()
    newton_loops = [
        ("rerun", 3, lambda: rerun(p, newton, newton_steps, alpha, 64)),
        ("iterate", 3, lambda: iterate(p, newton_weights, newton_steps, alpha)),
        ("per prompt", 1, lambda: rerun(p, newton, newton_steps, alpha, 1)),
    ]
    descent_loops = [
        ("rerun", 3, lambda: rerun(p, gradient_descent, descent_steps, step_size, 64)),
        ("iterate", 3, lambda: iterate(p, gradient_descent_iterates, descent_steps, step_size)),
        ("per prompt", 1, lambda: rerun(p, gradient_descent, descent_steps, step_size, 1)),
    ]
    for name, repeats, loop in newton_loops:
        compare(f"Newton k = 1…23, {name}", newton_engine, loop, repeats)
    for name, repeats, loop in descent_loops:
        compare(f"GD 100, 1000, 3000, {name}", descent_engine, loop, repeats)


if __name__ == "__main__":
    main()
