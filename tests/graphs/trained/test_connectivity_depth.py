"""The claim on one layer and two trained on graphs, with models that contradict it."""

import pytest

from verify.finding import Verdict
from verify.graphs.trained.connectivity_depth import by_depth
from verify.graphs.trained.trial import Right, Seen

HOLDS = Verdict.HOLDS


def seeds(within, beyond, chain):
    right = Right(0.9, within, beyond, chain, 0.0, errors=(0.01, 0.01, 0.01))
    return [Seen(f"seed{i}", None, right) for i in range(3)]


ONE = {"within": seeds(0.95, 0.0, 1.0), "all": seeds(0.7, 0.2, 0.1)}
TWO = {"within": seeds(1.0, 0.2, 1.0), "all": seeds(1.0, 1.0, 1.0)}
AMISS = {
    # one seed of a depth and its graphs that is otherwise, and what then does not hold
    "2Chain by one layer, all": ("one", "all", seeds(0.7, 0.2, 1.0), "one-layer/two-chain"),
    "near ones by one layer, all": ("one", "all", seeds(0.95, 0.2, 0.1), "one-layer/within"),
    "beyond 3 by one layer, all": ("one", "all", seeds(0.7, 1.0, 0.1), "depth/beyond"),
    "beyond 3 by two, within": ("two", "within", seeds(1.0, 1.0, 1.0), "two-layers/beyond"),
}


@pytest.mark.parametrize("what", AMISS)
def test_each_finding_can_fail_by_one_seed(what):
    depth, graphs, other, wanted = AMISS[what]
    models = {"one": ONE, "two": TWO}
    assert {each.verdict for each in by_depth(ONE, TWO)} == {HOLDS}
    seen = [*models[depth][graphs][:2], other[2]]
    models[depth] = {**models[depth], graphs: seen}
    found = by_depth(models["one"], models["two"])
    assert {each.id for each in found if each.verdict is not HOLDS} == {wanted}
