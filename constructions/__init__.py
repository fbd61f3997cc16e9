"""Transformers whose weights were written by hand, each with its proof beside the weights.

from constructions import newton
model = newton(d=5, k=5, alpha=2.0**-12)
model(x, y, x_query)        # (…, n, d), (…, n), (…, d) → (…)
print(model)                # the layers, in words

from constructions import induction_heads
model = induction_heads(vocabulary_size=8, max_length=128)
model(tokens)               # (…, T) → (…, T), −1 for "no answer"
"""

from constructions.regression import (
    InContextRegression,
    Stage,
    chebyshev,
    gradient_descent,
    hyperpower,
    newton,
    online_gradient_descent,
)
from constructions.retrieval import (
    FactLookup,
    SequenceModel,
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
from constructions.transformer import Transformer

__all__ = [
    "FactLookup",
    "InContextRegression",
    "SequenceModel",
    "Stage",
    "Stream",
    "Transformer",
    "broad_average",
    "chebyshev",
    "composition",
    "fact_lookup",
    "gradient_descent",
    "hop",
    "hyperpower",
    "in_context_ngram",
    "induction_heads",
    "nearest_neighbour",
    "newton",
    "online_gradient_descent",
    "previous_token",
    "skip_gram",
]
