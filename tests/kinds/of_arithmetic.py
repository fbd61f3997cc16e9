"""Tables for arithmetic; `public.py` describes each."""

import numpy as np

ARGUMENTS = {
    "theory.arithmetic.separability_inequalities": {"m": 3},
    "theory.arithmetic.few_frequencies_margin": {"K": [1, 2]},
    "theory.arithmetic.bin_of": {"period": 2},
    "theory.arithmetic.peak_ratios": {"E": np.eye(6)},
    "theory.arithmetic.permutation_maxima": {"E": np.eye(6)},
    "theory.arithmetic.without_trend": {"degree": 1},
    "theory.arithmetic.without_confounds": {"confound": [0, 1]},
    "constructions.arithmetic.adder": {"alpha": 4.0, "bits": 14},
    **{
        f"theory.arithmetic.{name}": dict.fromkeys("uvw", np.eye(2, 3))
        for name in (
            "cubed_norms",
            "frequency_fractions",
            "mean_over_cubes",
            "network_logits",
            "normalised_margin",
        )
    },
}
