"""Step sizes with which the iterations converge, and the warning of models on other inputs."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from refusals import check_line, rejects

from constructions import (
    chebyshev,
    gradient_descent,
    hyperpower,
    induction_heads,
    load,
    newton,
    newton_with_pauses,
    online_gradient_descent,
    save,
)
from theory import regression
from theory.kinds import OutsideHypotheses
from theory.regression import safe_step_size

D, N = 2, 5
X = np.random.default_rng(3).standard_normal((4, N, D))
Y, QUERIES = X @ [1.0, -2.0], X[:, 0]
TOP = max(np.linalg.eigvalsh(x.T @ x)[-1] for x in X)

# A construction with one number, and the number from which on it diverges.
MODELS: dict[str, tuple[Callable[[float], Any], float]] = {
    "newton": (lambda a: newton(D, 3, a), 2 / TOP**2),
    "from I": (lambda a: newton(D, 3, a, start="identity"), 2 / TOP),
    "ladder": (lambda a: newton(D, 3, a, "ladder"), 2 / TOP**2),
    "ladder from I": (lambda a: newton(D, 3, a, "ladder", start="identity"), 2 / TOP),
    "paper": (lambda a: newton(D, 2, a, "paper", n=N), 2 / TOP**2),
    "interleaved": (lambda a: newton(D, 3, a, interleaved=True), 2 / TOP**2),
    "causal": (lambda a: newton(D, 3, a, causal=True), 2 / TOP**2),
    "causal ladder": (lambda a: newton(D, 3, a, "ladder", causal=True), 2 / TOP**2),
    "pauses": (lambda a: newton_with_pauses(D, 3, a), 2 / TOP),
    "hyperpower": (lambda a: hyperpower(D, 2, 3, a), 2 / TOP**2),
    "descent": (lambda a: gradient_descent(D, 3, a), 2 / TOP),
    "descent ladder": (lambda a: gradient_descent(D, 3, a, "ladder"), 2 / TOP),
    "descent causal": (lambda a: gradient_descent(D, 3, a, causal=True), 2 / TOP),
    "chebyshev": (lambda a: chebyshev(D, 3, 1 / a, 1 / a), 2 / TOP),
}


def called(model: Any, x: np.ndarray = X) -> list[str]:
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model(x, x @ [1.0, -2.0], x[..., 0, :])
    assert all(issubclass(each.category, OutsideHypotheses) for each in caught)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_warns_once_exactly_if_its_iteration_diverges(name: str) -> None:
    build, limit = MODELS[name]
    below, above = build(limit * (1 - 1e-9)), build(limit * (1 + 1e-9))
    assert (below.converges(X), above.converges(X)) == (True, False)
    assert called(below) == []
    (message,) = called(above)
    check_line(message, "largest" if name == "chebyshev" else "λmax")
    assert above.name in message
    assert called(above) == []
    assert len(called(deepcopy(above))) == 1
    assert called(build(limit / 4)) == []


@pytest.mark.parametrize("name", MODELS)
def test_a_printed_model_states_the_largest_singular_value(name: str) -> None:
    build, limit = MODELS[name]
    for argument in (limit, 100 * limit):
        model = build(argument)
        (line,) = (each for each in str(model).splitlines() if "converges" in each)
        power = 4 if limit == 2 / TOP**2 else 2
        singular = (2 / argument) ** (1 / power)
        assert line.endswith(f" {singular:.4g}")
        assert f" {singular**2:.4g}," in line
    assert repr(model) == str(model)


def test_models_without_a_condition_print_none() -> None:
    for model in (
        gradient_descent(D, 0, 1.0),
        induction_heads(2, 3),
        online_gradient_descent(D, N),
    ):
        assert "converges" not in str(model)


@pytest.mark.parametrize("name", MODELS)
def test_the_remedy_converges(name: str) -> None:
    build, limit = MODELS[name]
    (message,) = called(build(8 * limit))
    given = float(message.split("build it with ")[1].split("=")[1].split(",")[0])
    better = build(given) if name != "chebyshev" else chebyshev(D, 3, 0.1, given)
    assert better.converges(X)
    assert called(better) == []
    assert np.frexp(given)[0] == 0.5  # the number itself, not rounded


@pytest.mark.parametrize(
    ("method", "start", "power"),
    [
        ("newton", "gram", 2),
        ("newton", "identity", 1),
        ("hyperpower", "gram", 2),
        ("hyperpower", "identity", 1),
        ("gradient_descent", "gram", 1),
    ],
)
@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
def test_a_safe_step_size_is_a_power_of_two_below_the_bound(
    method: Any, start: Any, power: int, scale: float
) -> None:
    size = safe_step_size(scale * X, method, start)
    assert np.frexp(size)[0] == 0.5
    norm = max(np.linalg.norm(x.T @ x) for x in X)
    ratio = (size * scale**power * scale**power) * norm**power  # in this order: no underflow
    assert 0.5 < ratio <= 1


def test_a_safe_step_size_is_that_of_the_largest_prompt() -> None:
    for factors in ([1.0, 100.0], [100.0, 1.0]):
        x = np.multiply.outer(factors, X[0])
        assert safe_step_size(x) == safe_step_size(100 * X[0])
        assert safe_step_size(x, "gradient_descent") < safe_step_size(X[0], "gradient_descent")


def test_the_methods_of_theory_converge_with_it() -> None:
    x, y = X[0], Y[0]
    w = np.linalg.lstsq(x, y)[0]
    for found in (
        regression.newton(x, y, 40, safe_step_size(x)),
        regression.newton(x, y, 40, safe_step_size(x, "newton", "identity"), "identity"),
        regression.hyperpower(x, y, 30, 3, safe_step_size(x, "hyperpower")),
        regression.gradient_descent(x, y, 4000, safe_step_size(x, "gradient_descent")),
    ):
        assert np.allclose(found, w, rtol=1e-9)


def test_inputs_without_a_safe_step_size_are_rejected() -> None:
    with rejects("x"):
        safe_step_size(np.zeros((3, 2)))
    for scale in (1e-100, 1e100):
        with rejects("x"):
            safe_step_size(scale * X)
    with rejects("method"):
        safe_step_size(X, "chebyshev")  # type: ignore[arg-type]
    with rejects("start"):
        safe_step_size(X, "gradient_descent", "identity")


@pytest.mark.parametrize("name", ["newton", "descent", "chebyshev"])
def test_inputs_whose_products_overflow_do_not_converge(name: str) -> None:
    assert not MODELS[name][0](1.0).converges(1e200 * X)


def test_inputs_that_are_all_zero_converge() -> None:
    model = newton(D, 3, 1.0)
    assert model.converges(0 * X)
    assert called(model, 0 * X) == []


@pytest.mark.parametrize("name", ["newton", "descent"])
def test_inputs_are_divided_by_the_scale_of_the_interface(name: str) -> None:
    build, limit = MODELS[name]
    below, above = build(limit * (1 - 1e-9)), build(limit * (1 + 1e-9))
    for model in (below, above):
        model.interface.scale = 4.0
    assert (below.converges(4 * X), above.converges(4 * X)) == (True, False)
    assert called(below, 4 * X) == []
    assert len(called(above, 4 * X)) == 1
    (line,) = (each for each in str(above).splitlines() if "converges" in each)
    assert line.endswith(f" {4 * TOP**0.5:.4g}")


def test_without_steps_nothing_diverges() -> None:
    assert called(newton(D, 0, 100.0)) == []
    assert called(gradient_descent(D, 0, 100.0)) == []


def test_more_dimensions_than_examples() -> None:
    x = np.random.default_rng(4).standard_normal((3, 1, 6))
    top = max(np.linalg.eigvalsh(each.T @ each)[-1] for each in x)
    for factor, holds in ((1 - 1e-9, True), (1 + 1e-9, False)):
        assert gradient_descent(6, 2, 2 / top * factor).converges(x) == holds


def test_float32_warns_and_shorter_dtypes_do_not() -> None:
    for dtype, count in ((torch.float32, 1), (torch.bfloat16, 0)):
        model = gradient_descent(D, 2, 1.0).to(dtype)
        assert len(called(model)) == count


@pytest.mark.parametrize("width", [1, 2])
def test_at_the_limit_itself_the_iteration_does_not_converge(width: int) -> None:
    """At λmax = 4 and the step 2/4 the error keeps its size: 1 − 4/2 = −1."""
    model, x = gradient_descent(width, 3, 0.5), 2.0 * np.eye(width)
    assert not model.converges(x)
    assert model.converges(np.nextafter(2.0, 0) * np.eye(width))
    assert not newton(width, 3, 0.125).converges(x)
    assert newton(width, 3, 0.125).converges(np.nextafter(2.0, 0) * np.eye(width))


def test_logits_and_streams_do_not_warn() -> None:
    model = newton(D, 2, 1.0)
    model.logits(X, Y, QUERIES)
    list(model.streams(X, Y, QUERIES))
    assert len(called(model)) == 1


@pytest.mark.slow
def test_the_warning_names_the_line_of_the_call() -> None:
    code = f"from constructions import newton\nnewton({D}, 2, 1.0)([[3.0, 1.0]], [1.0], [1.0, 1.0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.startswith("<string>:2: OutsideHypotheses: newton(")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "model",
    [
        newton(D, 2, 2.0**-100),
        newton(D, 2, 2.0**-100, "ladder", causal=True),
        newton(D, 2, 2.0**-100, start="identity"),
        hyperpower(D, 1, 3, 2.0**-100),
        newton_with_pauses(D, 2, 2.0**-100),
    ],
    ids=["direct", "ladder", "identity", "hyperpower", "pauses"],
)
def test_a_scale_whose_products_underflow_is_named(model: Any) -> None:
    """α·λmax^p underflows 2^−1022, or 2^−126 in float32, for p = 2 from αS and p = 1 from αI."""
    p = model.interface.convergence.power
    for of, least in ((model, -1022), (deepcopy(model).float(), -126)):
        for by, lines in ((2.0**6, 0), (2.0**-6, 1)):
            x = X[0] / np.linalg.norm(X[0], 2) * (2.0 ** (least + 100) * by) ** (0.5 / p)
            assert len(called(of, x)) == lines
            assert all("underflows" in line for line in called(of, x))
        assert called(of, 0 * X) == []


def test_gradient_descent_does_not_underflow() -> None:
    """Its layers multiply by the labels first."""
    x, y = np.full((1, 1), 2.0**-500), np.full(1, 2.0**900)
    model = gradient_descent(1, 1, 2.0**-300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model(x, y, x[0]) == 2.0**-400


def test_the_warning_can_be_turned_off() -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=OutsideHypotheses)
        newton(D, 2, 1.0)(X, Y, QUERIES)
    with pytest.warns(UserWarning, match="diverges"):
        newton(D, 2, 1.0)(X, Y, QUERIES)


def test_a_saved_model_warns_too(tmp_path: Path) -> None:
    save(newton(D, 2, 1.0), tmp_path / "a.safetensors")
    model: Any = load(tmp_path / "a.safetensors")
    assert not model.converges(X)
    assert len(called(model)) == 1


def test_a_model_without_a_step_size_has_no_condition() -> None:
    for model in (induction_heads(2, 3), online_gradient_descent(D, N)):
        with rejects("step size"):
            model.converges(X)
    assert called(online_gradient_descent(D, N)) == []


@pytest.mark.parametrize("x", [None, "x", X[..., :1], X[0, 0], np.full((N, D), np.nan), 1j * X])
def test_the_inputs_of_converges_have_the_shape_of_examples(x: Any) -> None:
    with rejects("x"):
        newton(D, 2, 1.0).converges(x)
