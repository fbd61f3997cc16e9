"""Language: models of given distributions on strings, sampled and scored like every model over
tokens."""

from constructions.language.sampling import log_probabilities, sample, string_probabilities
from constructions.language.string_model import string_model

__all__ = ["log_probabilities", "sample", "string_model", "string_probabilities"]
