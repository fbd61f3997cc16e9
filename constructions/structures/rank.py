"""The rank of every point, the number of points below it, by two ReLU heads.

φ(u) = relu(u) − relu(u − 1) is the step [u > 0] on integers, so the rank of point x_i is

    r_i = Σ_j φ(x_i − x_j) = #{ j : x_j < x_i }.

The score x_i − x_j is the inner product of the query (x_i, 1) and the key (1, −x_j).  ReLU
attention divides by the number N of points, so the value of the heads is N.  All sums are integers
until the division, which is exact.
"""

from __future__ import annotations

from constructions.assembly import Head
from constructions.stream import Stream, one


def rank_heads(stream: Stream, N: int, into: str) -> tuple[Head, Head]:
    """The two ReLU heads that add the rank of each point to the register `into`.

    The rank of a point is the number of points below it.  The register `x` contains the N points,
    and the register `unit` is 1 at points.  At a token whose `x` and `unit` are 0, the heads add 0.
    """
    x, unit = stream.read("x"), stream.read("unit")
    return (
        Head((x, unit), (unit, -x), N * unit, into),
        Head((x, unit), (unit, -x - unit), N * unit, into, -1.0),
    )


def at_rank(stream: Stream, N: int, wanted: str, ranks: str, into: str) -> tuple[Head, Head, Head]:
    """The three ReLU heads that add to `into` the point whose rank is in the register `wanted`.

    There are N points x_j in the register `x`.  The register `ranks` contains the rank r_j of point
    x_j, and the register `wanted` contains a rank w.  The heads compute

        Σ_j (relu(u_j + 1) − 2·relu(u_j) + relu(u_j − 1))·x_j,      u_j = w − r_j.

    This tent function of u_j is 1 at u_j = 0 and 0 at all other integers.
    """
    m, unit, rank = map(stream.read, (wanted, "unit", ranks))
    value = N * stream.read("x")
    tent = ((1.0, 1.0), (0.0, -2.0), (-1.0, 1.0))
    first, second, third = (
        Head((m, one), (unit, shift * unit - rank), value, into, times) for shift, times in tent
    )
    return first, second, third
