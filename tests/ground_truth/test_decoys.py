"""Models with decoys: the same answers, the same circuit, and heads that are active."""

import numpy as np
import pytest
from refusals import rejects

from constructions import circuit
from constructions.circuits import Node
from constructions.stock.lens import under_one_mask
from verify.ground_truth.cases import CASES, DECOYS
from verify.ground_truth.decoys import DECOY, beside, is_decoy
from verify.ground_truth.results import Result
from verify.ground_truth.tables import decoy_summary

BY_NAME = {case.name: case for case in CASES}
SMALL = [
    BY_NAME["induction, latest"],
    *(pytest.param(BY_NAME[name], marks=pytest.mark.slow) for name in ("S3", "program sort")),
]


@pytest.mark.parametrize("kind", DECOYS)
@pytest.mark.parametrize("case", SMALL, ids=lambda case: getattr(case, "name", None))
def test_decoys_change_no_answer_and_no_part_of_the_circuit(case, kind):
    plain, model = case.model(), case.with_decoys(kind).model()
    pool = case.prompts()
    assert model(pool).tolist() == plain(pool).tolist()
    change = model.logits(pool) - plain.logits(pool)
    assert bool(change.abs().max() > 1e-3) == (kind == "faint")
    translated = under_one_mask(model)
    known, found = case.truth(under_one_mask(plain)), case.truth(translated)
    assert found.matter == known.matter
    of_decoys = {
        link for link in found.exist if any(is_decoy(node, translated) for node in link[:2])
    }
    assert found.exist - of_decoys == known.exist
    assert bool(of_decoys) == (kind == "faint")


@pytest.mark.parametrize("case", SMALL, ids=lambda case: getattr(case, "name", None))
def test_decoys_are_as_active_as_heads_of_their_layer(case):
    """Each has the output of one of them, before that is written to a register."""
    model = case.with_decoys("silent").model()
    decoys = [node for node in circuit(model).nodes if is_decoy(node, model)]
    assert decoys == [
        Node("head", layer, block.attn.n_heads - 1)
        for layer, block in enumerate(model.blocks, 1)
        if block.attn is not None
    ]
    *_, final = model.streams(case.prompts())
    for node in decoys:
        register = model.stream[f"{DECOY}{node.layer}"]
        written = final[..., register].flatten(0, -2).numpy()
        assert len(np.unique(written.round(9), axis=0)) > 1
        attn = model.blocks[node.layer - 1].attn
        assert (attn.W_Q[-1] == attn.W_Q[:-1]).flatten(1).all(1).any()


def test_the_seed_chooses_the_heads():
    model, pool = (case := BY_NAME["program sort"]).model(), case.prompts()
    masks = {
        tuple(float(b.attn.W_Q[-1].sum()) for b in beside(model, pool, seed=seed).blocks if b.attn)
        for seed in range(6)
    }
    assert len(masks) > 1


def test_the_table_compares_the_same_models():
    def result(case, auc, decoys=0.0):
        numbers = dict.fromkeys(("content", "unused", "absent", "unnamed", "null", "random"), 0.0)
        return Result(
            case=case, method="mine", seed=0, entries=9, true=3, auc=auc, right=auc / 2,
            decoys=decoys, **numbers,
        )  # fmt: skip

    results = [result("a", 0.8), result("a", 0.6), result("only here", 0.1)]
    results += [
        result("a, with decoys: silent", 0.5, 0.1),
        result("a, with decoys: faint", 0.4, 0.3),
    ]
    *_, row = decoy_summary(results).splitlines()
    assert row.split() == ["mine", "0.70", "0.50", "0.40", "0.10", "0.30", "0.35", "0.25", "0.20"]


@pytest.mark.parametrize("kind", ["x", None, []])
def test_other_decoys_are_refused(kind, unchecked):
    with rejects("kind"):
        CASES[0].with_decoys(kind)


def test_a_trained_model_has_no_decoys():
    trained = next(case for case in CASES if case.built is not None)
    with rejects("trained"):
        trained.with_decoys("faint")
