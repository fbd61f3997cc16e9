"""The time to score all 64^4 strings of a trained model: `benchmarks/strings.py [THREADS]`.

All strings are scored from the keys and values of their prefixes.  A sample is scored one string
after the other, and its time is extrapolated.  Then the statistics of the probabilities are
computed: g(H), δ⁺, the deterministic bound and the miscalibration in ten bins.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os
import sys

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 2
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import numpy as np
import torch
from timing import once

from constructions import log_probabilities, string_probabilities
from constructions.trained import configuration_of, load
from theory.language.documents import digits
from verify.language.trained.figures import figures

# the wanted time in seconds, on two cores
NAME, SAMPLE, MOST = "facts-small-2-layers-seed0", 200, 15.0


def main() -> None:
    torch.set_num_threads(THREADS)
    model, task = load(NAME), configuration_of(NAME).task
    V, L = task.base, task.length
    chosen = np.random.default_rng(0).integers(V**L, size=SAMPLE)
    rows = np.hstack([np.full((SAMPLE, 1), V), digits(chosen, V, L)])
    each: list[float] = []
    found: list[np.ndarray] = []

    def one_by_one() -> None:
        each.extend(float(log_probabilities(model, row).sum().exp()) for row in rows)

    alone = once(one_by_one) / SAMPLE * V**L
    together = once(lambda: found.append(string_probabilities(model, L).numpy()))
    assert np.allclose(found[0][chosen], each, rtol=1e-4)
    print(f"{V}^{L} strings, threads: {THREADS}")
    print(f"from their prefixes   {together:9.1f} s  (wanted: at most {MOST:g} s on two cores)")
    print(f"one after the other   {alone:9.0f} s  ({alone / together:.0f} ×), by {SAMPLE} of them")
    print(f"the figures           {once(lambda: figures(task, found[0])):9.1f} s")


if __name__ == "__main__":
    main()
