"""Evidence for what is decoded token by token: the runs, and softmax."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from constructions.transformer import Transformer
from verify.evidence.sequences import exact_evidence
from verify.evidence.softmax import enclosed
from verify.finding import Finding, no_counterexample

CHUNK = 2**14  # prompts that are decoded at once
Runs = tuple["Transformer", np.ndarray, np.ndarray]
"""A model, prompts (…, T) and the tokens (…, steps) that are to be decoded, −1 for ⊥."""


def decoded(id: str, name: str, runs: Iterable[Runs]) -> Finding:
    """What the model's own `generate` says is what is wanted, token by token."""
    runs = [*runs]
    count = sum(len(prompts) for _, prompts, _ in runs)
    tokens = sum(wanted.size for *_, wanted in runs)
    return no_counterexample(
        id,
        name,
        chain.from_iterable(_wrong_tokens(*each) for each in runs),
        evidence="float" if "float" in {exact_evidence(model) for model, *_ in runs} else "exact",
        words=f"{tokens} tokens decoded from {count} prompts, all as by definition",
    )


def _wrong_tokens(model: Transformer, prompts: np.ndarray, wanted: np.ndarray) -> Iterator[str]:
    """Of each part of the prompts the first token that is decoded wrongly."""
    for start in range(0, len(prompts), CHUNK):
        part = slice(start, start + CHUNK)
        given, right = prompts[part], wanted[part]
        said = model.generate(given, right.shape[-1]).numpy()
        for row, step in sorted(np.argwhere(said != right).tolist(), key=lambda at: at[1])[:1]:
            yield (
                f"{model.name} on {given[row].tolist()}: token {step + 1} is {said[row, step]}, by "
                f"definition {right[row, step]}"
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
