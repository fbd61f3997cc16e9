"""The findings about margins can fail: wrong margins, stray registers, wrong definitions."""

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from constructions import (
    broad_average,
    composition,
    hop,
    in_context_ngram,
    induction_heads,
    previous_token,
    skip_gram,
)
from constructions.exactness import exact_in
from constructions.margins import Margin
from constructions.softmax import softmax_error
from theory.retrieval import all_sequences
from verify.claim import Run
from verify.evidence import gaps
from verify.evidence import softmax as softmax_evidence
from verify.evidence.formats import FORMATS, Format
from verify.evidence.gaps import States, at_tokens, exact_product, gap_finding
from verify.evidence.sequences import (
    agreement,
    differences,
    differences_over_q,
    exact_evidence,
    margin_kept,
)
from verify.evidence.softmax import (
    enclosed,
    enclosed_error,
    formats,
    longest,
    softmax,
    stated_length,
)
from verify.evidence.statement import OverTokens
from verify.finding import Verdict
from verify.retrieval import composition as compositions
from verify.retrieval import ngram
from verify.retrieval.hop import head_states as hop_states
from verify.retrieval.induction import head_states
from verify.retrieval.induction import induction_heads as stated


def states(model, layer):
    return next(s for s in head_states(model, "latest") if s.layer == layer)


def declared(model, *margins):
    """The model with these margins of its heads, one a layer; None leaves a layer's as they are."""
    for block, margin in zip(model.blocks, margins, strict=True):
        block.margins = block.margins if margin is None else (margin,)
    return model


def by_id(findings):
    return {finding.id: finding for finding in findings}


LATEST = stated(Run(), "latest", "bottom")
WRONG = replace(LATEST, answers=stated(Run(), "first", "bottom").answers)


def changed(change):
    """The statement about models of the latest match with this done to them."""
    return replace(LATEST, build=lambda V, n: change(LATEST.at(V, n).model))


def listed(model, preference):
    """The states of a skip-gram head, of which so much is preferred."""
    asking, answering = at_tokens(model, "wanted"), at_tokens(model, "symbol")
    return States(1, asking, answering, preference, np.arange(len(preference)))


@pytest.mark.parametrize("layer", [1, 2])
@pytest.mark.parametrize("V", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_declared_margin_is_the_smallest_gap_of_all_prompts(layer, V, n):
    """By brute force: every prompt's scores, from the model's own stream."""
    model = induction_heads(V, n)
    finding = gap_finding("", model, states(model, layer))
    assert finding.verdict is Verdict.HOLDS
    if V**n > 600:
        return
    rows = all_sequences(n, V)
    H = list(model.streams(rows))[layer - 1]
    attn = model.blocks[layer - 1].attn
    scores = (H @ attn.W_Q[0] + attn.b_Q[0]) @ (H @ attn.W_K[0] + attn.b_K[0]).transpose(-1, -2)
    hidden = torch.ones(n + 1, n + 1, dtype=torch.bool).triu(1)
    scores = scores.masked_fill(hidden, -torch.inf)[:, 1:]  # without the row of BOS
    top = scores.sort(-1, descending=True).values
    assert (top[..., 0] - top[..., 1]).min() >= model.blocks[layer - 1].margins[0].gap


@pytest.mark.parametrize("layer", [1, 2])
def test_a_margin_that_claims_too_much_fails(layer):
    model = induction_heads(3, 7)
    (margin,) = model.blocks[layer - 1].margins
    model.blocks[layer - 1].margins = (replace(margin, gap=margin.gap + 0.5),)
    assert gap_finding("", model, states(model, layer)).verdict is Verdict.FAILS


def test_ties_that_are_not_declared_fail():
    model = skip_gram(np.array([[1.0, 1.0], [0.0, 1.0]]), 1024)
    states_ = listed(model, model.embed.W_E[:, model.stream["wanted"]].numpy())
    assert gap_finding("", model, states_).verdict is Verdict.HOLDS
    declared(model, replace(model.blocks[0].margins[0], ties=False))
    assert gap_finding("", model, states_).verdict is Verdict.FAILS


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6), st.floats(0.1, 20), st.floats(1e-9, 0.3))
def test_the_imbalance_of_tied_tokens_is_bounded(errors, sharpness, sigma):
    weights = np.exp(sharpness * sigma * np.array(errors))
    softmax = weights / weights.sum()
    imbalance = abs(softmax - 1 / len(softmax)).sum()
    bound = Margin(1.0, ties=True).tie_imbalance(sharpness, sigma)
    assert imbalance <= bound * (1 + 1e-9) + 1e-14
    assert Margin(1.0).tie_imbalance(sharpness, sigma) == 0


def test_the_error_bound_includes_the_imbalance():
    """A head that averages over the matches, whose scores the softmax of layer 1 blurs."""
    model = in_context_ngram(3, 8, 2, pseudo_counts=0)
    shared = softmax_error(declared(model, Margin(0.5), None), 16.0)
    declared(model, None, replace(model.blocks[1].margins[0], ties=False))
    assert softmax_error(model, 16.0).logits < shared.logits < 1


@pytest.mark.parametrize("factor", [0.5, 2.0])
@pytest.mark.parametrize(
    "build",
    [
        lambda V, n: induction_heads(V, n),
        lambda V, n: induction_heads(V, n, "first", "self"),
        lambda V, n: hop(2, V, n),
        lambda V, n: broad_average(V, n),
    ],
    ids=["latest", "first, self", "hops", "average"],
)
def test_a_margin_that_is_not_that_of_the_logits_fails(build, factor):
    """Half of it is only wrong where one answer is right: frequencies may be further apart."""
    run = Run(quick=True, extends=False)

    def declaring(V, n):
        model = build(V, n)
        model.interface.margin *= factor
        return model

    def answers(tokens):
        return build(4, 9)(tokens).numpy()

    statement = OverTokens("", declaring, answers)
    found = next(f for f in agreement(run, statement, 4, 9, 4) if f.id == "/margin")
    ties = build(4, 9).interface.frequencies
    wrong = factor > 1 or not ties
    assert found.verdict is (Verdict.FAILS if wrong else Verdict.HOLDS)


def test_composition_must_declare_the_margin_of_its_logits():
    from verify.retrieval.composition import composition as claim

    for margin, verdict in ((1.0, Verdict.HOLDS), (4.0, Verdict.FAILS)):

        def declaring(model, margin=margin):
            if model.name.startswith("composition"):
                model.interface.margin = margin
            return model

        run = Run(quick=True, fault=declaring)
        found = by_id(claim.findings(run, n_points=3, samples=4, texts=4))
        assert found["tables/margin"].verdict is verdict
        assert found["facts/margin"].verdict is Verdict.HOLDS


@given(st.lists(st.floats(1, 9), min_size=1, max_size=6), st.floats(0.05, 3), st.floats(0, 2))
def test_what_leaks_is_at_most_the_leak(gaps, sharpness, sigma):
    """Scores off by σ against the right token; without e^{2βσ} the bound fails."""
    wrong = np.exp(sharpness * (2 * sigma - np.array(gaps))).sum()
    leak = Margin(1.0, graded=False).leak(sharpness, sigma, len(gaps))
    assert wrong / (1 + wrong) <= leak * (1 + 1e-9)


@pytest.mark.parametrize("side", ["keys", "queries"])
def test_the_leak_of_one_layer_is_counted_in_the_next(side):
    """If the first layer is not sharp, the second attends to wrong tokens, within its bound: the
    first layer writes keys of induction heads and queries of composition."""
    model, beta = (induction_heads(3, 33) if side == "keys" else composition(16)), 4.0
    (margin,) = model.blocks[0].margins
    model.blocks[0].attn.W_Q /= margin.gap
    model.blocks[0].attn.b_Q /= margin.gap
    declared(model, Margin(1.0), None)
    soft = deepcopy(model)
    for attn in soft.attentions:
        attn.normalise, attn.scale = "softmax", beta
    tokens, seen = np.random.default_rng(0).integers(0, 3, (20, 33)), model.interface.n_examples
    hard, mild = (list(m.streams(tokens))[1] for m in (model, soft))
    pattern = model.blocks[1].attn.pattern(hard, seen)
    given = soft.blocks[1].attn.pattern(mild, seen)
    leaked = float((given * (pattern == 0)).sum(-1).max())
    bound = softmax_error(model, beta).leaks[1][0]
    assert leaked <= bound
    assert leaked > Margin(1.0).leak(beta, 0.0, 33)


def test_scores_that_float64_rounds_decide_nothing():
    model = skip_gram(np.array([[1.0, 2.0], [0.1, 2.0**60]]), 1024)
    table = model.embed.W_E[:, model.stream["wanted"]].numpy()
    found = gap_finding("", model, listed(model, table))
    assert (found.evidence, found.verdict) == ("float", Verdict.UNDECIDED)


@given(st.integers(-(2**20), 2**20), st.integers(1, 2**20), st.integers(-60, 60))
def test_products_called_exact_are(a, b, power):
    A, B = np.array([[float(a), 1.0]]) * 2.0**power, np.array([[float(b)], [3.0]])
    product, exact = exact_product(A, B)
    assert exact
    assert Fraction(product[0, 0]) == (a * b + 3) * Fraction(2) ** power
    assert not exact_product(A, np.array([[0.1], [1e9]]))[1]
    assert not exact_product(A, np.array([[np.nan], [1.0]]))[1]
    assert not exact_product(np.array([[2.0**54, 1.0]]), np.ones((2, 1)))[1]


def test_keys_that_should_tie_and_do_not_fail():
    """Two keys are as right as each other, and the better of them is found."""
    table = np.array([[2.0, 1.0, 0.0]] * 3)
    model = declared(skip_gram(table, 1024), Margin(1.0, graded=False, ties=True))
    for right, verdict in (([0], Verdict.HOLDS), ([0, 1], Verdict.FAILS)):
        preference = np.full((3, 3), -np.inf)
        preference[:, right] = 0
        assert gap_finding("", model, listed(model, preference)).verdict is verdict


@pytest.mark.parametrize(
    ("model", "evidence"),
    [
        (induction_heads(3, 8), "exact"),
        (induction_heads(3, 8).sharpened(16.0), "float"),
        (broad_average(3, 8), "float"),
        (skip_gram(2.0**-60 + np.eye(2), 1024), "float"),
    ],
    ids=["hardmax", "softmax", "averages", "too many bits"],
)
def test_runs_that_round_are_not_called_exact(model, evidence):
    assert exact_evidence(model) == evidence


def test_a_wrong_answer_has_no_margin():
    """However far its logit is from the right one."""
    wrong = replace(LATEST, answers=lambda tokens: (LATEST.answers(tokens) + 2) % 4 - 1)
    rows = np.array([[0, 1, 2, 0, 1, 2]])
    found = margin_kept(wrong, [(LATEST.at(3, 6).model, rows)])
    assert found.verdict is Verdict.FAILS
    assert found.measured["V = 3, n = 6"] < 0


def test_a_margin_of_equal_logits_is_undecided_in_words():
    """No context of four tokens comes back within three tokens."""
    statement = ngram.stated(Run(), 5, 1)
    found = margin_kept(statement, [(statement.at(2, 3).model, all_sequences(3, 2))])
    assert found.verdict is Verdict.UNDECIDED
    assert found.words


def test_scores_that_crowd_below_the_right_one_fail():
    """Ranks in steps of 0 put all matches at one score: no gap, and no grading."""
    model = hop(1, 3, 7)
    model.pos_embed.W_pos[2:, model.stream["rank"]] = 1.0
    first = next(iter(hop_states(model)))
    assert gap_finding("", model, first).verdict is Verdict.FAILS


@pytest.mark.parametrize(("below", "verdict"), [(4, Verdict.HOLDS), (5, Verdict.FAILS)])
def test_at_most_four_tokens_may_be_one_gap_below(below, verdict):
    """One right token, and so many whose scores are 1 less; the gap itself is as declared."""
    V = 1 + below
    table = np.ones((V, V))
    table[:, 0] = 2
    model = declared(skip_gram(table, 1024), Margin(1.0))
    states_ = listed(model, np.where(table == 2, 0, -np.inf))
    assert gap_finding("", model, states_).verdict is verdict
    declared(model, Margin(1.0, graded=False))
    assert gap_finding("", model, states_).verdict is Verdict.HOLDS


def test_a_wrong_definition_is_found_with_the_shortest_sequence():
    failed = [f for f in agreement(Run(quick=True), WRONG, 3, 9, 4) if f.verdict is Verdict.FAILS]
    assert len(failed) >= 2
    # 0 0 … needs two matches with different answers: at least a a b a.
    assert "on [0, 0, 0, 1" not in failed[0].detail
    model = LATEST.at(3, 9).model
    row = np.array([[0, 0, 1, 0, 2, 2]])
    (told,) = differences(WRONG, model, row)
    assert told.startswith(f"{model.name} on [0, 0, 1, 0]: answer 1")
    assert not [*differences_over_q(LATEST, model, row)]
    assert [*differences_over_q(WRONG, model, row)]
    logits = model.logits(row[0])
    model.logits = lambda row: logits + 2.0**-52 * (torch.arange(logits.shape[-1]) == 0)
    assert [*differences_over_q(LATEST, model, row)]


@pytest.mark.parametrize(("last", "exact"), [(1.0, True), (2.0, False)])
def test_integer_products_below_2_to_the_52_are_exact(last, exact):
    assert exact_product(np.array([[2.0**52 - 3, last, 1]]), np.ones((3, 1)))[1] is exact


def test_balls_enclose_what_float64_computes():
    model = induction_heads(4, 8)
    row = np.array([0, 1, 2, 0, 1, 3, 0])
    for beta in (4.0, 6.0):
        in_float = (model.sharpened(beta).logits(row) - model.logits(row)).abs().max()
        low, high = enclosed_error(model, beta, row[None])
        assert low - 1e-12 <= float(in_float) <= high + 1e-12
        assert high - low < 1e-300


def of_softmax(statement, V=4, n=12):
    return by_id(softmax(Run(quick=True), statement, V, n, 1e-3, None))


def of_formats(statement):
    return by_id(formats(Run(), statement, 8))


def test_an_error_above_its_bound_fails():
    """Margins that claim twice the gap promise a smaller error than there is."""
    found = of_softmax(changed(lambda model: declared(model, None, Margin(2.0))))
    assert found["latest/softmax/enclosed"].verdict is Verdict.FAILS
    assert found["latest/softmax/float"].verdict is Verdict.FAILS


def test_a_sharpness_that_grows_with_the_length_fails():
    """Without the factor on the scores of layer 1, its leak grows n-fold in layer 2."""
    found = of_softmax(changed(lambda model: declared(model, Margin(1.0), None)), 8, 128)
    assert found["latest/softmax/growth"].verdict is Verdict.FAILS


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_the_longest_exact_sequences(name):
    bits = FORMATS[name].significand
    n = longest(lambda n: induction_heads(8, n), FORMATS[name])
    assert exact_in(induction_heads(8, n)).bits <= bits < exact_in(induction_heads(8, n + 1)).bits
    tokens = np.random.default_rng(0).integers(0, 8, (8, n))
    short = induction_heads(8, n).to(getattr(torch, name))
    assert torch.equal(short(tokens), induction_heads(8, n)(tokens))


def test_every_format_is_found_exact_up_to_its_length():
    by_name = of_formats(LATEST)
    assert [f.verdict for f in by_name.values()] == [Verdict.HOLDS] * (len(FORMATS) + 2)
    for kind in ("bfloat16", "float16"):
        of = by_name[f"latest/format/{kind}"]
        assert of.measured == longest(lambda n: induction_heads(8, n), FORMATS[kind])
        assert of.measured - of.bound in (0, 1)
        assert by_name[f"latest/format/{kind}/answers"].measured == 0


@pytest.mark.parametrize("build", [previous_token, induction_heads, lambda V, n: hop(5, V, n)])
@pytest.mark.parametrize("V", [1, 2, 3, 8, 20])
def test_the_stated_length_is_one_at_which_the_format_is_exact(build, V):
    for significand in (6, 8, 9):
        kept = Format(significand, 8)
        n = stated_length(build(V, 9), kept)
        assert exact_in(build(V, max(n, 1))).fits(significand, kept.largest, kept.smallest)


def test_weights_that_need_more_bits_than_stated_fail():
    """Scores in halves of a gap: the format ends at half the length."""

    def halved(model):
        model.blocks[1].attn.W_Q *= 1 + 2.0**-3
        return model

    assert of_formats(changed(halved))["latest/format/float16"].verdict is Verdict.FAILS


def test_scores_that_grow_faster_than_stated_fail():
    """Points on a line have squares of n² where the lattice has n."""

    def on_a_line(model):
        squares = torch.arange(float(model.interface.context)) ** 2
        model.pos_embed.W_pos[:, model.stream["norm"]] = squares[:, None]
        return model

    found = of_softmax(changed(on_a_line))
    assert found["latest/softmax/scale"].verdict is Verdict.FAILS
    right = of_softmax(LATEST)["latest/softmax/scale"]
    assert right.verdict is Verdict.HOLDS
    for name, size in right.measured.items():
        assert right.bound[name] / 3 <= size <= right.bound[name]


def test_a_format_in_which_answers_are_wrong_fails():
    assert of_formats(WRONG)["latest/format/bfloat16/answers"].verdict is Verdict.FAILS


def test_no_length_at_all_is_a_failure():
    assert longest(lambda n: induction_heads(8, n), Format(1, 2)) == 0


@pytest.mark.parametrize("sharpness", [1e4, 1e6, 1e300])
@pytest.mark.parametrize("match", ["latest", "mean"])
def test_tiny_errors_are_enclosed_and_are_not_above_the_bound(match, sharpness):
    model = induction_heads(4, 8, match=match)
    found = enclosed(model, sharpness, np.array([[0, 1, 0, 2, 0]]), "")
    assert found.verdict is Verdict.HOLDS
    assert found.measured[1] < 1e-300


@pytest.mark.parametrize(("bias", "exact"), [(1.0, True), (2.0**60, False)])
def test_scores_of_rounded_queries_are_not_exact(bias, exact):
    """All keys are 0, so the product of queries and keys does not round."""
    model = previous_token(2, 4)
    (register, width), attn = next(iter(model.stream.widths.items())), model.blocks[0].attn
    attn.W_Q[:] = 1.0
    attn.b_Q[:] = bias
    attn.b_K[:] = 0.0
    queries, keys = {register: np.ones((1, width))}, {register: np.zeros((2, width))}
    states = States(1, queries, keys, np.zeros((1, 2)), np.arange(2))
    scores, found = gaps._scores(model, states)
    assert (scores.tolist(), found) == ([[0.0, 0.0]], exact)


def test_prompts_of_a_fixed_form_are_those_that_are_run_with_softmax():
    """All maps are the map to 0."""
    statement = compositions.tables(Run())
    model, given = statement.at(4, 0).model, np.zeros((8, 9), dtype=int)
    found = softmax_evidence._in_float64(Run(), model, 4, 0.125, lambda *_: given)
    soft = model.sharpened(model.least_sharpness(0.125))
    assert found.measured == float((soft.logits(given) - model.logits(given)).abs().max())
