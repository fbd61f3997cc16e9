"""Transformers whose weights were written by hand, each with its proof beside the weights.

from constructions import newton
model = newton(d=5, k=5, alpha=2.0**-12)
model(x, y, x_query)        # (…, n, d), (…, n), (…, d) → (…)
print(model)                # the layers, in words

from constructions import induction_heads
model = induction_heads(vocabulary_size=8, max_length=128)
model(tokens)               # (…, T) → (…, T), −1 for "no answer"

from constructions import modern_hopfield_update, retrieve
model = modern_hopfield_update(patterns, beta=8.0)      # (N, d)
model(queries)              # (…, d) → (…, d), one update
retrieve(patterns, queries, beta=8.0)                   # the same for millions of patterns
"""

from constructions.memory import (
    hebbian_attention,
    hopfield_attention,
    hopfield_update,
    modern_hopfield_update,
    retrieve,
    sphere_dynamics,
)
from constructions.regression import (
    chebyshev,
    gradient_descent,
    hyperpower,
    newton,
    online_gradient_descent,
)
from constructions.retrieval import (
    broad_average,
    composition,
    fact_lookup,
    hop,
    in_context_ngram,
    induction_heads,
    nearest_neighbour,
    previous_token,
    skip_gram,
)
from constructions.stream import Stream
from constructions.transformer import Stage, Transformer

__all__ = [
    "Stage",
    "Stream",
    "Transformer",
    "broad_average",
    "chebyshev",
    "composition",
    "fact_lookup",
    "gradient_descent",
    "hebbian_attention",
    "hop",
    "hopfield_attention",
    "hopfield_update",
    "hyperpower",
    "in_context_ngram",
    "induction_heads",
    "modern_hopfield_update",
    "nearest_neighbour",
    "newton",
    "online_gradient_descent",
    "previous_token",
    "retrieve",
    "skip_gram",
    "sphere_dynamics",
]
