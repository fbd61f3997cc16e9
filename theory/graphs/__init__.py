"""Graphs: who is connected with whom, and how far.

A graph is its adjacency matrix A (…, n, n): symmetric, of 0 and 1, with ones on the diagonal.
`…_by_definition` does what the formula says and no more.

    adjacency      what a graph is; all graphs on few nodes, relabelled ones
    disentangled   the disentangled transformer by its formula
    families       paths, cycles, 2Chain, 2Clique
    erdos_renyi    random graphs
    distances      distances, components, diameters, pairs beyond capacity
    tripling       the polynomials in A that linear attention computes
    walks          how many walks there are, in integers
    two_channels   what of a weight matrix does not depend on the names of nodes
"""

from theory.graphs.adjacency import all_graphs, as_adjacency, from_edges, relabelled
from theory.graphs.disentangled import disentangled_features
from theory.graphs.distances import (
    beyond,
    capacity,
    components,
    connected,
    diameter,
    distances,
    distances_by_definition,
    least_layers,
    share_beyond,
)
from theory.graphs.erdos_renyi import erdos_renyi
from theory.graphs.families import clique, cycles, path, side_by_side, two_chain, two_clique
from theory.graphs.tripling import (
    disentangled_polynomial,
    gram_polynomial,
    of_graph,
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
from theory.graphs.walks import walk_counts, walks, walks_from

__all__ = [
    "Channels",
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
    "disentangled_features",
    "disentangled_polynomial",
    "distances",
    "distances_by_definition",
    "erdos_renyi",
    "from_edges",
    "gram_polynomial",
    "kronecker",
    "least_layers",
    "of_graph",
    "orthogonal_split",
    "path",
    "relabelled",
    "share_beyond",
    "side_by_side",
    "tripling_polynomial",
    "two_chain",
    "two_channels",
    "two_channels_by_definition",
    "two_clique",
    "walk_counts",
    "walks",
    "walks_from",
]
