"""Evidence for what is decoded token by token: the runs, and softmax."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from constructions.transformer import Transformer
from verify.evidence.sequences import exact_evidence
from verify.evidence.softmax import enclosed
from verify.finding import Finding, equal

CHUNK = 2**14  # prompts that are decoded at once
Runs = tuple["Transformer", np.ndarray, np.ndarray]
"""A model, prompts (…, T) and the tokens (…, steps) that are to be decoded, −1 for ⊥."""


def decoded(id: str, name: str, runs: Iterable[Runs]) -> Finding:
    """What the model's own `generate` says is what is wanted, token by token."""
    count, tokens, wrong, evidence = 0, 0, None, set[str]()
    for model, prompts, wanted in runs:
        evidence.add(exact_evidence(model))
        count, tokens = count + len(prompts), tokens + wanted.size
        for start in range(0, len(prompts), CHUNK):
            part = slice(start, start + CHUNK)
            wrong = wrong or _first_wrong(model, prompts[part], wanted[part])
    return equal(
        id,
        name,
        wrong,
        evidence="float" if "float" in evidence else "exact",
        words=f"{tokens} tokens decoded from {count} prompts, all as by definition",
    )


def _first_wrong(model: Transformer, prompts: np.ndarray, wanted: np.ndarray) -> str | None:
    said = model.generate(prompts, wanted.shape[-1]).numpy()
    differs = np.argwhere(said != wanted)
    if not differs.size:
        return None
    row, step = min(differs.tolist(), key=lambda at: at[1])
    return (
        f"{model.name} on {prompts[row].tolist()}: token {step + 1} is {said[row, step]}, by "
        f"definition {wanted[row, step]}"
    )


def softened(
    model: Transformer,
    prompts: np.ndarray,
    wanted: np.ndarray,
    short: Transformer,
    rows: np.ndarray,
) -> Iterator[Finding]:
    """Decoded with softmax at the sharpness that is enough for every prompt: as with hardmax.

    A token that is decoded has no error, so that none adds up.  On `rows` (…, T) of a `short` model
    the real error of the logits is enclosed beside its bound.
    """
    beta = model.least_sharpness()
    found = decoded(
        "softmax/decoded",
        f"with softmax at β = {beta:.4g}, enough for every prompt of {model.interface.context} "
        "tokens",
        [(model.sharpened(beta), prompts, wanted)],
    )
    found.evidence = "float"
    yield found
    beta, size = short.least_sharpness(), f"{rows.shape[-1]} tokens"
    yield enclosed(short, beta, rows, size)
