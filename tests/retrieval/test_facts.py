"""Questions in English: the transformer against `theory.retrieval.facts`, fact by fact."""

import copy
import dataclasses

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import fact_lookup
from constructions.retrieval.fact_registers import numbers
from theory.retrieval import DEFAULT, Lexicon, answer, read
from verify.claim import Run
from verify.evidence.gaps import gap_finding
from verify.evidence.registers import register_differences
from verify.finding import Verdict
from verify.retrieval import facts as claims
from verify.retrieval.facts import facts, head_states

EXAMPLE = (
    "Jane is a teacher. Helen is a doctor. The mother of John is Helen. "
    "What is the profession of John's mother?"
)
LONGEST = 90
MODEL = fact_lookup(LONGEST)
SOFT = MODEL.sharpened(MODEL.least_sharpness() * 1.001)
WORDS = {word: token for token, word in enumerate(DEFAULT.words)}
# Few of each, so that chains, updates and missing facts are common.
ENTITIES = (*DEFAULT.names, *DEFAULT.objects)
NAMES, RELATIONS, OBJECTS = ("John", "Jane"), ("boss", "profession"), ("pilot", "Paris")


def one_of(rng, words):
    return words[rng.integers(len(words))]


def statement(rng):
    """A statement of the grammar, in any of its forms."""
    who, relation, what = (one_of(rng, w) for w in (NAMES, RELATIONS, NAMES * 3 + OBJECTS))
    forms = (
        f"{who} is {one_of(rng, ('a', 'an'))} {one_of(rng, OBJECTS)}.",
        f"{who}'s {relation} is {what}.",
        f"The {relation} of {who} is {what}.",
    )
    return one_of(rng, forms)


def question(rng):
    who, inner, outer = (one_of(rng, words) for words in (NAMES, RELATIONS, RELATIONS))
    forms = (
        f"the {inner} of {who}",
        f"{who}'s {inner}",
        f"the {outer} of {who}'s {inner}",
        f"the {outer} of the {inner} of {who}",
    )
    return f"{one_of(rng, ('What', 'Who'))} is {one_of(rng, forms)}?"


def some_facts(rng, most):
    return [statement(rng) for _ in range(rng.integers(most + 1))]


def text_of(seed, most=10):
    rng = np.random.default_rng(seed)
    return " ".join([*some_facts(rng, most), question(rng)])


def test_the_question_of_the_talk():
    assert fact_lookup(256)(EXAMPLE) == "doctor"
    model = fact_lookup(256)
    assert fact_lookup(256, sharpness=model.least_sharpness() * 1.001)(EXAMPLE) == "doctor"


def test_random_texts():
    found = {1: [], 2: []}
    for seed in range(200):
        text = text_of(seed)
        wanted = answer(text)
        assert MODEL(text) == wanted, text
        assert SOFT(text) == wanted, text
        found[len(read(text)[2])].append(wanted)
    # One step or two, with an answer and without.
    for answers in found.values():
        assert 15 <= answers.count(None) <= len(answers) - 15


@pytest.mark.parametrize("seed", range(40))
def test_registers_contain_the_facts_and_the_relations_of_the_question(seed):
    text = text_of(seed)
    facts, subject, steps = read(text)
    tokens = np.array(DEFAULT.tokens(text))
    held = numbers(DEFAULT, tokens)
    relation = {name: i for i, name in enumerate(DEFAULT.relations)}
    itself = len(DEFAULT.relations)
    ends = tokens == WORDS["."]
    as_read = [(WORDS[who], relation[what], WORDS[whom]) for who, what, whom in facts]
    assert [
        *zip(*(held[name][ends] for name in ("owner", "inner", "object")), strict=True)
    ] == as_read
    entities = np.isin(tokens, [WORDS[word] for word in ENTITIES])
    assert (held["owner"] == held["object"])[entities].all()
    assert (held["owner"] == tokens)[entities].all()
    assert (held["inner"][entities] == itself).all()
    found = {fact[:2]: fact.object for fact in facts}.get((subject, steps[0]))
    asked = {
        "subject": WORDS[subject],
        "inner": relation[steps[0]],
        "outer": relation[steps[1]] if len(steps) == 2 else itself,
        "found": WORDS.get(found, -1),
        "answer": WORDS.get(answer(text), -1),
    }
    assert {name: held[name][-1] for name in asked} == asked


def test_registers_hold_the_lines_of_the_proof_in_any_sequence_of_words():
    often = [*DEFAULT.tokens("is a the of 's . ? What"), *map(WORDS.get, RELATIONS + NAMES)]
    tokens = np.random.default_rng(0).choice(often, (100, LONGEST))
    assert not [*register_differences(facts(Run()), MODEL, tokens)]
    assert all(stage.holds(tokens).any() for stage in MODEL.stages)


def test_a_text_has_one_answer_and_no_next_tokens():
    text = "Jane is a teacher. What is the profession of Jane?"
    with rejects("tokens"):
        MODEL.generate(text, 2)
    given = DEFAULT.tokens(text)
    assert MODEL.generate(given, 1).tolist() == MODEL(given)[-1:].tolist()


@pytest.mark.parametrize("register", ["owner", "outer"])
def test_a_wrong_register_is_noticed(register):
    faulty = copy.deepcopy(MODEL)
    (stage,) = [stage for stage in faulty.stages if stage.register == register]
    faulty.blocks[stage.after - 1].attn.W_O[:, :, faulty.stream[register]] *= 2
    wrong, *_ = register_differences(facts(Run()), faulty, np.array([DEFAULT.tokens(EXAMPLE)]))
    assert all(word in wrong for word in (f"layer {stage.after}", f"register {register}", EXAMPLE))


def gap_verdicts(model):
    found = (gap_finding("", model, states) for states in head_states(model))
    return {finding.id: finding.verdict for finding in found}


SHORT = fact_lookup(max_length=2)


def test_every_head_keeps_the_gap_that_it_declares():
    kept = gap_verdicts(SHORT)
    assert len(kept) == sum(len(block.margins) for block in SHORT.blocks)
    assert set(kept.values()) == {Verdict.HOLDS}
    wider = copy.deepcopy(SHORT)
    for block in wider.blocks:
        margins = (dataclasses.replace(m, gap=1.01 * m.gap) for m in block.margins)
        block.margins = tuple(margins)
    assert gap_verdicts(wider) == dict.fromkeys(kept, Verdict.FAILS)


@pytest.mark.parametrize(
    "text",
    [
        "Who is Tom's boss?",
        "What is the profession of Tom's boss?",
        # A name that is a subject and an object, and one that is its own boss.
        "The boss of Tom is Tom. Who is the boss of Tom's boss?",
        "Tom's boss is Eve. Eve's boss is Tom. Who is the boss of the boss of Tom?",
        # The same fact twice, and one that is replaced and comes back.
        "Tom is a baker. Tom is a baker. What is Tom's profession?",
        "Tom is a baker. Tom is a pilot. Tom is a baker. What is the profession of Tom?",
        # Another fact of the same relation or of the same name comes later.
        "Tom's boss is Eve. Jane's boss is Max. Tom's friend is Bob. Who is the boss of Tom?",
        # The answer to the first step is no name, and has no facts of its own.
        "Tom's boss is London. What is the hometown of Tom's boss?",
        "Tom's boss is London. What is Tom's boss?",
        "Tom's hometown is Eve. Eve's profession is Paris. What is the profession of Tom's "
        "hometown?",
        "The friend of Tom is Eve. Who is the friend of Eve?",
        "What is Zoe’s mother?",
        "Who is the profession of the profession of Max?",
    ],
)
def test_cases_at_the_edge(text):
    assert MODEL(text) == answer(text)
    assert SOFT(text) == answer(text)


@pytest.mark.parametrize("seed", range(30))
def test_every_question_of_a_text_is_answered_from_what_precedes_it(seed):
    """At any other word the answer is −1."""
    rng = np.random.default_rng(seed)
    text, wanted, before = "", [], []
    for _ in range(3):
        facts, asked = some_facts(rng, 3), question(rng)
        text += " ".join([*facts, asked]) + " "
        before += facts
        wanted.append(answer(" ".join([*before, asked])))
    tokens = np.array(DEFAULT.tokens(text))
    answers = MODEL(tokens).numpy()
    asked = tokens == WORDS["?"]
    assert (answers[~asked] == -1).all()
    assert [DEFAULT.words[t] if t >= 0 else None for t in answers[asked]] == wanted


def test_texts_are_batched_as_tokens():
    texts_ = [
        EXAMPLE,
        EXAMPLE.replace("doctor", "pilot"),
        EXAMPLE.replace("The mother", "The boss"),
    ]
    tokens = np.array([DEFAULT.tokens(text) for text in texts_])
    answers = fact_lookup(max_length=tokens.shape[1])(tokens)[:, -1].tolist()
    assert answers == [WORDS["doctor"], WORDS["pilot"], -1]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_text_of_a_thousand_words(dtype):
    rng = np.random.default_rng(0)
    facts = []
    while len(facts) < 165:
        who, whom, relation = (one_of(rng, w) for w in (DEFAULT.names, ENTITIES, DEFAULT.relations))
        facts.append(f"The {relation} of {who} is {whom}.")
    # Facts about a friend of Max, early in the text.
    facts[3:3] = ["Zoe's mother is Max.", "The friend of Max is Rome."]
    text = " ".join([*facts, "Who is the friend of Zoe's mother?"])
    model = fact_lookup(max_length=len(DEFAULT.tokens(text))).to(dtype)
    assert model.interface.max_length > 1160
    assert model(text) == answer(text) is not None


@pytest.mark.parametrize(
    "lexicon",
    [
        Lexicon(("Ann", "Ben"), ("boss",), ("red",)),
        Lexicon(("Ann",), ("profession",), ("red", "blue")),
        Lexicon(("Ann", "Ben"), ("is-like", "profession", "knows"), ()),
        dataclasses.replace(DEFAULT, names=tuple(f"X{i}" for i in range(200))),
    ],
    ids=lambda lexicon: f"{len(lexicon.words)} words",
)
def test_other_lexicons(lexicon):
    model = fact_lookup(65, lexicon)
    soft = model.sharpened(model.least_sharpness() * 1.001)
    names, found = lexicon.names[-2:], []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        facts = []
        for _ in range(rng.integers(1, 9)):
            who, whom = one_of(rng, names), one_of(rng, names + lexicon.objects[:1])
            facts.append(f"The {one_of(rng, lexicon.relations)} of {who} is {whom}.")
        asked = f"{one_of(rng, names)}'s {one_of(rng, lexicon.relations)}"
        text = " ".join([*facts, f"Who is the {one_of(rng, lexicon.relations)} of {asked}?"])
        found.append(answer(text, lexicon))
        assert model(text) == soft(text) == found[-1]
    assert set(found) - {None}
    assert None in found or not lexicon.objects


@pytest.mark.parametrize(("words", "r", "q"), [((40, 8, 33), 7, 4), ((1, 1, 0), 4, 1)])
def test_size(words, r, q):
    lexicon = Lexicon(
        *(tuple(f"{k}{i}" for i in range(m)) for k, m in zip("NRO", words, strict=True))
    )
    model = fact_lookup(256, lexicon)
    assert model.n_layers == 4
    assert model.n_heads == 3
    assert model.d_model == 6 * r + 3 * q + 8


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Jane is a teacher.", "Jane is a teacher."),
        ("", "question"),
        ("Who is Tom's boss? Tom", "question"),
        ("Who is Tomm's boss?", "Tomm"),
        ("Who is Tom's boss!", "text"),
        ("Tom is a baker. " * 20 + "Who is Tom's boss?", "106"),
    ],
)
def test_texts_that_cannot_be_read(text, name):
    with rejects(name):
        MODEL(text)


@pytest.mark.parametrize(
    "text",
    [
        "John's mother is Mary. Who is John's mother's mother?",
        "Mary's father is John. John is a doctor. What is Mary's father's profession?",
        "Jane's mother is Mary. Who is Jane?",
        "Jane's mother is Mary Who is Jane's mother?",
        "Who is Jane's mother? Who is Jane's mother?",
        "?",
    ],
)
def test_texts_outside_the_grammar_are_rejected_as_by_the_definition(text):
    with rejects():
        answer(text)
    with rejects():
        MODEL(text)


@pytest.mark.parametrize("register", ["owner", "inner", "object"])
def test_one_fact_in_another_register_is_noticed(register, monkeypatch):
    reader = facts(Run()).at(0, 64).model
    text = "Jane is a doctor. John is a teacher. What is the profession of Jane?"
    assert list(claims._wrong_facts(reader, text)) == []
    right = reader.streams

    def streams(tokens):
        for H in right(tokens):
            last = 1 + np.flatnonzero(tokens == claims.NUMBER["."])[-1]
            H[last, reader.stream[register]] += 1
            yield H

    monkeypatch.setattr(reader, "streams", streams)
    assert len(list(claims._wrong_facts(reader, text))) == 1


def test_an_answer_that_is_not_the_parsers_fails(monkeypatch):
    reader = facts(Run()).at(0, 64).model
    assert claims._answers_as(reader, "id", claims.EXAMPLE).verdict is Verdict.HOLDS
    monkeypatch.setattr(claims, "answer", lambda text: None)
    assert claims._answers_as(reader, "id", claims.EXAMPLE).verdict is Verdict.FAILS


def test_the_narration_of_a_prompt_is_printed_also_if_the_answer_is_right():
    finding = claims.on_words(Run(), EXAMPLE)
    assert (finding.verdict, finding.detailed) == (Verdict.HOLDS, True)
    assert len(finding.detail.splitlines()) > 1
