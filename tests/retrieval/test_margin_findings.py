"""The findings about margins can fail: wrong margins, stray registers, wrong definitions."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from constructions import hop, in_context_ngram, induction_heads, skip_gram
from constructions.margins import Margin, exact_in, softmax_error
from theory.checks import InputError
from verify.claim import Run
from verify.evidence.formats import FORMATS, Format
from verify.evidence.gaps import States, gap_finding
from verify.evidence.sequences import agreement, difference_over_q, first_difference
from verify.evidence.softmax import enclosed_error, formats, longest, softmax
from verify.finding import Verdict
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


@pytest.mark.parametrize("layer", [1, 2])
@pytest.mark.parametrize("V", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_declared_margin_is_the_smallest_gap_of_all_prompts(layer, V, n):
    """By brute force: every prompt's scores, from the model's own stream."""
    from theory.retrieval import all_sequences

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
    scores = scores.masked_fill(hidden, -torch.inf)[:, 1:]  # BOS itself is asked nothing
    top = scores.sort(-1, descending=True).values
    assert (top[..., 0] - top[..., 1]).min() >= model.blocks[layer - 1].margins[0].gap


@pytest.mark.parametrize("layer", [1, 2])
def test_a_margin_that_claims_too_much_fails(layer):
    model = induction_heads(3, 7)
    (margin,) = model.blocks[layer - 1].margins
    model.blocks[layer - 1].margins = (replace(margin, gap=margin.gap + 0.5),)
    assert gap_finding("", model, states(model, layer)).verdict is Verdict.FAILS


def test_ties_that_are_not_declared_fail():
    model = skip_gram(np.array([[1.0, 1.0], [0.0, 1.0]]))
    table = model.embed.W_E[:, model.stream["wanted"]].numpy()
    listed = States(1, {"wanted": table}, {"symbol": np.eye(2)}, table, np.arange(2))
    assert gap_finding("", model, listed).verdict is Verdict.HOLDS
    declared(model, replace(model.blocks[0].margins[0], ties=False))
    assert gap_finding("", model, listed).verdict is Verdict.FAILS


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6), st.floats(0.1, 20), st.floats(1e-9, 0.3))
def test_shares_of_tied_tokens_are_as_even_as_the_bound_says(errors, sharpness, sigma):
    weights = np.exp(sharpness * sigma * np.array(errors))
    shares = weights / weights.sum()
    uneven = abs(shares - 1 / len(shares)).sum()
    bound = Margin(1.0, ties=True).unevenness(sharpness, sigma)
    assert uneven <= bound * (1 + 1e-9) + 1e-14
    assert Margin(1.0).unevenness(sharpness, sigma) == 0


def test_the_error_bound_counts_uneven_shares():
    """A head that averages over the matches, whose scores the softmax of layer 1 blurs."""
    model = in_context_ngram(3, 2, 8, pseudo_counts=0)
    shared = softmax_error(declared(model, Margin(0.5), None), 16.0)
    declared(model, None, replace(model.blocks[1].margins[0], ties=False))
    assert softmax_error(model, 16.0).logits < shared.logits < 1


def test_a_head_that_reads_more_than_was_listed_fails():
    model = induction_heads(3, 7)
    model.blocks[1].attn.W_K[0, model.stream["answer"], 0] = 1.0
    finding = gap_finding("", model, states(model, 2))
    assert finding.verdict is Verdict.FAILS
    assert "the key of layer 2 reads register answer" in finding.detail


def test_scores_that_crowd_below_the_right_one_fail():
    """Ranks in steps of 0 put all matches at one score: no gap, and no grading."""
    model = hop(1, 3, 7)
    model.pos_embed.W_pos[2:, model.stream["rank"]] = 1.0
    first = next(iter(hop_states(model)))
    assert gap_finding("", model, first).verdict is Verdict.FAILS


def test_a_wrong_definition_is_found_with_the_shortest_sequence():
    run = Run(quick=True)
    statement = stated(run, "latest", "bottom")
    wrong = replace(statement, answers=stated(run, "first", "bottom").answers)
    failed = [f for f in agreement(run, wrong, 3, 9, 4) if f.verdict is Verdict.FAILS]
    assert len(failed) >= 2
    # 0 0 … needs two matches with different answers: at least a a b a.
    assert "on [0, 0, 0, 1" not in failed[0].detail
    model = statement.build(3, 9)
    row = np.array([[0, 0, 1, 0, 2, 2]])
    assert first_difference(wrong, model, row).startswith(f"{model.name} on [0, 0, 1, 0]: answer 1")
    assert difference_over_q(statement, model, row[0]) is None
    assert difference_over_q(wrong, model, row[0]) is not None


def test_balls_enclose_what_float64_computes():
    model = induction_heads(4, 8)
    row = np.array([0, 1, 2, 0, 1, 3, 0])
    for beta in (4.0, 6.0):
        in_float = (model.sharpened(beta).logits(row) - model.logits(row)).abs().max()
        upper = enclosed_error(model, beta, row)
        assert float(in_float) <= upper + 1e-12
        assert upper <= float(in_float) + 1e-12


def test_an_error_above_its_bound_fails():
    """Margins that claim twice the gap promise a smaller error than there is."""
    run = Run(quick=True)
    statement = stated(run, "latest", "bottom")

    def promising(V, n):
        return declared(statement.build(V, n), None, Margin(2.0))

    found = by_id(softmax(run, replace(statement, build=promising), 4, 12, 1e-3, None))
    assert found["latest/softmax/enclosed"].verdict is Verdict.FAILS
    assert found["latest/softmax/float"].verdict is Verdict.FAILS


def test_a_sharpness_that_grows_with_the_length_fails():
    """Without the factor on the scores of layer 1, its leak grows n-fold in layer 2."""
    run = Run(quick=True)
    statement = stated(run, "latest", "bottom")

    def blunt(V, n):
        return declared(statement.build(V, n), Margin(1.0), None)

    found = by_id(softmax(run, replace(statement, build=blunt), 8, 128, 1e-3, None))
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
    run = Run()
    found = list(formats(run, stated(run, "latest", "bottom"), 8))
    assert [f.verdict for f in found] == [Verdict.HOLDS] * len(FORMATS)
    assert found[0].measured == longest(lambda n: induction_heads(8, n), FORMATS["bfloat16"])
    assert "0 wrong answers" in found[0].words


def test_a_format_in_which_answers_are_wrong_fails():
    run = Run()
    statement = stated(run, "latest", "bottom")
    wrong = replace(statement, answers=stated(run, "first", "bottom").answers)
    assert next(formats(run, wrong, 8)).verdict is Verdict.FAILS


def test_no_length_at_all_is_a_failure():
    assert longest(lambda n: induction_heads(8, n), Format(1, 2)) == 0


def test_a_prompt_of_too_wide_balls_is_refused():
    with pytest.raises(InputError, match=r"the balls are .* wide: take a smaller sharpness"):
        enclosed_error(induction_heads(4, 8), 1e60, np.array([0, 1, 0, 2]))
