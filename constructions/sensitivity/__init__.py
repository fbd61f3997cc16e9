"""Sensitivity: models whose sensitivity is known, to calibrate what is measured on others; majority
and the parity of all bits are those of computation.  `predictions` makes any torch module one
that `theory.sensitivity.sensitivity` measures."""

from constructions.sensitivity.conjunction import conjunction
from constructions.sensitivity.junta import junta
from constructions.sensitivity.predictions import predictions
from constructions.sensitivity.subset_parity import subset_parity

__all__ = ["conjunction", "junta", "predictions", "subset_parity"]
