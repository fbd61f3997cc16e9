"""Connectivity by squaring with softmax attention."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.graphs import squaring
from theory.graphs import (
    all_graphs,
    clique,
    connected,
    cycles,
    distances_by_definition,
    erdos_renyi,
    lean_squaring_sharpness,
    path,
    side_by_side,
    squaring_sharpness,
    two_chain,
    two_clique,
)
from verify.claim import Run
from verify.finding import Verdict
from verify.graphs.squaring import needed, pendant
from verify.ledger.claims import installed
from verify.selftest.equivalence import same_answers
from verify.selftest.tensor_mutations import TensorFault

FORMS = pytest.mark.parametrize("form", ["lean", "robust"])


def within(A, most):
    far = distances_by_definition(A)
    return ((far >= 0) & (far <= most)).astype(int)


@FORMS
def test_every_graph_of_four_nodes(form):
    for L in (0, 1, 2):
        said = squaring(4, L, form=form)(all_graphs(4)).numpy()
        assert (said == [within(A, 2**L) for A in all_graphs(4)]).all()


@FORMS
@settings(max_examples=15)
@given(n=st.integers(1, 11), L=st.integers(0, 4), p=st.floats(0, 0.5), seed=st.integers(0, 10**6))
def test_random_graphs_to_the_last_pair(form, n, L, p, seed):
    A = erdos_renyi(1, n, p, seed)[0]
    model = squaring(n, L, form=form)
    assert np.array_equal(model(A).numpy(), within(A, 2**L))
    for layer, H in enumerate(model.streams(A)):
        assert np.array_equal(H[:, model.stream["reached"]].numpy(), within(A, 2**layer))
    assert (model.n_layers, model.d_model) == (L, (2 if form == "lean" else 3) * n)


@FORMS
@pytest.mark.parametrize("n", [3, 33, 49])
def test_the_smallest_positive_output_of_a_head_counts(form, n):
    """Each node of a clique reaches n − 1 nodes, one of which has an edge to the last node."""
    model, A = squaring(n, 1, form=form), pendant(n)
    assert model(A).numpy().all()
    assert (model.logits(A).numpy() == 1).all()


def test_rounded_averages_do_not_change_registers():
    """49·(1/49) is not 1 in float64."""
    for n in (3, 11, 49):
        H = [*squaring(n, 7)(path(n)), *list(squaring(n, 7).streams(path(n)))[-1][:, :n]]
        assert {float(x) for row in H for x in row} <= {0.0, 1.0}


@FORMS
@pytest.mark.parametrize(("D", "layers"), [(2, 1), (3, 2), (4, 2), (9, 4), (16, 4), (28, 5)])
def test_layers_for_a_path(form, D, layers):
    A = path(D + 1)
    assert squaring(D + 1, layers, form=form)(A).numpy().all()
    assert not squaring(D + 1, layers - 1, form=form)(A).numpy().all()


def test_batches_and_float32():
    A = np.stack([[two_chain(8), two_clique(8), cycles(8)]] * 2)
    model = squaring(8, 3)
    assert np.array_equal(model(A).numpy(), connected(A))
    assert np.array_equal(model.float()(A).numpy(), connected(A))
    assert np.array_equal(model(torch.as_tensor(A).bool()).numpy(), connected(A))


def test_the_sharpness_of_the_robust_form_does_not_depend_on_depth():
    found = {L: squaring(6, L, form="robust").least_sharpness() for L in (1, 2, 5)}
    assert squaring_sharpness(6) == pytest.approx(math.log(8 * 8 * 5), rel=1e-15)
    assert max(found.values()) == min(found.values()) <= 1.001 * squaring_sharpness(6)
    lean = [squaring(6, L).least_sharpness() for L in (1, 2, 3)]
    assert lean[0] < lean[1] < lean[2]


@pytest.mark.parametrize(("form", "beta"), [("robust", 7.5), ("lean", 40.0)])
def test_softmax_predicts_as_average_hard_attention(form, beta):
    A = np.concatenate([erdos_renyi(8, 12, 0.12, 0), [path(12), two_chain(12), two_clique(12)]])
    soft = squaring(12, 4, form=form, sharpness=beta)
    assert np.array_equal(soft(A).numpy(), connected(A))
    off = (soft.logits(A) - squaring(12, 4, form=form).logits(A)).abs().max()
    assert float(off) < 1e-9


def test_the_largest_sharpness_at_which_scores_do_not_overflow():
    for form in ("lean", "robust"):
        soft = squaring(3, 1, form=form, sharpness=5e307)
        assert np.array_equal(soft(path(3)).numpy(), connected(path(3)))
        assert squaring(1, 1, form=form, sharpness=1e308)([[1]]) == 1


@pytest.mark.parametrize("L", [1, 2, 3])
def test_the_lean_form_needs_a_sharpness_that_grows_with_depth(L):
    """Wrong just below the limit; the entries of an isolated node grow at least as in the proof."""
    n, N = 6, 8
    limit = math.log(2 * (n - 1) * ((N + 0.5) ** L - 1))
    assert lean_squaring_sharpness(n, L) == pytest.approx(limit, rel=1e-14)
    graph = side_by_side(clique(1), clique(n - 1))
    model = squaring(n, L)
    for beta in (limit - 0.01, limit + 3.0):
        for attn in model.attentions:
            attn.normalise, attn.scale = "softmax", beta
        s, least = (n - 1) * math.exp(-beta), 0.0
        for H in list(model.streams(graph))[1:]:
            least = min(1.0, least + N * (least + s) / (1 + s))
            held = H[0, model.stream["reached"]][1:]
            assert (held > least * (1 - 1e-12)).all()
        assert (model(graph)[0, 1:] == (beta < limit)).all()
    found = needed(squaring(n, L))
    assert found.verdict is Verdict.HOLDS
    assert f"β = {limit - 1 / 16:.3g}," in found.name


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: squaring(3, 1, form="robust", sharpness=1.0), "sharpness"),
        (lambda: squaring(3, 1, sharpness=1e308), "sharpness 1e307"),
    ],
)
def test_rejected_arguments(call, names):
    with rejects(*names.split()):
        call()


def test_the_claim_holds_on_a_given_graph(tmp_path):
    claim, file = installed()["squaring"].load(), tmp_path / "mine.json"
    file.write_text("[[1, 0], [4, 2]]")
    found = list(claim.findings(Run(quick=True), samples=2, edges=file))
    assert {finding.verdict for finding in found} == {Verdict.HOLDS}
    assert "graphs of 5 and 16 nodes" in (
        named := next(f.name for f in found if f.id == "robust/large")
    )
    assert "mine" in named


@pytest.mark.parametrize(
    ("wrong", "names"),
    [
        ({"n_nodes": 1}, "n_nodes 1 2"),
        ({"n_nodes": 10**6}, "n_nodes 1000000 256"),
        ({"n_layers": 0}, "n_layers 0"),
        ({"n_layers": 10**9}, "n_layers 1000000000 100"),
    ],
)
def test_rejected_sizes_of_the_claim(wrong, names):
    claim = installed()["squaring"].load()
    with rejects(*names.split()):
        next(
            claim.findings(
                Run(quick=True), **{**claim.defaults, "n_nodes": 5, "samples": 2, **wrong}
            )
        )


def test_an_equivalent_mutant_is_shown_on_all_graphs():
    """N may be any number ≥ n; a model of many nodes is not run on all graphs."""
    rng, twice = np.random.default_rng(0), TensorFault("layer 1, head 1", "wrong power of two")
    for n, said in ((3, "all 8 inputs"), (7, "")):
        assert same_answers(squaring(n, 2), twice(squaring(n, 2)), rng) == said
    opposite = TensorFault("layer 1, head 1", "wrong sign")
    assert same_answers(squaring(3, 2), opposite(squaring(3, 2)), rng) == ""


def test_the_stated_sharpness_is_accepted_at_every_size():
    for n in range(2, 130):
        squaring(n, 2, form="robust", sharpness=squaring_sharpness(n))
    with rejects("sharpness"):
        squaring(129, 2, form="robust", sharpness=squaring_sharpness(129) - 0.01)


def test_the_least_sharpness_of_a_deep_robust_model_is_that_of_a_shallow_one():
    """At a small sharpness the errors of 200 layers exceed all floats: the bound is infinite."""
    shallow, deep = (squaring(5, layers, form="robust") for layers in (9, 200))
    assert deep.least_sharpness(0.01) == shallow.least_sharpness(0.01)
    assert deep.softmax_error(1e-6).logits == deep.softmax_error(1e-6).stream == math.inf
