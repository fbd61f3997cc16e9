"""Language: models of given distributions on strings, and parities by chain of thought.

`sample` is imported from `constructions.language`, not from the top level of `constructions`.
"""

from constructions.language.fact_model import fact_model
from constructions.language.linear_tokens import parity_by_linear_tokens
from constructions.language.parity_with_steps import parity_with_steps
from constructions.language.sampling import log_probabilities, sample, string_probabilities
from constructions.language.string_model import string_model

__all__ = [
    "fact_model",
    "log_probabilities",
    "parity_by_linear_tokens",
    "parity_with_steps",
    "sample",
    "string_model",
    "string_probabilities",
]
