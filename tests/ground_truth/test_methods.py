"""Methods of attribution on models with a known circuit; skipped without TransformerLens."""

import numpy as np
import pytest
import torch

pytest.importorskip("transformer_lens", reason="needs the extra [lens]")

from constructions import hop, induction_heads, semiautomaton
from constructions.circuits import Node
from constructions.stock.lens import under_one_mask
from theory.computation import S3
from theory.kinds import InputError
from verify.ground_truth import CASES, METHODS, Link, benchmark
from verify.ground_truth import hooked as hooked_models
from verify.ground_truth.cases import Case
from verify.ground_truth.results import hooked
from verify.ground_truth.truth import deciding

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs are not ours to mend

EMBED, POSITIONS, UNEMBED = Node("embed"), Node("positions"), Node("unembed")
FIRST, SECOND = Node("head", 1, 0), Node("head", 2, 0)
INDUCTION = Case("induction", lambda: induction_heads(3, 4), 4)
CONTENT = {
    Link(EMBED, FIRST, "V"),  # layer 1 copies the token before
    Link(FIRST, SECOND, "K"),
    Link(EMBED, SECOND, "Q"),
    Link(EMBED, SECOND, "V"),
    Link(SECOND, UNEMBED, "logits"),
}
SMALL = [
    INDUCTION,
    Case("hop", lambda: hop(2, 2, 5), 5),  # masks of our own
    Case("S3", lambda: semiautomaton(S3, 4), 4),  # an MLP in each layer
]


def of_case(case, untrained=False):
    return hooked(under_one_mask(case.model()), case.prompts(), 0, untrained)


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_a_change_at_all_ports_is_a_change_of_the_output(case):
    of = of_case(case)
    clean, other = of.outputs(of.clean), of.outputs(of.corrupted)
    for node in of.sources:
        change = other[node] - clean[node]
        ports = [link for link in of.links if link.source == node]
        hooks = [of.changed_input(link.target, link.port, change) for link in ports]
        at_ports = of.metric(of.clean, *hooks)
        at_output = of.metric(of.clean, of.changed_output(node, change))
        assert torch.allclose(at_ports, at_output, rtol=0, atol=1e-9)


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_outputs_add_up_to_the_stream(case):
    of = of_case(case)
    _, cache = of.bridge.run_with_cache(of.clean)
    total = sum(of.outputs(of.clean).values())
    assert torch.allclose(total, cache["unembed.hook_in"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_gradients_are_limits_of_differences(case):
    """On a random model, whose attention is not saturated."""
    of, step = of_case(case, untrained=True), 1e-5
    directions = torch.Generator().manual_seed(0)
    for (target, port), slope in of.gradients(of.clean).items():
        direction = torch.randn(slope.shape, generator=directions, dtype=slope.dtype)
        with torch.no_grad():
            up, down = (
                of.metric(of.clean, of.changed_input(target, port, s * step * direction))
                for s in (1, -1)
            )
        wanted = (up - down) / (2 * step)
        assert wanted.abs().max() > 1e-3
        assert torch.allclose((slope * direction).sum((1, 2)), wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_changes_in_one_batch_are_those_alone(case, monkeypatch):
    of = of_case(case)
    clean, other = of.outputs(of.clean), of.outputs(of.corrupted)
    hooks = [
        of.changed_input(link.target, link.port, other[link.source] - clean[link.source])
        for link in of.links
    ]
    hooks += [of.changed_output(node, other[node] - clean[node]) for node in of.sources]
    alone = torch.stack([of.metric(of.clean, hook) for hook in hooks])
    assert torch.allclose(of.metrics(of.clean, hooks), alone, rtol=0, atol=1e-9)
    monkeypatch.setattr(hooked_models, "ROWS", 3 * len(of.clean))  # several batches
    assert torch.allclose(of.metrics(of.clean, hooks), alone, rtol=0, atol=1e-9)
    assert (alone - of.metric(of.clean)).abs().max() > 0.1


def test_zero_ablation_finds_positions_where_patching_cannot():
    of = of_case(INDUCTION)
    patched, zeros = METHODS["path patching"](of), METHODS["zero ablation"](of)
    for port in ("Q", "K"):
        link = Link(POSITIONS, FIRST, port)
        assert abs(patched[link]) < 1e-9 < 1e-2 < abs(zeros[link])


@pytest.mark.parametrize(
    "name", ["path patching", "resample ablation", "mean ablation", "attribution patching"]
)
def test_methods_of_edges_find_the_content_of_induction(name):
    """What is equal on all prompts, as positions are, has no effect in any of them."""
    found = METHODS[name](of_case(INDUCTION))
    largest = max(map(abs, found.values()))
    assert {link for link, score in found.items() if abs(score) > 1e-9 * largest} == CONTENT


def test_direct_logits_are_those_of_the_last_head():
    found = METHODS["direct logit attribution"](of_case(INDUCTION))
    assert max(found, key=lambda link: abs(found[link])) == Link(SECOND, UNEMBED, "logits")
    assert {link.target for link in found} == {UNEMBED}


def test_integrated_gradients_add_up_to_the_effect_of_the_prompt():
    """The sum over the links of the embedding is the integral along the straight line; the mean
    over its steps approximates it."""
    of = of_case(SMALL[2], untrained=True)
    scores = METHODS["EAP, integrated gradients"](of)
    from_embedding = sum(score for link, score in scores.items() if link.source == EMBED)
    change = (of.metric(of.clean) - of.metric(of.corrupted)).mean()
    plain = METHODS["attribution patching"](of)
    first = sum(score for link, score in plain.items() if link.source == EMBED)
    assert abs(from_embedding - change) < 0.5 * abs(first - change)


def test_deciding_outputs_by_the_model_itself():
    """The embedding of a token decides if another token there changes an answer."""
    case = INDUCTION
    model = under_one_mask(case.model())
    pool = case.prompts()
    of = hooked(model, pool, 0)
    found = deciding(of, model.prompt(pool).tokens)[EMBED]
    front = of.clean.shape[1] - pool.shape[1]
    answers = {tuple(row): model(row[None])[0].tolist() for row in pool}
    for row, decides in zip(of.clean[:, front:].numpy(), found[:, front:], strict=True):
        for t in range(len(row)):
            others = [[*row[:t], token, *row[t + 1 :]] for token in range(3)]
            differs = any(answers[tuple(other)] != answers[tuple(row)] for other in others)
            assert decides[t] or not differs  # the embedding of BOS is tried there as well


def test_a_perfect_method_and_a_useless_one():
    known = INDUCTION.truth(under_one_mask(INDUCTION.model()))
    results = benchmark(
        {
            "perfect": lambda of: dict.fromkeys(known.matter, -1.0),
            "constant": lambda of: dict.fromkeys(of.links, 1.0),
        },
        cases=[INDUCTION],
        seeds=2,
    )
    perfect, constant, *_ = results
    assert (perfect.auc, perfect.right, perfect.unnamed) == (1.0, 1.0, 0.0)
    assert constant.auc == 0.5
    assert constant.right == pytest.approx(constant.true / constant.entries)
    assert [each.seed for each in results] == [0, 0, 1, 1]
    assert known.matter > CONTENT


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (lambda of: None, "returns None"),
        (lambda of: {}, "returns {}"),
        (lambda of: {"L1": 1.0}, "score for 'L1'"),
        (lambda of: {of.links[0]: float("nan")}, "finite"),
        (lambda of: {of.links[0]: torch.ones(2)}, "shape"),
        (lambda of: {of.sources[0]: torch.ones(of.clean.shape)}, "no scores for"),
        (lambda of: dict.fromkeys(of.sources, 1.0), "shape"),
    ],
)
def test_a_method_without_scores_is_rejected(method, words):
    with pytest.raises(InputError, match=words):
        benchmark({"mine": method}, cases=[INDUCTION], seeds=1)


def test_a_method_that_changes_what_others_get_is_rejected():
    """It changed the results of the methods after it."""

    def zeros(of):
        of.clean.zero_()
        return dict.fromkeys(of.links, 1.0)

    def weightless(of):
        with torch.no_grad():
            next(of.bridge.parameters()).zero_()
        return dict.fromkeys(of.links, 1.0)

    for method in (zeros, weightless):
        with pytest.raises(InputError, match="'mine' changes"):
            benchmark({"mine": method}, cases=[INDUCTION], seeds=1)


@pytest.mark.usefixtures("unchecked")
def test_a_method_that_is_no_function_is_rejected():
    with pytest.raises(InputError, match="'mine' is 5"):
        benchmark({"mine": 5}, cases=[INDUCTION], seeds=1)


def test_an_error_of_a_method_is_its_own():
    with pytest.raises(ZeroDivisionError) as raised:
        benchmark({"mine": lambda of: 1 / 0}, cases=[INDUCTION], seeds=1)
    assert "'mine'" in raised.value.__notes__[0]


def test_a_model_of_equal_answers_is_rejected():
    with pytest.raises(InputError, match="same answers"):
        hooked(induction_heads(1, 4).sharpened(20.0), np.zeros((1, 4), dtype=int), 0)


def test_all_cases_have_their_own_names():
    names = [case.name for case in CASES]
    assert len({*names}) == len(names) >= 30
