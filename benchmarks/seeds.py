"""Training of five seeds together, in two minutes: `python benchmarks/seeds.py [THREADS]`.

For each preset: training steps per second and seed of five runs in one group, against the same five
runs one after the other, in turn; medians of ratios.  Nothing is compiled.  `stacked` groups
evaluate the losses of all seeds at once; for other groups the ratio of a stacked group is given as
well, to show why they are not.

A step of one run takes the time t, and with one prompt the time t₁, which is mostly overhead.  If
five runs shared all of t₁, the gain would be t/(t − ⅘ t₁).  The products of a step are p operations
and take p/r at the rate r of a product of matrices of 1024 × 1024, so no evaluation of the same
products gains more than t r/p.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os
import sys

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import torch
from timing import in_turn, once, ratio, seconds

from constructions.trained import Configuration, group, preset
from constructions.trained.group import Group
from constructions.trained.process import Process
from constructions.trained.state import State
from constructions.trained.training import AT_ONCE, advance

SEEDS, TURNS, ENOUGH = 5, 5, 0.25  # runs; turns; seconds of a call
PRESETS = {
    "regression": ("small", {}),
    "regression, LSTM": ("small", {"model": "lstm"}),
    "induction": ("small", {}),
    "text": ("small", {}),
    "facts": ("tiny", {}),
    "connectivity": ("dense", {}),
    "modular": ("p7", {}),
    "counts": ("sketch-32", {}),
    **{f"search, {size}": (size, {}) for size in ("uniform-16", "plane-32", "extra-16")},
    **{f"search, {size}": (size, {}) for size in ("compare-7", "hard-15", "zipf-15", "plane-15")},
}


def begun(made: Configuration, seeds: int, *, at_once: bool | None = None) -> Group:
    """A group of new runs; `at_once` replaces the decision whether it is stacked."""
    counted = group._operations
    if at_once is not None:
        group._operations = lambda run: 0 if at_once else group.SMALL
    try:
        with tempfile.TemporaryDirectory() as folder:
            process = Process.join("cpu")
            runs = [replace(made, seed=seed) for seed in range(seeds)]
            return Group([State.begin(run, Path(folder), process) for run in runs])
    finally:
        group._operations = counted


def steps(runs: list[Group], count: int) -> None:
    """So many steps of each group, as many at once as in training."""
    for each in runs:
        for start in range(0, count, AT_ONCE):
            for _ in advance(each, min(AT_ONCE, count - start)):
                pass


def measure(label: str, made: Configuration, rate: float) -> None:
    alone = [begun(replace(made, seed=seed), 1) for seed in range(SEEDS)]
    together = begun(made, SEEDS)
    steps(alone[:1], 2)
    count = max(1, min(200, round(ENOUGH / SEEDS / once(lambda: steps(alone[:1], 1)))))
    count = count if count < AT_ONCE else count // AT_ONCE * AT_ONCE
    calls: dict[str, Callable[[], None]] = {
        "alone": partial(steps, alone, count),
        "together": partial(steps, [together], count),
        "one prompt": partial(steps, [begun(replace(made, batch_size=1), 1)], count),
    }
    if not together.stacked and made.shape.stacks and made.task.one_shape:
        calls["stacked"] = partial(steps, [begun(made, SEEDS, at_once=True)], count)
    times = in_turn(calls, TURNS)
    t, t1 = median(times["alone"]) / SEEDS / count, median(times["one prompt"]) / count
    p = group._operations(together.runs[0])
    forced = f"; stacked {ratio(times, 'alone', 'stacked'):.2f} ×" if "stacked" in calls else ""
    products = f"{t * rate / p:.1f} ×" if made.shape.stacks else "not counted"
    print(
        f"{label:20} {1 / t:7.1f} alone {SEEDS * count / median(times['together']):7.1f} together, "
        f"{ratio(times, 'alone', 'together'):.2f} ×"
        f"{' (stacked)' if together.stacked else ' (in turn)'}{forced};  at most "
        f"{t / (t - 0.8 * min(t1, t)):.2f} × by shared overhead, {products} by {p / 1e6:.1f} M "
        "operations",
        flush=True,
    )


def main() -> None:
    torch.set_num_threads(THREADS)
    M = torch.randn(1024, 1024)
    rate = 2 * 1024**3 / seconds(lambda: M @ M, 9)
    print(
        f"{THREADS} thread(s), torch {torch.__version__}, products at {rate / 1e9:.0f} Gflop/s; "
        f"steps per second of each of {SEEDS} seeds"
    )
    for label, (size, options) in PRESETS.items():
        measure(label, preset(label.split(",")[0], size, **options), rate)


if __name__ == "__main__":
    main()
