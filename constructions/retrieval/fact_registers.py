"""The layer invariants of `fact_lookup`: the layers of `facts.py`, computed on numbers.

Words and relations are numbers, and −1 stands for none. The last relation maps every entity to
itself.
"""

from __future__ import annotations

import numpy as np

from constructions.tokens import binary_codes
from theory.retrieval.facts import PROFESSION, Lexicon


def register(lexicon: Lexicon, name: str, tokens: np.ndarray) -> np.ndarray:
    """The code (…, T, width) in the register `name` of `fact_lookup`, for tokens (…, T)."""
    number = numbers(lexicon, tokens)[name]
    relations = name in ("inner", "outer")
    codes = binary_codes(len(lexicon.relations) + 1 if relations else len(lexicon.words))
    return np.vstack([codes, np.zeros(codes.shape[1])])[number]


def numbers(lexicon: Lexicon, tokens: np.ndarray) -> dict[str, np.ndarray]:
    """The numbers of the words and relations in the registers of `fact_lookup`, for tokens (…, T).

    The result maps the name of each register to an array (…, T). An entry is the number of the
    word or relation that the register contains after the layer that writes the register, and −1 if
    the register is empty.
    """
    relation, itself = relation_of(lexicon)[tokens], len(lexicon.relations)
    name, end, question = (
        among(lexicon, tokens, *words) for words in (lexicon.names, (".",), ("?",))
    )
    entity = name | among(lexicon, tokens, *lexicon.objects)
    subject = _latest(tokens, name)
    inner = np.where(entity, itself, _latest(relation, relation >= 0))
    object = np.where(end, _latest(tokens, tokens >= 0), np.where(entity, tokens, -1))
    is_here = among(lexicon, tokens, "is")
    owner = np.where(end, _latest(subject, is_here), np.where(entity, tokens, -1))
    outer = np.where(question, _latest(inner, relation >= 0), -1)

    def lookup(who: np.ndarray, what: np.ndarray) -> np.ndarray:
        fits = (who[..., None] == owner[..., None, :]) & (what[..., None] == inner[..., None, :])
        valid = question & (who >= 0) & (what >= 0)
        return _last(object, np.tril(fits & valid[..., None]))

    found = lookup(subject, inner)
    return {
        "subject": subject,
        "inner": inner,
        "object": object,
        "owner": owner,
        "outer": outer,
        "found": found,
        "answer": lookup(found, outer),
    }


def relation_of(lexicon: Lexicon) -> np.ndarray:
    """The number of the relation that each word of the lexicon denotes, or −1."""
    number = {word: i for i, word in enumerate(lexicon.relations)}
    number |= dict.fromkeys(("a", "an"), number.get(PROFESSION, -1))
    number |= dict.fromkeys(("what", "who"), len(lexicon.relations))
    return np.array([number.get(word, -1) for word in lexicon.words])


def among(lexicon: Lexicon, tokens: np.ndarray, *words: str) -> np.ndarray:
    """Whether each token is one of the given `words`, as booleans of the shape of the tokens."""
    return np.isin(tokens, [lexicon.words.index(word) for word in words])


def _latest(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """The entry of values (…, T) at the latest earlier token with `where` true, −1 if none."""
    earlier = np.tri(where.shape[-1], k=-1, dtype=bool)
    return _last(values, where[..., None, :] & earlier)


def _last(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The entry of values (…, T) at the last token with `chosen` (…, T, T) true, −1 if none."""
    place = np.where(chosen, np.arange(values.shape[-1]), -1).max(-1)
    return np.where(place < 0, -1, np.take_along_axis(values, place.clip(0), axis=-1))
