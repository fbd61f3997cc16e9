"""The claim `newton`: its findings, its evidence words, printed mistakes, and a user's data."""

from pathlib import Path

import numpy as np
import pytest

from verify.claim import Run
from verify.finding import Verdict
from verify.regression import equality, newton, printed_proof
from verify.regression import statement as statement_module

claim = newton.newton
LONGLEY = Path(__file__).parents[2] / "examples" / "data" / "longley.csv"


def findings(**options):
    run = Run(seed=options.pop("seed", 0), quick=True)
    return list(claim.findings(run, **options))


def by_name(found, words):
    (finding,) = [f for f in found if words in f.name]
    return finding


EVIDENCE = {
    "size": "exact",
    "equals the recursion in float64": "float",
    "exactly over Q": "exact",
    "mod random 61-bit primes": "identity",
    "symbolically": "identity",
    "every register holds": "identity",
    "residual I − S·M": "identity",
}


@pytest.mark.parametrize("layout", ["direct", "ladder", "paper"])
def test_each_kind_of_evidence_is_a_finding(layout):
    found = findings(k=3, d=2, n=4, layout=layout)
    for words, evidence in EVIDENCE.items():
        finding = by_name(found, f"{layout}: {words}")
        assert finding.evidence == evidence
        assert finding.verdict is Verdict.HOLDS
    assert by_name(found, "converges: ").evidence == "float"
    assert by_name(found, "distance to OLS").evidence == "float"
    assert "error probability ≤ " in by_name(found, "mod random 61-bit primes, all").measured


@pytest.mark.parametrize("domain", ["float", "exact", "modular", "symbolic"])
def test_a_domain_alone(domain):
    found = findings(k=2, d=2, n=2, layout="direct", domain=domain)
    words = {
        "float": "in float64",
        "exact": "over Q",
        "modular": "mod random",
        "symbolic": "symbolically",
    }
    assert by_name(found, words[domain]).verdict is Verdict.HOLDS
    assert not any(words[other] in f.name for f in found for other in words if other != domain)


def test_sizes_against_the_theorem():
    found = findings(k=5, d=3, n=4, domain="modular")
    measured = [f.measured for f in found if f.name.endswith("size")]
    assert measured == [
        "7 layers, 1 heads, width 8",
        "6 layers, 4 heads, width 32",
        "13 layers, 2 heads, width 18",
    ]


def test_interleaved_prompts():
    found = findings(k=2, d=2, n=3, interleaved=True)
    assert all(f.verdict is Verdict.HOLDS for f in found)
    # A hardmax is no polynomial: nothing is claimed mod p.
    assert not any("61-bit" in f.name for f in found)
    assert by_name(found, "every register").evidence == "exact"


def test_the_stated_size_takes_no_time_modulo_primes():
    """d = 20, n = 40, k = 12: the error probability is printed, and small."""
    finding = by_name(findings(d=20, n=40, k=12, layout="direct", domain="modular"), "61-bit")
    assert finding.verdict is Verdict.HOLDS
    assert float(finding.measured.split("≤ ")[1]) <= equality.WANTED_ERROR
    # Other work may share the machine, and annotations are checked here.
    assert finding.seconds < 5


@pytest.mark.parametrize("k", [57, 100])
def test_a_degree_beyond_the_primes_is_undecided_and_ends(k):
    finding = by_name(findings(d=1, n=1, k=k, layout="direct", domain="modular"), "61-bit")
    assert finding.verdict is Verdict.UNDECIDED
    assert "take a smaller k" in finding.detail


@pytest.mark.parametrize(("start", "power"), [("gram", 2), ("identity", 1)])
@pytest.mark.parametrize(("factor", "holds"), [(1.99, True), (2.01, False)])
def test_alpha_too_large_fails_to_converge_but_is_computed(start, power, factor, holds):
    x = np.random.default_rng(0)
    prompts = newton.gaussian_prompts(8, 4, 2, seed=x)
    largest = np.linalg.eigvalsh(np.swapaxes(prompts.x, -1, -2) @ prompts.x).max()
    alpha = float(factor / largest**power)
    found = findings(k=4, d=2, n=4, start=start, alpha=alpha)
    failing = [f.name for f in found if f.verdict is not Verdict.HOLDS]
    if holds:
        assert failing == []
        return
    assert len(failing) == 1
    finding = by_name(found, "converges: ")
    assert finding.verdict is Verdict.FAILS
    assert "the recursion itself is still computed.  Choose α below" in finding.detail
    assert f"residual of {factor - 1:.3g} ≥ 1" in finding.detail


def test_overflow_is_undecided_and_not_a_pass():
    found = findings(k=12, d=2, n=4, alpha=1e9, layout="direct", domain="float")
    verdicts = {f.name.split(":")[-1].strip()[:12]: f.verdict for f in found}
    assert by_name(found, "in float64").verdict is Verdict.UNDECIDED
    assert by_name(found, "distance to OLS").verdict is Verdict.UNDECIDED
    assert Verdict.together(list(verdicts.values())) is Verdict.FAILS


@pytest.mark.parametrize("exponent", [-1000, -300, -30])
def test_a_tiny_alpha_is_computed_to_rounding(exponent):
    """x + αSx − x is 0 in float64, and the bound must know it."""
    found = findings(k=2, d=2, n=3, alpha=2.0**exponent, domain="float")
    assert all(f.verdict is Verdict.HOLDS for f in found), found


def test_the_chosen_alpha_is_a_power_of_two_that_converges():
    x = np.random.default_rng(5).standard_normal((6, 5, 3)) * 10
    for start, power in (("gram", 2), ("identity", 1)):
        alpha = newton.safe_alpha(x, start)
        assert np.frexp(alpha)[0] == 0.5
        largest = np.linalg.eigvalsh(np.swapaxes(x, -1, -2) @ x).max()
        assert alpha * largest**power <= 1
    with pytest.raises(ValueError, match="all inputs are zero"):
        newton.safe_alpha(np.zeros((2, 3, 2)), "gram")


# The printed proof: each finding holds as printed, and not when the mistake is taken away.


def test_a_relu_mlp_cannot_multiply():
    assert printed_proof.product_in_an_mlp().verdict is Verdict.HOLDS
    assert printed_proof.product_in_an_mlp(lambda t: 3 * t).verdict is Verdict.FAILS


def test_the_printed_mistakes_are_all_there():
    found = list(printed_proof.printed_mistakes(Run()))
    words = ["float", "exact", "identity", "exact", "exact", "float"]
    assert [f.evidence for f in found] == words
    assert all(f.verdict is Verdict.HOLDS for f in found)


def test_opposite_signs_are_no_mistake():
    assert printed_proof.equal_signs(Run()).verdict is Verdict.HOLDS
    assert printed_proof.equal_signs(Run(), second=-1.0).verdict is Verdict.FAILS


@pytest.mark.parametrize(("numerator", "mistaken"), [(1, False), (2, True), (3, False)])
def test_only_twice_the_inverse_square_is_stuck(numerator, mistaken):
    assert printed_proof.printed_alpha(numerator).verdict is Verdict.of(mistaken)


@pytest.mark.parametrize(
    "expansions",
    [((2, -1), (4, -6, 4, -1)), ((2, -1), (4, -12, 16, -16)), ((2, -4), (4, -6, 4, -1))],
    ids=["both right", "M₁ right", "M₂ right"],
)
def test_the_right_expansions_are_no_mistake(expansions):
    assert printed_proof.printed_expansions(expansions).verdict is Verdict.FAILS


def test_a_fixed_alpha_leaves_its_range():
    finding = printed_proof.fixed_alpha()
    assert finding.measured.endswith("have residual -15")


def test_a_causal_stream_that_is_right_is_no_mistake(monkeypatch):
    """Newton on every prefix, with d² numbers per token, is what the remark claims."""

    def separate(x, alpha, k):
        sigma = np.stack([x[: t + 1].T @ x[: t + 1] / (t + 1) for t in range(len(x))])
        M = alpha * sigma
        yield np.einsum("tij,tj->ti", M, x)
        for _ in range(k):
            M = 2 * M - M @ sigma @ M
            yield np.einsum("tij,tj->ti", M, x)

    assert printed_proof.causal_remark(Run()).verdict is Verdict.HOLDS
    monkeypatch.setattr(printed_proof, "_causal_stream", separate)
    assert printed_proof.causal_remark(Run()).verdict is Verdict.FAILS


# A user's own numbers.


@pytest.fixture(scope="module")
def longley():
    return findings(data=LONGLEY, target="employed", k=5)


def test_on_data_everything_holds_and_is_said(longley):
    assert all(f.verdict is Verdict.HOLDS for f in longley)
    for layout in ("direct", "ladder", "paper"):
        agreement = by_name(longley, f"{layout}: equals the recursion in float64")
        assert "3 held-out rows of longley.csv" in agreement.name
        exact = by_name(longley, f"{layout}: equals the recursion exactly on the data")
        assert exact.evidence == "exact"
    steps = by_name(longley, "steps to OLS accuracy")
    assert "κ(S) = 1.0" in steps.name
    assert 20 < steps.measured <= 40
    assert not any("printed" in f.name for f in longley)


def test_the_steps_to_ols_accuracy_are_the_least(longley):
    """Counted again with the recursion itself, in float64 on the same rows."""
    from theory.regression import newton as solve
    from theory.regression import ols
    from verify.regression.data import read_examples

    examples = read_examples(LONGLEY, "employed", np.random.default_rng(0))
    alpha = newton.safe_alpha(examples.x, "gram")
    exact = examples.queries @ ols(examples.x, examples.y)

    def distance(k):
        w = solve(examples.x, examples.y, k, alpha)
        return float(np.abs(examples.queries @ w - exact).max())

    needed = by_name(longley, "steps to OLS accuracy").measured
    assert distance(needed) <= 2e-6
    assert distance(needed - 1) > 1e-6


def test_more_columns_than_rows(tmp_path):
    table = np.random.default_rng(0).integers(-9, 10, (7, 9))
    lines = ["a,b,c,d,e,f,g,h,target", *(",".join(map(str, row)) for row in table.tolist())]
    file = tmp_path / "wide.csv"
    file.write_text("\n".join(lines))
    found = findings(data=file, k=2, layout="direct", domain="float")
    assert all(f.verdict is Verdict.HOLDS for f in found)


@pytest.mark.parametrize("n", [4, 5, 10])
def test_denominators_that_are_no_powers_of_two_count_in_full(n):
    """Attention divided by n = 10 has powers of 10 to clear, not powers of 2."""
    from verify.domains import Degrees, Denominators, Heights, error_probability
    from verify.domains.sizes import bits

    statement = newton.newton_statement(Run(), "paper", "gram", 2.0**-6)
    model = statement.build(2, n, 3)

    def size(domain, entry):
        rows = [
            [[entry] * width for _ in range(count)] for count, width in ((n, 2), (n, 1), (1, 2))
        ]
        return statement_module.predict(model, domain, *rows).tolist()[0][0]

    denominators = Denominators()
    exponent = size(denominators, 0)
    wanted = denominators.bits(exponent) + bits(size(Heights(), Heights().number(1)))
    assert denominators.base == {4: 2, 5: 10, 10: 10}[n]
    least = error_probability(size(Degrees(), 1), wanted)
    assert equality.chance_of_error(statement, model, 2, n, 3) >= least


@pytest.mark.parametrize("seed", range(8))
def test_the_causal_remark_diverges_for_every_seed(seed):
    assert printed_proof.causal_remark(Run(seed=seed)).verdict is Verdict.HOLDS
