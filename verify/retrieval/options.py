"""Options that several claims about sequences have."""

from __future__ import annotations

from typing import Annotated

from verify.claim import option

Length = Annotated[int, option("tokens in a sequence", min=1)]
Symbols = Annotated[int, option("symbols", min=1)]
Samples = Annotated[int, option("random sequences", min=1)]
LogitError = Annotated[float, option("wanted error of the logits under softmax")]
Sharpness = Annotated[float | None, option("softmax sharpness β to enclose the error at")]
