"""Facts in English, and a question that needs one or two of them.

    Jane is a teacher. Helen is a doctor. The mother of John is Helen.
    What is the profession of John's mother?

The grammar, in which NAME, RELATION and OBJECT are single words of a `Lexicon`:

    statement  NAME is a|an OBJECT.              (the relation is "profession")
               The RELATION of NAME is NAME|OBJECT.
               NAME's RELATION is NAME|OBJECT.
    question   What|Who is the RELATION of NAME?
               What|Who is NAME's RELATION?
               What|Who is the RELATION of NAME's RELATION?
               What|Who is the RELATION of the RELATION of NAME?

A text consists of any number of statements and one final question. If two statements are about the
same relation of the same name, the later statement holds. The grammar does not check the choice
between "a" and "an", whether a mother is a NAME, or whether the answer to "Who" is a NAME.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from theory.kinds import InputError, OneSequence, checked

# fmt: off
NAMES = (
    "Jane", "Helen", "John", "Mary", "Anna", "Peter", "Tom", "Alice", "Bob", "Carol", "David",
    "Emma", "Frank", "George", "Henry", "Ivan", "Julia", "Karl", "Laura", "Martin", "Nina", "Oscar",
    "Paula", "Quentin", "Robert", "Sarah", "Thomas", "Ursula", "Victor", "Wendy", "Xavier",
    "Yvonne", "Zoe", "Lucy", "Simon", "Clara", "Paul", "Ruth", "Eve", "Max",
)
RELATIONS = ("mother", "father", "sister", "brother", "friend", "boss", "profession", "hometown")
OBJECTS = (
    "teacher", "doctor", "baker", "lawyer", "pilot", "nurse", "farmer", "painter", "writer",
    "singer", "actor", "engineer", "architect", "carpenter", "plumber", "electrician", "gardener",
    "tailor", "butcher", "chemist", "physicist", "mathematician", "musician", "journalist",
    "librarian", "London", "Paris", "Berlin", "Rome", "Madrid", "Vienna", "Oslo", "Athens",
)
FUNCTION_WORDS = ("is", "a", "an", "the", "of", "'s", ".", "?", "what", "who")
# fmt: on

CAPITALISED = ("The", "What", "A", "An", "Who")
"""Function words that begin sentences; `words` writes them in lower case."""

PROFESSION = "profession"
"""The relation of "NAME is a OBJECT."."""

FORMS = (
    "give 'NAME is a OBJECT.', 'The RELATION of NAME is NAME.' or 'NAME's RELATION is NAME.' "
    "(OBJECT may stand for the last NAME)"
)
QUESTIONS = (
    "give 'What is the RELATION of NAME?', 'What is NAME's RELATION?', "
    "'What is the RELATION of NAME's RELATION?' or 'What is the RELATION of the RELATION of NAME?'"
)


class Fact(NamedTuple):
    """A fact about an entity: the `relation` of `subject` is `object`.

    For example, the fact "John's mother is Mary." has subject "John", relation "mother" and object
    "Mary".
    """

    subject: str
    relation: str
    object: str


@checked
def follow(facts: Sequence[Fact], subject: str, relations: Sequence[str]) -> str | None:
    """The entity reached from `subject` by the `relations` in turn, or None if a fact is missing.

    Let o_0 = subject, and let o_{t+1} be the object of the last of the `facts` that has subject o_t
    and relation relations[t]. The result is the last o_t. It is None if there is no such fact for
    some t. So a question with two relations is answered by two successive look-ups.
    """
    entity = subject
    for relation in relations:
        objects = [fact.object for fact in facts if fact[:2] == (entity, relation)]
        if not objects:
            return None
        entity = objects[-1]
    return entity


@checked
def words(text: str) -> list[str]:
    """The words of `text`: alphanumeric words (inner hyphens are allowed), "'s", "." and "?".

    The possessive 's (with ' or ’) is a separate word, "'s". The words "The", "What", "A", "An",
    "Who" are converted to lower case at every position; other words are unchanged. Raises
    `ValueError` for a character that is not part of a word.
    """
    result = []
    # Alphanumeric characters are \w without the underscore.
    for match in re.finditer(r"['’]s(?!\w)|[^\W_]+(?:-[^\W_]+)*|[.?]|\S", text):
        word = match.group()
        if len(word) == 1 and not word.isalnum() and word not in ".?":
            raise InputError(
                f"the text contains {word!r} at character {match.start()}: "
                "use only words, the possessive 's, '.' and '?'"
            )
        if word in CAPITALISED:
            word = word.lower()
        result.append(word.replace("’", "'"))
    return result


def _sentence(parts: Sequence[str]) -> str:
    """The text of one sentence: capitalised, and without a space before "'s", "." and "?"."""
    start = {word.lower(): word for word in CAPITALISED}.get(parts[0], parts[0])
    return re.sub(r" ('s|[.?])", r"\1", " ".join([start, *parts[1:]]))


@checked
@dataclass(frozen=True)
class Lexicon:
    """The words that a text about relations of people may contain; each word is one token.

    A text consists of statements such as "John's mother is Mary." and a final question. The lexicon
    contains function words (such as "is" and "the"), `relations` (such as "mother"), `names` of
    people and `objects` (professions and places).

    Raises `ValueError` for a word that occurs twice, and for a word that the function `words`
    splits or changes: words must be alphanumeric (inner hyphens are allowed), and none may be
    "The", "What", "A", "An" or "Who".
    """

    names: tuple[str, ...] = NAMES
    relations: tuple[str, ...] = RELATIONS
    objects: tuple[str, ...] = OBJECTS

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for word in self.words:
            if words(word) != [word]:
                raise InputError(
                    f"the lexicon has {word!r}, which is read as {words(word)}: "
                    f"give single alphanumeric words, and none of {', '.join(CAPITALISED)}"
                )
            if word in seen:
                raise InputError(f"the lexicon has {word!r} twice: give every word once")
            seen.add(word)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words of the lexicon: function words, relations, names and objects, in this order.

        Function words are "is", "a", "an", "the", "of", "'s", ".", "?", "what" and "who". A token
        is an index into the tuple.
        """
        return FUNCTION_WORDS + self.relations + self.names + self.objects

    @checked
    def tokens(self, text: str) -> list[int]:
        """The tokens of a text: for each word, the index of the word in `lexicon.words`.

        Raises `ValueError` for a character that words cannot contain, and for a word not in the
        lexicon; the message contains the most similar words of the lexicon.
        """
        number = {word: token for token, word in enumerate(self.words)}
        result = []
        for word in words(text):
            if word not in number:
                lower = {known.lower(): known for known in number}
                close = difflib.get_close_matches(word.lower(), lower, cutoff=0.7)
                guess = f"did you mean {' or '.join(lower[w] for w in close)}? " if close else ""
                raise InputError(
                    f"{word!r} is not in the lexicon: {guess}"
                    "Use words of the lexicon, or make a Lexicon with this word"
                )
            result.append(number[word])
        return result

    @checked
    def text(self, tokens: OneSequence) -> str:
        """The text of T `tokens`, the inverse of the method `tokens`.

        A token is an index into `lexicon.words`. Raises `ValueError` for a token that is not such
        an index.
        """
        if (largest := tokens.max()) >= len(self.words):
            raise InputError(
                f"tokens contain {largest} and the lexicon has {len(self.words)} words: give "
                f"tokens from 0 to {len(self.words) - 1}"
            )
        sentences: list[list[str]] = [[]]
        for token in tokens.tolist():
            sentences[-1].append(self.words[token])
            if self.words[token] in (".", "?"):
                sentences.append([])
        return " ".join(_sentence(parts) for parts in sentences if parts)


DEFAULT = Lexicon()
"""The default lexicon: 40 names, 8 relations, 25 professions and 8 towns."""


def _kinds(parts: Sequence[str], lexicon: Lexicon) -> str:
    """The words with each name, relation and object replaced by N, R or O."""
    kinds = {
        **dict.fromkeys(lexicon.names, "N"),
        **dict.fromkeys(lexicon.relations, "R"),
        **dict.fromkeys(lexicon.objects, "O"),
    }
    return " ".join(kinds.get(word, word) for word in parts)


def _statement(parts: Sequence[str], lexicon: Lexicon) -> Fact:
    """The fact in a statement; the last word is "."."""
    kinds = _kinds(parts, lexicon)
    if kinds in ("N is a O .", "N is an O ."):
        if PROFESSION not in lexicon.relations:
            raise InputError(
                f"{_sentence(parts)!r} states a profession, and the lexicon has no relation "
                f"{PROFESSION!r}: add this relation to the lexicon"
            )
        return Fact(parts[0], PROFESSION, parts[3])
    if kinds in ("the R of N is N .", "the R of N is O ."):
        return Fact(parts[3], parts[1], parts[5])
    if kinds in ("N 's R is N .", "N 's R is O ."):
        return Fact(parts[0], parts[2], parts[4])
    raise InputError(f"{_sentence(parts)!r} is not a statement of the grammar: {FORMS}")


def _question(parts: Sequence[str], lexicon: Lexicon) -> tuple[str, tuple[str, ...]]:
    """The subject of a question, whose last word is "?", and its relations, innermost first."""
    kinds = _kinds(parts[1:], lexicon) if parts[0] in ("what", "who") else ""
    if kinds == "is the R of N ?":
        return parts[5], (parts[3],)
    if kinds == "is N 's R ?":
        return parts[2], (parts[4],)
    if kinds == "is the R of N 's R ?":
        return parts[5], (parts[7], parts[3])
    if kinds == "is the R of the R of N ?":
        return parts[8], (parts[6], parts[3])
    raise InputError(f"{_sentence(parts)!r} is not a question of the grammar: {QUESTIONS}")


@checked
def read(text: str, lexicon: Lexicon = DEFAULT) -> tuple[list[Fact], str, tuple[str, ...]]:
    """The facts of a text in their order, and the subject and the relations of its question.

    The text consists of statements, such as "John's mother is Mary.", and a final question. The
    relations of the question are innermost first, which is the order for `follow`. For example, for
    "What is the profession of John's mother?" the subject is "John", and the relations are
    ("mother", "profession").

    Raises `ValueError` for words not in the lexicon, for a text that does not consist of statements
    and one final question, and for a sentence outside the grammar; the message quotes the sentence.
    """
    sentences: list[list[str]] = [[]]
    for word in (lexicon.words[token] for token in lexicon.tokens(text)):
        sentences[-1].append(word)
        if word in (".", "?"):
            sentences.append([])
    if sentences.pop():
        raise InputError(
            f"the text ends without '.' or '?' ({text[-40:]!r}): end the text with a question"
        )
    if not sentences or sentences[-1][-1] != "?":
        raise InputError(f"the text ends without a question ({text[-40:]!r}): {QUESTIONS}")
    *statements, question = sentences
    facts = [_statement(parts, lexicon) for parts in statements]
    return facts, *_question(question, lexicon)


@checked
def answer(text: str, lexicon: Lexicon = DEFAULT) -> str | None:
    """The answer to the question at the end of a text of facts, or None if a fact is missing.

    For example, the answer to "John's mother is Mary. Mary is a doctor. What is the profession of
    John's mother?" is "doctor". The words of the text must be in `lexicon`.

    Raises `ValueError` for a text that does not consist of statements and one final question, for a
    sentence outside the grammar, or for a word outside `lexicon`.
    """
    return follow(*read(text, lexicon))
