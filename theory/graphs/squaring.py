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
    """An inverse temperature that suffices for the robust form of `constructions.graphs.squaring`.

    At ln(8N(n − 1)), n = `n_nodes` and N = 2^⌈log₂n⌉, softmax attention makes the predictions of
    average-hard attention, for any number of layers.
    """
    return log(8 * 2 ** (n_nodes - 1).bit_length() * (n_nodes - 1))


@checked
def lean_squaring_sharpness(
    n_nodes: Nodes, n_layers: Annotated[Count, Within(most=10_000)]
) -> float:
    """A necessary inverse temperature for the lean form of `constructions.graphs.squaring`.

    The inverse temperature is ln(2(n − 1)((N + ½)^L − 1)) for n = `n_nodes`, N = 2^⌈log₂n⌉ and L =
    `n_layers`. At a smaller inverse temperature L layers predict wrongly that an isolated node is
    connected to a clique of all other nodes.
    """
    each = log(2 * 2 ** (n_nodes - 1).bit_length() + 1) - log(2)  # ln(N + ½), for an N of any size
    return log(2 * (n_nodes - 1)) + n_layers * each + log1p(-exp(-n_layers * each))
