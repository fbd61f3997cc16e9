"""One cycle or two: signed weights whose predictions are right beyond distance 3^L.

C_m is the cycle of m nodes, and J the all-ones matrix.  With weights A ⊗ I + B ⊗ J ≥ 0 all pairs of
C_2m farther apart than 3^L have the same output as a pair of C_m ∪ C_m that is not connected
(`theory/graphs/limits.py`).  With signed weights L layers are right on all pairs of both graphs for
m = 4·3^(L−1) > 3^L.

Layers before the last have W = n·I, so S = hhᵀ.  The last block P of h is then a polynomial in A of
degree k = 3^(L−1), whose leading coefficient is 1.  In the last layer

    S = relu(3J − 2P²).

On C_2m, m = 4k, (P²)_ij is positive iff dist(i, j) ≤ 2k.  At distance 2k there is one walk of
length 2k, so the entry is 1.  At smaller distances the entry is at least 2, as A^2k counts at least
2k walks there.
On C_m two nodes at distance 2k = m/2 are joined by a walk in each direction, so (P²)_ij = 2.  Hence

    S_ij        dist < 2k   dist = 2k   dist > 2k   in the other cycle   sum of a row
    C_2m            0           1           3               –            2 + 3(n − 4k − 1) = 3m − 1
    C_m ∪ C_m       0           0           –               3            3m

and the output 3m + 3 − Σ_j S_ij − S_ij, positive exactly for connected pairs, is

    C_2m            4           3           1               –
    C_m ∪ C_m       3           3           –               0                                      ∎

For m ≥ 4·3^(L−1) + 1 no signed weights of two channels, with any threshold, are right on all pairs
of both: a far pair of C_2m, dist > 3^L, and any pair between two C_m have the same output.  Far
pairs exist, as 4·3^(L−1) + 1 > 3^L.

Proof.  Every matrix here is a band around the diagonal plus a constant.  By induction the blocks of
h_l have bands of half-width 3^l, and h_l W h_lᵀ bands of half-width 2·3^l: the product of bands is
a band, and J times a band is a constant, by the sums of rows or columns.  For l ≤ L − 1 both
half-widths are at most 2·3^(L−1), so that bands do not close around C_m: the entries are the same
in both graphs, and so are those after relu.  After the last relu everything is linear.  The bands
of h_L have half-width 3^L and may close around C_m, but the sums of rows are still the same as in
C_2m, and so are the constants.  Neither a far pair of C_2m nor a pair between two C_m is in a band:
the output of both is the constant.
∎

Other outputs may differ: with W = n·I and the sum of all blocks they do at m = 5, L = 1.  For
m ≥ 2·3^L + 1 the bands of h_L do not close either, and the outputs of C_2m and of C_m ∪ C_m are the
same numbers.
"""

from __future__ import annotations

import numpy as np

from constructions.call import construction
from constructions.graphs.disentangled import disentangled
from constructions.transformer import Transformer
from theory import machine
from theory.graphs.two_channels import Channels, kronecker
from theory.kinds import Count, shown

BEYOND = 40  # layers: 8·3^39 nodes do not fit in any memory


@construction
def two_cycles(n_layers: Count) -> Transformer:
    """A transformer that distinguishes one cycle of 2m nodes from two cycles of m nodes.

    Here m = 4·3^(L − 1) and L = `n_layers`. The model is `disentangled` with L layers on n = 2m
    nodes. The weights of each layer have the form A ⊗ I + B ⊗ J, and those of the last layer have
    entries of both signs. A and B are square matrices with one row for each block of n coordinates
    of the residual stream, and J is the all-ones matrix (n, n). For both graphs, with any numbering
    of the nodes, the model outputs the pairs of connected nodes. On other graphs its predictions
    are not specified.

    Raises ValueError if the weights do not fit in memory. The model raises ValueError for an input
    that is not an adjacency matrix of n nodes, and for outputs that overflow.
    """
    m = 4 * 3 ** (min(n_layers, BEYOND) - 1)
    n, size = 2 * m, 2 ** min(n_layers, BEYOND)  # blocks that the last layer reads
    machine.fits_in_memory(
        f"the weights of {shown(n_layers)} layers for {n:.4g} nodes",
        96 * (size * n) ** 2,
        "give fewer layers",
    )
    keep, count = np.zeros((size, size), dtype=np.int64), np.zeros((size, size), dtype=np.int64)
    keep[-1, -1], count[0, 0] = -2, 3
    weights = [n * np.eye(2 ** (layer + 1) * n) for layer in range(n_layers - 1)]
    weights.append(n * kronecker(Channels(keep, count), n))
    out = np.zeros((2 * size, 1), dtype=np.int64)
    out[size] = -1  # S itself: the first block that the last layer appends is S·I
    model = disentangled(n, n_layers, weights, kronecker(Channels(out, out), n), bias=3 * m + 3)
    model.source = "weightwright; the model is that of [Ye2026]"
    return model
