"""Tables for graphs; `public.py` describes each."""

import numpy as np

from theory.graphs import Channels

WITHOUT = {
    "theory.graphs.cycles": "any number of sizes, checked by hand",
    "theory.graphs.side_by_side": "any number of graphs, checked by hand",
    "theory.graphs.disentangled_outputs:unembedding": "integers of any size, checked by hand",
    "theory.graphs.minimal_subgraph:unembedding": "integers of any size, checked by hand",
}

EXAMPLES = {"Channels": lambda: Channels(np.eye(2), np.eye(2))}

ARGUMENTS = {
    "theory.graphs.disentangled_features": {"weights": []},
    "theory.graphs.disentangled_outputs": {"weights": [], "unembedding": np.eye(2, dtype=int)},
    "theory.graphs.minimal_subgraph": {
        "weights": [],
        "unembedding": np.eye(4, 2, dtype=int),
        "A": np.eye(2, dtype=int),
        "i": 0,
        "j": 0,
    },
    "theory.graphs.search": {"edges": [[0, 1]], "source": 0},
    "theory.graphs.reachable": {"edges": [[0, 1]], "source": 0},
    "theory.graphs.relabelled": {"order": [1, 0]},
}
