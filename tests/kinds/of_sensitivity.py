"""Tables for sensitivity; `public.py` documents them."""

import numpy as np
from torch import nn

from theory.sensitivity import forced

WITHOUT = {
    "theory.sensitivity.sensitivity:inputs": "arrays of any dtype, checked by hand",
}

ARGUMENTS = {
    "theory.sensitivity.sensitivity": {"inputs": np.eye(2, dtype=int), "change": forced(2)},
    "theory.sensitivity.majority_mean_influence": {"d": 3},
    "theory.sensitivity.majority_noise_sensitivity": {"d": 3},
    "theory.sensitivity.forced_profile_by_definition": {"function": sum},
    "theory.sensitivity.multiplexer": {"words": [0, 1, 1], "address": 1},
    "constructions.sensitivity.predictions": {"module": nn.Identity()},
    "theory.sensitivity.tabulated": {"function": lambda words: words[..., 0]},
    "theory.sensitivity.junta_table": {"k": 1},
    **{
        f"{room}.sensitivity.junta": {"positions": [0], "table": [0, 1]}
        for room in ("theory", "constructions")
    },
}
