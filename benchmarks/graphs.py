"""The cost of connectivity, in a minute: `python benchmarks/graphs.py [THREADS] [DEVICE]`.

First, the connected pairs of 32 random graphs of n nodes, in milliseconds per graph: by boolean
squaring, the classical method with ⌈log₂(n − 1)⌉ products of n × n matrices; and by models with
enough layers for every graph, in float64.  A layer of tripling takes two matrix products, a layer
of squaring one product, a comparison and an average.

Second, drawing graphs ER(n, 1.5/n) and computing their connected pairs: as one batch of tensors on
the device (`constructions.graphs.random_graphs`), and by a loop of networkx (which is installed
with torch) over single graphs, which returns components as sets of nodes.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os
import sys

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

from functools import partial
from statistics import median

import networkx
import torch
from timing import in_turn, ratio
from torch import Tensor

from constructions import squaring, tripling
from constructions.graphs.random_graphs import connected, random_graphs
from theory.graphs import erdos_renyi, least_layers

DEVICE = sys.argv[2] if len(sys.argv) > 2 else "cuda" if torch.cuda.is_available() else "cpu"
GRAPHS, DRAWN = 32, 1000
GENERATOR = torch.Generator(DEVICE).manual_seed(0)


def doublings(n: int) -> int:
    """The number of squarings that reach distance n − 1."""
    return max(n - 2, 0).bit_length()


def closure(A: Tensor) -> Tensor:
    """The transitive closure (…, n, n) by boolean squaring; counts stay below 2^24 in float32."""
    R = A.float()
    for _ in range(doublings(A.shape[-1])):
        R = (R @ R).clamp_(max=1.0)
    return R


def drawn(n_graphs: int, n: int, p: float) -> tuple[Tensor, Tensor]:
    """Graphs ER(n, p) (n_graphs, n, n) on the device, and their transitive closures."""
    A = random_graphs(n_graphs, n, p, seed=GENERATOR)
    R = connected(A)
    R[-1, -1, -1].item()  # wait for the device
    return A, R


def looped(n_graphs: int, n: int, p: float) -> list[list[set[int]]]:
    """Graphs ER(n, p) by networkx, one by one, and their components."""
    graphs = (networkx.fast_gnp_random_graph(n, p, seed=seed) for seed in range(n_graphs))
    return [list(networkx.connected_components(graph)) for graph in graphs]


def line(n: int) -> str:
    """One line of the first table: layers, times and ratios for graphs of n nodes."""
    A = torch.as_tensor(erdos_renyi(GRAPHS, n, 1.5 / n, 0), dtype=torch.float64)
    models = {
        "squaring": squaring(n, doublings(n)),
        "tripling": tripling(n, least_layers(n - 1), clipped=True),
    }
    calls = {"products": partial(closure, A), **{k: partial(m, A) for k, m in models.items()}}
    with torch.no_grad():
        for model in models.values():
            assert torch.equal(model(A).float(), closure(A))
        times = in_turn(calls, 5)
    cells = [f"{1e3 * median(times[name]) / GRAPHS:9.3f}" for name in calls]
    over = [f"{ratio(times, name, 'products'):8.1f}" for name in models]
    layers = [f"{model.n_layers:6}" for model in models.values()]
    return f"{n:5} {' '.join(layers)} {' '.join(cells)} {' '.join(over)}"


def main() -> None:
    torch.set_num_threads(THREADS)
    print(f"{THREADS} thread(s), torch {torch.__version__}; times in milliseconds per graph")
    print("          layers         products  squaring  tripling   ratios to products")
    for n in (16, 64):
        print(line(n), flush=True)
    print(f"\n{DRAWN} graphs and their connected pairs on {DEVICE}, milliseconds per graph")
    print("    n    batch  networkx  networkx/batch")
    for n in (8, 20, 64):
        calls = {name: partial(each, DRAWN, n, 1.5 / n) for name, each in WAYS.items()}
        times = in_turn(calls, 7)
        batch, loop = (1e3 * median(times[name]) / DRAWN for name in WAYS)
        print(f"{n:5} {batch:8.4f} {loop:9.4f} {ratio(times, 'loop', 'batch'):15.0f}", flush=True)


WAYS = {"batch": drawn, "loop": looped}

if __name__ == "__main__":
    main()
