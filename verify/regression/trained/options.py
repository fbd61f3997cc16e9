"""What the claims are about, in words (see `models_of`), and options that they share."""

from __future__ import annotations

from typing import Annotated

from verify.claim import option

TRANSFORMER = "a softmax transformer trained on regression"
LINEAR = "a linear transformer trained on regression"
LSTM = "an LSTM trained on regression"

QUICK = 200  # so many prompts at most, at quick sizes

Checkpoint = Annotated[str, option("trained transformer for regression: a shipped name, or a file")]
Samples = Annotated[int, option("fresh prompts", min=20)]
