"""Narration: the moves of known prompts, and how a text becomes tokens."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import rejects

from constructions import (
    broad_average,
    fact_lookup,
    hop,
    in_context_ngram,
    induction_heads,
    previous_token,
)
from theory.retrieval import words as fact_words
from verify.retrieval.narration import LINE, _Story, narrate
from verify.retrieval.snapshots import added_parts, snapshots
from verify.retrieval.words import labels, word_tokens

TALK = (
    "Jane is a teacher. Helen is a doctor. The mother of John is Helen. "
    "What is the profession of John's mother?"
)


def told(model, tokens, words):
    """The narration, one string per head."""
    lines = narrate(model, tokens, words)
    assert max(map(len, lines)) <= LINE
    return " ".join(lines).replace("     ", " ").replace(" layer", "\nlayer").split("\n")


def sentence(text, build=induction_heads, **options):
    tokens, words = word_tokens(text)
    return told(build(len(set(words)), len(tokens), **options), tokens, words)


@pytest.fixture(scope="module")
def lookup():
    return fact_lookup(256)


def fact_story(lookup, text):
    return told(lookup, lookup.interface.lexicon.tokens(text), fact_words(text))


def test_the_talks_prompt(lookup):
    story = fact_story(lookup, TALK)
    moves = [
        ("layer 1, head 1: word → subject", "is(2) … Helen(6) ← Jane(1)"),
        ("layer 1, head 2: relation → inner", "?(26) ← mother(25)"),
        ("layer 1, head 3: word → object", ".(5) ← teacher(4), .(10) ← doctor(9)"),
        ("layer 2, head 1: subject → owner", ".(17) ← is(15) = John(14)"),
        ("layer 2, head 2: inner → outer", "?(26) ← mother(25) = profession(21)"),
        ("layer 3: object → found", "?(26) ← .(17) = Helen(16)"),
        ("layer 4: object → answer", "?(26) ← .(10) = doctor(9) answer: doctor"),
    ]
    for line, (start, move) in zip(story, moves, strict=True):
        assert line.startswith(start)
        assert move in line


def test_a_missing_fact_is_the_news(lookup):
    *_, third, last = fact_story(lookup, "Jane is a teacher. Who is Jane's mother?")
    assert third == "layer 3: object → found:  nothing, every token attends to BOS"
    assert last.endswith("?(11) ← BOS: nothing answer: none (⊥)")


def test_an_induction_sentence():
    assert sentence("The cat sat on the") == [
        "layer 1: code → previous:  cat(2) ← the(1), sat(3) ← cat(2), on(4) ← sat(3), "
        "the(5) ← on(4)",
        "layer 2: code → answer:  the(5) ← cat(2) answer: cat",
    ]


def test_softmax_tells_the_same_story():
    text = "a b c a d a"
    assert sentence(text, sharpness=12.0) == sentence(text)


def test_averages_are_listed_with_their_weights():
    last = sentence("a b a c a", match="mean")[-1]
    assert "a(5) ← 1/2 each of b(2), c(4)" in last


def test_virtual_observations_have_names():
    tokens, words = word_tokens("a b a")
    assert labels(in_context_ngram(2, 3, 2), tokens, words)[:2] == ["prior:a", "prior:b"]
    last = told(in_context_ngram(2, 3, 2, pseudo_counts=2), tokens, words)[-1]
    assert "a(3) ← 2/5 prior:a + 2/5 prior:b + 1/5 b(2)" in last


def test_symbols_that_do_not_occur_are_numbers():
    assert labels(in_context_ngram(3, 3, 2), [2, 0], ["c", "a"]) == [
        *("prior:a", "prior:1", "prior:c"),
        *("c", "a"),
    ]


def test_pointers_say_where_they_point():
    tokens, words = word_tokens("a b a c a")
    first, second, third = told(hop(2, 3, 5), tokens, words)
    assert first == "layer 1: after → pointer:  a(3) ← a(1) = b(2), a(5) ← a(3) = c(4)"
    assert second == "layer 2: pointer − place → pointer:  a(3) ← b(2) = BOS, a(5) ← c(4) = BOS"
    assert third.endswith("a(5) ← BOS: nothing answer: none (⊥)")


def test_an_mlp_is_narrated():
    tokens = [0, 0, 0, 0, 0, 0]
    story = told(hop(3, 2, 6), tokens, list("aaaaaa"))
    assert story[-1] == ("layer 3, mlp: fetched − answer → answer; −fetched → fetched answer: a")


def test_long_prompts_are_cut():
    story = told(previous_token(3, 200), [0, 1, 2] * 60, list("abc") * 60)
    assert "… 168 more …, c(180) ← b(179)" in story[0]
    story = told(broad_average(2, 50), [0] * 50, list("a" * 50))
    assert "a(50) ← 1/50 each of a(1), a(2), a(3), a(4), a(5) and 45 more" in story[0]


def test_few_moves_are_not_cut():
    story = told(previous_token(3, 13), ([0, 1, 2] * 5)[:13], list("abcabcabcabca"))
    assert "more" not in story[0]
    story = told(previous_token(3, 14), ([0, 1, 2] * 5)[:14], list("abcabcabcabcab"))
    assert "k(11)" not in story[0]
    assert "… 2 more …, b(14) ← a(13)" in story[0]


@pytest.fixture
def story():
    """The narration of a b c d e f g by the head that copies the token before."""
    model = previous_token(7, 7)
    return _Story(model, labels(model, range(7), "abcdefg"), next(model.streams(range(7))).numpy())


def sources(story, *weights):
    row = np.array([0.0, *weights])
    return story._sources(row, row > 0)


def test_sources_of_a_head(story):
    assert sources(story, 1) == "a(1)"
    assert sources(story, 0.52, 0.48) == "0.52 a(1) + 0.48 b(2)"
    assert sources(story, 0.5, 0.5) == "1/2 each of a(1), b(2)"
    assert sources(story, *[1 / 6] * 6).endswith("d(4), e(5), f(6)")
    assert sources(story, *[1 / 7] * 7).endswith("d(4), e(5) and 2 more")


def test_more_than_two_neighbours_are_a_run(story):
    moves = [(i, "", "") for i in (1, 2, 4, 5, 6)]
    assert story._runs(moves) == "a(1), b(2), d(4) … f(6)"


@pytest.mark.parametrize(
    ("normalise", "weight", "line"),
    [
        ("softmax", 0.991, "g(7) ← a(1)"),
        ("softmax", 0.989, "g(7) ← 0.01 BOS + 0.99 a(1)"),
        ("softmax", 0.06, "g(7) ← 0.94 BOS + 0.06 a(1)"),
        ("softmax", 0.04, "g(7) ← 0.96 BOS + 0.04 a(1): nothing"),
        ("hardmax", 0.005, "g(7) ← 0.99 BOS + 0.01 a(1)"),
        ("hardmax", 0.0, "g(7) ← BOS: nothing"),
    ],
)
def test_small_weights_and_small_moves_are_omitted(story, normalise, weight, line):
    (snapshot,) = snapshots(story.model, range(7))
    snapshot.block.attn.normalise = normalise
    snapshot.patterns[0] = np.eye(8)[0]
    snapshot.patterns[0, 7, :2] = 1 - weight, weight
    assert story.head("head", snapshot, 0, final=True)[-1].endswith(line)


@pytest.mark.parametrize(("weight", "full", "origin"), [(0.995, 0, 1), (0.98, 0, -1), (1.0, 1, -1)])
def test_a_register_has_a_token_if_one_token_was_copied_into_it(story, weight, full, origin):
    (snapshot,) = snapshots(story.model, range(7))
    snapshot.patterns[0, 7] = [1 - weight, weight, *[0] * 6]
    snapshot.before[7, story.stream["answer"]] = full
    (part,) = added_parts(story.model, snapshot.block, 0)
    story._follow([part], snapshot.patterns[0], snapshot)
    assert story.origin["answer"][7] == origin


def test_an_mlp_copies_registers(story):
    (snapshot,) = snapshots(story.model, range(7))
    answer, code = (story.stream[name] for name in ("answer", "code"))
    snapshot.between[:, answer] = 0
    snapshot = replace(snapshot, after=snapshot.between.copy())
    snapshot.after[1, answer] = snapshot.between[1, code]
    snapshot.between[3, answer], story.origin["answer"][3] = 1, 3
    snapshot.after[3, answer] = 1.01
    before = story.origin["answer"].copy()
    story.follow_mlp(snapshot)
    assert before[[1, 3, 4]].tolist() == [-1, 3, -1]
    assert story.origin["answer"][[1, 3, 4]].tolist() == [1, -1, -1]


@pytest.mark.parametrize(("off", "shown"), [(0.24, " = a(1)"), (0.26, "")])
def test_a_pointer_is_near_the_point_of_its_position(off, shown):
    model = hop(2, 3, 5)
    story = _Story(model, labels(model, [0, 1, 0], "aba"), next(model.streams([0, 1, 0])).numpy())
    _, snapshot, _ = snapshots(model, [0, 1, 0])
    snapshot.between[3, story.stream["pointer"]] = story.places[1] + [off, 0]
    parts = added_parts(model, snapshot.block, 0)
    assert story._contents(parts, np.arange(4) == 2, snapshot, 3) == shown


def test_words_must_fit_the_tokens():
    with rejects("1", "2"):
        narrate(previous_token(2, 4), [0, 1], ["a"])
    with rejects("tokens"):
        narrate(previous_token(2, 4), [[0, 1]], ["a"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat sat. The cat ate the dog.", "the cat sat . the cat ate the dog ."),
        ("A B C A", "A B C A"),
        ("John's mother’s don't-care", "John 's mother 's don't-care"),
        ("Ünï ελ 猫 猫, «да» e\u0301!", "Ünï ελ 猫 猫 , « да » é !"),
        ("हिन्दी हिन्दी ❤️ ❤️", "हिन्दी हिन्दी ❤️ ❤️"),
        ("a_b $x 3.5", "a_b $ x 3 . 5"),
        ("\u200ba\u200b", "a"),
    ],
)
def test_words_of_a_text(text, expected):
    tokens, words = word_tokens(text)
    assert words == expected.split()
    vocabulary = list(dict.fromkeys(words))
    assert [vocabulary[token] for token in tokens] == words
    assert np.array_equal(np.unique(tokens), np.arange(len(vocabulary)))


@pytest.mark.parametrize("text", ["", "  \n\t", "\u200b"])
def test_an_empty_text_is_rejected(text):
    with rejects("prompt"):
        word_tokens(text)
