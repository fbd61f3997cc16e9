"""The pictures of the claims: each function returns a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from constructions import newton
from constructions.regression import Inverse, Prediction
from constructions.transformer import Transformer
from theory.regression import (
    Start,
    chebyshev_iterates,
    conjugate_gradient_iterates,
    gradient_descent_iterates,
    newton_inverses,
    newton_lower_bound,
    ols,
)
from verify.ledger.theorems import theorem
from verify.regression.options import LAYOUTS
from verify.regression.stability import Errors
from verify.regression.statements import newton_theorem

COLOURS = {"paper": "#b5651d", "direct": "#1f5fa8", "ladder": "#2e8b57"}


@contextmanager
def panels_of(
    width: float, height: float, columns: int = 1, legend: str = "best", rows: int = 1
) -> Iterator[tuple[Figure, Any]]:
    """A context manager that yields a figure and the panels of the figure, row by row.

    On exit, a grid and a legend are added to each panel.
    """
    figure = Figure(figsize=(width, height))
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    yield figure, panels
    for panel in panels:
        panel.grid()
        if panel.get_legend_handles_labels()[0]:
            panel.legend(loc=legend)


def newton_picture(x: np.ndarray, y: np.ndarray, k: int, alpha: float, start: Start) -> Figure:
    """The figure of the distance to OLS by layer, and of the layers by number of steps.

    The n examples of dimension d are x (n, d), with labels y (n,). The left panel shows the
    relative distance of the weights after each layer from the OLS weights. The weights are computed
    from the registers with unit vectors as queries. The left panel also shows gradient descent with
    step size 1/λ_max and one step per layer. Let λ_min and λ_max be the smallest non-zero and the
    largest eigenvalue of xᵀx, and α = `alpha`. For k steps, which the layout "direct" has computed
    after layer k + 1, the left panel shows the bound (1 − αλ_min²)^(2^k) for the start αS, or (1 −
    αλ_min)^(2^k) for the start αI. The right panel shows the number of layers for k steps.
    """
    n, d = x.shape
    with panels_of(10, 4, columns=2) as (figure, (left, right)):
        least = 1.0
        for layout in LAYOUTS[start]:
            model = newton(d, k, alpha, layout, start=start, n=n if layout == "paper" else None)
            layers, errors = np.array([*error_by_layer(model, x, y)]).T
            left.semilogy(layers, errors, "o-", ms=4, label=layout, color=COLOURS[layout])
            least = min(least, *errors)
        eigenvalues, steps, exact = np.linalg.eigvalsh(x.T @ x), np.arange(k + 1), ols(x, y)
        iterates = islice(gradient_descent_iterates(x, y, 1 / eigenvalues[-1]), len(steps) + 1)
        descent = [np.linalg.norm(w - exact) / np.linalg.norm(exact) for w in iterates]
        left.semilogy(descent, "s-", ms=3, color="0.5", label="gradient descent")
        rate = 1 - alpha * eigenvalues[0] ** (2 if start == "gram" else 1)
        left.semilogy(steps + 1, rate ** (2.0**steps), "k--", lw=1, label="bound for direct")
        left.xaxis.set_major_locator(MaxNLocator(integer=True))
        title = f"Distance to least squares, d = {d}, n = {n}, k = {k}"
        left.set(xlabel="layer", ylabel="‖w − w_OLS‖ / ‖w_OLS‖", title=title)
        left.set_ylim(max(least / 30, 1e-17), 3)  # the bound continues below
        right.set(xlabel="Newton steps k", ylabel="layers", title="Layers for k Newton steps")
        draw_layers(right, max(k, 12), start)
    return figure


def error_by_layer(model: Transformer, x: np.ndarray, y: np.ndarray) -> Iterator[tuple[int, float]]:
    """Yields the relative distance of the weights to least squares after each layer.

    Only layers are used after which registers contain M x or xᵀM Xᵀy for an approximate inverse M
    of XᵀX, where X are the examples and y their labels. The distance is ‖M Xᵀy − w‖/‖w‖, where w
    are the least-squares weights.
    """
    d, exact = x.shape[1], ols(x, y)
    streams, found = list(model.streams(x, y, np.eye(d))), dict[int, np.ndarray]()
    for stage in model.stages:
        if "high" in stage.register:
            continue
        content = stage.times * streams[stage.after][-d:, model.stream[stage.register]].numpy()
        if isinstance(stage.holds, Inverse):
            found[stage.after] = content.T @ (x.T @ y)
        elif isinstance(stage.holds, Prediction):
            found[stage.after] = content[:, 0]
    for layer, w in sorted(found.items()):
        yield layer, float(np.linalg.norm(w - exact) / np.linalg.norm(exact))


def depth_picture(largest_k: int, errors: Mapping[Start, list[Errors]]) -> Figure:
    """The figure of layers by number of Newton steps, and of errors of the ladder by layers.

    The left panels are for M₀ = αS, and the right panels for M₀ = αI. The upper panels show the
    number of layers and a lower bound on this number. The lower panels show the distance to least
    squares in two dtypes, and a bound on this distance.
    """
    with panels_of(10, 8, columns=2, rows=2) as (figure, panels):
        for panel, below, start, name in zip(
            panels[:2], panels[2:], LAYOUTS, ("αS", "αI"), strict=True
        ):
            draw_layers(panel, largest_k, start)
            panel.set(xlabel="Newton steps k", title=f"Layers for k Newton steps from M₀ = {name}")
            panel.sharey(panels[0])
            for i, each in enumerate(errors[start]):
                style, label = {"color": f"C{i}", "lw": 1.2}, f"κ = $10^{{{i + 1}}}$"
                below.semilogy(each.layers, each.float64, "o-", ms=3, label=label, **style)
                below.semilogy(each.layers, each.bound64, "--", **style)
                below.semilogy(each.layers, each.float32, "s:", ms=3, mfc="none", **style)
            below.set(xlabel="layers", title=f"Distance to OLS from M₀ = {name}", ylim=(1e-17, 10))
            below.sharey(panels[2])
        panels[0].set_ylabel("layers")
        panels[2].set_ylabel("float64, its bound (dashed), float32 (dotted)")
    return figure


def draw_layers(panel: Axes, largest_k: int, start: Start) -> None:
    """Draws the layers of each construction and the lower bound, for k = 0 … largest_k."""
    steps = range(largest_k + 1)
    for layout in LAYOUTS[start]:
        stated = theorem(newton_theorem(layout, start)).sizes["layers"]
        layers = [stated(k=k) for k in steps]
        panel.plot(steps, layers, "o-", ms=4, label=layout, color=COLOURS[layout])
    bound = [newton_lower_bound(k, start) for k in steps]
    panel.plot(steps, bound, "k--", lw=1, label="lower bound")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))


def rates_picture(x: np.ndarray, y: np.ndarray, w: np.ndarray, kappa: float) -> Figure:
    """The figure of the relative error of the weights and a bound on it, by the number of steps.

    The relative error ‖w_k − w‖/‖w‖ of the weights w_k after k steps is a solid line, and the bound
    is a dashed line. There are n examples x (n, d) with labels y = x w (n,), and xᵀx has
    eigenvalues from 1 to `kappa`.
    """
    S, b, root = x.T @ x, x.T @ y, np.sqrt(kappa)
    many, few = np.arange(200), np.arange(40)

    def newton(alpha: float, start: Start) -> list[np.ndarray]:
        return [M @ b for M in islice(newton_inverses(S, alpha, start), len(few))]

    methods = {
        "gradient descent": (gradient_descent_iterates(x, y, 1 / kappa), (1 - 1 / kappa) ** many),
        "Chebyshev": (
            chebyshev_iterates(x, y, 1.0, kappa),
            np.minimum(1, 2 * ((root - 1) / (root + 1)) ** many),
        ),
        "conjugate gradient": (conjugate_gradient_iterates(x, y), None),
        "Newton from αI": (newton(1 / kappa, "identity"), (1 - 1 / kappa) ** (2.0**few)),
        "Newton from αS": (newton(kappa**-2, "gram"), (1 - 1 / kappa**2) ** (2.0**few)),
    }
    with panels_of(7.5, 4.5, legend="lower left") as (figure, (panel,)):
        for i, (name, (iterates, bound)) in enumerate(methods.items()):
            found = islice(iterates, len(many))
            errors = [np.linalg.norm(v - w) / np.linalg.norm(w) for v in found]
            lines = [(errors, {"label": name})] + ([] if bound is None else [(bound, {"ls": "--"})])
            for values, style in lines:
                steps = np.arange(len(values)) + 1
                panel.loglog(steps, np.maximum(values, 1e-17), lw=1.2, color=f"C{i}", **style)
        title = f"Error and its bound (dashed), κ = {kappa:g}, d = {len(w)}"
        panel.set(xlabel="steps + 1", ylabel="‖w_k − w‖ / ‖w‖", ylim=(1e-16, 3), title=title)
    return figure


def state_size_picture(
    conditions: tuple[float, ...],
    counts: dict[str, list[int]],
    examples: Mapping[float, tuple[float, float]],
) -> Figure:
    """The figure of steps, layers or examples by condition number, on logarithmic axes.

    The figure shows the `counts` of each method at each of `conditions`. It also shows the mean
    number of `examples` that one pass of online gradient descent requires, with three standard
    errors.
    """
    means, errors = np.array(list(examples.values())).T
    with panels_of(7.5, 4.5) as (figure, (panel,)):
        label = "one pass (online GD): examples"
        panel.errorbar(list(examples), means, 3 * errors, fmt="s-", ms=4, color="C3", label=label)
        for name, style, label in (
            ("gradient descent", "C0o-", "gradient descent: causal layers"),
            ("Chebyshev", "C1o-", "Chebyshev: causal layers"),
            (
                "newton-causal-ladder-identity",
                "C2^-",
                "Newton's ladder, d² numbers per token: causal layers",
            ),
            ("chebyshev", "C4^-", "Chebyshev ladder: full layers"),
        ):
            panel.loglog(conditions, counts[name], style, ms=4, label=label)
        for exponent, name in ((1.0, "∝ κ"), (0.5, "∝ √κ")):
            guide = 1.5 * np.array(conditions) ** exponent
            panel.loglog(conditions, guide, "k:", lw=0.8)
            panel.annotate(name, (conditions[2], guide[2] / 1.6))
        panel.set(xlabel="condition number κ", ylabel="steps, layers or examples")
        panel.set_title("Steps, layers or examples to residual 1e−3")
    return figure
