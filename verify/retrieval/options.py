"""Options common to several claims about sequences."""

from __future__ import annotations

from typing import Annotated

from verify.claim import option

DRAWN: dict[str, tuple[None]] = {"prompt": (None,)}
"""Options for drawn inputs, without effect on a given prompt, which determines its sizes."""

Length = Annotated[int, option("largest number n of tokens", min=1, only=DRAWN)]
Symbols = Annotated[int, option("number V of symbols", min=1, only=DRAWN)]
Samples = Annotated[int, option("random sequences", min=1, only=DRAWN)]
LogitError = Annotated[float, option("largest error of the logits under softmax", only=DRAWN)]
Sharpness = Annotated[
    float | None, option("inverse temperature β at which the error is enclosed", only=DRAWN)
]
