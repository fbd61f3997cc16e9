"""Options that several claims about sequences have."""

from __future__ import annotations

from typing import Annotated

from verify.claim import option

DRAWN: dict[str, tuple[None]] = {"prompt": (None,)}
"""Where inputs are drawn: a prompt of one's own has its sizes."""

Length = Annotated[int, option("tokens in a sequence", min=1, only=DRAWN)]
Symbols = Annotated[int, option("symbols", min=1, only=DRAWN)]
Samples = Annotated[int, option("random sequences", min=1, only=DRAWN)]
LogitError = Annotated[float, option("wanted error of the logits under softmax", only=DRAWN)]
Sharpness = Annotated[
    float | None, option("softmax sharpness β to enclose the error at", only=DRAWN)
]
