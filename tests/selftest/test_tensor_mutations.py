"""Faults in tensors: where they are planted, what they change, and which change no answer."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from flint import arb

from constructions import (
    circuit_evaluator,
    connected_components,
    fact_lookup,
    gradient_descent,
    hopfield_attention,
    induction_heads,
    newton,
    online_gradient_descent,
    previous_token,
    sphere_dynamics,
)
from theory.retrieval.facts import Lexicon
from verify.claim import Run
from verify.selftest.equivalence import _equal, same_answers, same_maxima
from verify.selftest.run import Planted
from verify.selftest.tensor_mutations import (
    KINDS,
    TensorFault,
    faults_in,
    fingerprint,
    random_entry,
)

MODELS = {
    "direct": newton(2, 2, 0.25),
    "ladder": newton(2, 2, 0.25, "ladder"),
    "paper": newton(2, 1, 0.25, "paper", n=3),
    "descent": gradient_descent(2, 3, 0.25),
    "online": online_gradient_descent(2, 3),
    "induction": induction_heads(3, 6),
}
SMALL_FACTS = fact_lookup(3, Lexicon(("john",), ("mother",), ("teacher",)))
OVER_EXAMPLES = [name for name in MODELS if name != "induction"]
each_model = pytest.mark.parametrize("name", MODELS)


def changed_weights(model, faulty):
    pairs = zip(model.named_parameters(), faulty.parameters(), strict=True)
    return [name for (name, old), new in pairs if not torch.equal(old, new)]


@each_model
def test_faults_are_planted_in_every_head_mlp_and_table_of_a_copy(name):
    model = MODELS[name]
    before, changed = fingerprint(model), set()
    faults = faults_in([model])
    for fault in faults:
        changed |= {*changed_weights(model, fault(model))}
    assert fingerprint(model) == before
    heads = sum(attn.n_heads for attn in model.attentions)
    mlps = sum(block.mlp is not None for block in model.blocks)
    assert len(faults) == (
        heads * len(KINDS["head"])
        + mlps * len(KINDS["MLP"])
        + (4 if model.pos_embed is None else 8)
        + 4
    )
    for number, block in enumerate(model.blocks):
        if block.attn is not None:
            assert {f"blocks.{number}.attn.W_{x}" for x in "QKVO"} <= changed


def test_a_model_without_the_place_stays_as_it_is():
    fault = TensorFault("layer 9, head 1", "wrong sign")
    assert fault(MODELS["direct"]) is MODELS["direct"]


@pytest.mark.parametrize(("kind", "axis"), [("swapped rows", 0), ("swapped register", 1)])
def test_swaps_of_an_embedding_are_of_tokens_or_of_registers(kind, axis):
    """Each permutes the rows, or the columns, and not the others."""
    model = MODELS["induction"]
    found = TensorFault("embedding", kind)(model).embed.W_E
    for each in (0, 1):
        before, after = (
            sorted(W.unbind(each), key=torch.Tensor.tolist) for W in (model.embed.W_E, found)
        )
        same = all(map(torch.equal, before, after))
        assert same == (each == axis)


def test_layers_that_share_their_weights_are_one_place():
    places = {fault.place for fault in faults_in([sphere_dynamics(2, 1.0, 0.5, 3)])}
    assert places == {"embedding", "layer 1, head 1", "unembedding"}


@pytest.mark.filterwarnings("ignore::theory.kinds.OutsideHypotheses")
@pytest.mark.parametrize("kind", ["wrong sign", "wrong power of two", "swapped register"])
@pytest.mark.parametrize("name", OVER_EXAMPLES)
def test_a_fault_in_the_last_layer_changes_the_prediction(name, kind):
    x = torch.tensor([[1.0, 0.5], [-0.5, 2.0], [0.25, 1.0]], dtype=torch.float64)
    y = torch.tensor([1.0, -2.0, 0.5]).double()
    # A ReLU head is silent for one of a query and its negative.
    query = torch.tensor([[0.5, -1.0], [-0.5, 1.0]]).double()
    model = MODELS[name]
    last = TensorFault(f"layer {model.n_layers}, head 1", kind)
    same = torch.isclose(last(model)(x, y, query), model(x, y, query), rtol=1e-9)
    assert not same.all()


def test_a_run_plants_its_fault_in_what_it_builds():
    fault = TensorFault("layer 1, head 1", "wrong sign")
    healthy, faulty = (Run(fault=f).build(gradient_descent, 1, 1, 0.5) for f in (None, fault))
    assert torch.equal(faulty.blocks[0].attn.W_O, -healthy.blocks[0].attn.W_O)


@each_model
def test_a_random_change_is_of_one_entry_in_models_of_one_construction(name):
    model, other = MODELS[name], previous_token(3, 6)
    for seed in range(20):
        _, fault = random_entry(np.random.default_rng(seed), [model])
        (tensor,) = changed_weights(model, fault(model))
        old, new = (dict(m.named_parameters())[tensor] for m in (model, fault(model)))
        assert int((old != new).sum()) == 1
        assert fault(other) is other


@pytest.mark.parametrize(
    ("place", "kind", "shown"),
    [
        ("layer 1, head 1", "half the scores", "by the products of its weights"),
        ("layer 2, head 1", "wrong sign", ""),
        ("embedding", "swapped rows", ""),
    ],
)
def test_hardmax_does_not_see_the_size_of_scores(place, kind, shown):
    model = MODELS["induction"]
    rng = np.random.default_rng(0)
    said = same_answers(model, TensorFault(place, kind)(model), rng)
    assert said.endswith(shown) if shown else said == ""


@pytest.mark.parametrize("size", [1, 1e6])
@pytest.mark.parametrize(
    ("model", "layer", "place"),
    [(induction_heads(4, 63), 0, (0, 1)), (fact_lookup(64), 1, (1, 1))],
)
def test_a_change_of_scores_below_their_gaps_is_shown_to_change_no_answer(
    model, layer, place, size
):
    faulty = deepcopy(model)
    faulty.blocks[layer].attn.b_Q[place] += size
    said = same_answers(model, faulty, np.random.default_rng(0))
    assert said.endswith("the order of scores of its tokens and positions") == (size == 1)


@pytest.mark.parametrize(
    ("model", "layer"), [(previous_token(2, 4), 0), (SMALL_FACTS, 0), (SMALL_FACTS, 1)]
)
def test_heads_with_the_same_maxima_attend_to_the_same_keys(model, layer):
    """Causal and strictly causal heads with random changes, on all sequences of tokens."""
    tokens = np.concatenate([rows for (rows,) in model.interface.all_inputs(2**14, True)])
    given = model.interface.check(model.like, tokens)
    H = [*model.residual_stream(model.interface.write(torch, *given))][layer]
    rng, proved, attn = np.random.default_rng(0), [], model.blocks[layer].attn
    for _ in range(20):
        other = deepcopy(model.blocks[layer])
        weights = getattr(other.attn, str(rng.choice(["W_Q", "b_Q", "W_K", "b_K"])))
        entry = tuple(rng.integers(size) for size in weights.shape)
        weights[entry] += rng.choice([-16, -1, 1, 16])
        if same_maxima(model, model.blocks[layer], other):
            proved.append(other)
            assert torch.equal(other.attn.pattern(H, 0), attn.pattern(H, 0))
    assert 0 < len(proved) < 20


def test_softmax_sees_the_size_of_scores():
    """Half the scores are other weights of softmax heads: by the products nothing is shown."""
    model = hopfield_attention(np.eye(2), np.eye(2), np.eye(2))
    faulty = TensorFault("layer 1, head 1", "half the scores")(model)
    assert changed_weights(model, faulty)
    assert same_answers(model, faulty, np.random.default_rng(0)) == ""


def test_wide_balls_that_overlap_are_not_equal():
    narrow, wide = arb(1, 2.0**-100), arb(1, 0.5)
    assert _equal(narrow, narrow)
    assert not _equal(wide, wide)
    assert not _equal(narrow, wide)
    assert not _equal(narrow, narrow + 1)


@each_model
def test_the_same_weights_in_other_bases_give_the_same_answers(name):
    """Twice the queries and half the keys; half of what is carried and twice of what is added."""
    model = deepcopy(MODELS[name])
    for attn in model.attentions:
        attn.W_Q *= 2
        attn.b_Q *= 2
        attn.W_K /= 2
        attn.b_K /= 2
        attn.W_V /= 2
        attn.W_O *= 2
    said = same_answers(MODELS[name], model, np.random.default_rng(0))
    assert said == "all inputs, by the products of its weights"


@pytest.mark.parametrize("name", OVER_EXAMPLES)
def test_answers_that_differ_are_told_apart(name):
    for fault in faults_in([MODELS[name]])[:2]:
        faulty = fault(MODELS[name])
        assert same_answers(MODELS[name], faulty, np.random.default_rng(0)) == ""


def test_a_hidden_change_is_found_equal_by_running_it():
    """A logit of a token that is never the largest: the weights differ, and no answer does."""
    model = deepcopy(MODELS["induction"])
    model.unembed.b_U[-1] *= 1.5
    said = same_answers(MODELS["induction"], model, np.random.default_rng(0))
    assert said in ("all 729 inputs", "")
    assert bool(said) == all(
        bool((model(rows) == MODELS["induction"](rows)).all())
        for rows in [np.indices((3,) * 6).reshape(6, -1).T]
    )


def test_all_inputs_are_there_once_each():
    for model, most in ((circuit_evaluator(1, 1, nand=True), 2), (connected_components(3, 2), 91)):
        causal = model.is_causal
        found = [
            tuple(row.ravel()) for (rows,) in model.interface.all_inputs(91, causal) for row in rows
        ]
        assert len(found) == len({*found}) == most
        assert model.interface.all_inputs(most - 1, causal) is None


def test_what_a_claim_does_to_a_model_is_not_seen_by_the_next_run():
    """Both when a fault leaves the model as it is and when it changes it."""
    for fault in (TensorFault("positions", "wrong sign"), TensorFault("unembedding", "wrong sign")):
        for _ in range(2):
            model = Planted(fault=fault).build(gradient_descent, 1, 1, 0.5)
            assert model.unembed.W_U.any()
            model.unembed.W_U.zero_()


@pytest.mark.parametrize(
    ("model", "counts"),
    [(hopfield_attention(np.eye(2), np.eye(2), np.eye(2)), False), (MODELS["direct"], True)],
)
def test_a_bias_of_keys_counts_unless_attention_is_normalised(model, counts):
    """It adds the same number to all scores of a query."""
    faulty = deepcopy(model)
    for attn in faulty.attentions:
        attn.b_K += 1.0
    said = same_answers(model, faulty, np.random.default_rng(0))
    assert said == ("" if counts else "all inputs, by the products of its weights")
