"""Tables for memory; `public.py` documents them."""

import numpy as np

WITHOUT = {
    "constructions.memory.retrieve:patterns": "tensors keep their dtype and device",
    "constructions.memory.retrieve:queries": "tensors keep their dtype and device",
}

ARGUMENTS = {
    "constructions.memory.retrieve": {"patterns": np.eye(2), "queries": np.eye(2)},
    "theory.memory.mixture": {"patterns": np.ones((3, 2))},
    "theory.memory.retrieval_overlap": {"load": 0.1},
    "theory.memory.update_rounding": {"eps": 2.0**-52},
}
