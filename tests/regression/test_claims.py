"""The claims on regression at their smallest sizes, and what a failing one reports."""

import re
import shlex
from copy import deepcopy

import pytest

from verify.claim import Run
from verify.cli.main import main
from verify.evidence.identity import smallest_failure
from verify.finding import Verdict
from verify.regression.gradient_descent import gradient_descent
from verify.regression.newton import newton
from verify.regression.online_gradient_descent import online_gradient_descent
from verify.regression.statements import newton_statement
from verify.selftest.tensor_mutations import TensorFault

LEAST = [
    (newton, {"k": 2}),
    (newton, {"k": 0}),
    (gradient_descent, {"k": 3}),
    (gradient_descent, {"k": 1}),
    (online_gradient_descent, {}),
]


@pytest.mark.parametrize(("claim", "steps"), LEAST)
@pytest.mark.parametrize("size", [{"d": 1, "n": 1}, {"d": 3, "n": 1}, {"d": 1, "n": 3}], ids=str)
def test_claims_hold_at_the_smallest_sizes(claim, steps, size):
    found = claim.findings(Run(quick=True), samples=2, **size, **steps)
    assert [f.id for f in found if f.verdict is not Verdict.HOLDS] == []


@pytest.mark.parametrize("kind", ["wrong sign", "wrong power of two", "swapped register"])
@pytest.mark.parametrize("domain", ["exact", "modular", "symbolic"])
def test_a_failure_shows_the_smallest_instance(domain, kind):
    options = {"layout": "direct", "domain": domain, "k": 2, "d": 2, "n": 3}
    fault = TensorFault("layer 2, head 1", kind)
    found = newton.findings(Run(quick=True, fault=fault), **options)
    (finding,) = [f for f in found if f.verdict is Verdict.FAILS]
    d, n, k = (int(re.search(rf"\b{name}=(\d)", finding.detail)[1]) for name in "dnk")
    assert (n, k) == (1, 0)
    assert d == 1 or kind == "swapped register"
    transformer, algorithm = re.search(r"transformer (.*), algorithm (.*)", finding.detail).groups()
    assert transformer != algorithm
    # The command to repeat it with is a command: without the fault it holds.
    _, _, _, *words = shlex.split(finding.detail[finding.detail.index("python -m verify newton") :])
    words.remove("--quick")
    given = dict(zip(words[1::2], words[2::2], strict=True))
    wanted = {"--d": d, "--n": n, "--k": k, "--layout": "direct", "--domain": "exact"}
    assert given.items() >= {(name, str(value)) for name, value in wanted.items()}
    assert main([*words, "-q"]) == 0


def test_the_first_wrong_register_is_named():
    """A fault in the first layer shows there and not only in the prediction."""

    def early(model):
        faulty = deepcopy(model)
        faulty.blocks[0].attn.W_O[0] *= 2
        return faulty

    statement = newton_statement(Run(fault=early), "direct", "gram", 0.25)
    detail = smallest_failure(Run(fault=early), statement.at(2, 3, 2))
    assert re.search("first difference.*register.*layer 1", detail)
