"""Part of the claim `composition`: the transformer on facts in English, compared with a parser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, product, zip_longest
from typing import Any

import numpy as np

from constructions import fact_lookup
from constructions.retrieval.fact_registers import among, relation_of
from constructions.tokens import binary_codes
from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.retrieval.facts import DEFAULT, answer, read
from theory.retrieval.facts import words as words_of
from verify.claim import Run
from verify.evidence.gaps import States, at_positions, at_tokens, gap_finding
from verify.evidence.sequences import answers_equal, exact_evidence, margin_kept, registers_hold
from verify.evidence.size import size
from verify.evidence.statement import OverTokens
from verify.finding import Finding, no_counterexample, same
from verify.retrieval.narration import narrate

EXAMPLE = (
    "Jane is a teacher. Helen is a doctor. The mother of John is Helen. "
    "What is the profession of John's mother?"
)
MOST_WORDS = 256  # in a text, with ".", "?" and "'s"
NUMBER = {word: token for token, word in enumerate(DEFAULT.words)}
ITSELF = len(DEFAULT.relations)  # the number of the identity relation
WORDS, RELATIONS = (  # codes of words and relations, and 0 at index −1 for none
    np.pad(binary_codes(count), ((0, 1), (0, 0))) for count in (len(NUMBER), ITSELF + 1)
)


def fact_findings(run: Run, texts: int) -> Iterator[Finding]:
    """Compares answers of the transformer with those of a parser, on example and random texts."""
    statement = facts(run)
    reader = statement.at(len(DEFAULT.words), MOST_WORDS).model
    yield _answers_as(reader, "talk", EXAMPLE)
    rows = _padded(random_texts(run, run.limited(8, texts=texts)))
    unknown = int((statement.answers(rows).max(1) < 0).sum())
    yield answers_equal(
        "texts",
        f"{len(rows)} random texts, for which a parser and a dictionary give the right answers",
        statement,
        [(reader, rows)],
        f"; the right answer is “unknown” for {unknown} of them",
    )
    yield margin_kept(statement, [(reader, _padded([EXAMPLE])), (reader, rows[:20])])
    drawn = list(random_texts(run, 20))
    yield no_counterexample(
        "sentences",
        "registers that contain subject, relation and object of a sentence, at its '.'",
        (wrong for text in drawn for wrong in _wrong_facts(reader, text)),
        evidence=exact_evidence(reader),
        words=f"owner, inner and object after layer 2, for all facts of {len(drawn)} random texts",
    )
    yield registers_hold(statement, reader, _padded(drawn), f"({len(drawn)} random texts)")
    limits = f", for up to {reader.interface.max_length} tokens; softmax answers are right for β ≥ "
    limits += f"{reader.least_sharpness():.3g}"
    yield size(reader, "facts", limits, words=len(DEFAULT.words), relations=ITSELF)


def facts(run: Run) -> OverTokens:
    """The statement on texts of the default lexicon whose only question is the last sentence."""
    return OverTokens("facts", lambda _, n: run.build(fact_lookup, n), _answers, shown=DEFAULT.text)


def _answers_as(reader: Transformer, id: str, text: str) -> Finding:
    """Compares the transformer's answer with the parser's answer."""
    wanted, got = answer(text), reader(text)  # the parser raises ValueError outside the grammar
    numbers = (-1 if word is None else NUMBER[word] for word in (got, wanted))
    shown, right = (word or "unknown" for word in (got, wanted))
    name = f"answer of the model to “{text.rpartition('. ')[2]}”"
    return same(id, name, *numbers, words=shown, wanted=f"{right}, the answer of a parser")


def random_texts(run: Run, count: int) -> Iterator[str]:
    """Random texts, each of which consists of facts about a few names and of a question.

    As there are few names, the texts often contain chains of facts, facts that replace earlier
    facts, and questions without an answer.
    """
    names, relations = DEFAULT.names[:4], (*DEFAULT.relations[:2], "profession")
    objects = DEFAULT.objects[:3]
    for _ in range(count):
        sentences = []
        for _ in range(run.rng.integers(0, 16)):
            subject, other = run.rng.choice(names), run.rng.choice([*names, *names, *objects])
            relation, thing = run.rng.choice(relations), run.rng.choice(objects)
            forms = (
                f"{subject} is a {thing}.",
                f"The {relation} of {subject} is {other}.",
                f"{subject}'s {relation} is {other}.",
            )
            sentences.append(run.rng.choice(forms))
        name, (inner, outer) = run.rng.choice(names), run.rng.choice(relations, 2)
        questions = (
            f"What is the {inner} of {name}?",
            f"Who is {name}'s {inner}?",
            f"What is the {outer} of {name}'s {inner}?",
            f"What is the {outer} of the {inner} of {name}?",
        )
        yield " ".join([*sentences, run.rng.choice(questions)])


def _padded(texts: Iterable[str]) -> np.ndarray:
    """The tokens of the texts, padded; the padding follows the "?" and does not affect it."""
    return np.array([*zip_longest(*map(DEFAULT.tokens, texts), fillvalue=0)]).T


def _answers(tokens: np.ndarray) -> np.ndarray:
    """The answers of the parser at the first "?"; −1 elsewhere."""
    answers = np.full(tokens.shape, -1)
    for place in np.ndindex(tokens.shape[:-1]):
        for end in np.flatnonzero(tokens[place] == NUMBER["?"])[:1]:
            word = answer(DEFAULT.text(tokens[place][: end + 1]))
            answers[(*place, end)] = -1 if word is None else NUMBER[word]
    return answers


def _wrong_facts(reader: Transformer, text: str) -> Iterator[str]:
    """Every "." whose registers after layer 2 do not contain the fact of its sentence."""
    tokens = np.array(DEFAULT.tokens(text))
    (H,) = islice(reader.streams(tokens), 2, 3)
    ends = H[1:].numpy()[tokens == NUMBER["."]]
    for fact, end in zip(read(text)[0], ends, strict=True):
        relation = RELATIONS[DEFAULT.relations.index(fact.relation)]
        wanted = WORDS[NUMBER[fact.subject]], relation, WORDS[NUMBER[fact.object]]
        for name, code in zip(("owner", "inner", "object"), wanted, strict=True):
            if not np.array_equal(end[reader.stream[name]], code):
                yield f"{text}: the '.' of {fact} has {name} = {end[reader.stream[name]]}"


def gaps(run: Run) -> Iterator[Finding]:
    """Findings on the smallest score gap of each head of `fact_lookup`, for short texts."""
    n = 4 if run.quick else 16
    model = facts(run).at(0, n).model
    for states in head_states(model):
        finding = gap_finding("facts", model, states)
        finding.name += f" (texts of at most {n} words)"
        yield finding


def head_states(model: Transformer) -> Iterator[States]:
    """All queries and keys of each head of a `fact_lookup` model.

    The heads of the first layers attend to the latest word of a class, for example to the latest
    name. The heads of the last two layers look up facts.
    """
    every = np.arange(len(DEFAULT.words))
    word, bears = np.ones(len(every), dtype=bool), relation_of(DEFAULT) >= 0
    is_here, name, end, question = (
        among(DEFAULT, every, *words) for words in (("is",), DEFAULT.names, (".",), ("?",))
    )
    entity = name | among(DEFAULT, every, *DEFAULT.objects)
    yield _latest(model, 1, 0, ("name", name), ("bos", word))
    yield _latest(model, 1, 1, ("bears", bears), ("entity", ~entity))
    yield _latest(model, 1, 2, ("bos", word), ("end", end))
    yield _latest(model, 2, 0, ("is", is_here), ("end", end))
    yield _latest(model, 2, 1, ("bears", bears), ("question", question))
    # An owner is a name or missing; an entity is its owner. The word found can be any word.
    names, relations = [-1, *every[name]], range(-1, ITSELF + 1)
    others = ((thing, ITSELF) for thing in every[entity & ~name])
    facts = np.array([*product(names, relations), *others])
    pairs = np.array([*product(names, relations, (False, True))])
    yield _lookup(model, 3, ("subject", "inner"), pairs, facts)
    pairs = np.array([(-1, -1, False), *product((-1, *every), relations, (True,))])
    yield _lookup(model, 4, ("found", "outer"), pairs, facts)


def _latest(
    model: Transformer, layer: int, head: int, key: tuple[str, Any], query: tuple[str, Any]
) -> States:
    """The states of a head by which some words attend to the latest token of a class.

    `key` and `query` each consist of a register and a mask of words: `key` is the class, and
    `query` the words to which the head applies. All other words attend to BOS.  Words with equal
    register and mask are one state.
    """

    def distinct(register: str, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values = at_tokens(model, register, tokens=slice(len(mask)))[register]
        _, first = np.unique(np.column_stack([values, mask]), axis=0, return_index=True)
        return first, mask[first]

    n = model.interface.max_length
    (keys, in_class), (queries, applies) = distinct(*key), distinct(*query)
    word = np.array([len(DEFAULT.words), *np.tile(keys, n)])
    place = np.array([0, *np.repeat(np.arange(1, n + 1), len(keys))])
    right = applies[:, None] & np.array([False, *np.tile(in_class, n)])
    return States(
        layer,
        at_tokens(model, query[0], tokens=queries),
        {**at_tokens(model, key[0], "bos", tokens=word), **at_positions(model, "rank", at=place)},
        np.where(right | (place == 0), place, -np.inf),
        place,
        head,
    )


def _lookup(
    model: Transformer, layer: int, registers: tuple[str, str], pairs: np.ndarray, facts: np.ndarray
) -> States:
    """The states of a lookup: a query attends to the latest equal key, or to BOS.

    Queries are `pairs` (entity, relation, whether the token is "?"), and keys are `facts`
    (owner, relation). −1 stands for a missing entity or relation.
    """
    n = model.interface.max_length
    place = np.array([0, *np.repeat(np.arange(1, n + 1), len(facts))])
    owner, inner = np.vstack([[-1, -1], np.tile(facts, (n, 1))]).T
    who, relation, question = pairs.T
    fits = (who[:, None] == owner) & (relation[:, None] == inner)
    fits &= ((who >= 0) & (relation >= 0) & (question == 1))[:, None]
    word = np.where(question == 1, NUMBER["?"], NUMBER["is"])
    bos = np.where(place == 0, len(NUMBER), NUMBER["."])
    from_embedding = at_tokens(model, "bos", tokens=bos), at_positions(model, "rank", at=place)
    keys = {"owner": WORDS[owner], "inner": RELATIONS[inner]}
    queries = dict(zip(registers, (WORDS[who], RELATIONS[relation]), strict=True))
    return States(
        layer,
        {**queries, **at_tokens(model, "question", tokens=word)},
        {**keys, **from_embedding[0], **from_embedding[1]},
        np.where(fits | (place == 0), place, -np.inf),
        place,
        changed=("owner", "inner"),
    )


def on_words(run: Run, prompt: str) -> Finding:
    """Compares the model's answer to `prompt` with a parser's answer, and narrates each layer."""
    try:
        tokens = DEFAULT.tokens(prompt)
        answer(prompt)  # it ends with a question
    except InputError as error:
        raise InputError(f"prompt: {error}") from None
    if len(tokens) > MOST_WORDS:
        raise InputError(
            f"prompt has {len(tokens)} words and punctuation marks: give at most {MOST_WORDS}"
        )
    reader = facts(run).at(0, MOST_WORDS).model
    finding = _answers_as(reader, "words", prompt)
    finding.detail = "\n".join(narrate(reader, tokens, words_of(prompt)))
    finding.detailed = True
    return finding


def example(run: Run) -> tuple[Transformer, list[int], list[str]]:
    """The model, tokens and words of the example, for the picture."""
    return facts(run).at(0, MOST_WORDS).model, DEFAULT.tokens(EXAMPLE), words_of(EXAMPLE)
