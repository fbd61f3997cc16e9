"""Evidence for autoregressive decoding: the decoded tokens, also with softmax."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from constructions.blocks import plural
from constructions.transformer import Transformer
from verify.evidence.sequences import exact_evidence
from verify.evidence.softmax import enclosed
from verify.finding import Finding, no_counterexample

CHUNK = 2**10  # prompts that are decoded together
Runs = tuple["Transformer", np.ndarray, np.ndarray]
"""A model, prompts (…, T), and the tokens (…, steps) that should be decoded, −1 for ⊥."""


def decoded(id: str, name: str, runs: Iterable[Runs]) -> Finding:
    """Compares the tokens that `model.generate` decodes with the tokens of the definition."""
    runs = [*runs]
    count = sum(len(prompts) for _, prompts, _ in runs)
    tokens = sum(wanted.size for *_, wanted in runs)
    return no_counterexample(
        id,
        name,
        chain.from_iterable(_wrong_tokens(*each) for each in runs),
        evidence="float" if "float" in {exact_evidence(model) for model, *_ in runs} else "exact",
        words=f"all {tokens} tokens that the model decodes, from {plural(count, 'prompt')}, are "
        "the tokens that the definition gives",
    )


def _wrong_tokens(model: Transformer, prompts: np.ndarray, wanted: np.ndarray) -> Iterator[str]:
    """Yields the first wrongly decoded token in each chunk of the prompts."""
    for start in range(0, len(prompts), CHUNK):
        part = slice(start, start + CHUNK)
        given, right = prompts[part], wanted[part]
        tokens = model.generate(given, right.shape[-1]).numpy()
        for row, step in sorted(np.argwhere(tokens != right).tolist(), key=lambda at: at[1])[:1]:
            yield (
                f"{model.name} on {given[row].tolist()}: token {step + 1} is {tokens[row, step]}, "
                f"by definition {right[row, step]}"
            )


def softened(
    model: Transformer,
    prompts: np.ndarray,
    wanted: np.ndarray,
    short: Transformer,
    rows: np.ndarray,
) -> Iterator[Finding]:
    """Checks that decoding with softmax at a sufficient sharpness equals decoding with hardmax.

    The sharpness suffices for every prompt.  A decoded token is exact, so errors do not accumulate.
    `wanted` are the tokens that hardmax decodes after `prompts`.  For the model `short` on `rows`
    (…, T), the error of the logits is enclosed in Arb balls and compared with its bound.
    """
    beta = model.least_sharpness()
    found = decoded(
        "softmax/decoded",
        f"decoding with softmax attention at the inverse temperature β = {beta:.4g}, which "
        f"suffices for all prompts of at most {model.interface.context} tokens",
        [(model.sharpened(beta), prompts, wanted)],
    )
    found.evidence = "float"
    yield found
    beta, size = short.least_sharpness(), f"{rows.shape[-1]} tokens"
    yield enclosed(short, beta, rows, size)
