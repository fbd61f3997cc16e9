"""Connectivity: how far each layer reaches, and a model that counts walks instead.

Prints the number of connected pairs of a random graph that tripling and squaring miss after each
layer, the errors of a model that counts walks, and the number of layers that five constructions
take; draws all of it:

    python examples/graph_connectivity.py [--n-nodes N] [--seed S] [--plot PICTURE]
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from constructions import disentangled, squaring, tripling
from constructions.graphs import search
from theory.graphs import (
    components,
    directed_edges,
    distances,
    erdos_renyi,
    path,
    pointers,
    two_clique,
)
from theory.kinds import InputError
from theory.terminal import script
from verify.graphs.connectivity_layers import on_graph
from verify.graphs.connectivity_layers_picture import against_diameter
from verify.output.files import picture_file, saving

COLOURS = ListedColormap(["white", "#1f5fa8", "#e08214"])
COLUMNS = "tripling", "squaring", "pointers", "machine", "search"

options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
options.add_argument("--n-nodes", type=int, default=24, help="of the random graph, 6 to 60")
options.add_argument("--seed", type=int, default=0)
options.add_argument("--plot", type=Path, default=Path("graph_connectivity.png"))
given = script(options)
if not 6 <= given.n_nodes <= 60 or given.seed < 0:
    options.error("give 6 to 60 nodes and a seed that is at least 0")
try:
    picture_file(given.plot)
except InputError as error:
    options.error(str(error))
n = given.n_nodes

# The random graph of the largest diameter among many, its nodes in the order of their components.
drawn = erdos_renyi(300, n, 1.1 / n, given.seed)
A = drawn[distances(drawn).max(axis=(1, 2)).argmax()]
far = distances(A)
order = np.lexsort((far[far.max(1).argmax()], components(A)))
A, far = A[order][:, order], far[order][:, order]
D = int(far.max())

print(tripling(n, 3), "\n")
print(f"A random graph of {n} nodes: {len(set(components(A)))} components, diameter {D}")
print("connected pairs that are predicted unconnected, after each layer:")
first = {}
for name, build in (("tripling", tripling), ("squaring", squaring)):
    depth = next(L for L in range(n) if (build(n, L)(A).numpy() == (far >= 0)).all())
    seen = np.array([build(n, L)(A).numpy() for L in range(depth + 1)])
    first[name] = np.where(far >= 0, (seen == 0).sum(0), -1)
    unseen = ((seen == 0) & (far >= 0)).sum((1, 2))
    print(f"  {name}: {', '.join(map(str, unseen))}")

# One disentangled layer whose unembedding also contains J, which counts walks by degrees.
k = 8
blocks = np.tile(np.eye(k), (4, 1))
blocks[3 * k :] += 0.5 * np.ones((k, k))
far_ends = float(disentangled(k, 1, unembedding=blocks).logits(path(k))[0, 5])
counting = disentangled(k, 1, unembedding=blocks, bias=-far_ends / 2)
chain, cliques = counting(path(k)).numpy(), counting(two_clique(k)).numpy()
across = cliques[: k // 2, k // 2 :]
print(f"\nOne layer reaches distance 3.  With J in the unembedding, on the path of {k} nodes:")
print(f"  nodes 0 and 5, at distance 5: {chain[0, 5]}; all pairs right: {bool(chain.all())}")
print(f"  but on 2Clique {across.sum()} of {across.size} unconnected pairs are predicted connected")

print("\nLayers that output all connected pairs of a path of diameter D (search: tokens):")
print(f"   D{''.join(f'{name:>10}' for name in COLUMNS)}")
graphs = {f"D = {D}": pointers(np.arange(D) % 2) for D in (2, 3, 4, 9, 16)}
found = {name: on_graph(graph) for name, graph in graphs.items()}
for name, counts in found.items():
    print(f"{graphs[name].diameter:4}{''.join(f'{counts[name]:10}' for name in COLUMNS)}")

source, edges = int(far.max(1).argmax()), directed_edges(A)
model = search(n, len(edges))
nodes = model.interface.found(model.generate(model.interface.prompt(edges, source), n))
print(f"\nThe search from node {source}, a token for each node: {' '.join(map(str, nodes))} ⊥")

figure = Figure(figsize=(12, 7.6), layout="constrained")
panels = figure.subplots(2, 3)
deepest = max(int(layer.max()) for layer in first.values())
for panel, (name, layer) in zip(panels[0], first.items(), strict=False):
    shown = panel.imshow(np.where(layer < 0, np.nan, layer), cmap="viridis_r", vmin=0, vmax=deepest)
    panel.set_title(f"{name}: first layer that connects a pair (D = {D})", fontsize=9)
    figure.colorbar(shown, ax=panel, ticks=range(deepest + 1))
shown = panels[0, 2].imshow(np.where(far < 0, np.nan, far), cmap="magma_r", vmin=0)
panels[0, 2].set_title("distances; white: not connected", fontsize=9)
figure.colorbar(shown, ax=panels[0, 2])
for panel in panels.flat[:5]:
    panel.set(xlabel="node j", ylabel="node i")
right = distances(two_clique(k)) >= 0
for panel, predicted, title in (
    (panels[1, 0], tripling(k, 1)(two_clique(k)).numpy(), "2Clique, by tripling: two components"),
    (panels[1, 1], cliques, "2Clique, by the model that counts walks (orange: wrong)"),
):
    panel.imshow(predicted * np.where(right, 1, 2), cmap=COLOURS, vmin=0, vmax=2)
    panel.set_title(title, fontsize=9)
against_diameter(panels[1, 2], graphs, found)
with saving(given.plot) as file:
    figure.savefig(file, dpi=130)
print(f"\nThe picture is in {given.plot}")
