"""The constructions on a GPU: the same predictions as on the CPU, within their rounding bounds."""

from __future__ import annotations

import pytest
import torch
from small_models import MODELS, PUBLIC

from constructions import hop, induction_heads, newton
from constructions.trained import load, log_of, preset, train
from constructions.trained.presets import PRESETS
from constructions.trained.tasks import text
from theory.regression import gaussian_prompts
from theory.retrieval import random_sequences
from verify.evidence.rounding import with_rounding_bound

if not torch.cuda.is_available():
    pytest.skip("no CUDA device on this machine", allow_module_level=True)


@pytest.mark.parametrize("layout", ["direct", "ladder", "paper"])
def test_newton_on_a_gpu(layout):
    torch.manual_seed(0)
    x, y, query = torch.randn(8, 12, 4), torch.randn(8, 12), torch.randn(8, 4)
    model = newton(4, 5, 2.0**-12, layout, n=12 if layout == "paper" else None)
    wanted, bounds = with_rounding_bound(model, x, y, query)
    found = model.to("cuda")(x, y, query).cpu()
    assert ((found - wanted).abs() <= 2 * bounds).all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(
    "build",
    [
        lambda: induction_heads(8, 128),
        lambda: induction_heads(8, 128, "mean"),
        lambda: hop(6, 8, 128),
    ],
    ids=["induction", "mean", "six hops"],
)
def test_retrieval_on_a_gpu(build, dtype):
    """Scores and codes are integers below 2^24, averages of them are rounded once."""
    tokens = random_sequences(16, 128, 8, seed=0)
    wanted, model = build(), build().to("cuda", dtype)
    logits = model.logits(tokens)
    assert logits.device.type == "cuda"
    assert torch.equal(logits.cpu(), wanted.logits(tokens).to(dtype))
    assert torch.equal(model(tokens).cpu(), wanted(tokens))
    soft = model.sharpened(wanted.least_sharpness() * 1.001)
    assert torch.equal(soft(tokens).cpu(), wanted(tokens))


@pytest.mark.parametrize("name", MODELS)
def test_every_construction_on_a_gpu(name):
    """Inputs are lists, on no device; answers are on the device of the weights."""
    arguments, inputs = MODELS[name]
    wanted, model = PUBLIC[name](*arguments), PUBLIC[name](*arguments).to("cuda")
    found = model(*inputs)
    assert found.device.type == "cuda"
    torch.testing.assert_close(found.cpu(), wanted(*inputs))
    for here, there in zip(model.streams(*inputs), wanted.streams(*inputs), strict=True):
        torch.testing.assert_close(here.cpu(), there)


@pytest.mark.parametrize(
    ("task", "size", "model"),
    [(task, *kind) for task in PRESETS for kind in PRESETS[task] if "paper" not in kind[0]],
)
def test_every_task_is_trained_on_a_gpu(task, size, model, tmp_path):
    if task == "digits":
        pytest.importorskip("sklearn", reason="its file has the digits")
    if task == "text" and not text.available():
        pytest.skip("another version of Python has other texts")
    path = train(preset(task, size, model=model, steps=2), tmp_path, device="cuda")
    assert log_of(path)[-1]["step"] == 2
    assert all(W.isfinite().all() for W in load(path).parameters())


@pytest.mark.parametrize("model", ["transformer", "lstm"])
def test_training_on_a_gpu(model, tmp_path):
    """Compiled, in TF32, with prompts drawn there: it learns, and the CPU loads what is saved."""
    made = preset("regression", model=model, steps=400)
    path = train(made, tmp_path, device="cuda")
    losses = [line["loss"] for line in log_of(path)]
    assert losses[-1] < losses[0]
    p = gaussian_prompts(10, 10, 5, seed=0)
    assert load(path)(p.x, p.y, p.x_query).shape == (10, 11)
