"""The claim `hop`: k hops in ⌊log₂k⌋ + 2 layers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import numpy as np

from constructions import hop as construction
from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.retrieval import (
    all_sequences,
    doubling_layers,
    hop_layers,
    hop_positions,
    random_sequences,
)
from theory.retrieval import hop as definition
from verify.claim import Run, claim, option
from verify.evidence.certificates import by_gaps, on_all_sequences
from verify.evidence.gaps import States, at_positions, gap_finding, looking_up
from verify.evidence.sequences import agreement, computes
from verify.evidence.size import bits
from verify.evidence.softmax import formats, softmax, softmax_options
from verify.evidence.statement import OverTokens
from verify.finding import Finding, same
from verify.retrieval.matching import matching
from verify.retrieval.options import Length, LogitError, Samples, Sharpness, Symbols

MOST_CERTIFIED = 9999  # hops that the checker of gaps reads
CERTIFIED = 3  # hops; in sequences of nine tokens, more hops reach few further positions


@claim(
    picture="verify.retrieval.hop_picture:draw",
    certifies=True,
    faults_seen=[{"k": k, "vocabulary_size": 3, "max_length": 8, "samples": 8} for k in (1, 2, 3)],
)
def hop(
    run: Run,
    *,
    k: Annotated[int, option("number of hops", min=1, max=10**4)] = 16,
    vocabulary_size: Symbols = 8,
    max_length: Length = 128,
    samples: Samples = 100,
    error: LogitError = 1e-3,
    sharpness: Sharpness = None,
) -> Iterator[Finding]:
    """⌊log₂k⌋ + 2 layers of one unique-hard head each compute k-hop induction, for all k.

    The statement holds for all numbers V of symbols and all largest lengths n. Let find(i) = max{ 1
    ≤ j ≤ i : x_{j−1} = x_i } be the position after the latest earlier occurrence of the symbol x_i
    in a sequence x, and let find^k apply find k times. At every position i, the model outputs
    hop_k(x)_i = x_{find^k(i)}, or ⊥ if one of the k positions does not exist. The width does not
    depend on n. The mask of the first layer is strictly causal: a token does not attend to itself.
    [Sanford2024, Theorem 4.2] states the same depth for layers that compute arbitrary functions at
    each token after attention, and in which a token also attends to itself.

    The printed proof of [Sanford2024, Theorem 4.2] is valid only if k is a power of two (see
    constructions/retrieval/hop.py). If a token also attends to itself in the first layer, pointer
    doubling requires ⌈log₂k⌉ + 2 layers. It is open whether ⌊log₂k⌋ + 2 layers suffice for all k in
    this case.
    """
    V, n = vocabulary_size, max_length
    if run.certificates is not None and k > MOST_CERTIFIED:
        raise InputError(
            f"k is {k}: a certificate is for at most {MOST_CERTIFIED} hops; give a smaller k, or "
            "omit --certificate"
        )
    statement = hops(run, k)
    model = statement.at(V, n).model
    softmax_options(statement, model, error, sharpness)
    yield _layers(run, V)
    for fewer in sorted({1, 2, 3, 5} - {k}) if not run.quick else ():
        yield from agreement(run, hops(run, fewer), V, n, samples)
    yield from computes(run, statement, V, n, samples, bits(model, n, "n"))
    for states in head_states(model):
        yield gap_finding(statement.label, model, states)
    yield from softmax(run, statement, V, n, error, sharpness)
    if not run.quick:
        yield from formats(run, statement, V)
    for hops_stated in sorted({k, min(k, CERTIFIED)}):
        run.certify(partial(certified, run, hops_stated))
    run.certify(lambda: by_gaps(statement, V, k, "behind"))
    rows = random_sequences(500, min(n, 24), min(V, 4), run.rng)
    # The picture shows the sequence whose hops from the last token visit the most positions; in a
    # tie, a sequence without ⊥.
    led = np.array([hop_positions(rows, hops)[:, -1] for hops in range(1, min(k, 30) + 1)])
    row = rows[np.argmax([2 * len({*p} - {-1}) + (p[-1] >= 0) for p in led.T.tolist()])]
    run.draw(statement.at(V, len(row)).model, row, [str(v) for v in row])


def hops(run: Run, k: int) -> OverTokens:
    """The statement that the model computes k hops."""
    return OverTokens(
        f"k={k}",
        lambda V, n: run.build(construction, k, V, n),
        lambda tokens: definition(tokens, k),
        theorem="hop",
        parameters={"k": k},
    )


def certified(run: Run, k: int) -> dict[str, Any]:
    """A certificate for k hops, whose name contains the number of answers that are not ⊥.

    The vocabulary has two symbols, because all sequences of the largest length can then be listed.
    In short sequences over many symbols, nearly all hops end at ⊥, and long chains of hops occur
    only at a repeated symbol.
    """
    certificate = on_all_sequences(hops(run, k), 2, {"hops": k}, f"{k} hops")
    answers = definition(all_sequences(certificate["length"], certificate["letters"]), k)
    certificate["name"] += f": {(answers >= 0).sum()} of {answers.size} answers are not ⊥"
    return certificate


def _layers(run: Run, V: int) -> Finding:
    """Compares the layers of the model with ⌊log₂k⌋ + 2, and with ⌈log₂k⌉ + 2, for every k."""
    layers = {k: construction(k, V, 8).n_layers for k in range(1, (8 if run.quick else 64) + 1)}
    right = sum(count == hop_layers(k) for k, count in layers.items())
    saved = sum(count < doubling_layers(k) for k, count in layers.items())
    return same(
        "layers",
        f"number of layers for k = 1 … {len(layers)} hops, with a strictly causal first layer",
        right,
        len(layers),
        words=f"⌊log₂k⌋ + 2 for {right} values of k; models that double pairs of pointers need one "
        f"more layer for {saved} of these values",
        wanted="⌊log₂k⌋ + 2",
    )


def head_states(model: Transformer) -> Iterator[States]:
    """The queries and keys of every head of a `hop` model: layer 1 matches, later layers hop."""
    yield matching(model, 1, "code", start=1, latest=True)
    pointer = at_positions(model, "place")["place"]
    for layer in range(2, model.n_layers + 1):
        yield looking_up(model, layer, {"pointer": pointer}, np.arange(len(pointer)))
