"""The talk's question, read and answered word by word: two keyed lookups in a row.

    Jane is a teacher. Helen is a doctor. The mother of John is Helen.
    What is the profession of John's mother?

Words are tokens; the grammar is that of `theory.retrieval.facts`.  Names and objects are entities;
words that bear a relation are the relations, "a" and "an" (the relation profession), and "what" and
"who" (the relation *itself*, which leads from every entity to itself).

A word is kept as its code b(w) ∈ {±1}^r, a relation as a code in {±1}^q.  "The latest" is found by
rank, the position: the score K·[what is looked for] + rank with K = 2(n + 1) beats BOS, whose score
is n + 1, and BOS beats all others, whose scores are at most n.  A head that is not for a token lets
it look at BOS, which carries 0: (1 − flag) asks, BOS answers with more than all other scores.

Layer 1 (strict mask), the latest earlier …
    name              → `subject`, everywhere
    relation word     → `inner`, not for entities, which hold *itself* there
    word              → `object`, for "." only; an entity holds its own word there
Layer 2 (strict mask)
    "."  takes `subject` of the latest "is" into `owner`; so "." holds a fact: the `inner` of
         `owner` is `object`, e.g. (John, mother, Helen).  An entity e holds (e, itself, e).
    "?"  takes `inner` of the latest relation word into `outer`: in "the profession of John's
         mother" the word mother has seen profession; in "the profession of Jane" the word
         profession has seen What, so that the second lookup leads from the first answer to itself.
Layer 3 (causal mask)  "?" looks for the latest fact with owner = `subject`, relation = `inner`,
    and takes its object into `found`:  John, mother → Helen.
Layer 4 (causal mask)  "?" looks for owner = `found`, relation = `outer`:  Helen, profession →
    doctor → `answer`.

The score of a lookup is M(⟨·, owner⟩ + ⟨·, inner⟩) + rank with M = n + 1, and BOS has M(r + q):
a fact that fits has M(r + q) + rank ≥ M(r + q) + 1, any other at most M(r + q − 2) + n if both of
its codes are there, M·max(r, q) + n if one is 0, and M = n + 1 makes both less than M(r + q).
"""

from __future__ import annotations

import numpy as np
import torch

from constructions.assembly import Head, block, rows
from constructions.retrieval.codes import binary_codes
from constructions.retrieval.margins import Margin, sharpening
from constructions.retrieval.sequence_model import Answers, Prompt, SequenceModel, decode
from constructions.stream import Reading, Stream, one
from constructions.transformer import Block, Embed, PosEmbed
from theory import checks
from theory.checks import InputError
from theory.retrieval.facts import DEFAULT, PROFESSION, Lexicon

NAMES_A_PROFESSION, NAMES_ITSELF = ("a", "an"), ("what", "who")


class FactLookup(SequenceModel):
    """A sequence model on the words of a lexicon; `model.ask(text)` reads English."""

    lexicon: Lexicon

    def ask(self, text: str) -> str | None:
        """The answer to the question that ends the text, or None if a fact is missing.

        Raises ValueError for a word outside the lexicon, a text that does not end with "?", and one
        that is too long.  The grammar is not checked: `theory.retrieval.facts.read` does that.
        """
        tokens = self.lexicon.tokens(text)
        if not tokens or self.lexicon.words[tokens[-1]] != "?":
            raise InputError(f"the text ends with {text[-20:]!r}: end it with a question and '?'")
        answer = int(self(tokens)[-1])
        return None if answer < 0 else self.lexicon.words[answer]


def fact_lookup(
    lexicon: Lexicon = DEFAULT, max_length: int = 256, sharpness: float | None = None
) -> FactLookup:
    """A transformer that reads facts in English and answers a question about one or two of them.

    `fact_lookup().ask("The mother of John is Helen. Helen is a doctor. What is the profession of "
    "John's mother?")` is "doctor"; where two facts disagree, the later one holds.  Called on tokens
    of the lexicon (…, T) it answers at every "?" and is −1 elsewhere.

    Four layers of at most three heads, width 6r + 3q + 8 with r = ⌈log₂(words)⌉ and
    q = ⌈log₂(relations + 1)⌉.

    Args:
        lexicon: the words; it must have the relation "profession" if "a" and "an" are to mean it.
        max_length: number of words, "." and "?" and "'s" included.
        sharpness: softmax attention at this sharpness instead of hardmax.

    Raises ValueError for max_length below 1, and for a sharpness too small for it.
    """
    n, words = checks.dimension("max_length", max_length), lexicon.words
    codes, relation_codes = binary_codes(len(words)), _relation_codes(lexicon)
    r, q = codes.shape[1], relation_codes.shape[1]
    flags = ("bos", "rank", "name", "bears", "is", "end", "question", "entity")
    stream = Stream(
        word=r, relation=q, **dict.fromkeys(flags, 1),
        subject=r, inner=q, object=r, owner=r, outer=q, found=r, answer=r,
    )  # fmt: skip
    read, K, M, c = stream.read, 2 * (n + 1), n + 1, sharpening(8 * (n + 1) * (r + q))

    def latest(what: Reading, only: Reading | None, carries: str, into: str) -> Head:
        answers = K * what + (n + 1) * read("bos") + read("rank")
        if only is None:
            return Head(c * one, answers, read(carries), into)
        others = one - only
        return Head((c * one, c * others), (answers, 2 * K * read("bos")), read(carries), into)

    def lookup(subject: str, relation: str, into: str, c: float) -> Head:
        asks = (
            c * M * read(subject),
            c * M * read(relation),
            c * one,
            c * (one - read("question")),
        )
        recency = read("rank") + M * (r + q) * read("bos")
        answers = (read("owner"), read("inner"), recency, 2 * M * (r + q) * read("bos"))
        return Head(asks, answers, read("object"), into)

    def layer(heads: list[Head], mask: str) -> Block:
        return block(stream, heads, normalise="hardmax", mask=mask)  # type: ignore[arg-type]

    every_word = one - read("bos")
    blocks = [
        layer(
            [
                latest(read("name"), None, "word", "subject"),
                latest(read("bears"), one - read("entity"), "relation", "inner"),
                latest(every_word, read("end"), "word", "object"),
            ],
            "strict",
        ),
        layer(
            [
                latest(read("is"), read("end"), "subject", "owner"),
                latest(read("bears"), read("question"), "inner", "outer"),
            ],
            "strict",
        ),
        layer([lookup("subject", "inner", "found", c)], "causal"),
        layer([lookup("found", "outer", "answer", 1.0)], "causal"),
    ]
    model = FactLookup(
        Embed(_embedding(stream, lexicon, codes, relation_codes)),
        blocks,
        decode(stream, read("answer"), codes, bottom=r / 2),
        pos_embed=PosEmbed(rows(stream, rank=np.arange(n + 1))),
        stream=stream,
        prompt=Prompt(len(words), n, prefix=(len(words),)),
        answers=Answers(margin=min(r / 2, 2.0)),
        margins=((Margin(c),) * 3, (Margin(c),) * 2, (Margin(c),), (Margin(1.0),)),
        at_most={"rank": n, "inner": 1.0, "object": 1.0, "owner": 1.0},
        name=f"fact_lookup(lexicon of {len(words)} words, {n})",
        source="[Peng2024] for the task; proved in constructions/retrieval/facts.py",
    )
    model.lexicon = lexicon
    return model.sharpened(sharpness)  # type: ignore[return-value]


def _relation_codes(lexicon: Lexicon) -> np.ndarray:
    """Codes of the relations and, last, of *itself*."""
    return binary_codes(len(lexicon.relations) + 1)


def _embedding(
    stream: Stream, lexicon: Lexicon, codes: np.ndarray, relation_codes: np.ndarray
) -> torch.Tensor:
    """The rows of the words, and of BOS."""
    words = [*lexicon.words, "BOS"]

    def flag(*chosen: str) -> np.ndarray:
        return np.array([word in chosen for word in words], dtype=np.float64)

    itself = relation_codes[len(lexicon.relations)]
    borne = dict(zip(lexicon.relations, relation_codes, strict=False))
    borne |= dict.fromkeys(NAMES_ITSELF, itself)
    if PROFESSION in borne:
        borne |= dict.fromkeys(NAMES_A_PROFESSION, borne[PROFESSION])
    entity = flag(*lexicon.names, *lexicon.objects)
    word = np.vstack([codes, np.zeros(codes.shape[1])])
    return rows(
        stream,
        word=word,
        relation=np.array([borne.get(word, 0 * itself) for word in words]),
        bos=flag("BOS"),
        name=flag(*lexicon.names),
        bears=flag(*borne),
        **{"is": flag("is")},
        end=flag("."),
        question=flag("?"),
        entity=entity,
        inner=entity[:, None] * itself,
        object=entity[:, None] * word,
        owner=entity[:, None] * word,
    )
