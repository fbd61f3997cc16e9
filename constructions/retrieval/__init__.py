"""Retrieval: attention patterns, induction heads, composition and k-hop by hand-written weights.

`composition`, `hop`, `nearest_neighbour`, `previous_token` and `skip_gram` are models here and
algorithms in `theory.retrieval`. After star imports of both packages, such a name would refer only
to the later import.
"""

from constructions.retrieval.broad_average import broad_average
from constructions.retrieval.composition import composition
from constructions.retrieval.facts import fact_lookup
from constructions.retrieval.hop import hop
from constructions.retrieval.induction import induction_heads
from constructions.retrieval.nearest_neighbour import nearest_neighbour
from constructions.retrieval.ngram import in_context_ngram
from constructions.retrieval.previous_token import previous_token
from constructions.retrieval.skip_gram import skip_gram

__all__ = [
    "broad_average",
    "composition",
    "fact_lookup",
    "hop",
    "in_context_ngram",
    "induction_heads",
    "nearest_neighbour",
    "previous_token",
    "skip_gram",
]
