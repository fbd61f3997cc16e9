"""What the constructions of Iterative Newton cost.

    python benchmarks/newton_constructions.py [THREADS]          about a minute
    python benchmarks/newton_constructions.py THREADS ladder 1000000      one line more, minutes

Each line runs in a process of its own for the peak memory, which is that of the whole process
(torch alone: the first line), and all of them in one call of this script, so that they compare.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from functools import partial
from itertools import product

from timing import seconds

D, ALPHA = 20, 2.0**-42


def many_examples(layout: str, n: int, repeats: int, threads: int) -> None:
    import torch

    from constructions import newton

    torch.set_num_threads(threads)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n, D, generator=generator, dtype=torch.float64)
    y, query = x @ torch.ones(D, dtype=torch.float64), x[0]
    model = newton(D, 5, ALPHA, layout)
    with torch.no_grad():
        taken = seconds(lambda: model(x, y, query), repeats)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{layout:8} n = {n:>9,}   {taken:8.3f} s   {taken / n * 1e6:6.2f} µs/example   "
        f"peak {peak:6.2f} GiB",
        flush=True,
    )


def many_prompts(threads: int) -> None:
    import torch

    from constructions import newton

    torch.set_num_threads(threads)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(64, 40, D, generator=generator, dtype=torch.float64)
    y, query = x.sum(-1), x[:, 0]
    print(f"\n64 prompts, 40 examples, d = {D}; milliseconds (layers)")
    print(f"{'k':>3} {'direct':>14} {'ladder':>14} {'paper':>14}")
    for k in (5, 6, 8, 9, 12):
        models = [
            newton(D, k, 2.0**-14, layout, n=40 if layout == "paper" else None)
            for layout in ("direct", "ladder", "paper")
        ]
        with torch.no_grad():
            cells = [
                f"{seconds(partial(model, x, y, query), 9) * 1e3:9.2f} ({model.n_layers:2})"
                for model in models
            ]
        print(f"{k:>3} {' '.join(cells)}", flush=True)


def main() -> None:
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    if len(sys.argv) > 2:
        layout, n = sys.argv[2], int(sys.argv[3])
        many_examples(layout, n, 1 if n >= 10**5 else 5, threads)
        return
    print(f"{threads} thread(s), d = {D}, k = 5, one query")
    for layout, n in product(("direct", "ladder"), (10, 10**4, 10**5, 10**6)):
        if (layout, n) != ("ladder", 10**6):
            subprocess.run([sys.executable, __file__, str(threads), layout, str(n)], check=True)
    many_prompts(threads)


if __name__ == "__main__":
    main()
