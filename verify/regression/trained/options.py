"""Common options of the claims, and descriptions of their models for `models_of`."""

from __future__ import annotations

from typing import Annotated

from verify.claim import option

TRANSFORMER = "a softmax transformer trained on regression"
LINEAR = "a linear transformer trained on regression"
LSTM = "an LSTM trained on regression"

QUICK = 200  # largest number of prompts in a quick run

Checkpoint = Annotated[str, option("trained transformer for regression: a shipped name, or a file")]
Samples = Annotated[int, option("number of fresh prompts", min=20, max=10**5)]
