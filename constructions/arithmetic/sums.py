"""The interface of adders, from two numbers and "=" to their sum."""

from __future__ import annotations

from typing import Any

from constructions.tokens import Tokens


class Sums(Tokens):
    """The interface from pairs (…, 2) of numbers below `vocabulary_size` to predictions (…, 1).

    The token "=", with index `vocabulary_size`, is appended to the two numbers, and the prediction
    is the candidate with the largest logit at "=".  If several candidates have the largest logit,
    the first of them is predicted.  Raises ValueError unless there are two such numbers.

    violated  how the parameters of the model violate a hypothesis of its theorem, with the remedy
    """

    def __init__(
        self, vocabulary_size: int, answers: int, margin: float | None, violated: str = ""
    ) -> None:
        super().__init__(vocabulary_size, 2, length=2, labels=answers, margin=margin)
        self.context, self.answered = 3, slice(2, 3)
        self.violated = violated

    def outside(self, *inputs: Any) -> str:
        return self.violated

    def ends(self, n: int) -> tuple[tuple[int, ...], slice]:
        return (self.vocabulary_size,), self.answered
