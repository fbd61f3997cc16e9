"""The pictures of the claims: each function returns a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from verify.interpret.algorithms import labels_of
from verify.interpret.similarity import Likeness
from verify.regression.pictures import panels_of
from verify.regression.trained.probes import Probed
from verify.regression.trained.published import published
from verify.regression.trained.similarities import Tables

Named = Mapping[str, np.ndarray]
LEAST = 0.4  # smallest similarity on the colour scale; smaller values extend the colour bar
MATCH = "red frame: the number of steps most similar to the layer"


def layers_picture(probed: Sequence[Probed]) -> Figure:
    """The figure of the error of every layer, and, for the first model, by number of examples."""
    some = probed[0]
    labels = labels_of(some.prompts)

    def by_prefix(predictions: np.ndarray) -> np.ndarray:
        return np.asarray(((predictions - labels) ** 2).mean(0) / some.variance)

    with panels_of(11, 4.3, columns=2) as (figure, (left, right)):
        for each in probed:
            errors = each.errors.mean(-1)
            left.plot(range(len(errors)), errors, "o-", label=each.trained.name, lw=1.3, ms=4)
        left.set(xlabel="layer (0: embedding)", ylabel="squared error / variance of a label")
        left.set_yscale("log")
        colours = colormaps["viridis"](np.linspace(0, 0.9, len(some.predictions)))
        for layer, (predictions, colour) in enumerate(zip(some.predictions, colours, strict=True)):
            label = f"layer {layer}" if layer else "embedding"
            right.plot(by_prefix(predictions), color=colour, lw=1.3, label=label)
        right.plot(by_prefix(some.bayes), "k--", lw=1, label="best possible")
        right.set(xlabel="examples before", title=some.trained.name)
    return figure


def similarities_picture(tables: Mapping[str, Tables], prompts: str) -> Figure:
    """Heat maps of the similarity of layers to Newton and gradient descent, one row per model.

    The last row contains the published similarities for the same kind of `prompts`.
    """
    theirs = published(prompts)
    rows = [
        (name, each.newton, _doublings(each.gradient_descent, theirs[1].steps))
        for name, each in tables.items()
    ]
    return _heat_maps([*rows, ("published, d = 20", *theirs)], "similarity of errors")


def weights_picture(found: Mapping[str, tuple[Likeness, Likeness]]) -> Figure:
    """Heat maps of the similarity of induced weights to those of Newton and gradient descent.

    There is one row per model. Induced weights are the least-squares fit of predictions by linear
    functions of the query.
    """
    rows = [(name, newton, _doublings(descent)) for name, (newton, descent) in found.items()]
    return _heat_maps(rows, "similarity of weights")


def penalties_picture(penalties: np.ndarray, noise: float, squares: Named) -> Figure:
    """The mean squared difference of each model to ridge regression, by penalty."""
    with panels_of(6.5, 4.3) as (figure, (panel,)):
        for name, each in squares.items():
            panel.plot(penalties, each, "o-", lw=1.3, ms=4, label=name)
        panel.axvline(noise**2, color="k", lw=1, ls="--", label="variance of the noise")
        panel.set(xlabel="penalty of ridge regression", ylabel="mean squared difference")
        panel.set(xscale="log", yscale="log")
    return figure


def forgetting_picture(errors: Named) -> Figure:
    """The error at a repeated example against the number of examples since."""
    with panels_of(6.5, 4.3) as (figure, (panel,)):
        for name, each in errors.items():
            mean, spread = each.mean(-1), 2 * each.std(-1, ddof=1) / np.sqrt(each.shape[-1])
            panel.errorbar(range(len(each)), mean, yerr=spread, fmt="o-", lw=1.3, label=name)
        panel.set(xlabel="examples since", ylabel="squared error / variance of a label")
        panel.set_ylim(0, 1.25 * max(float(each.mean(-1).max()) for each in errors.values()))
    return figure


def terms_picture(
    trained: Sequence[tuple[int, tuple[int, int], float]],
    best: np.ndarray,
    built: Sequence[float],
) -> Figure:
    """The figure of mean squared errors of polynomials and of models, by number of terms.

    The terms are those of the polynomial p in the predictor x_qᵀp(S)Xᵀy, for examples X with labels
    y, a query x_q and S = XᵀX. The errors are those of the best polynomials, of the hand-built
    transformers (layout "ladder") and of the trained models. A trained model of L layers is shown
    as a line from 3^(L−1) terms to (3^L − 1)/2 terms, the largest possible number.
    """
    with panels_of(7, 4.6) as (figure, (panel,)):
        label = "best polynomial"
        panel.plot(range(1, len(best) + 1), best, "k.-", lw=1, label=label)
        named = set[int]()
        for L, terms, error in trained:
            label = f"trained, {L} layer{'s' * (L > 1)}: 3^{L - 1} … (3^{L} − 1)/2 terms"
            label = "" if L in named else label
            named.add(L)
            panel.plot(terms, (error, error), "|-", color=f"C{L - 1}", lw=1.5, ms=12, label=label)
        most = [(3**L - 1) // 2 for L in range(1, len(built) + 1)]
        panel.plot(most, built, "s--", color="0.5", ms=5, label="hand-built ladder of L layers")
        panel.set(xscale="log", yscale="log", xlabel="terms", ylabel="mean squared error")
    return figure


def _doublings(descent: Likeness, also: np.ndarray | tuple[int, ...] = ()) -> Likeness:
    """The rows of a table for 0 steps, for powers of 2, and for the steps `also`."""
    steps = descent.steps
    kept = ((steps & (steps - 1)) == 0) | np.isin(steps, also)
    return Likeness(descent.algorithm, steps[kept], descent.alike[kept])


def _heat_maps(rows: Sequence[tuple[str, Likeness, Likeness]], label: str) -> Figure:
    """Rows of two heat maps, Newton and gradient descent, with the best steps of layers framed."""
    heights = [max(4.0, *(0.17 * len(each.steps) for each in both)) for _, *both in rows]
    figure = Figure(figsize=(13, sum(heights)))
    frame = Rectangle((0, 0), 1, 1, fill=False, ec="red", lw=1.6, label=MATCH)
    figure.legend(handles=[frame], loc="outside upper center", fontsize=9)
    panels = figure.subplots(len(rows), 2, squeeze=False, height_ratios=heights)
    for (name, *both), row_panels in zip(rows, panels, strict=True):
        for each, panel in zip(both, row_panels, strict=True):
            algorithm = each.algorithm.replace("newton", "Newton")
            shown = _heat_map(panel, f"{name}: {algorithm}", each.steps, each.mean)
            extend = "min" if each.mean.min() < LEAST else "neither"
            figure.colorbar(shown, ax=panel, label=label, extend=extend)
    return figure


def _step(steps: int) -> str:
    """A number of steps as a tick label; powers of 2 above 16 are written as powers."""
    power = steps.bit_length() - 1
    return f"$2^{{{power}}}$" if steps > 16 and steps == 2**power else str(steps)


def _heat_map(panel: Axes, title: str, steps: np.ndarray, mean: np.ndarray) -> AxesImage:
    shown = panel.imshow(mean, cmap="viridis", aspect="auto", vmin=LEAST, vmax=1)
    rows, columns = mean.shape
    for layer, best in enumerate(mean.argmax(axis=0)):
        for row in range(rows):
            colour = "black" if mean[row, layer] > 0.75 else "white"
            text = f"{mean[row, layer]:.3f}"
            panel.text(layer, row, text, ha="center", va="center", fontsize=6, color=colour)
        corner = layer - 0.5, best - 0.5
        panel.add_patch(
            Rectangle(corner, 1, 1, fill=False, ec="red", lw=1.6, clip_on=False, zorder=3)
        )
    panel.set_xticks(range(columns), [str(layer) for layer in range(1, columns + 1)], fontsize=8)
    ticks = [row for row in range(rows) if rows <= 20 or steps[row] % 5 == 0]
    panel.set_yticks(ticks, [_step(int(steps[row])) for row in ticks], fontsize=8)
    panel.tick_params(length=2)
    panel.set(xlabel="layer", ylabel="steps of the algorithm")
    panel.set_title(title, fontsize=9)
    return shown
