"""Toy models that are wrong in one way each, and the findings that have to notice it."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from constructions import gradient_descent
from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.margins import Margin
from constructions.stream import Stream, one
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.regression import by_definition
from verify.claim import Run
from verify.evidence.identity import equality
from verify.evidence.registers import registers_hold
from verify.evidence.sequences import agreement
from verify.evidence.statement import OverExamples, OverTokens
from verify.finding import Verdict

TINY = 2.0**-50  # of a number, is a few of its last bits
SMALL = 2.0**-20  # is below what a reader sees, and above what float64 rounds


def last_token(V, n, latest=None, more=0.0, times=1.0):
    """The last token of the whole sequence, at every position: its rank is the largest.

    latest  ranks of positions, by n, other than 0 … n − 1
    more    what the embedding writes into the answer
    times   the size of the answer
    """
    stream = Stream(token=V, rank=1, answer=V)
    ranks = np.arange(n) if latest is None else latest(n)
    token, margin = times * stream.read("token"), Margin(0.5, graded=False)
    head = Head(one, stream.read("rank"), token, "answer", margin=margin)
    return Transformer(
        Embed(rows(stream, token=np.eye(V), answer=np.full((V, V), more))),
        [block(stream, [head], normalise="hardmax", mask="full")],
        unembed(stream, stream.read("answer")),
        pos_embed=PosEmbed(rows(stream, rank=ranks)),
        interface=Tokens(V, n, margin=1.0),
        stream=stream,
        stages=(Stage(1, "answer", lambda tokens: np.eye(V)[last(tokens)]),),
        name="last token",
        source="",
    )


def last(tokens):
    return np.broadcast_to(tokens[..., -1:], tokens.shape)


def early(n):
    """The first position is before the last of n, and after all others."""
    return np.where(np.arange(n) == 0, n - 1.5, np.arange(n))


def late(n):
    """Positions from the seventh on are as the first."""
    return np.where(np.arange(n) < 6, np.arange(n), 0)


def late_if_longer(n):
    """Positions from the twentieth on are as the first."""
    return np.where(np.arange(n) < 19, np.arange(n), 0)


@pytest.mark.parametrize(
    ("wrong", "noticed"),
    [
        ({}, set()),
        ({"latest": early}, {"all-short"}),
        ({"latest": late}, {"long", "margin", "rational", "registers"}),
        ({"latest": late_if_longer}, {"long"}),
        ({"more": SMALL}, {"registers"}),
        ({"times": 1 + SMALL}, {"margin", "registers"}),
    ],
    ids=["right", "short sequences", "long sequences", "longer sequences", "register", "size"],
)
@pytest.mark.parametrize("quick", [True, False])
def test_a_fault_is_noticed_where_it_is(wrong, noticed, quick):
    statement = OverTokens("last token", lambda V, n: last_token(V, n, **wrong), last)
    with torch.no_grad():
        found = list(agreement(Run(quick=quick), statement, 3, 12, 16))
    fails = {each.id.split("/")[-1] for each in found if each.verdict is Verdict.FAILS}
    assert fails == noticed


def last_step(model):
    for layer in model.blocks[-1:]:  # none, for no step
        layer.attn.W_O *= 1 + TINY


def unembedding(model):
    model.unembed.W_U *= 1 + TINY


def last_stage(model):
    off = (replace(stage, times=stage.times * (1 + TINY)) for stage in model.stages[-1:])
    model.stages = *model.stages[:-1], *off


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        (lambda model: None, set()),
        (last_step, {"rational", "modular", "symbolic", "registers"}),
        (unembedding, {"rational", "modular", "symbolic"}),
        (last_stage, {"registers"}),
    ],
    ids=["right", "last step", "read-out", "stage"],
)
def test_a_fault_in_the_last_bits_is_no_identity(change, noticed):
    """Two steps of gradient descent, off by 2⁻⁵⁰ of their size."""

    def build(d, n, k):
        model = gradient_descent(d, k, 0.25)
        change(model)
        return model

    steps = partial(by_definition.gradient_descent, step_size=0.25)
    case, run = OverExamples(build, steps).at(2, 3, 2), Run(quick=True)
    with torch.no_grad():
        found = [*equality(run, case, "all"), registers_hold(run, case)]
    assert {each.id for each in found} == {"rational", "modular", "symbolic", "registers"}
    assert {each.id for each in found if each.verdict is Verdict.FAILS} == noticed
    assert {each.id for each in found if each.verdict is not Verdict.HOLDS} == noticed
