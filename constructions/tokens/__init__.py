"""The common parts of all topics over tokens: codes, positions, heads, invariants and prompts."""

from constructions.tokens.heads import average, counted, latest, placed, written
from constructions.tokens.invariants import inverse, per_token
from constructions.tokens.positions import (
    binary_codes,
    lattice,
    look_up,
    positions,
    rows_fit,
    sizes,
)
from constructions.tokens.sequences import Tokens, decode, in_front

__all__ = [
    "Tokens",
    "average",
    "binary_codes",
    "counted",
    "decode",
    "in_front",
    "inverse",
    "latest",
    "lattice",
    "look_up",
    "per_token",
    "placed",
    "positions",
    "rows_fit",
    "sizes",
    "written",
]
