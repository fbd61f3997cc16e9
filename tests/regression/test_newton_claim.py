"""The claim `newton`: its findings, and how they are established."""

import sys
from copy import deepcopy
from dataclasses import replace

import by_id
import numpy as np
import pytest
from refusals import rejected, rejects

from theory.regression import gaussian_prompts
from verify.claim import Run
from verify.domains import Degrees, Denominators, Heights, error_probability
from verify.domains.sizes import bits
from verify.evidence import identity
from verify.evidence.registers import invariants_hold, point
from verify.finding import Verdict
from verify.regression.convergence import safe_alpha
from verify.regression.gradient_descent import gradient_descent
from verify.regression.newton import newton
from verify.regression.statements import newton_statement

module = sys.modules["verify.regression.newton"]  # the package's claim has the same name


def findings(**options):
    return by_id.findings(newton, **options)


def failing(found):
    return [f.id for f in found.values() if f.verdict is not Verdict.HOLDS]


EVIDENCE = {
    "formula": "formula",
    "size": "exact",
    "float": "float",
    "rational": "exact",
    "modular": "identity",
    "symbolic": "identity",
    "registers": "identity",
    "residual": "identity",
}


@pytest.fixture(scope="module")
def every_layout():
    return findings(k=2, d=2, n=3)


def test_each_kind_of_evidence_is_a_finding(every_layout):
    kinds = {id: finding.evidence for id, finding in every_layout.items()}
    layouts = {
        f"{layout}/{id}": evidence
        for layout in ("direct", "ladder", "paper")
        for id, evidence in EVIDENCE.items()
    }
    layouts["paper/other-n"] = "exact"
    assert kinds == {**layouts, "theory": "exact", "converges": "float", "ols": "float"}
    assert failing(every_layout) == []


def test_a_register_that_is_wrong_is_named():
    """A factor in the first layer and its inverse in the last."""

    def fault(model):
        faulty = deepcopy(model)
        faulty.blocks[-2].attn.W_O *= 2
        return faulty

    run = Run(quick=True, fault=fault)
    found = {f.id: f for f in newton.findings(run, k=2, d=2, n=3, layout="direct")}
    for id, right in (("registers", 2), ("residual", 2)):
        finding = found[f"direct/{id}"]
        assert finding.verdict is Verdict.FAILS
        assert finding.measured == right < finding.bound
        assert "register u after layer 3" in finding.words


def test_weights_that_do_not_contain_n_are_noticed():
    """With twice the factor n in the start, the prediction on twice as many examples is another."""

    def fault(model):
        faulty = deepcopy(model)
        faulty.blocks[1].attn.W_O *= 2
        return faulty

    run = Run(quick=True, fault=fault)
    found = {f.id: f for f in newton.findings(run, k=1, d=1, n=2, layout="paper")}
    assert found["paper/other-n"].verdict is Verdict.FAILS


def test_no_registers_to_compare_decide_nothing():
    case = newton_statement(Run(), "direct", "gram", 0.25).at(1, 1, 0)
    found = invariants_hold(case, point(Run(), case), "x", "x", lambda case, given: [])
    assert found.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("layout", ["direct", "ladder", "paper"])
def test_a_layout_alone(layout):
    found = findings(k=1, d=1, n=2, layout=layout)
    more = ["theory", "converges", "ols"]
    own = len(EVIDENCE) + (layout == "paper")
    assert [id.partition("/")[0] for id in found] == [layout] * own + more
    assert failing(found) == []


@pytest.mark.parametrize("domain", ["float", "exact", "modular", "symbolic"])
def test_a_domain_alone(domain):
    found = findings(k=2, d=2, n=2, layout="direct", domain=domain)
    own = {"float": ["float"], "exact": ["rational"]}.get(domain, [domain])
    more = ["converges", "ols"] if domain == "float" else []
    assert list(found) == ["direct/size", *(f"direct/{id}" for id in own), *more]
    assert failing(found) == []


def test_sizes_against_the_theorem():
    found = findings(k=5, d=3, n=4, domain="modular")
    measured = {id: f.measured for id, f in found.items() if id.endswith("size")}
    assert measured == {
        "direct/size": {"layers": 7, "heads": 1, "width": 8},
        "ladder/size": {"layers": 5, "heads": 6, "width": 15},
        "paper/size": {"layers": 13, "heads": 2, "width": 18},
    }


@pytest.mark.parametrize("start", ["gram", "identity"])
def test_interleaved_prompts(start):
    found = findings(k=2, d=2, n=3, interleaved=True, start=start)
    assert failing(found) == []
    # A hardmax is no polynomial: there is no formula, and nothing is claimed mod p.
    assert set(EVIDENCE) - {id.removeprefix("direct/") for id in found} == {"formula", "modular"}
    assert found["direct/registers"].evidence == "exact"
    assert found["direct/size"].bound["width"] == 11


@pytest.mark.parametrize("wanted", [{"domain": "formula"}, {"explain": True}])
@pytest.mark.parametrize("model", [{"layout": "causal"}, {"interleaved": True}])
def test_formulas_of_other_models_are_rejected_with_the_option(wanted, model):
    with rejects(*wanted):
        findings(k=2, d=2, n=3, **model, **wanted)


def test_the_formula_of_the_layout_paper_needs_no_prompts():
    found = findings(k=1, d=2, n=10**4, domain="formula")
    assert {id for id in found if id.endswith("formula")} == {
        "direct/formula",
        "ladder/formula",
        "paper/formula",
    }
    assert failing(found) == []


def test_the_stated_size_takes_no_time_modulo_primes():
    """d = 20, n = 40, k = 12: the error probability is printed, and small."""
    options = {"d": 20, "n": 40, "k": 12, "layout": "direct", "domain": "modular"}
    finding = findings(**options)["direct/modular"]
    assert finding.verdict is Verdict.HOLDS
    assert float(finding.words.split("≤ ")[1]) <= identity.WANTED_ERROR
    # Other work may share the machine, and annotations are checked here.
    assert finding.seconds < 5


@pytest.mark.parametrize("k", [57, 100])
def test_a_degree_beyond_the_primes_is_undecided_and_ends(k):
    finding = findings(d=1, n=1, k=k, layout="direct", domain="modular")["direct/modular"]
    assert finding.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(("start", "power"), [("gram", 2), ("identity", 1)])
@pytest.mark.parametrize(("factor", "holds"), [(1.99, True), (2.01, False)])
def test_alpha_too_large_fails_to_converge_but_is_computed(start, power, factor, holds):
    prompts = gaussian_prompts(8, 3, 2, seed=np.random.default_rng(0))
    largest = np.linalg.eigvalsh(np.swapaxes(prompts.x, -1, -2) @ prompts.x).max()
    alpha = float(factor / largest**power)
    found = findings(k=2, d=2, n=3, start=start, alpha=alpha)
    assert failing(found) == ([] if holds else ["converges"])
    finding = found["converges"]
    assert (finding.measured < finding.bound) is holds
    if not holds:
        assert finding.verdict is Verdict.FAILS
        assert f"{factor - 1:.3g} ≥ 1" in finding.detail


def test_the_detail_of_an_overflow_names_no_parameter_of_one_claim_only():
    """The same finding is of gradient descent, which has a step size and no alpha."""
    for claim, scale in ((newton, "alpha"), (gradient_descent, "step_size")):
        options = {"k": 12, "d": 2, "n": 4, "layout": "direct", "domain": "float"}
        overflow = by_id.findings(claim, **options, **{scale: 1e200})["direct/float"]
        assert overflow.verdict is Verdict.UNDECIDED
        assert "alpha" not in overflow.detail


def test_overflow_is_undecided_and_not_a_pass():
    found = findings(k=12, d=2, n=4, alpha=1e9, layout="direct", domain="float")
    assert found["direct/float"].verdict is Verdict.UNDECIDED
    assert found["ols"].verdict is Verdict.UNDECIDED
    assert Verdict.together(f.verdict for f in found.values()) is Verdict.FAILS


@pytest.mark.parametrize("exponent", [-1000, -300, -30])
def test_a_tiny_alpha_is_computed_to_rounding(exponent):
    assert failing(findings(k=2, d=2, n=3, alpha=2.0**exponent, domain="float")) == []


def test_a_vacuous_rounding_bound_leaves_the_distance_to_ols_undecided():
    """After 60 steps this layout has lost all digits, and its bound is as large."""
    found = findings(k=60, d=2, n=4, layout="paper", domain="float", samples=2)
    assert failing(found) == ["paper/float", "ols"]
    ols = found["ols"]
    assert ols.verdict is Verdict.UNDECIDED
    assert ols.measured["distance"] > 1 > ols.bound["distance"]


@pytest.mark.parametrize("start", ["gram", "identity"])
def test_the_distance_to_least_squares_is_that_of_the_residual(start):
    healthy = findings(k=3, d=2, n=6, start=start, domain="float")
    assert failing(healthy) == []
    assert healthy["ols"].measured["distance"] == pytest.approx(healthy["ols"].bound["distance"])


def test_the_chosen_alpha_is_a_power_of_two_that_converges():
    x = np.random.default_rng(5).standard_normal((6, 5, 3)) * 10
    for start, power in (("gram", 2), ("identity", 1)):
        alpha = safe_alpha(x, start)
        assert np.frexp(alpha)[0] == 0.5
        largest = np.linalg.eigvalsh(np.swapaxes(x, -1, -2) @ x).max()
        assert alpha * largest**power <= 1
    with rejects("inputs"):
        safe_alpha(np.zeros((2, 3, 2)), "gram")


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (["ladder", "direct"], {"layout": "ladder", "interleaved": True}),
        (["paper", "start"], {"layout": "paper", "start": "identity"}),
        (["tokens"], {"layout": "paper", "n": 1000}),
        (["tokens", "direct"], {"interleaved": True, "n": 1000}),
        (["rationals", "k"], {"d": 4, "n": 40, "k": 24, "domain": "exact"}),
        (["symbolic", "k"], {"d": 3, "n": 5, "k": 5, "domain": "symbolic"}),
        (["modular"], {"interleaved": True, "domain": "modular"}),
        *((["alpha"], {"alpha": alpha}) for alpha in (-1.0, 0.0, float("nan"))),
    ],
    ids=str,
)
def test_what_cannot_be_shown_is_rejected(names, options):
    with rejects(*names):
        findings(**{"d": 2, "n": 3, "k": 2, **options})


def test_many_tokens_leave_out_the_layout_whose_attention_is_quadratic():
    found = findings(d=1, n=900, k=0, domain="modular")
    assert {id.partition("/")[0] for id in found} == {"direct", "ladder"}


@pytest.mark.parametrize("n", [4, 5, 10])
def test_denominators_that_are_no_powers_of_two_count_in_full(n):
    """Attention divided by n = 10 has powers of 10 to clear, not powers of 2."""
    case = newton_statement(Run(), "paper", "gram", 2.0**-6).at(2, n, 3)

    def size(domain, entry):
        return case.predictions(case.filled(domain, entry)).tolist()[0][0]

    denominators = Denominators()
    exponent = size(denominators, 0)
    wanted = denominators.bits(exponent) + bits(size(Heights(), Heights().number(1)))
    assert denominators.base == {4: 2, 5: 10, 10: 10}[n]
    least = error_probability(size(Degrees(), 1), wanted)
    assert identity.chance_of_error(case) >= least


@pytest.mark.parametrize("options", [["--layout", "paper"], ["--interleaved"]])
def test_certificates_that_do_not_exist_are_rejected_before_the_run(options, tmp_path, capsys):
    file = tmp_path / "newton.json"
    rejected(capsys, ["newton", *options, "--certificate", str(file)], "certificate", "layout")
    assert not file.exists()


@pytest.mark.parametrize("fault", ["", "prediction", "alpha"])
def test_the_steps_on_more_examples_are_those_from_another_alpha(fault, monkeypatch):
    """Other predictions fail, and so do predictions that are equal from both α."""
    predict, statement = module.predict, module.newton_statement
    if fault == "prediction":
        monkeypatch.setattr(module, "predict", lambda *given: 2 * predict(*given))
    if fault == "alpha":
        monkeypatch.setattr(
            module,
            "newton_statement",
            lambda run, layout, start, alpha: statement(run, layout, start, 2.0**-6),
        )
    found = module._twice_as_many_examples(Run())
    assert found.verdict is (Verdict.FAILS if fault else Verdict.HOLDS)


def test_models_of_all_scales_that_predict_alike_do_not_show_the_scale(monkeypatch):
    """The recursion from α/4 in place of that from α: the prediction equals both."""
    right = module.newton_statement

    def alike(run, layout, start, alpha):
        quarter = right(run, layout, start, 2.0**-8)
        return replace(right(run, layout, start, alpha), algorithm=quarter.algorithm)

    assert module._twice_as_many_examples(Run()).verdict is Verdict.HOLDS
    monkeypatch.setattr(module, "newton_statement", alike)
    assert module._twice_as_many_examples(Run()).verdict is Verdict.FAILS
