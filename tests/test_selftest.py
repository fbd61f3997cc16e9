import pytest
import torch

from constructions import gradient_descent, newton, online_gradient_descent
from verify.claim import Run
from verify.selftest import FAULTS

MODELS = {
    "direct": newton(2, 2, 0.25),
    "ladder": newton(2, 2, 0.25, "ladder"),
    "paper": newton(2, 1, 0.25, "paper", n=3),
    "descent": gradient_descent(2, 3, 0.25),
    "online": online_gradient_descent(2, 3),
}
each_fault = pytest.mark.parametrize("fault", FAULTS)
each_model = pytest.mark.parametrize("name", MODELS)


def weights(model):
    return [parameter.clone() for parameter in model.parameters()]


@each_fault
@each_model
def test_a_fault_changes_a_copy_of_the_model_and_nothing_else(name, fault):
    before = weights(MODELS[name])
    faulty = FAULTS[fault](MODELS[name])
    pairs = zip(before, MODELS[name].parameters(), strict=True)
    assert all(torch.equal(old, new) for old, new in pairs)
    pairs = zip(before, faulty.parameters(), strict=True)
    changed = [not torch.equal(old, new) for old, new in pairs]
    assert sum(changed) == 1, "a fault is planted in one tensor"


@each_fault
@each_model
def test_a_fault_changes_the_prediction(name, fault):
    x = torch.tensor([[1.0, 0.5], [-0.5, 2.0], [0.25, 1.0]], dtype=torch.float64)
    y = torch.tensor([1.0, -2.0, 0.5]).double()
    # A ReLU head is silent for one of a query and its negative.
    query = torch.tensor([[0.5, -1.0], [-0.5, 1.0]]).double()
    model = MODELS[name]
    same = torch.isclose(FAULTS[fault](model)(x, y, query), model(x, y, query), rtol=1e-9)
    assert not same.all()


def test_the_faults_are_those_of_the_self_test():
    assert list(FAULTS) == ["wrong sign", "wrong power of two", "swapped register"]


@each_fault
def test_a_model_without_attention_is_left_as_it_is(fault):
    model = gradient_descent(2, 0, 0.5)
    faulty = FAULTS[fault](model)
    assert faulty is not model
    pairs = zip(weights(model), faulty.parameters(), strict=True)
    assert all(torch.equal(old, new) for old, new in pairs)


def test_a_run_plants_its_fault_in_what_it_builds():
    fault = FAULTS["wrong sign"]
    healthy, faulty = (Run(fault=f).build(gradient_descent, 1, 1, 0.5) for f in (None, fault))
    assert torch.equal(faulty.blocks[0].attn.W_O, -healthy.blocks[0].attn.W_O)
