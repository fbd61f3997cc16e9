"""Time and memory of the constructions of the Newton–Schulz iteration.

    python benchmarks/newton_constructions.py [THREADS]          one or two minutes

Each line runs in a separate process, because the peak memory is that of the whole process (the
first line has only torch).  All lines run in one call of this script, so that they are comparable.
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


def products(n: int, repeats: int, threads: int) -> None:
    """Times HᵀH and H·M of a stream as wide as that of "direct", the products of its layers."""
    import torch

    torch.set_num_threads(threads)
    H = torch.randn(n, 2 * D + 2, dtype=torch.float64)
    taken = seconds(lambda: H @ (H.T @ H), repeats)
    print(f"HᵀH, H·M n = {n:>9,}   {taken:8.3f} s", flush=True)


def causal(threads: int) -> None:
    """Times all prefixes at once, and one run of "direct" for each."""
    import torch

    from constructions import newton

    torch.set_num_threads(threads)
    generator, n, d = torch.Generator().manual_seed(0), 512, 8
    x = torch.randn(n, d, generator=generator, dtype=torch.float64)
    y, query = x.sum(-1), x[0]
    together, one = newton(d, 12, 2.0**-24, causal=True), newton(d, 12, 2.0**-24)
    queries = torch.cat([x[1:], query[None]])
    with torch.no_grad():
        at_once = seconds(lambda: together(x, y, query), 3)
        each = seconds(lambda: [one(x[:t], y[:t], queries[t - 1]) for t in range(1, n + 1)], 3)
    print(f"\ncausal, d = {d}, k = 12, all prefixes of {n} examples: {at_once:.3f} s")
    print(f"one run for each prefix: {each:.3f} s, {each / at_once:.1f} times as long", flush=True)


def main() -> None:
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    if len(sys.argv) > 2:
        layout, n = sys.argv[2], int(sys.argv[3])
        measure = products if layout == "products" else partial(many_examples, layout)
        measure(n, 2 if n >= 10**5 else 5, threads)
        return
    print(f"{threads} thread(s), d = {D}, k = 5, one query")
    for layout, n in product(("products", "direct", "ladder"), (10, 10**4, 10**5, 10**6)):
        subprocess.run([sys.executable, __file__, str(threads), layout, str(n)], check=True)
    many_prompts(threads)
    causal(threads)


if __name__ == "__main__":
    main()
