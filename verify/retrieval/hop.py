"""The claim `hop`: k hops in ⌊log₂k⌋ + 2 layers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import numpy as np

from constructions import hop as construction
from constructions.transformer import Transformer
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

CERTIFIED = 3  # hops, which in words of nine letters still lead to other places than more of them


@claim(
    source="[Sanford2024]; proved in constructions/retrieval/hop.py",
    picture="verify.retrieval.hop_picture:draw",
    certifies=True,
    faults_seen=[{"k": k, "n": 8, "vocabulary": 3, "samples": 8} for k in (1, 2, 3)],
)
def hop(
    run: Run,
    *,
    k: Annotated[int, option("hops", min=1)] = 16,
    n: Length = 128,
    vocabulary: Symbols = 8,
    samples: Samples = 100,
    error: LogitError = 1e-3,
    sharpness: Sharpness = None,
) -> Iterator[Finding]:
    """⌊log₂k⌋ + 2 layers of one unique-hard head compute k-hop induction, for all k, V and n.

    At every position i they output hop_k(x)_i = x_{find^k(i)} with
    find(i) = max{ j ≤ i : x_{j−1} = x_i }, or ⊥ if a hop finds no match; the width does not depend
    on n.  The first layer's mask is strictly causal: a token does not attend to itself.

    [Sanford2024, Theorem 4.2] states this depth with the causal mask that includes the token
    itself, and arbitrary token-wise functions.  Its printed proof shows it for powers of two only
    (constructions/retrieval/hop.py); doubling pairs of pointers takes ⌈log₂k⌉ + 2 layers there, and
    whether ⌊log₂k⌋ + 2 suffice for other k is open here.
    """
    statement = hops(run, k)
    model = statement.at(vocabulary, n).model
    softmax_options(statement, model, error, sharpness)
    yield _layers(run, vocabulary)
    for fewer in sorted({1, 2, 3, 5} - {k}) if not run.quick else ():
        yield from agreement(run, hops(run, fewer), vocabulary, n, samples)
    yield from computes(run, statement, vocabulary, n, samples, bits(model, n, "n"))
    for states in head_states(model):
        yield gap_finding(statement.label, model, states)
    yield from softmax(run, statement, vocabulary, n, error, sharpness)
    if not run.quick:
        yield from formats(run, statement, vocabulary)
    for hops_stated in sorted({k, min(k, CERTIFIED)}):
        run.certify(partial(certified, run, hops_stated))
    run.certify(lambda: by_gaps(statement, vocabulary, k, "behind"))
    rows = random_sequences(500, min(n, 30), min(vocabulary, 4), run.rng)
    # The more places the hops from the last token lead to, the better the picture.
    led = np.array([hop_positions(rows, hops)[:, -1] for hops in range(1, min(k, 30) + 1)])
    row = rows[np.argmax([len(set(places)) for places in led.T.tolist()])]
    run.draw(statement.at(vocabulary, len(row)).model, row, [str(v) for v in row])


def hops(run: Run, k: int) -> OverTokens:
    """k hops."""
    return OverTokens(
        f"k={k}",
        lambda V, n: run.build(construction, k, V, n),
        lambda tokens: definition(tokens, k),
        theorem="hop",
        parameters={"k": k},
    )


def certified(run: Run, k: int) -> dict[str, Any]:
    """What a certificate states of k hops, with how many answers are not ⊥.

    Over two letters, whose words may be longest: in short words over many letters nearly all hops
    end at ⊥, and long chains of them only in a letter that stands beside itself.
    """
    said = on_all_sequences(hops(run, k), 2, {"hops": k}, f"{k} hops")
    answers = definition(all_sequences(said["length"], said["letters"]), k)
    said["name"] += f": {(answers >= 0).sum()} of {answers.size} answers are not ⊥"
    return said


def _layers(run: Run, V: int) -> Finding:
    """⌊log₂k⌋ + 2 at every k, where doubling pairs takes ⌈log₂k⌉ + 2."""
    layers = {k: construction(k, V, 8).n_layers for k in range(1, (8 if run.quick else 64) + 1)}
    right = sum(count == hop_layers(k) for k, count in layers.items())
    saved = sum(count < doubling_layers(k) for k, count in layers.items())
    return same(
        "layers",
        f"layers for k = 1 … {len(layers)} hops, first mask strictly causal",
        right,
        len(layers),
        words=f"⌊log₂k⌋ + 2 at {right} of them, one less than doubling pairs at {saved}",
        wanted="⌊log₂k⌋ + 2",
    )


def head_states(model: Transformer) -> Iterator[States]:
    """The queries and keys of the head that finds, and of those that follow pointers."""
    yield matching(model, 1, "code", start=1, latest=True)
    pointer = at_positions(model, "place")["place"]
    for layer in range(2, model.n_layers + 1):
        yield looking_up(model, layer, {"pointer": pointer}, np.arange(len(pointer)))
