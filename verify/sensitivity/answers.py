"""A model beside its definition, on every input that it takes."""

from __future__ import annotations

import numpy as np

from constructions.transformer import Transformer
from verify.evidence.sequences import exact_evidence
from verify.evidence.statement import OverTokens
from verify.finding import Finding, equal


def on_all(
    id: str, name: str, statement: OverTokens, model: Transformer, rows: np.ndarray
) -> Finding:
    """All answers to these sequences (N, T) are those of the definition."""
    found, wanted = model(rows).numpy(), statement.answers(rows)
    wrong = (found != wanted).any(axis=1)
    first = None
    if wrong.any():
        at = int(wrong.argmax())
        first = (
            f"{model.name} on {statement.shown(rows[at])}: answers {found[at].tolist()}, by "
            f"definition {wanted[at].tolist()}"
        )
    words = f"all answers equal on {len(rows)} sequences"
    return equal(id, name, first, evidence=exact_evidence(model), words=words)
