"""The claim `induction`: two layers of one head are an induction head."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, get_args

import numpy as np

from constructions import induction_heads as construction
from constructions.transformer import Transformer
from theory.retrieval import Match, NoMatch
from theory.retrieval import induction as definition
from verify.claim import Run, claim, option
from verify.evidence.certificates import by_gaps, on_all_sequences
from verify.evidence.gaps import States, at_positions, gap_finding, looking_up
from verify.evidence.sequences import computes
from verify.evidence.size import bits
from verify.evidence.softmax import formats, softmax, softmax_options
from verify.evidence.statement import OverTokens
from verify.finding import Finding, same
from verify.retrieval.matching import matching
from verify.retrieval.narration import narrate
from verify.retrieval.options import Length, LogitError, Samples, Sharpness, Symbols
from verify.retrieval.words import word_tokens

Matches = Literal["all", Match]
SMALL = {"vocabulary_size": 3, "max_length": 8, "samples": 8}


@claim(
    picture="verify.retrieval.pictures:draw_random",
    certifies=True,
    faults_seen=[
        {"match": match, "no_match": no_match} | SMALL
        for match in get_args(Match)
        for no_match in get_args(NoMatch)
    ],
)
def induction(
    run: Run,
    *,
    vocabulary_size: Symbols = 8,
    max_length: Length = 128,
    match: Annotated[Matches, option("the earlier occurrence that counts")] = "all",
    no_match: Annotated[
        NoMatch, option("output without an earlier occurrence: ⊥ or the token")
    ] = "bottom",
    samples: Samples = 100,
    error: LogitError = 1e-3,
    sharpness: Sharpness = None,
    prompt: Annotated[str | None, option("a text, whose words are the tokens")] = None,
) -> Iterator[Finding]:
    """Two causal layers of one attention head each are an induction head, at every length.

    The statement holds for all numbers V of symbols and all largest lengths n. A match of position
    i of a sequence x is a position j ≤ i with x_{j−1} = x_i, so it is the position after an earlier
    occurrence of the symbol x_i. With unique-hard attention and width O(log V), the output at every
    position i is x_j for the latest match j, or for the first match j. With average-hard attention
    and width O(V), the output is the vector of relative frequencies of the symbols x_j over all
    matches j. If position i has no match, the output is x_i or the symbol ⊥ for "no answer", as
    `no_match` selects.
    """
    V, n = vocabulary_size, max_length
    if prompt is not None:
        run.has_no_files("--prompt")
        yield _on_words(run, prompt, "latest" if match == "all" else match, no_match)
        return
    matches = get_args(Match) if match == "all" else (match,)
    statements = [induction_heads(run, chosen, no_match) for chosen in matches]
    for statement in statements:
        softmax_options(statement, statement.at(V, n).model, error, sharpness)
    for chosen, statement in zip(matches, statements, strict=True):
        model = statement.at(V, n).model
        yield from computes(run, statement, V, n, samples, bits(model, n, "n"))
        if chosen != "mean":
            for states in head_states(model, chosen):
                yield gap_finding(chosen, model, states)
        yield from softmax(run, statement, V, n, error, sharpness)
        if not run.quick and (match != "all" or chosen == "latest"):
            yield from formats(run, statement, V)
    if no_match == "bottom" and match in ("all", "latest"):
        latest = induction_heads(run, "latest", no_match)
        run.certify(lambda: on_all_sequences(latest, V, {"hops": 1}, "induction"))
        run.certify(lambda: by_gaps(latest, V, 1, "before"))
    run.draw(run, induction_heads(run, "latest", no_match), min(V, 5), min(n, 14))


def induction_heads(run: Run, match: Match, no_match: NoMatch) -> OverTokens:
    """The statement on `induction_heads` with the given options `match` and `no_match`."""
    return OverTokens(
        match,
        lambda V, n: run.build(construction, V, n, match, no_match),
        lambda tokens: definition(tokens, match, no_match),
        theorem="induction-mean" if match == "mean" else "induction",
    )


def head_states(model: Transformer, match: str) -> Iterator[States]:
    """All queries and keys of the two heads of an induction model, BOS included."""
    queries = at_positions(model, "before", at=slice(1, None))
    yield looking_up(model, 1, queries, np.arange(model.interface.max_length))
    yield matching(model, 2, "previous", start=2, latest=match == "latest")


def _on_words(run: Run, prompt: str, match: Match, no_match: NoMatch) -> Finding:
    """Compares the answer to a prompt in words with the definition, and shows all moves."""
    tokens, words = word_tokens(prompt)
    row, word = np.array(tokens), dict(zip(tokens, words, strict=True))
    statement = induction_heads(run, match, no_match)
    model = statement.at(len(word), len(row)).model
    got, wanted = int(model(row)[-1]), int(statement.answers(row)[-1])
    finding = same(
        "words",
        f"after {words[-1]!r}",
        got,
        wanted,
        words=repr(word[got]) if got >= 0 else "⊥: it did not occur before",
        wanted=repr(word[wanted]) if wanted >= 0 else "⊥",
        detail="\n".join(narrate(model, row, words)),
    )
    finding.detailed = True
    return finding
