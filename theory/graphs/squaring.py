"""Inverse temperatures at which squaring by softmax attention predicts as average-hard attention.

N = 2^⌈log₂n⌉; the proofs are in `constructions/graphs/squaring.py`.
"""

from __future__ import annotations

from math import exp, log, log1p
from typing import Annotated

from theory.graphs.two_channels import Nodes
from theory.kinds import Count, Within, checked


@checked
def squaring_sharpness(n_nodes: Nodes) -> float:
    """The inverse temperature ln(8N(n − 1)), at which the robust form makes the predictions of
    average-hard attention.

    This holds for any number of layers."""
    return log(8 * 2 ** (n_nodes - 1).bit_length() * (n_nodes - 1))


@checked
def lean_squaring_sharpness(
    n_nodes: Nodes, n_layers: Annotated[Count, Within(most=10_000)]
) -> float:
    """The inverse temperature ln(2(n − 1)((N + ½)^L − 1)), necessary for the lean form.

    At a smaller sharpness L layers predict, wrongly, that an isolated node is connected to a clique
    of all the others.
    """
    each = log(2 * 2 ** (n_nodes - 1).bit_length() + 1) - log(2)  # ln(N + ½), for an N of any size
    return log(2 * (n_nodes - 1)) + n_layers * each + log1p(-exp(-n_layers * each))
