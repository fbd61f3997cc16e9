"""Sensitivity: models whose sensitivity is known in closed form, to calibrate measurements.

Models of majority and of the parity of all bits are in `constructions.computation`.  `conjunction`,
`junta` and `subset_parity` have the names of the functions in `theory.sensitivity` that they
compute; only the module distinguishes the names.  `predictions` converts a torch module to a
function whose sensitivity `theory.sensitivity.sensitivity` estimates.  It is imported from this
module, because the top level of `constructions` does not export it.
"""

from constructions.sensitivity.conjunction import conjunction
from constructions.sensitivity.junta import junta
from constructions.sensitivity.predictions import predictions
from constructions.sensitivity.subset_parity import subset_parity

__all__ = ["conjunction", "junta", "predictions", "subset_parity"]
