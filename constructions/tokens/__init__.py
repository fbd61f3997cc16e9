"""What every topic over tokens needs: codes, positions, heads, and sequences as prompts."""

from constructions.tokens.heads import average, counted, latest, placed, written
from constructions.tokens.positions import (
    binary_codes,
    lattice,
    look_up,
    positions,
    rows_fit,
    sizes,
)
from constructions.tokens.sequences import Tokens, decode

__all__ = [
    "Tokens",
    "average",
    "binary_codes",
    "counted",
    "decode",
    "latest",
    "lattice",
    "look_up",
    "placed",
    "positions",
    "rows_fit",
    "sizes",
    "written",
]
