"""In-context linear regression: prompts, solvers, exact spectra and rates.

Notation: x (…, n, d) are the examples, which are the rows of X, and y (…, n) are their labels;
S = XᵀX and b = Xᵀy.  Every solver returns weights w (…, d), and the prediction at a query is
⟨w, x_query⟩.

`newton`, `hyperpower`, `gradient_descent`, `online_gradient_descent` and `chebyshev` are algorithms
here and transformers in `constructions.regression`. A program that uses both should import the
modules, by `from theory import regression` and `import constructions`, and not use star imports.
"""

from theory.regression.chebyshev import chebyshev, chebyshev_iterates
from theory.regression.conjugate_gradient import conjugate_gradient, conjugate_gradient_iterates
from theory.regression.convergence import safe_step_size
from theory.regression.depth import newton_degree, newton_lower_bound
from theory.regression.filters import (
    Filter,
    filter_residual,
    fitted_filter,
    fitted_ridge,
    unexplained_fraction,
)
from theory.regression.formulas import RegisterFormula
from theory.regression.gradient_descent import gradient_descent, gradient_descent_iterates
from theory.regression.growth import growth_of, matching_steps
from theory.regression.hyperpower import hyperpower, hyperpower_inverses
from theory.regression.least_errors import best_step_size, gradient_descent_error, polynomial_errors
from theory.regression.newton import Start, newton, newton_inverses
from theory.regression.normal_equations import normal_equations
from theory.regression.ols import ols
from theory.regression.online_gradient_descent import (
    online_gradient_descent,
    online_gradient_descent_iterates,
)
from theory.regression.precision import newton_digits
from theory.regression.prompts import (
    Prompts,
    covariance_prompts,
    gaussian_prompts,
    ill_conditioned_prompts,
)
from theory.regression.rates import (
    chebyshev_steps,
    conjugate_gradient_steps,
    gradient_descent_steps,
    hyperpower_steps,
    newton_steps,
    newton_steps_estimate,
    optimal_gradient_descent_steps,
)
from theory.regression.register_programs import NoFormula
from theory.regression.residuals import (
    chebyshev_fitted,
    chebyshev_residual,
    gradient_descent_fitted,
    gradient_descent_residual,
    hyperpower_fitted,
    hyperpower_residual,
    newton_fitted,
    newton_residual,
    ridge_fitted,
    ridge_residual,
)
from theory.regression.ridge import ridge
from theory.regression.similarity import (
    Estimate,
    error_cosines,
    error_distance,
    error_distances,
    error_similarity,
    induced_weights,
    weight_cosines,
    weight_similarity,
)
from theory.regression.spectral import PrefixSpectrum
from theory.regression.wishart import wishart_moments

__all__ = [
    "Estimate",
    "Filter",
    "NoFormula",
    "PrefixSpectrum",
    "Prompts",
    "RegisterFormula",
    "Start",
    "best_step_size",
    "chebyshev",
    "chebyshev_fitted",
    "chebyshev_iterates",
    "chebyshev_residual",
    "chebyshev_steps",
    "conjugate_gradient",
    "conjugate_gradient_iterates",
    "conjugate_gradient_steps",
    "covariance_prompts",
    "error_cosines",
    "error_distance",
    "error_distances",
    "error_similarity",
    "filter_residual",
    "fitted_filter",
    "fitted_ridge",
    "gaussian_prompts",
    "gradient_descent",
    "gradient_descent_error",
    "gradient_descent_fitted",
    "gradient_descent_iterates",
    "gradient_descent_residual",
    "gradient_descent_steps",
    "growth_of",
    "hyperpower",
    "hyperpower_fitted",
    "hyperpower_inverses",
    "hyperpower_residual",
    "hyperpower_steps",
    "ill_conditioned_prompts",
    "induced_weights",
    "matching_steps",
    "newton",
    "newton_degree",
    "newton_digits",
    "newton_fitted",
    "newton_inverses",
    "newton_lower_bound",
    "newton_residual",
    "newton_steps",
    "newton_steps_estimate",
    "normal_equations",
    "ols",
    "online_gradient_descent",
    "online_gradient_descent_iterates",
    "optimal_gradient_descent_steps",
    "polynomial_errors",
    "ridge",
    "ridge_fitted",
    "ridge_residual",
    "safe_step_size",
    "unexplained_fraction",
    "weight_cosines",
    "weight_similarity",
    "wishart_moments",
]
