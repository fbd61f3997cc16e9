"""The claims about retrieval: smallest sizes, what a failure shows, options together, words."""

import pytest
from by_id import not_holding
from refusals import rejects

from theory.kinds import InputError
from verify.claim import Run
from verify.cli.main import main
from verify.finding import Verdict
from verify.retrieval.attention_patterns import attention_patterns
from verify.retrieval.composition import composition
from verify.retrieval.hop import hop
from verify.retrieval.induction import induction
from verify.retrieval.nearest_neighbour import nearest_neighbour
from verify.retrieval.ngram import ngram
from verify.selftest.tensor_mutations import TensorFault


@pytest.mark.parametrize(
    ("claim", "sizes", "certified"),
    [
        *((claim, (1, 1), []) for claim in (attention_patterns, ngram)),
        (hop, (1, 1), ["sequences", "sequences", "lookups"]),
        (hop, (2, 5), ["sequences", "sequences", "lookups"]),
        (induction, (2, 5), ["sequences", "lookups"]),
    ],
)
def test_claims_hold_at_the_smallest_sizes(claim, sizes, certified):
    n, vocabulary = sizes
    run, options = (
        Run(quick=True, certificates=[]),
        {"max_length": n, "vocabulary_size": vocabulary},
    )
    found = list(claim.findings(run, **options, samples=4))
    assert {each.id for each in found if each.verdict is not Verdict.HOLDS} == set()
    assert [stated["kind"] for stated in run.certificates] == certified


def test_tables_of_one_entry():
    assert not_holding(composition, n_points=1, samples=2, texts=2) == {}


def failures(claim, kind, **options):
    def fault(model):
        return TensorFault(f"layer {model.n_layers}, head 1", kind)(model)

    findings = claim.findings(Run(quick=True, fault=fault), samples=4, **options)
    return {f.id: f for f in findings if f.verdict is Verdict.FAILS}


def test_a_failing_claim_shows_the_sequence_the_answers_and_the_register():
    found = failures(induction, "wrong sign", match="latest", max_length=9, vocabulary_size=3)
    detail = next(iter(found.values())).detail
    assert all(word in detail for word in ("answer", "by definition", "layer 2"))


@pytest.mark.parametrize(
    ("claim", "options", "names"),
    [
        (induction, {"sharpness": 0.5}, ("sharpness", "129")),
        (induction, {"error": 9.0}, ("error", "1e-09", "0.75")),
        (composition, {"prompt": "Jane is a wizard. What is Jane's mother?"}, ("wizard",)),
        (composition, {"prompt": "Jane is a doctor."}, ("question",)),
        (nearest_neighbour, {"sharpness": 0.0}, ("sharpness",)),
    ],
)
def test_bad_options(claim, options, names, unchecked):
    with rejects(*names):
        list(claim.findings(Run(quick=True), **options))


def test_the_sharpness_in_the_message_works():
    with pytest.raises(InputError) as refused:
        list(induction.findings(Run(quick=True), match="latest", sharpness=1.0, samples=2))
    enough = float(str(refused.value).rpartition(" ")[2])
    options = {"match": "latest", "sharpness": enough, "samples": 2}
    assert not_holding(induction, **options) == {}


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["induction", "--match", "latest", "--prompt", "the cat saw the dog and the"], "'dog'"),
        (
            [
                *("composition", "--prompt"),
                "The mother of John is Helen. Helen is a doctor. "
                "What is the profession of John's mother?",
            ],
            "John's mother?”: doctor",
        ),
    ],
)
def test_a_prompt_of_words_is_answered(arguments, answer, capsys):
    assert main(arguments) == 0
    assert answer in capsys.readouterr().out
