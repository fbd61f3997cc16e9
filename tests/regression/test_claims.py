"""What every claim has to do: hold when it is healthy, and fail when a fault is planted."""

import json
import re
import shlex
from copy import deepcopy
from functools import cache
from numbers import Number

import numpy as np
import pytest

from verify.claim import Claim, Run
from verify.cli import main as cli
from verify.domains import Rational
from verify.evidence.identity import smallest_failure
from verify.finding import Verdict
from verify.regression.chebyshev import chebyshev
from verify.regression.depth import depth
from verify.regression.gradient_descent import gradient_descent
from verify.regression.hyperpower import hyperpower
from verify.regression.newton import newton
from verify.regression.ols import ols
from verify.regression.online_gradient_descent import online_gradient_descent
from verify.regression.pictures import rates_picture
from verify.regression.rates import Problem, rates
from verify.regression.state_size import state_size
from verify.regression.statements import newton_statement
from verify.selftest.tensor_mutations import FAULTS

SMALL: dict[str, tuple[Claim, dict]] = {
    "newton": (newton, {"k": 2, "d": 2, "n": 3, "samples": 2}),
    "gd": (gradient_descent, {"k": 3, "d": 2, "n": 3, "samples": 2}),
    "ogd": (online_gradient_descent, {"d": 2, "n": 3, "samples": 2}),
    "ols": (ols, {"d": 3}),
    "hyperpower": (hyperpower, {"k": 1, "d": 2, "n": 3, "samples": 2}),
    "chebyshev": (chebyshev, {"k": 4, "d": 2, "n": 3, "samples": 2}),
    "rates": (rates, {"condition": 10.0, "d": 3, "digits": 50}),
    "depth": (depth, {"largest_k": 2, "largest_condition": 100.0}),
    "state-size": (state_size, {"samples": 4}),
}


def check(made, options, **run):
    return list(made.findings(Run(quick=True, **run), **options))


def not_holding(findings):
    return [(f.id, f.measured, f.detail) for f in findings if f.verdict is not Verdict.HOLDS]


@cache
def small(name):
    return check(*SMALL[name], seed=1)


@pytest.mark.parametrize("name", SMALL)
def test_every_claim_holds(name):
    assert not_holding(small(name)) == []


def values(value):
    """The numbers and words that a finding's value is made of."""
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list | tuple):
        return [entry for part in parts for entry in values(part)]
    return [value]


@pytest.mark.parametrize("name", SMALL)
def test_findings_have_an_identity_and_values(name):
    found = small(name)
    assert len({finding.id for finding in found}) == len(found)
    for finding in found:
        assert re.fullmatch(r"[^\s]+", finding.id)
        for value in (*values(finding.measured), *values(finding.bound)):
            assert isinstance(value, Number) or value in ("equal", "different"), finding
        assert json.loads(json.dumps(finding.as_json()))["id"] == finding.id


LEAST = {"newton": {"k": 0}, "gd": {"k": 1}, "ogd": {}}


@pytest.mark.parametrize("name", LEAST)
@pytest.mark.parametrize("size", [{"d": 1, "n": 1}, {"d": 3, "n": 1}, {"d": 1, "n": 3}], ids=str)
def test_claims_hold_at_the_smallest_sizes(name, size):
    made, options = SMALL[name]
    for chosen in [{**size, **LEAST[name]}] + [size] * (size == {"d": 1, "n": 1}):
        assert not_holding(check(made, {**options, **chosen})) == []


@pytest.mark.parametrize(
    ("name", "some"),
    [("newton", {"layout": "direct"}), ("gd", {"layout": "direct"}), ("ogd", {}), ("ols", {})],
)
def test_the_same_seed_gives_the_same_evidence(name, some):
    made, options = SMALL[name]
    first, second = (
        {
            finding.id: finding.as_json() | {"seconds": 0}
            for finding in found
            if not some or finding.id.startswith("direct/")
        }
        for found in (small(name), check(made, {**options, **some}, seed=1))
    )
    assert first == second != {}


CASES = [
    (name, {**options, "largest_k": 1} if name == "depth" else options)
    for name, (made, _) in SMALL.items()
    for options in made.faults_seen
    # state-size and rates take seconds a fault; the command `selftest` covers them
    if name not in ("state-size", "rates")
]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_every_claim_sees_every_fault_in_every_domain(name, options, fault):
    verdict = SMALL[name][0].verdict(Run(seed=1, quick=True, fault=FAULTS[fault]), **options)
    assert verdict is Verdict.FAILS


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["state-size", "rates"])
def test_the_slower_claims_see_faults(name, fault):
    """Findings are made one by one, so the first that fails ends the search."""
    findings = SMALL[name][0].findings(Run(quick=True, fault=FAULTS[fault]), **SMALL[name][1])
    assert any(finding.verdict is Verdict.FAILS for finding in findings)


def test_every_claim_has_faults_to_see():
    assert all(made.faults_seen for made, _ in SMALL.values())
    domains = {options.get("domain") for options in newton.faults_seen}
    assert domains == {"all", "float", "exact", "modular", "symbolic"}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("domain", ["exact", "modular", "symbolic"])
def test_a_failure_shows_the_smallest_instance(domain, fault):
    options = {"layout": "direct", "domain": domain, "k": 2, "d": 2, "n": 3}
    failed = [f for f in check(newton, options, fault=FAULTS[fault]) if f.verdict is Verdict.FAILS]
    (finding,) = failed
    instance, values, where, repeat = finding.detail.splitlines()
    found = re.match(r"smallest instance: d=(\d), n=(\d), k=(\d), x=\[\[", instance)
    d, n, k = map(int, found.groups())
    assert (n, k) == (1, 0)
    # With one coordinate there is nothing to swap.
    assert d == (2 if fault == "swapped register" else 1) or fault == "swapped register"
    transformer, algorithm = re.match(r"transformer (.*), algorithm (.*)", values).groups()
    assert transformer != algorithm
    assert where == "first difference: the read-out" or "register" in where
    words = shlex.split(repeat.removeprefix("repeat with: "))
    assert words[:4] == ["python", "-m", "verify", "newton"]
    assert f"--d {d} --n {n} --k {k} --layout direct" in repeat
    # The command is a command: without the fault it holds.
    assert cli.main([*words[3:], "-q"]) == 0


def test_the_first_wrong_register_is_named():
    """A fault in the first layer shows there and not only in the prediction."""

    def early(model):
        faulty = deepcopy(model)
        faulty.blocks[0].attn.W_O[0] *= 2
        return faulty

    statement = newton_statement(Run(fault=early), "direct", "gram", 0.25)
    detail = smallest_failure(Run(fault=early), statement, 2, 3, 2)
    assert "first difference: register" in detail
    assert "after layer 1" in detail
    assert Rational().name in detail  # the command asks for the exact domain


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("newton", {"k": 2, "d": 2, "n": 3, "domain": "modular"}),
        ("depth", {"largest_k": 2, "domain": "float", "largest_condition": 10.0}),
        ("state-size", SMALL["state-size"][1]),
    ],
)
def test_claims_that_draw_write_their_picture(name, options, tmp_path):
    made = SMALL[name][0]
    assert made.draws
    file = tmp_path / "picture.png"
    check(made, options, plot=file)
    assert file.read_bytes().startswith(b"\x89PNG")
    assert file.stat().st_size > 10_000


def test_rates_writes_its_picture(tmp_path):
    p = Problem(np.random.default_rng(0), 10.0, 3)
    rates_picture(tmp_path / "picture.pdf", p.x, p.y, p.w, p.condition)
    assert (tmp_path / "picture.pdf").read_bytes().startswith(b"%PDF")


def test_the_other_claims_do_not_draw():
    assert [name for name, (made, _) in SMALL.items() if made.draws] == [
        "newton",
        "rates",
        "depth",
        "state-size",
    ]


@pytest.mark.parametrize("name", SMALL)
def test_statements_fit_one_line_and_name_a_source(name):
    made, _ = SMALL[name]
    assert 40 < len(made.statement) < 120
    assert re.search(r"\[\w+\d{4}", made.source)
