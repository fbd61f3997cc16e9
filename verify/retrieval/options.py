"""Options common to several claims about sequences."""

from __future__ import annotations

from typing import Annotated

from verify.claim import option

DRAWN: dict[str, tuple[None]] = {"prompt": (None,)}
"""Options for random inputs; a given prompt determines its sizes, so they do not apply to it."""

Length = Annotated[int, option("largest number n of tokens", min=1, max=4096, only=DRAWN)]
Symbols = Annotated[int, option("number V of symbols", min=1, max=1000, only=DRAWN)]
Samples = Annotated[int, option("random sequences", min=1, max=10**5, only=DRAWN)]
LogitError = Annotated[float, option("largest error of the logits under softmax", only=DRAWN)]
Sharpness = Annotated[
    float | None, option("inverse temperature β at which the error is enclosed", only=DRAWN)
]
