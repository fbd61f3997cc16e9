"""Graphs: which nodes are connected, and at what distance.

A graph is given by its adjacency matrix A (…, n, n): symmetric, with entries 0 and 1 and ones on
the diagonal.  A function `…_by_definition` evaluates the definition directly.

    adjacency      adjacency matrices; all graphs on few nodes, relabelled graphs
    disentangled   the disentangled transformer by its formula
    families       paths, cycles, 2Chain, 2Clique
    erdos_renyi    random graphs
    distances      distances, components, diameters, pairs within and beyond capacity
    tripling       the polynomials in A that linear attention computes
    walks          exact numbers of walks, with and without jumps
    search         search from a source node; edge lists
    two_channels   the part of a weight matrix that is invariant under relabelling of nodes
    limits         lower bounds: pairs beyond distance 3^L
    squaring       inverse temperatures for squaring by softmax attention
    pointers       graphs in which every token points to its match

`search` is the algorithm; `constructions.graphs.search` is a model that runs it.
"""

from theory.graphs.adjacency import all_graphs, as_adjacency, from_edges, labellings, relabelled
from theory.graphs.disentangled import disentangled_features, disentangled_outputs
from theory.graphs.distances import (
    beyond,
    capacity,
    components,
    connected,
    diameter,
    distances,
    distances_by_definition,
    least_layers,
    within,
)
from theory.graphs.erdos_renyi import erdos_renyi
from theory.graphs.families import clique, cycles, path, side_by_side, two_chain, two_clique
from theory.graphs.limits import minimal_subgraph
from theory.graphs.pointers import Pointers, pointers
from theory.graphs.search import (
    EdgeList,
    SearchSteps,
    directed_edges,
    reachable,
    read_edges,
    search,
    search_steps,
)
from theory.graphs.squaring import lean_squaring_sharpness, squaring_sharpness
from theory.graphs.tripling import (
    disentangled_polynomial,
    gram_polynomial,
    polynomial_of_graph,
    tripling_polynomial,
)
from theory.graphs.two_channels import (
    Channels,
    Split,
    kronecker,
    orthogonal_split,
    two_channels,
    two_channels_by_definition,
)
from theory.graphs.walks import jumps, walks, walks_from, walks_with_jumps

__all__ = [
    "Channels",
    "EdgeList",
    "Pointers",
    "SearchSteps",
    "Split",
    "all_graphs",
    "as_adjacency",
    "beyond",
    "capacity",
    "clique",
    "components",
    "connected",
    "cycles",
    "diameter",
    "directed_edges",
    "disentangled_features",
    "disentangled_outputs",
    "disentangled_polynomial",
    "distances",
    "distances_by_definition",
    "erdos_renyi",
    "from_edges",
    "gram_polynomial",
    "jumps",
    "kronecker",
    "labellings",
    "lean_squaring_sharpness",
    "least_layers",
    "minimal_subgraph",
    "orthogonal_split",
    "path",
    "pointers",
    "polynomial_of_graph",
    "reachable",
    "read_edges",
    "relabelled",
    "search",
    "search_steps",
    "side_by_side",
    "squaring_sharpness",
    "tripling_polynomial",
    "two_chain",
    "two_channels",
    "two_channels_by_definition",
    "two_clique",
    "walks",
    "walks_from",
    "walks_with_jumps",
    "within",
]
