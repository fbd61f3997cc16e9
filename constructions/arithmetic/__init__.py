"""Transformers that add numbers: with Fourier features, without Fourier features, and modulo p.

Each file contains one construction.
"""

from constructions.arithmetic.adder import adder
from constructions.arithmetic.linear_adder import linear_adder
from constructions.arithmetic.modular_addition import modular_addition

__all__ = ["adder", "linear_adder", "modular_addition"]
