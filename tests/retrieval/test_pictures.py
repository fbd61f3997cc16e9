"""Pictures of retrieval: written, not blank, and refused where they could not be read."""

import matplotlib.image
import numpy as np
import pytest
from refusals import rejects

from constructions import composition, fact_lookup, hop, in_context_ngram, induction_heads
from theory.retrieval import Lexicon, hop_positions
from theory.retrieval import words as fact_words
from verify.evidence.picture import save
from verify.retrieval import hop_picture, pictures
from verify.retrieval.snapshots import pointed_to, snapshots
from verify.retrieval.words import word_tokens

FACTS = "Ann is a cook. ?"
LEXICON = Lexicon(("Ann", "Ben"), ("boss", "profession"), ("cook",))


def seen(path):
    """The picture's pixels, which must not all be alike."""
    pixels = matplotlib.image.imread(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert pixels[..., :3].var() > 1e-3
    return pixels


def prompt(name):
    if name == "fact_lookup":
        model = fact_lookup(LEXICON, 24)
        return model, model.interface.lexicon.tokens(FACTS), fact_words(FACTS)
    tokens, words = word_tokens("$ b b $")
    build = {
        "induction": lambda: induction_heads(5, 24, "mean", "self"),
        "ngram": lambda: in_context_ngram(5, 3, 24, sharpness=16.0),
    }
    return build[name](), tokens, words


@pytest.mark.parametrize("name", ["ngram", "fact_lookup"])
def test_attention(tmp_path, name):
    path = tmp_path / "attention.png"
    save(path, pictures.draw, *prompt(name))
    seen(path)


def test_attention_to_the_examples_only(tmp_path):
    save(tmp_path / "a.png", pictures.draw, composition(1), [0, 0, 0], list("fgx"))
    seen(tmp_path / "a.png")


def test_hops(tmp_path):
    _, tokens, words = prompt("induction")
    save(tmp_path / "hops.png", hop_picture.draw, hop(5, 5, 24), tokens, words)
    seen(tmp_path / "hops.png")


def test_the_pointers_drawn_are_powers_of_find():
    tokens = np.random.default_rng(0).integers(3, size=30)
    model = hop(7, 3, 40)
    assert hop_picture.hops_answered(model) == [0, 1, 3, 7]
    for number, snapshot in enumerate(snapshots(model, tokens)):
        pointers = pointed_to(model, snapshot.after[:, model.stream["pointer"]])
        power = 2 ** min(number, 2)
        assert pointers[0] == 0
        assert np.array_equal(pointers[1:] - 1, hop_positions(tokens, power))


def test_long_words_are_shortened():
    names = pictures.readable(induction_heads(1, 4), [0], ["a" * 30])
    assert names == ["BOS", "a" * 13 + "…"]


@pytest.mark.parametrize("draw", [pictures.draw, hop_picture.draw])
def test_too_long_prompts_are_refused(draw):
    model = hop(2, 1, 50)
    with rejects("41 tokens"):
        draw(model, [0] * 41, ["a"] * 41)
    assert len(pictures.readable(model, [0] * 40, ["a"] * 40)) == 41


def test_hops_need_pointers():
    with rejects("pointer"):
        hop_picture.draw(*prompt("induction"))
