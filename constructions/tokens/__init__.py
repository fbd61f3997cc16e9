"""What every topic over tokens needs: codes, positions, and sequences as prompts."""

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
    "binary_codes",
    "decode",
    "lattice",
    "look_up",
    "positions",
    "rows_fit",
    "sizes",
]
