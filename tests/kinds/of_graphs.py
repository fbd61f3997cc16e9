"""Tables for graphs; `public.py` says what each holds."""

import numpy as np

from theory.graphs import Channels

WITHOUT = {
    "theory.graphs.cycles": "any number of sizes, checked by hand",
    "theory.graphs.side_by_side": "any number of graphs, checked by hand",
}

EXAMPLES = {"Channels": lambda: Channels(np.eye(2), np.eye(2))}

ARGUMENTS = {
    "theory.graphs.disentangled_features": {"weights": []},
    "theory.graphs.search": {"edges": [[0, 1]], "source": 0},
    "theory.graphs.reachable": {"edges": [[0, 1]], "source": 0},
    "theory.graphs.relabelled": {"order": [1, 0]},
}
