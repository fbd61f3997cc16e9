"""Addition with Fourier features: definitions and theorems.

fourier         the orthonormal real transform, its bins and their sizes
printed_matrix  a printed one that is no basis, and its spectrum
filters         removing coefficients as a projection of the stream; when it is a mask
golden          exact numbers a + b√5
comb            sums of cosines that tell the residues mod 10 apart
adder           comb and bump: how little need be known of the size of a sum
adder_balls     the same in balls
residues        what needs products
congruence      kinds of parameters: odd moduli, numbers of candidates
modular_margin  the largest margin of modular addition, and who attains it
modular_margin_balls  the margin of given neurons in balls
neuron_means    the mean of a neuron, three times
spectrum        peaks in the spectrum of embeddings of numbers
probes          residues that are read off embeddings of numbers
"""

from theory.arithmetic.adder import (
    adder_logits,
    candidates,
    coarse,
    largest_alpha,
    least_gap,
    most_bits,
    rounding_of_logits,
    sufficient_bits,
    usual_alpha,
    usual_bits,
)
from theory.arithmetic.comb import ZHOU, comb, comb_gap, halvings, period
from theory.arithmetic.filters import kept_stream, leakage
from theory.arithmetic.fourier import bin_of, bin_sizes, fourier_bins, fourier_matrix
from theory.arithmetic.golden import Golden, cosine
from theory.arithmetic.modular_margin import (
    Neurons,
    cubes,
    few_frequencies_margin,
    frequency_shares,
    largest_margin_squared,
    mean_over_cubes,
    modular_neurons,
    network,
    normalised_margin,
)
from theory.arithmetic.printed_matrix import (
    printed_gram,
    printed_matrix,
    printed_misses,
    printed_quadratic,
    printed_scales,
)
from theory.arithmetic.probes import probe_accuracies
from theory.arithmetic.residues import demands
from theory.arithmetic.spectrum import peak_ratios, permutation_maxima, without, without_trend

__all__ = [
    "ZHOU",
    "Golden",
    "Neurons",
    "adder_logits",
    "bin_of",
    "bin_sizes",
    "candidates",
    "coarse",
    "comb",
    "comb_gap",
    "cosine",
    "cubes",
    "demands",
    "few_frequencies_margin",
    "fourier_bins",
    "fourier_matrix",
    "frequency_shares",
    "halvings",
    "kept_stream",
    "largest_alpha",
    "largest_margin_squared",
    "leakage",
    "least_gap",
    "mean_over_cubes",
    "modular_neurons",
    "most_bits",
    "network",
    "normalised_margin",
    "peak_ratios",
    "period",
    "permutation_maxima",
    "printed_gram",
    "printed_matrix",
    "printed_misses",
    "printed_quadratic",
    "printed_scales",
    "probe_accuracies",
    "rounding_of_logits",
    "sufficient_bits",
    "usual_alpha",
    "usual_bits",
    "without",
    "without_trend",
]
