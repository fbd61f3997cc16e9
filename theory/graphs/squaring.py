"""Inverse temperatures at which squaring by softmax attention predicts as average-hard attention.

For graphs of n nodes, N = 2^⌈log₂n⌉.  The proofs are in `constructions/graphs/squaring.py`.
"""

from __future__ import annotations

from math import exp, log, log1p
from typing import Annotated

from theory.graphs.two_channels import Nodes
from theory.kinds import Count, Within, checked


@checked
def squaring_sharpness(n_nodes: Nodes) -> float:
    """A sufficient inverse temperature for finding connected nodes by squaring with softmax.

    The model is the form 'robust' of `constructions.graphs.squaring` for graphs of n = `n_nodes`
    nodes. Each of its layers doubles the distance at which nodes are found to be connected. The
    inverse temperature is ln(8N(n − 1)) with N = 2^⌈log₂n⌉. At this inverse temperature, softmax
    attention makes the same predictions as average-hard attention, for any number of layers.
    """
    return log(8 * 2 ** (n_nodes - 1).bit_length() * (n_nodes - 1))


@checked
def lean_squaring_sharpness(
    n_nodes: Nodes, n_layers: Annotated[Count, Within(most=10_000)]
) -> float:
    """A necessary inverse temperature for finding connected nodes by squaring with softmax.

    The model is the form 'lean' of `constructions.graphs.squaring` for graphs of n = `n_nodes`
    nodes. Each of its L = `n_layers` layers doubles the distance at which nodes are found to be
    connected. The inverse temperature is ln(2(n − 1)((N + ½)^L − 1)) with N = 2^⌈log₂n⌉. At a
    smaller inverse temperature, the model fails on the graph of an isolated node and a clique of
    all other nodes: it predicts that the isolated node is connected to the clique.
    """
    each = log(2 * 2 ** (n_nodes - 1).bit_length() + 1) - log(2)  # ln(N + ½), for an N of any size
    return log(2 * (n_nodes - 1)) + n_layers * each + log1p(-exp(-n_layers * each))
