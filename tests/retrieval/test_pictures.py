"""Pictures of retrieval: what is drawn, and where it could not be read."""

import matplotlib.image
import numpy as np
import pytest
from refusals import rejects

from constructions import composition, hop, induction_heads
from constructions.stream import Stream
from theory.retrieval import hop_positions
from verify.evidence.picture import save
from verify.retrieval import hop_picture, pictures
from verify.retrieval.snapshots import pointed_to, snapshots


def test_attention_to_the_examples_only(tmp_path):
    save(tmp_path / "a.png", pictures.draw, composition(1), [0, 0, 0], list("fgx"))
    assert matplotlib.image.imread(tmp_path / "a.png")[..., :3].var() > 1e-3


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
def test_too_long_prompts_are_rejected(draw):
    model = hop(2, 1, 50)
    with rejects("41 tokens"):
        draw(model, [0] * 41, ["a"] * 41)
    assert len(pictures.readable(model, [0] * 40, ["a"] * 40)) == 41


def test_hops_need_pointers():
    with rejects("pointer"):
        hop_picture.draw(induction_heads(3, 3), [0, 1, 0], list("aba"))
    for only in (Stream(pointer=1), Stream(answer=1)):
        model = hop(2, 3, 3)
        model.stream = only
        with rejects("pointer", "answer"):
            hop_picture.draw(model, [0, 1, 0], list("aba"))
