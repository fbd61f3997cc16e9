"""Which layer of a model has no form in softmax heads, on models of a few layers written for it."""

from contextlib import nullcontext

import numpy as np
import pytest
from refusals import rejects

from constructions import gradient_descent, induction_heads
from constructions.assembly import Head, block, embed, moved, unembed
from constructions.blocks import LayerNorm
from constructions.examples import Examples
from constructions.primitives import Move
from constructions.stock import to_encoder
from constructions.stock.translatable import check_translatable
from constructions.stream import Stream, one
from constructions.transformer import Transformer

STREAM = Stream(x=1, y=1, seen=1, copy=1, answer=1)
LATER = Head(
    one, one, STREAM.read("y"), "seen", mask="context-only"
)  # wrong in examples, if causal


def of(*layers, stream=STREAM):
    return Transformer(
        embed(stream, x={"x": 1.0}, y={"y": 1.0}),
        list(layers),
        unembed(stream, stream.read("answer")),
        interface=Examples(1),
        stream=stream,
        stages=(),
        name="layers",
        source="tests",
    )


def reads(register):
    """A layer whose keys are what a register holds in examples."""
    head = Head(one, STREAM.read(register), STREAM.read("y"), "answer", mask="context-only")
    return block(STREAM, [head])


COPIES = {
    "as it is": ("seen", []),
    "by an own head": ("copy", [block(STREAM, [moved(STREAM.read("seen"), "copy")])]),
    "by an MLP": ("copy", [block(STREAM, [], [Move(STREAM.read("seen"), "copy")])]),
    "by a query": (
        "copy",
        [block(STREAM, [Head(STREAM.read("seen"), one, STREAM.read("y"), "copy", mask="causal")])],
    ),
}


@pytest.mark.parametrize("how", COPIES)
def test_what_is_wrong_in_examples_is_followed_to_who_reads_it(how):
    register, between = COPIES[how]
    model = of(block(STREAM, [LATER]), *between, reads(register))
    with rejects(f"layer {2 + len(between)}"):
        check_translatable(model, causal=True)
    check_translatable(model, causal=False)
    other = {"seen": "copy", "copy": "x"}[register]
    check_translatable(of(block(STREAM, [LATER]), *between, reads(other)), causal=True)


def test_an_mlp_of_the_same_layer_copies_too():
    first = block(STREAM, [LATER], [Move(STREAM.read("seen"), "copy")])
    with rejects("layer 2"):
        check_translatable(of(first, reads("copy")), causal=True)


@pytest.mark.parametrize("place", ["ln1", "ln2", "ln_final"])
@pytest.mark.parametrize(
    "build", [lambda: gradient_descent(1, 1, 0.5), lambda: induction_heads(2, 3)]
)
def test_layer_norms_of_a_model_s_own_are_refused(place, build):
    model = build()
    setattr(model if place == "ln_final" else model.blocks[-1], place, LayerNorm(model.d_model))
    with rejects("norms"):
        check_translatable(model, causal=False)


def test_a_register_with_a_name_of_the_translation_is_named():
    given = np.ones((2, 1)), np.ones(2), np.ones(1)
    for name, taken in (("seen", False), ("is_sink", True), ("is_hidden", True)):
        stream = Stream(x=1, y=1, answer=1, **{name: 1})
        head = Head(stream.read("x"), stream.read("x"), stream.read("y"), "answer", mask="full")
        model = of(block(stream, [head]), stream=stream)
        with rejects(name) if taken else nullcontext():
            to_encoder(model, *given)
