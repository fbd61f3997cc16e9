"""Sensitivity: the probability that a change of one input changes the value of a function.

A Boolean function of d bits is given as the table (2^d,) of its values −1 and +1. A function of T
tokens over V symbols is given as the table (V^T,) of its values.  Both tables are in the order of
`theory.sequences.all_sequences`.  Results are exact, except the estimates for arbitrary models.

    walsh_hadamard   Fourier coefficients in integers, and Fourier weights by degree
    influence        influences, Sens, maximum sensitivity, variance
    noise            noise sensitivity under independent flips of all bits, with closed forms
    all_functions    Var, I, degree and s of all functions of a few bits
    functions        parity of some bits, conjunction, junta, multiplexer
    tokens           influences of tokens, redrawn and forced; Efron–Stein; the hybrid bound
    half_spaces      linear threshold functions
    estimate         the sensitivity of any model, with a confidence interval
    kernels          weak spectral bias of inner-product kernels
"""

from theory.sensitivity.all_functions import all_figures
from theory.sensitivity.estimate import (
    Estimate,
    forced,
    noisy_patches,
    redrawn,
    sensitivity,
)
from theory.sensitivity.functions import (
    conjunction,
    distinct_positions,
    junta,
    junta_table,
    majority_mean_influence,
    multiplexer,
    subset_parity,
    tabulated,
)
from theory.sensitivity.half_spaces import is_linear_threshold
from theory.sensitivity.influence import (
    influences,
    influences_by_spectrum,
    max_sensitivity,
    mean_influence,
    sensitive_bits,
    total_influence,
    variance,
)
from theory.sensitivity.kernels import (
    by_minus_ones,
    eigenvalues,
    eigenvalues_by_definition,
    on_two_fewer_bits,
    power_series,
    shift_polynomial,
    walks,
)
from theory.sensitivity.noise import (
    conjunction_noise_sensitivity,
    majority_noise_sensitivity,
    multiplexer_noise_sensitivity,
    noise_sensitivity,
    noise_sensitivity_by_definition,
    noise_stability,
    parity_noise_sensitivity,
)
from theory.sensitivity.tokens import (
    change_when_redrawn,
    change_when_redrawn_by_definition,
    efron_stein_weights,
    forced_profile,
    forced_profile_by_definition,
    hybrid_bound,
    redrawn_profile,
)
from theory.sensitivity.walsh_hadamard import (
    degree,
    fourier_weights,
    truth_table,
    walsh_hadamard,
    walsh_hadamard_by_definition,
)

__all__ = [
    "Estimate",
    "all_figures",
    "by_minus_ones",
    "change_when_redrawn",
    "change_when_redrawn_by_definition",
    "conjunction",
    "conjunction_noise_sensitivity",
    "degree",
    "distinct_positions",
    "efron_stein_weights",
    "eigenvalues",
    "eigenvalues_by_definition",
    "forced",
    "forced_profile",
    "forced_profile_by_definition",
    "fourier_weights",
    "hybrid_bound",
    "influences",
    "influences_by_spectrum",
    "is_linear_threshold",
    "junta",
    "junta_table",
    "majority_mean_influence",
    "majority_noise_sensitivity",
    "max_sensitivity",
    "mean_influence",
    "multiplexer",
    "multiplexer_noise_sensitivity",
    "noise_sensitivity",
    "noise_sensitivity_by_definition",
    "noise_stability",
    "noisy_patches",
    "on_two_fewer_bits",
    "parity_noise_sensitivity",
    "power_series",
    "redrawn",
    "redrawn_profile",
    "sensitive_bits",
    "sensitivity",
    "shift_polynomial",
    "subset_parity",
    "tabulated",
    "total_influence",
    "truth_table",
    "variance",
    "walks",
    "walsh_hadamard",
    "walsh_hadamard_by_definition",
]
