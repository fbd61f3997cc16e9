"""One cycle or two: signed weights that are right beyond distance 3^L.

With weights ≥ 0 of two channels all pairs of C_2m farther apart than 3^L have the output of a pair
of C_m ∪ C_m that is not connected (`theory/graphs/limits.py`).  Here a layer subtracts, and L
layers are right on all pairs of both for m = 4·3^(L−1), which is more than 3^L.

Layers before the last have W = n·I, so S = hhᵀ.  The last block P of h is then a polynomial in A of
degree k = 3^(L−1), whose leading coefficient is 1.  In the last layer

    S = relu(3J − 2P²).

On C_2m, m = 4k, (P²)_ij is positive where dist(i, j) ≤ 2k, is 1 at distance 2k, reached one way
around, and at least 2 nearer, where A^2k alone counts 2k walks or more.  On C_m two nodes at
distance 2k = m/2 are reached both ways around, (P²)_ij = 2.  So

    S_ij         nearer than 2k   at 2k   farther   in the other cycle   sum of a row
    C_2m               0            1        3              –            2 + 3(n − 4k − 1) = 3m − 1
    C_m ∪ C_m          0            0        –              3            3m

and the output 3m + 3 − Σ_j S_ij − S_ij is, positive exactly for connected pairs,

    C_2m               4            3        1              –
    C_m ∪ C_m          3            3        –              0                                      ∎

From m = 4·3^(L−1) + 1 on no signed weights of two channels, with any threshold, are right on all
pairs of both: a far pair of C_2m, dist > 3^L, and any pair between two C_m have the same output.
Such pairs there are, as 4·3^(L−1) + 1 > 3^L.

Proof.  Every matrix here is a band around the diagonal plus a constant: the blocks of h_l by
induction of half-width 3^l, and h_l W h_lᵀ of 2·3^l, as the product of bands is a band and J times
a band is a constant, by the sums of rows or columns.  For l ≤ L − 1 both are at most 2·3^(L−1), so
that C_m is too long for them to close: they have the same entries, and relu makes the same of them.
After the last relu all is linear.  The bands of h_L are of half-width 3^L and may close in C_m, but
sums of rows are those of C_2m even so, and thus the constants.  Neither a far pair of C_2m nor a
pair between two C_m is in a band: of both, the output is the constant.                            ∎

The other outputs may differ: those of W = n·I with the sum of all blocks do at m = 5, L = 1.  From
m = 2·3^L + 1 on the bands of h_L do not close either, and the outputs of C_2m and of C_m ∪ C_m are
the same numbers.
"""

from __future__ import annotations

import numpy as np

from constructions.call import construction
from constructions.graphs.disentangled import disentangled
from constructions.transformer import Transformer
from theory import machine
from theory.graphs.two_channels import Channels, kronecker
from theory.kinds import Count, shown

BEYOND = 40  # layers: of 3^39 nodes


@construction
def two_cycles(layers: Count) -> Transformer:
    """Right on all pairs of C_2m and of C_m ∪ C_m, m = 4·3^(layers − 1), in any order of nodes.

    `disentangled` on n = 2m nodes with signed weights A ⊗ I + B ⊗ J.  On other graphs its
    predictions are not specified.

    Raises ValueError for more layers than there is memory; the model as `disentangled`.
    """
    m = 4 * 3 ** (min(layers, BEYOND) - 1)
    n, size = 2 * m, 2 ** min(layers, BEYOND)  # blocks that the last layer reads
    machine.fits_in_memory(
        f"the weights of {shown(layers)} layers for {n:.4g} nodes",
        64 * (size * n) ** 2,
        "give fewer layers",
    )
    keep, count = np.zeros((size, size), dtype=np.int64), np.zeros((size, size), dtype=np.int64)
    keep[-1, -1], count[0, 0] = -2, 3
    weights = [n * np.eye(2 ** (layer + 1) * n) for layer in range(layers - 1)]
    weights.append(n * kronecker(Channels(keep, count), n))
    said = np.zeros((2 * size, 1), dtype=np.int64)
    said[size] = -1  # S itself: the first block that the last layer appends is S·I
    model = disentangled(n, layers, weights, kronecker(Channels(said, said), n), bias=3 * m + 3)
    model.source = "proved in constructions/graphs/two_cycles.py; the model is that of [Ye2026]"
    return model
