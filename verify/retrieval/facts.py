"""Facts in English, read by the transformer and by an ordinary parser: part of `composition`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from theory.retrieval.facts import DEFAULT, answer, read
from verify.claim import Run
from verify.finding import Finding, Verdict
from verify.retrieval.task import equal, exact_evidence

if TYPE_CHECKING:
    from constructions.retrieval import FactLookup

TALK = (
    "Jane is a teacher. Helen is a doctor. The mother of John is Helen. "
    "What is the profession of John's mother?"
)


def fact_findings(run: Run, texts: int) -> Iterator[Finding]:
    """The talk's question, and random texts, read by the transformer and by an ordinary parser."""
    from constructions import fact_lookup

    reader = run.build(fact_lookup)
    yield Finding(
        f"facts: {TALK.split('. ')[-1]}",
        "exact",
        str(reader.ask(TALK)),
        str(answer(TALK)),
        Verdict.of(reader.ask(TALK) == answer(TALK)),
    )
    drawn = list(random_texts(run, 8 if run.quick else texts))
    wanted = [answer(text) for text in drawn]
    pairs = zip(drawn, _answers(reader, drawn), wanted, strict=True)
    mistakes = [f"{text} answered {got}, should be {w}" for text, got, w in pairs if got != w]
    yield equal(
        f"facts: {len(drawn)} random texts against a parser and a dictionary",
        f"equal, {wanted.count(None)} of them without an answer",
        min(mistakes, key=len, default=None),
        exact_evidence(reader),
    )
    wrong = next((w for text in random_texts(run, 20) if (w := _wrong_fact(reader, text))), None)
    yield equal(
        "facts: every '.' holds the fact of its sentence",
        "owner, inner and object after layer 2, in 20 random texts",
        wrong,
        exact_evidence(reader),
    )
    yield Finding(
        "facts: size",
        "exact",
        f"{reader.n_layers} layers, {reader.n_heads} heads, width {reader.d_model}, "
        f"{len(DEFAULT.words)} words, up to {reader.prompt.max_length} tokens; softmax answers "
        f"right from β = {reader.least_sharpness():.3g}",
        "two layers to read, one for each lookup",
        Verdict.of(reader.n_layers == 4),
    )


def random_texts(run: Run, count: int) -> Iterator[str]:
    """Facts about few names, so that chains, updates and gaps are common, and a question."""
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


def _answers(reader: FactLookup, texts: list[str]) -> list[str | None]:
    """`reader.ask` for many texts at once: what follows a "?" does not change its answer."""
    rows = [DEFAULT.tokens(text) for text in texts]
    padded = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for line, row in zip(padded, rows, strict=True):
        line[: len(row)] = row
    answers = reader(padded).numpy()
    last = [int(line[len(row) - 1]) for line, row in zip(answers, rows, strict=True)]
    return [DEFAULT.words[token] if token >= 0 else None for token in last]


def _wrong_fact(reader: FactLookup, text: str) -> str | None:
    """None if after layer 2 every "." holds the subject, relation and object of its sentence."""
    facts, _, _ = read(text)
    tokens = np.array(DEFAULT.tokens(text))
    H = list(reader.streams(tokens))[2][1:].numpy()
    words = [reader.embed.W_E[DEFAULT.words.index(w)].numpy() for w in DEFAULT.words]
    code = {w: row[reader.stream["word"]] for w, row in zip(DEFAULT.words, words, strict=True)}
    relation = {
        w: row[reader.stream["relation"]] for w, row in zip(DEFAULT.words, words, strict=True)
    }
    ends = np.flatnonzero(tokens == DEFAULT.words.index("."))
    for fact, end in zip(facts, ends, strict=True):
        held = [H[end, reader.stream[name]] for name in ("owner", "inner", "object")]
        wanted = [code[fact.subject], relation[fact.relation], code[fact.object]]
        if not all(np.array_equal(a, b) for a, b in zip(held, wanted, strict=True)):
            return f"{text}: the '.' of {fact} holds {held}"
    return None


def on_words(run: Run, prompt: str) -> Iterator[Finding]:
    """A text of one's own: what each layer moved, and the answer beside the parser's."""
    from constructions import fact_lookup
    from verify.retrieval.narration import narrate

    reader = run.build(fact_lookup)
    wanted = answer(prompt)  # refuses what is not of the grammar
    row = np.array(DEFAULT.tokens(prompt))
    got = reader.ask(prompt)
    story = narrate(reader, row, [DEFAULT.words[token] for token in row])
    yield Finding(
        prompt.rpartition(". ")[2],
        "exact",
        "unknown" if got is None else got,
        "unknown" if wanted is None else wanted,
        Verdict.of(got == wanted),
        detail="\n".join(story),
        told=True,
    )


def draw_reading(run: Run) -> None:
    """The picture of the claim: how the talk's question is read."""
    from constructions import fact_lookup
    from verify.retrieval.attention_picture import draw

    assert run.plot is not None
    row = np.array(DEFAULT.tokens(TALK))
    draw(run.plot, run.build(fact_lookup), row, [DEFAULT.words[token] for token in row])
