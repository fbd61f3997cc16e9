"""The reference's table of layers, as data.

k: paper, direct and the degree bound, which the ladder meets, from αS; the bound from αI.
"""

TABLE = {
    0: (8, 2, 2, 1),
    3: (11, 5, 4, 3),
    5: (13, 7, 5, 4),
    6: (14, 8, 6, 5),
    9: (17, 11, 7, 7),
    12: (20, 14, 9, 9),
}
