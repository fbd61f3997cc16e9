"""Language: parities that are said step by step, as trees and by linear forms."""

from constructions.language.linear_tokens import parity_by_linear_tokens
from constructions.language.parity_steps import parity_with_steps

__all__ = ["parity_by_linear_tokens", "parity_with_steps"]
