"""The claim `attention-patterns`: previous token, skip-gram and broad average, one head each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, get_args

import numpy as np

from constructions import broad_average, previous_token, skip_gram
from constructions.transformer import Transformer
from theory.retrieval import previous_token as previous_token_by_definition
from theory.retrieval import skip_gram as attended_by_definition
from theory.retrieval import token_frequencies
from verify.claim import Run, claim, option
from verify.evidence.gaps import States, at_positions, at_tokens, gap_finding, looking_up
from verify.evidence.sequences import computes
from verify.evidence.softmax import formats, softmax, softmax_options
from verify.evidence.statement import OverTokens
from verify.finding import Finding
from verify.retrieval.options import Length, LogitError, Samples, Symbols

Patterns = Literal["all", "previous-token", "skip-gram", "broad-average"]
NAMES = get_args(Patterns)[1:]


@claim(
    picture="verify.retrieval.pictures:draw_random",
    faults_seen=[
        {"pattern": pattern, "max_length": 8, "vocabulary_size": 3, "samples": 8}
        for pattern in NAMES
    ],
)
def attention_patterns(
    run: Run,
    *,
    pattern: Annotated[Patterns, option("which of the three heads")] = "all",
    vocabulary_size: Symbols = 8,
    max_length: Length = 128,
    samples: Samples = 100,
    error: LogitError = 1e-3,
) -> Iterator[Finding]:
    """One head attends to the previous token, to tokens by a table of scores, or to all equally.

    Three heads are built for words x_1, …, x_n over V symbols, and the statements hold for all V
    and n. Previous token: every position j has a distinct point P_j with integer coordinates. The
    head at position i has the score 2⟨P_{i−1}, P_j⟩ − |P_j|² at position j. This score is largest
    at j = i − 1, by at least 1. Skip-gram: S ∈ R^{V×V} is any table of scores. Average-hard
    attention at position i is uniform over the positions j ≤ i at which S[x_i, x_j] is largest.
    Broad average: with W_Q = W_K = 0 the output at position i is the vector of relative frequencies
    of the symbols in x_1, …, x_i.
    """
    V, n = vocabulary_size, max_length
    names = NAMES if pattern == "all" else (pattern,)
    statements = [stated(run, name) for name in names]
    for statement in statements:
        softmax_options(statement, statement.at(V, n).model, error, None)
    for name, statement in zip(names, statements, strict=True):
        model = statement.at(V, n).model
        yield from computes(run, statement, V, n, samples)
        yield gap_finding(name, model, _states(name, model, V, n))
        if name != "broad-average":
            yield from softmax(run, statement, V, n, error, None)
        if name == "previous-token" and not run.quick:
            yield from formats(run, statement, V)
    run.draw(run, stated(run, names[0]), min(V, 5), min(n, 12))


def stated(run: Run, name: str) -> OverTokens:
    """The statement on the head `name`: previous-token, skip-gram or broad-average.

    The table of scores of the skip-gram head is `table_of`, which has ties. For skip-gram and
    broad-average, the answer is the most frequent token.
    """
    build, answers = {
        "previous-token": (
            lambda V, n: run.build(previous_token, V, n),
            previous_token_by_definition,
        ),
        "skip-gram": (
            lambda V, n: run.build(skip_gram, table_of(V), n),
            lambda x: attended_by_definition(x, table_of(int(x.max()) + 1)).argmax(-1),
        ),
        "broad-average": (
            lambda V, n: run.build(broad_average, V, n),
            lambda x: token_frequencies(x, int(x.max()) + 1).argmax(-1),
        ),
    }[name]
    return OverTokens(name, build, answers, theorem=name)


def table_of(V: int) -> np.ndarray:
    """A table (V, V) of scores by which closing brackets attend to their opening brackets.

    Symbols 2m and 2m + 1 are an opening bracket and its closing bracket. The score of a closing
    bracket v for its opening bracket v − 1 is 2, the score of a symbol for itself is 1, and all
    other scores are 0.
    """
    table = np.eye(V)
    table[range(1, V, 2), range(0, V - 1, 2)] = 2.0
    return table


def _states(name: str, model: Transformer, V: int, n: int) -> States:
    """All queries and keys of the head."""
    if name == "previous-token":
        queries = at_positions(model, "before", at=slice(1, None))
        return looking_up(model, 1, queries, np.arange(n))
    here = np.arange(V)
    if name == "skip-gram":
        queries, keys = at_tokens(model, "wanted"), at_tokens(model, "symbol")
        return States(1, queries, keys, table_of(V), here)
    return States(1, {}, {}, np.zeros((V, V)), here)
