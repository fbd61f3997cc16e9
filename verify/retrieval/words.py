"""The words of a text as tokens, and names for the tokens and the answer of a model."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from constructions.transformer import Transformer
from theory.kinds import InputError, OneSequence, read

ENDS = (".", "?", "!")


def word_tokens(text: str) -> tuple[list[int], list[str]]:
    """The tokens of a text, numbered by distinct words, and the word of each token.

    Words are runs of word characters (regex \\w) in any script. The characters "'", "’" and "-"
    may join two runs to one word, and "’" is written as "'". The possessive "'s" and every other
    visible character are separate words. The token of a word is its number in the order of first
    appearance. Upper and lower case differ, except that the first word of a sentence is spelled as
    elsewhere in the text: "The cat saw the" contains the word "the" twice.

    Raises ValueError for a text without words.
    """
    text = unicodedata.normalize("NFC", text).replace("’", "'")
    # Accents and vowel signs, which are not \w, belong to the character before them.
    marks = "".join(sorted({c for c in text if unicodedata.category(c)[0] == "M"}))
    mark = f"[{re.escape(marks)}]" if marks else "(?!)"
    char = rf"(?:\w{mark}*)"
    word = rf"'s(?!\w)|{char}+(?:(?!'s(?!\w))['-]{char}+)*|\S{mark}*"
    words = [w for w in re.findall(word, text) if any(unicodedata.category(c)[0] != "C" for c in w)]
    if not words:
        raise InputError("the prompt is empty: give at least one word")
    elsewhere = {w for before, w in itertools.pairwise(words) if before not in ENDS}
    for i, w in enumerate(words):
        lower = w[0].lower() + w[1:]
        if (i == 0 or words[i - 1] in ENDS) and lower in elsewhere:
            words[i] = lower
    number = {w: token for token, w in enumerate(dict.fromkeys(words))}
    return [number[w] for w in words], words


def labels(model: Transformer, tokens: ArrayLike, words: Sequence[str]) -> list[str]:
    """The labels (T,) of the tokens of the prompt: BOS or prior:word at the beginning, then words.

    Raises ValueError unless `tokens` is one sequence of as many tokens as there are `words`.
    """
    row = read(OneSequence, "tokens", tokens, below=model.interface.vocabulary_size)
    if len(words) != len(row):
        raise InputError(
            f"there are {len(words)} words for {len(row)} tokens: give one word for each token"
        )
    known = _known(row.tolist(), words)
    observed = (_observed(model, token) for token in model.interface.prefix)
    front = ["BOS" if v is None else f"prior:{known.get(v, v)}" for v in observed]
    return [*front, *words]


def answer_word(model: Transformer, tokens: ArrayLike, words: Sequence[str]) -> str:
    """The model's answer at the last token, as a word."""
    answer = int(model(np.asarray(tokens))[-1])
    known = _known(np.asarray(tokens).tolist(), words)
    return "none (⊥)" if answer < 0 else known.get(answer, f"token {answer}")


def _known(tokens: list[int], words: Sequence[str]) -> dict[int, str]:
    """The word of each token, spelled as at its first occurrence."""
    return dict(zip(reversed(tokens), reversed(words), strict=True))


def _observed(model: Transformer, token: int) -> int | None:
    """The symbol that a token before the sequence represents, or None."""
    W_E, V = model.embed.W_E.numpy(), model.interface.vocabulary_size
    for name in model.stream:
        register = W_E[:, model.stream[name]]
        if len(np.unique(register[:V], axis=0)) == V and register[token].any():
            same = np.flatnonzero((register[:V] == register[token]).all(1))
            if len(same):
                return int(same[0])
    return None
