"""Declared score gaps against actual ones, and the bounds that follow from them against runs."""

import copy
import functools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects
from token_models import LEXICON, MODELS, a_model, prompts

from constructions import Transformer, fact_lookup, induction_heads, newton, skip_gram, softmax
from constructions.assembly import mlp, rows, unembed
from constructions.blocks import Block, Embed
from constructions.margins import Margin, Restores, sharpening
from constructions.primitives import Step
from constructions.softmax import score_sizes, softmax_error
from constructions.stream import Stream
from constructions.tokens import Tokens
from theory.retrieval import all_sequences

every = pytest.mark.parametrize("name", MODELS)


@functools.cache
def least_sharpness(name, V, n, error=None):
    return a_model(name, V, n).least_sharpness(error)


def distances(model, tokens):
    """Per layer: how far each visible score is below the largest (…, heads, T, tokens); inf if
    the token is hidden."""
    for block, H in zip(model.blocks, model.streams(tokens), strict=False):
        (heads,) = block.attn.parts()
        Q, K = heads.queries_keys(H, model.interface.n_examples)
        scores = Q @ K.transpose(-1, -2)
        scores = scores.masked_fill(heads.hidden(scores), -torch.inf)
        yield scores.amax(-1, keepdim=True) - scores


def assert_margins_hold(model, tokens):
    """The smallest gap of each head, for comparison with the declared one."""
    smallest = []
    for block, below in zip(model.blocks, distances(model, tokens), strict=True):
        for h, margin in enumerate(block.margins):
            gaps = below[:, h] / margin.gap
            others = gaps[(gaps > 0) & (gaps < torch.inf)]
            least = float(others.min()) if others.numel() else math.inf
            assert least >= 1
            smallest.append(least)
            if margin.graded and math.isfinite(margin.gap):
                assert torch.equal(others, others.round())
                # There are fewer than 4m tokens in all for a larger m.
                for m in range(1, gaps.shape[-1] // 4 + 1):
                    assert ((gaps == m).sum(-1) <= 4 * m).all()
                # One token is attended to, so errors of the scores move no weight among several.
                assert ((gaps == 0).sum(-1) == 1).all()
    return smallest


@every
@pytest.mark.parametrize(("V", "n"), [(1, 3), (2, 7), (3, 5), (4, 5)])
def test_margins_of_all_sequences(name, V, n):
    model = a_model(name, V, n)
    if name in ("composition", "facts"):
        assert_margins_hold(model, prompts(model))
        return
    smallest = assert_margins_hold(model, all_sequences(n, V))
    # Pseudo-counts have the score of a match, so that the next one is further below; a head that
    # compares nothing has no gap.
    if V > 1 and name not in ("average", "bigram", "skip-gram"):
        assert set(smallest) == {1.0}


@every
@pytest.mark.parametrize(("V", "n"), [(8, 33), (3, 65)])
def test_margins_of_longer_sequences(name, V, n):
    model = a_model(name, V, n)
    smallest = assert_margins_hold(model, prompts(model))
    # Every construction whose margins are of positions attains them.
    if name not in ("average", "bigram", "facts"):
        assert set(smallest) == {1.0}


def test_margins_of_grammatical_texts():
    text = (
        "Ann is a cook. The boss of Ann is Ben. Ben's profession is cook. Ben's boss is Ann. "
        "Who is the boss of Ann's boss? What is Ben's profession? What is the boss of the boss "
        "of Ben?"
    )
    tokens = LEXICON.tokens(text)
    smallest = assert_margins_hold(fact_lookup(len(tokens), LEXICON), np.array([tokens]))
    assert min(smallest) == 1


def leak(distances, sharpness, errors):
    """The softmax weight of tokens that lie `distances` below one right token."""
    weights = [
        math.exp(-sharpness * (distance - error))
        for distance, error in zip(distances, errors, strict=True)
    ]
    return math.fsum(weights) / (1 + math.fsum(weights))


@st.composite
def graded_scores(draw):
    """A gap, and distances of which at most 4m are at least m and less than m + 1 gaps."""
    gap = draw(st.sampled_from([0.25, 1.0, 8.0]))
    distances = []
    for m in range(1, draw(st.integers(1, 8)) + 1):
        count = draw(st.integers(0, 4 * m) | st.just(4 * m))
        parts = st.lists(st.just(0.0) | st.floats(0, 0.99), min_size=count, max_size=count)
        distances += [gap * (m + part) for part in draw(parts)]
    return gap, distances


@given(graded_scores(), st.floats(0.01, 20), st.floats(0, 1), st.data())
def test_the_leak_of_graded_scores_is_bounded(scores, sharpness, part, data):
    gap, below = scores
    error = part * gap / 2
    # The right score is too low by `error` and every other one too high by up to as much.
    signs = st.lists(st.floats(0, 2), min_size=len(below), max_size=len(below))
    errors = [error * size for size in (data.draw(signs) if part < 0.5 else [2] * len(below))]
    actual = leak(below, sharpness, errors)
    bounds = [Margin(gap, g).leak(sharpness, error, len(below)) for g in (True, False)]
    for bound in bounds:
        # Both sides are rounded a few times.
        assert actual <= bound * (1 + 1e-12)
    assert bounds[0] <= bounds[1] <= 1


@given(st.integers(1, 500), st.floats(0.1, 30))
def test_the_leak_of_a_crowd_is_attained(others, sharpness):
    """All others exactly one gap below."""
    bound = Margin(1.0, graded=False).leak(sharpness, 0.0, others)
    actual = leak([1.0] * others, sharpness, [0.0] * others)
    assert bound == pytest.approx(actual, rel=1e-12, abs=0)


def test_the_leak_of_a_full_lattice_is_nearly_attained():
    """4m tokens m below, the worst that is allowed."""
    for sharpness in (2.0, 5.0):
        below = [float(m) for m in range(1, 40) for _ in range(4 * m)]
        actual = leak(below, sharpness, [0.0] * len(below))
        bound = Margin(1.0).leak(sharpness, 0.0, 10**9)
        assert bound == pytest.approx(actual, rel=1e-9, abs=0)


def test_leaks_at_the_ends():
    assert Margin(np.inf).leak(1.0, 0.0, 10) == 0
    assert Margin(1.0).leak(1e9, 0.0, 10) == 0
    assert Margin(1.0).leak(1e-9, 0.0, 10) == pytest.approx(10 / 11)
    assert Margin(1.0).leak(1e9, 1e9, 10) == 1


@pytest.mark.parametrize("part", [0.01, 0.1])
def test_errors_of_both_sides_multiply_in_the_scores(part):
    """Queries and keys of relative error r make scores (1 + r)² as large, so the error of scores of
    gap 2 and size at most |1·1| + |−1·1| is 2·(2r + r²)."""
    model, beta = skip_gram([[1.0, -1.0], [-1.0, 1.0]], 9), 10.0
    assert score_sizes(model) == [(2.0,)]
    ((leak,),) = softmax_error(model, beta, relative=part).leaks
    off = 2 * ((1 + part) ** 2 - 1)
    ratio = 8 * math.exp(beta * (2 * off - 2))
    assert leak == pytest.approx(ratio / (1 + ratio), rel=1e-9, abs=0)


@pytest.mark.parametrize("part", [0.2, 0.25, 0.3])
def test_an_mlp_restores_only_what_it_reads_closely_enough(part):
    """A step from ¼ to ¾ maps 1 to 1; its input is 1 − error instead of 1."""
    stream = Stream(x=1, y=1)
    step = Step(stream.read("x"), 0.75, "y", 0.5)
    layer = Block(mlp=mlp(stream, [step]), restores=(Restores(("y",), {"x": 0.25}),))
    embed, read = Embed(rows(stream, x=np.array([0, 1]))), unembed(stream, stream.read("y"))
    model = Transformer(embed, [layer], read, interface=Tokens(2, 4), stream=stream, source="")
    H = torch.zeros(2).double()
    H[stream["x"]] = 1 - part
    off = float(1 - layer.mlp(H[None])[0, stream["y"]])
    assert off == pytest.approx(max(2 * (part - 0.25), 0))
    bound = softmax_error(model, 1.0, relative=part).registers["y"]
    assert off <= bound
    assert (bound == 0) == (part <= 0.25)


def test_what_an_mlp_restores_has_the_rounding_of_its_sums():
    """The step from ¼ to ¾ is 2·relu(x − ¼) − 2·relu(x − ¾), for an x of size 1."""
    stream = Stream(x=1, y=1)
    layer = Block(
        mlp=mlp(stream, [Step(stream.read("x"), 0.75, "y", 0.5)]),
        restores=(Restores(("y",), {"x": 0.25}),),
    )
    embed, read = Embed(rows(stream, x=np.array([0, 1]))), unembed(stream, stream.read("y"))
    model = Transformer(embed, [layer], read, interface=Tokens(2, 4), stream=stream, source="")
    W, b, W_out = (
        abs(each.double().numpy()) for each in (layer.mlp.W_in, layer.mlp.b_in, layer.mlp.W_out)
    )
    terms = (1 + 0.5) * W[stream["x"]][0] + 1 + b  # a constant of ½ is added to x
    to_y = W_out[:, stream["y"]][:, 0]
    # Each neuron has one weight, so two products; the output has a term for each neuron and a bias.
    wanted = 0.125 * ((2 + 3) * terms @ to_y + ((to_y > 0).sum() + 1) * terms @ to_y)
    found = softmax_error(model, 1.0, constant=0.5, rounding=0.125).registers
    assert found["y"] == pytest.approx(wanted, rel=1e-8)
    assert found["x"] == 0
    assert softmax_error(model, 1.0).registers["y"] == 0


def at_any_sharpness(model):
    """A copy whose `sharpened` accepts a sharpness at which answers can be wrong."""
    blunt = copy.deepcopy(model)
    blunt.interface.margin = None
    return blunt


def attended_weight(model, soft, tokens):
    """Per layer: the softmax weight on the tokens that hardmax attends to (…, heads, T)."""
    n_examples = model.interface.n_examples
    streams = zip(model.streams(tokens), soft.streams(tokens), strict=True)
    for block, softer, (H, G) in zip(model.blocks, soft.blocks, streams, strict=False):
        hit = block.attn.pattern(H, n_examples) > 0
        yield (softer.attn.pattern(G, n_examples) * hit).sum(-1)


@every
@pytest.mark.parametrize("sharpness", [0.3, 1.5, 4.0, 12.0])
def test_softmax_is_as_close_to_hardmax_as_the_bound_says(name, sharpness):
    for V, n in ((3, 9), (8, 17)):
        model = a_model(name, V, n)
        soft, tokens = at_any_sharpness(model).sharpened(sharpness), prompts(model)
        bound = model.softmax_error(sharpness)
        # Float64 rounding: weights, averages and codes are sums of fewer than 2^10 terms, each
        # off by a few 2^-53, and no value here exceeds 2^10.
        slack = 2.0**-53 * 2**10 * 2**10
        for leaks, attended in zip(bound.leaks, attended_weight(model, soft, tokens), strict=True):
            actual = 1 - attended.amin((0, 2))
            assert (actual <= torch.tensor(leaks) + slack).all()
        for hard, G in zip(model.streams(tokens), soft.streams(tokens), strict=True):
            difference = (hard - G).abs().amax((0, 1))
            for register in model.stream:
                actual = float(difference[model.stream[register]].max())
                assert actual <= bound.registers[register] + slack, register
        actual = float((model.logits(tokens) - soft.logits(tokens)).abs().max())
        assert actual <= bound.logits + slack
        assert bound.logits < 1e7


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("average", "facts")])
def test_the_bound_on_the_logits_is_not_far_off(name):
    """Where answers are about to be right, within a factor of 200 of what some prompt needs."""
    model = a_model(name, 3, 9)
    beta, tokens = least_sharpness(name, 3, 9), prompts(model)
    soft = model.sharpened(beta * 1.001)
    actual = float((model.logits(tokens) - soft.logits(tokens)).abs().max())
    assert actual >= model.softmax_error(beta).logits / 200


@every
def test_the_least_sharpness_is_the_least(name):
    V, n = 3, 9
    model = a_model(name, V, n)
    margin = model.interface.margin
    for error in (None, 1e-6):
        beta = least_sharpness(name, V, n, error)
        wanted = 0.499 * margin if error is None else error
        assert model.softmax_error(beta).logits <= wanted
        if beta > 2.0**-20:  # from which on it is searched
            assert model.softmax_error(0.99 * beta).logits > wanted


@every
def test_bounds_shrink_as_sharpness_grows(name):
    model = a_model(name, 8, 33)
    errors = [model.softmax_error(beta) for beta in np.geomspace(0.01, 100, 15)]
    logits = np.array([error.logits for error in errors])
    assert np.isfinite(logits).all()
    # Before nearly all weight is on right tokens, the errors of scores may grow faster.
    small = logits < (1 if name == "average" else model.interface.margin)
    assert not small[0] or name == "average"
    assert small[-1]
    assert (np.diff(small.astype(int)) >= 0).all()
    assert (np.diff(logits[small]) <= 0).all()
    for register in model.stream:
        found = np.array([error.registers[register] for error in errors])
        assert (np.diff(found[small]) <= 0).all()


@given(st.floats(1, 1e12))
def test_sharpening_keeps_its_promise(amplification):
    c = sharpening(amplification)
    assert math.log2(c).is_integer()
    assert 16 * amplification * math.exp(-c) <= 1 / 4
    assert 16 * amplification * math.exp(-c / 2) > 1 / 4


def test_errors_are_not_followed_through_linear_heads():
    model = copy.deepcopy(a_model("latest", 3, 9))
    model.attentions[-1].normalise = "linear"
    with rejects("layer 2"):
        model.softmax_error(2.0)


@pytest.mark.parametrize("wrong", [-1.0, 0.0, math.nan, math.inf])
def test_bad_sharpness_and_error(wrong):
    with rejects("sharpness"):
        a_model("latest", 3, 9).softmax_error(wrong)
    with rejects("error"):
        a_model("latest", 3, 9).least_sharpness(wrong)


@pytest.mark.parametrize(
    "name", ["latest", "first, self", "one hop", "six hops", "previous", "composition"]
)
@pytest.mark.parametrize("n", [9, 33, 129])
def test_scores_of_constant_sharpness_grow_with_the_length(name, n):
    """They are at most c·max(r, 2)·(N + 1), and really as large as that, but for a factor of 6."""
    model, tokens = a_model(name, 8, n), prompts(a_model(name, 8, n))[:4]
    N, r = model.interface.context, max(model.stream.widths.get("code", 0), 2)
    streams = zip(model.blocks, score_sizes(model), model.streams(tokens), strict=False)
    for block, (size,), H in streams:
        Q, K = block.attn.parts()[0].queries_keys(H, model.interface.n_examples)
        largest, gap = float((Q @ K.transpose(-1, -2)).abs().max()), block.margins[0].gap
        assert largest <= size <= gap * r * (N + 1)
        assert largest >= gap * r * (N + 1) / 6


def test_the_scores_that_the_docs_state():
    sizes = {n: max(map(max, score_sizes(induction_heads(8, n)))) for n in (128, 1024)}
    assert sizes == {128: 2944, 1024: 25936}
    assert {induction_heads(8, n).blocks[0].margins[0].gap for n in sizes} == {16}


def test_a_model_of_linear_heads_has_no_error_at_any_sharpness(recwarn):
    assert softmax.least_sharpness(newton(2, 3, 0.5), error=0.1) == 2.0**-20
    assert not recwarn.list
