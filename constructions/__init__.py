"""Transformers with hand-written weights; a proof accompanies the weights of each.

from constructions import newton
model = newton(d=5, k=5, alpha=2.0**-12)
model(x, y, x_query)        # (…, n, d), (…, n), (…, d) → (…)
print(model)                # the layers, in words

from constructions import induction_heads
model = induction_heads(vocabulary_size=8, max_length=128)
model(tokens)               # (…, T) → (…, T), −1 for "no answer"

from constructions import shortcut
model = shortcut("S4", max_length=1000)   # six layers for every length
model(words)                # symbols (…, T) → the state after each, (…, T)

from constructions import tripling
model = tripling(n_nodes=28, n_layers=3)
model(A)                    # adjacency (…, 28, 28) → the pairs at distance at most 27

from constructions import adder
adder(largest=260)([15, 93])    # 108, by Fourier features

from constructions import modern_hopfield_update, retrieve
model = modern_hopfield_update(patterns, beta=8.0)      # (N, d)
model(queries)              # (…, d) → (…, d), one update
retrieve(patterns, queries, beta=8.0)                   # the same update for millions of patterns

circuit(model).draw("circuit.png")      # which component reads what of which other
save(model, "hopfield.safetensors")     # weights, and a sidecar that describes them
load("hopfield.safetensors")

Names that are too general for the top level are imported from their topic:
`from constructions.language import sample`, `from constructions.sensitivity import predictions`.
"""

from constructions import (
    arithmetic,
    computation,
    graphs,
    language,
    memory,
    programs,
    regression,
    retrieval,
    sensitivity,
    structures,
)
from constructions.arithmetic import *  # noqa: F403
from constructions.blocks import Stage
from constructions.circuits import circuit
from constructions.computation import *  # noqa: F403
from constructions.files import load, save
from constructions.graphs import *  # noqa: F403
from constructions.language import *  # noqa: F403
from constructions.memory import *  # noqa: F403
from constructions.programs import *  # noqa: F403
from constructions.regression import *  # noqa: F403
from constructions.retrieval import *  # noqa: F403
from constructions.sensitivity import *  # noqa: F403
from constructions.stream import Stream
from constructions.structures import *  # noqa: F403
from constructions.transformer import Transformer

__all__ = ["Stage", "Stream", "Transformer", "circuit", "load", "save"]
__all__ += arithmetic.__all__ + computation.__all__ + graphs.__all__ + language.__all__
__all__ += memory.__all__ + programs.__all__
__all__ += regression.__all__ + retrieval.__all__ + sensitivity.__all__
__all__ += structures.__all__

# Names too general for the top level are imported from their topic.
del predictions, sample, search, sort
__all__ = [name for name in __all__ if name not in ("predictions", "sample", "search", "sort")]
