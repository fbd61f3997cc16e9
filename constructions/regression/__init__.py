"""In-context linear regression: transformers with hand-written weights.

Each public name is a function that returns a model.  The algorithms of the same names in
`theory.regression` return the weights of a linear predictor.
"""

from constructions.regression.chebyshev import chebyshev
from constructions.regression.gradient_descent import gradient_descent
from constructions.regression.hyperpower import hyperpower
from constructions.regression.newton import newton
from constructions.regression.newton_pauses import newton_with_pauses
from constructions.regression.online_gradient_descent import online_gradient_descent
from constructions.regression.stages import Inverse, Prediction

__all__ = [
    "Inverse",
    "Prediction",
    "chebyshev",
    "gradient_descent",
    "hyperpower",
    "newton",
    "newton_with_pauses",
    "online_gradient_descent",
]
