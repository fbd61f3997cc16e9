"""Addition with Fourier features, and modulo p: definitions and theorems.

fourier         the orthonormal real Fourier transform, its bins and their sizes
printed_matrix  a published Fourier matrix that is singular, and its spectrum
filters         projections of the residual stream that remove Fourier coefficients
golden          exact numbers a + b√5
comb            sums of cosines that separate the residues mod 10
adder           the comb and the bump of an adder: how precisely it must know the size of a sum
adder_balls     the comb and the bump in Arb balls
residues        residues cannot be added without products
congruence      kinds of parameters: odd moduli, numbers of candidates
modular_margin  the maximum normalised margin of modular addition, and neurons that attain it
modular_margin_balls  the margin of given neurons in Arb balls
neuron_means    three formulas for the mean margin of a neuron
spectrum        peaks in the Fourier spectrum of embeddings of numbers
probes          linear probes of residues on embeddings of numbers
"""

from theory.arithmetic.adder import (
    adder_logits,
    default_alpha,
    default_bits,
    largest_alpha,
    largest_bits,
    least_gap,
    n_candidates,
    round_to_multiple,
    rounding_of_logits,
    sufficient_bits,
)
from theory.arithmetic.comb import ZHOU, comb, comb_gap, halving_closure, period
from theory.arithmetic.filters import leakage, null_space_projection
from theory.arithmetic.fourier import bin_of, bin_sizes, fourier_bins, fourier_matrix
from theory.arithmetic.golden import Golden, cosine
from theory.arithmetic.modular_margin import (
    Neurons,
    cubed_norms,
    few_frequencies_margin,
    frequency_fractions,
    largest_margin_squared,
    mean_over_cubes,
    modular_neurons,
    network_logits,
    normalised_margin,
)
from theory.arithmetic.printed_matrix import (
    printed_gram,
    printed_inversion_error,
    printed_matrix,
    printed_quadratic,
    printed_scales,
)
from theory.arithmetic.probes import probe_accuracies
from theory.arithmetic.residues import separability_inequalities
from theory.arithmetic.spectrum import (
    peak_ratios,
    permutation_maxima,
    without_confounds,
    without_trend,
)

__all__ = [
    "ZHOU",
    "Golden",
    "Neurons",
    "adder_logits",
    "bin_of",
    "bin_sizes",
    "comb",
    "comb_gap",
    "cosine",
    "cubed_norms",
    "default_alpha",
    "default_bits",
    "few_frequencies_margin",
    "fourier_bins",
    "fourier_matrix",
    "frequency_fractions",
    "halving_closure",
    "largest_alpha",
    "largest_bits",
    "largest_margin_squared",
    "leakage",
    "least_gap",
    "mean_over_cubes",
    "modular_neurons",
    "n_candidates",
    "network_logits",
    "normalised_margin",
    "null_space_projection",
    "peak_ratios",
    "period",
    "permutation_maxima",
    "printed_gram",
    "printed_inversion_error",
    "printed_matrix",
    "printed_quadratic",
    "printed_scales",
    "probe_accuracies",
    "round_to_multiple",
    "rounding_of_logits",
    "separability_inequalities",
    "sufficient_bits",
    "without_confounds",
    "without_trend",
]
