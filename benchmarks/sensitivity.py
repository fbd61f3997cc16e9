"""Sensitivity of Boolean functions and models, in a minute: `python benchmarks/sensitivity.py`.

The Walsh–Hadamard transform of a random function in integers, compared with the sums of its
definition over all words (set by set, in numpy) at sizes where these are feasible; and the exact
influences on an induction head over all V^n sequences, enumerated on its tensors.  One thread;
medians over turns in which each is run once.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

from functools import partial
from statistics import median

import numpy as np
import torch
from timing import in_turn, ratio, seconds

from constructions import hop
from theory.sensitivity import (
    forced_profile,
    influences,
    walsh_hadamard,
    walsh_hadamard_by_definition,
)
from theory.sequences import all_sequences


def transforms(d: int, repeats: int) -> None:
    values = np.random.default_rng(d).choice([-1, 1], 2**d)
    calls = {"fast": partial(walsh_hadamard, values)}
    if d <= 12:
        calls["sums"] = partial(walsh_hadamard_by_definition, values)
        assert (calls["fast"]() == calls["sums"]()).all()
    times = in_turn(calls, repeats)
    slower = f"{ratio(times, 'sums', 'fast'):9.0f} × by definition" if "sums" in calls else ""
    counted = seconds(partial(influences, values), 1)
    print(f"d = {d:2}  {1e3 * median(times['fast']):9.2f} ms{slower:26}", end="")
    print(f"  influences by counting {1e3 * counted:9.2f} ms", flush=True)


def profile(V: int, n: int) -> None:
    model, rows = hop(1, V, n), all_sequences(n, V)

    def run() -> list:
        return forced_profile(model(rows)[:, -1].numpy(), V)

    print(f"hop(1, {V}, {n}): all {len(rows)} sequences and their profile {seconds(run, 3):6.2f} s")


def main() -> None:
    torch.set_num_threads(1)
    print("Walsh–Hadamard transform of 2^d values")
    for d, repeats in ((8, 9), (10, 5), (12, 3), (16, 5), (20, 3)):
        transforms(d, repeats)
    with torch.no_grad():
        for V, n in ((2, 8), (3, 7), (4, 6), (2, 14)):
            profile(V, n)


if __name__ == "__main__":
    main()
