"""Questions about facts in English, answered by two successive keyed lookups.

    Jane is a teacher. Helen is a doctor. The mother of John is Helen.
    What is the profession of John's mother?

Words are tokens; the grammar is that of `theory.retrieval.facts`.  Names and objects are entities.
Three kinds of words denote a relation: the names of relations, "a" and "an" (profession), and
"what" and "who" (the relation *itself*, which maps every entity to itself).

A word has a code b(w) ∈ {±1}^r, and a relation has a code in {±1}^q. The rank of a token is its
position. A head finds the latest token of a class by rank: tokens of the class have the score
K + rank with K = 2(n + 1), BOS has the score n + 1, and all other tokens have scores of at most n.
Tokens to which a head does not apply attend to BOS, whose value is 0: their query contains
1 − flag = 1, for which BOS has the largest score.

Layer 1 (strictly causal mask).  Each token receives the latest earlier …
    name              in `subject`
    relation word     in `inner`, except entities, whose `inner` is *itself*
    word              in `object`, for "." only; the `object` of an entity is its own word
Layer 2 (strictly causal mask)
    "."  receives `subject` of the latest "is" in `owner`; then "." contains the fact "`inner` of
    `owner` is `object`", for example (John, mother, Helen).  An entity e contains (e, itself, e).
    "?"  receives `inner` of the latest relation word in `outer`: in "the profession of John's
         mother", `inner` at the word mother is profession; in "the profession of Jane", `inner` at
         the word profession is *itself* (from What), so the second lookup maps the first answer to
         itself.
Layer 3 (causal mask)  "?" attends to the latest fact with owner = `subject`, relation = `inner`,
and the object of the fact is written to `found`:  John, mother → Helen.
Layer 4 (causal mask)  "?" attends to owner = `found`, relation = `outer`:  Helen, profession →
    doctor → `answer`.

The score of a lookup is M(⟨·, owner⟩ + ⟨·, inner⟩) + rank with M = n + 1, and BOS has M(r + q).
A matching fact has the score M(r + q) + rank ≥ M(r + q) + 1. Any other token has a score of at most
M(r + q − 2) + n if both of its codes are nonzero, and at most M·max(r, q) + n if one of them is 0.
Both are less than M(r + q) because M = n + 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.assembly import Head, block, rows
from constructions.blocks import Block, Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.interface import Model, Prompt
from constructions.margins import Margin, sharpening
from constructions.retrieval.fact_registers import register
from constructions.stream import LinearRead, Stream, one
from constructions.tokens import Tokens, binary_codes, decode, sizes
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, Positive, shown
from theory.retrieval import facts
from theory.retrieval.facts import DEFAULT, PROFESSION, Lexicon

DENOTE_PROFESSION, DENOTE_ITSELF = ("a", "an"), ("what", "who")


class English(Tokens):
    """The interface of `fact_lookup`: an English text → the answer to its final question.

    The answer is None if a fact is missing. The input can also be tokens of the lexicon; the output
    then consists of tokens, with answers at "?".

    Raises ValueError for a text that `theory.retrieval.facts.read` rejects, that is, for words
    outside the lexicon and for sentences outside the grammar, and for a text that is too long.  The
    grammar of tokens is not checked.
    """

    def __init__(self, lexicon: Lexicon, max_length: int, margin: float) -> None:
        V = len(lexicon.words)
        super().__init__(V, max_length, prefix=(V,), margin=margin, bottom=True)
        self.lexicon = lexicon

    def check(self, like: Tensor, *inputs: Any) -> tuple[Any, ...]:
        if len(inputs) != 1 or not isinstance(inputs[0], str):
            return super().check(like, *inputs)
        (text,) = inputs
        facts.read(text, self.lexicon)
        return (*super().check(like, self.lexicon.tokens(text)), text)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        return super().write(xp, inputs[0])

    def read(self, outputs: Tensor, *inputs: Any) -> Any:
        answers = super().read(outputs, inputs[0])
        if len(inputs) == 1:
            return answers
        last = int(answers[-1])
        return None if last < 0 else self.lexicon.words[last]

    def generate(self, model: Model, tokens: Any, steps: int) -> Tensor:
        """The next `steps` tokens (…, steps) of tokens (…, T); raises ValueError for a text."""
        if isinstance(tokens, str):
            raise InputError(
                f"tokens are {shown(tokens)}, a text with one answer: call the model, or give the "
                "tokens of the text"
            )
        return super().generate(model, tokens, steps)


@construction
def fact_lookup(
    max_length: Count, lexicon: Lexicon = DEFAULT, *, sharpness: Positive | None = None
) -> Transformer:
    """A model that answers an English question about one or two facts that the prompt states.

    `fact_lookup(64)("The mother of John is Helen. Helen is a doctor. What is the profession of "
    "John's mother?")` is "doctor". If two facts have the same subject and relation, the answer is
    that of the later fact. The lexicon contains the words that a text may contain; each of them is
    one token. If the input is an array (…, T) of tokens, the output is the answer at every "?" and
    −1 elsewhere.

    The model has four layers of at most three heads. The width is 6r + 3q + 8 with r = ⌈log₂W⌉ and
    q = ⌈log₂(R + 1)⌉, where W is the number of words of the lexicon and R is the number of its
    relations.

    The words "a" and "an" denote the relation "profession" if the lexicon has this relation. Each
    of ".", "?" and "'s" is a token, and texts have at most `max_length` tokens. With a `sharpness`
    β, attention is softmax at inverse temperature β.

    Raises ValueError for a sharpness at which answers could be wrong. The model raises ValueError
    for a text that `theory.retrieval.answer` rejects.
    """
    words = lexicon.words
    _, n = sizes(len(words), max_length)
    codes, relations = binary_codes(len(words)), binary_codes(len(lexicon.relations) + 1)
    r, q = codes.shape[1], relations.shape[1]
    flags = ("bos", "rank", "name", "bears", "is", "end", "question", "entity")
    stream = Stream(
        word=r, relation=q, **dict.fromkeys(flags, 1),
        subject=r, inner=q, object=r, owner=r, outer=q, found=r, answer=r,
    )  # fmt: skip
    c = sharpening(8 * (n + 1) * (r + q))
    at = {1: ("subject", "inner", "object"), 2: ("owner", "outer"), 3: ("found",), 4: ("answer",)}
    return Transformer(
        Embed(_embedding(stream, lexicon, codes, relations)),
        [*_reading(stream, n, c), *_looking_up(stream, n, c)],
        decode(stream, stream.read("answer"), codes, bottom=r / 2),
        pos_embed=PosEmbed(rows(stream, rank=np.arange(n + 1))),
        interface=English(lexicon, n, min(r / 2, 2.0)),
        stream=stream,
        stages=tuple(
            Stage(after, name, partial(register, lexicon, name))
            for after, names in at.items()
            for name in names
        ),
        at_most={"rank": n, "inner": 1.0, "object": 1.0, "owner": 1.0},
        source="[Peng2024] (the task)",
    ).sharpened(sharpness)


def _reading(stream: Stream, n: int, c: float) -> list[Block]:
    """Layers 1 and 2: every word receives the latest earlier words of certain classes."""
    read, K = stream.read, 2 * (n + 1)

    def latest(flag: LinearRead, value: str, into: str, only: LinearRead | None = None) -> Head:
        query = [c * one]
        key = [K * flag + (n + 1) * read("bos") + read("rank")]
        if only is not None:
            query, key = [*query, c * (one - only)], [*key, 2 * K * read("bos")]
        return Head(tuple(query), tuple(key), read(value), into, margin=Margin(c))

    layers = [
        [
            latest(read("name"), "word", "subject"),
            latest(read("bears"), "relation", "inner", one - read("entity")),
            latest(one - read("bos"), "word", "object", read("end")),
        ],
        [
            latest(read("is"), "subject", "owner", read("end")),
            latest(read("bears"), "inner", "outer", read("question")),
        ],
    ]
    return [block(stream, heads, normalise="hardmax", mask="strictly causal") for heads in layers]


def _looking_up(stream: Stream, n: int, c: float) -> Iterator[Block]:
    """Layers 3 and 4: "?" receives the object of the latest matching fact."""
    read, M, both = stream.read, n + 1, stream.widths["word"] + stream.widths["relation"]
    front = M * both * read("bos")
    key = (read("owner"), read("inner"), read("rank") + front, 2 * front)
    lookups = ("subject", "inner", "found", c), ("found", "outer", "answer", 1.0)
    for subject, relation, into, times in lookups:
        query = (M * read(subject), M * read(relation), one, one - read("question"))
        scaled = tuple(times * part for part in query)
        head = Head(scaled, key, read("object"), into, margin=Margin(times))
        yield block(stream, [head], normalise="hardmax", mask="causal")


def _embedding(
    stream: Stream, lexicon: Lexicon, codes: np.ndarray, relations: np.ndarray
) -> torch.Tensor:
    """The embeddings of the words and of BOS; the last relation is *itself*."""
    words = [*lexicon.words, "BOS"]

    def flag(*chosen: str) -> np.ndarray:
        return np.array([word in chosen for word in words], dtype=np.float64)

    itself = relations[-1]
    denoted = dict(zip(lexicon.relations, relations, strict=False))
    denoted |= dict.fromkeys(DENOTE_ITSELF, itself)
    if PROFESSION in denoted:
        denoted |= dict.fromkeys(DENOTE_PROFESSION, denoted[PROFESSION])
    entity = flag(*lexicon.names, *lexicon.objects)
    word = np.vstack([codes, np.zeros(codes.shape[1])])
    return rows(
        stream,
        word=word,
        relation=np.array([denoted.get(word, 0 * itself) for word in words]),
        bos=flag("BOS"),
        name=flag(*lexicon.names),
        bears=flag(*denoted),
        **{"is": flag("is")},
        end=flag("."),
        question=flag("?"),
        entity=entity,
        inner=entity[:, None] * itself,
        object=entity[:, None] * word,
        owner=entity[:, None] * word,
    )
