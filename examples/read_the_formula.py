"""Reads what linear transformers compute from their weights, as formulas for all n and inputs.

Prints the formulas of all registers of three models, layer by layer: two layouts of the
Newton–Schulz iteration, and one of them with a wrong sign in a layer, which the formulas show.
Then, for the methods that four layers compute, the residual polynomial R(t) = 1 − t·g(t) of the
prediction x_qᵀ g(S) Xᵀy, and the response of transformers of four layers that training found.
Draws the residuals in residuals.png, or in the file that is given.
"""

import numpy as np
import torch
from flint import fmpq
from matplotlib.figure import Figure

from constructions import chebyshev, gradient_descent, hyperpower, newton
from constructions.trained import load
from constructions.transformer import Transformer
from verify.evidence.picture import save
from verify.output.files import picture_argument, saving

KAPPA, LAYERS, N = 32, 4, 20
SEEDS = 3
LARGEST = 3 * N  # of the eigenvalues of S in the prompts of the trained models: 499 of 500

file = picture_argument(__doc__, "residuals.png")

print(newton(3, 2, 0.25).derivation(), "\n")
print(newton(3, 3, 0.25, "ladder").derivation(), "\n")
wrong = newton(3, 2, 0.25)
with torch.no_grad():
    wrong.blocks[1].attn.W_V.neg_()  # type: ignore[union-attr]
print("The first model with a wrong sign in layer 2:", wrong.derivation(), sep="\n", end="\n\n")

METHODS: dict[str, Transformer] = {
    "gradient descent, one step a layer": gradient_descent(2, 4, 1.0),
    "Newton from αI, one step a layer": newton(2, 3, 1.0, start="identity"),
    "Newton from αS, ladder": newton(2, 4, 1.0, "ladder"),
    "Newton from αI, ladder": newton(2, 5, 1.0, "ladder", start="identity"),
    "gradient descent, ladder": gradient_descent(2, 40, 1.0, "ladder"),
    "hyperpower of order 3, ladder": hyperpower(2, 3, 3, 1.0, start="identity"),
    "Chebyshev, ladder": chebyshev(2, 40, 1 / KAPPA, 1.0),
}


def residual(model: Transformer, t: np.ndarray) -> np.ndarray:
    """1 − t·g(t) at the numbers t, computed exactly and rounded once."""
    g = model.formula().parts["x b"]
    exact = (1 - fmpq(*z) * g(fmpq(*z)) for z in map(float.as_integer_ratio, t.tolist()))
    return np.array([int(value.p) / int(value.q) for value in exact])


def response(model: Transformer, t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """1 − ŷ for the label ŷ that is predicted at v from labels X v, averaged over prompts X.

    v is a unit eigenvector of S = XᵀX with the eigenvalue LARGEST·t; the other eigenvalues are N.
    If the prediction is x_qᵀ g(S) Xᵀy, the result is 1 − λg(λ) for λ = LARGEST·t.
    """
    d, prompts = 5, 100
    left = np.linalg.qr(rng.standard_normal((prompts, N, d)))[0]
    right = np.linalg.qr(rng.standard_normal((prompts, d, d)))[0]
    found = []
    for each in t:
        sizes = np.sqrt([LARGEST * each, *[N] * (d - 1)])
        x, v = left * sizes @ right.swapaxes(-1, -2), right[..., 0]
        found.append(1 - model(x, np.matvec(x, v), v).numpy().mean())
    return np.array(found)


def picture(t: np.ndarray, built: dict[str, np.ndarray], trained: np.ndarray) -> Figure:
    """The residuals of the methods, and the responses of the trained models, by eigenvalue."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    axes = figure.subplots()
    for name, values in built.items():
        axes.loglog(t, np.abs(values), label=name)
    mean = np.abs(trained).mean(0)
    axes.loglog(t, mean, "k--", lw=2, label=f"trained, mean of {len(trained)} seeds")
    axes.fill_between(t, np.abs(trained).min(0), np.abs(trained).max(0), color="0.8")
    axes.set(
        xlabel="eigenvalue t of S, divided by the largest", ylabel="|1 − t·g(t)|", ylim=(1e-7, 2)
    )
    axes.set_title(f"What {LAYERS} layers of linear attention compute, in one variable")
    axes.grid()
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


t = np.geomspace(1 / KAPPA, 1, 300)
built = {name: residual(model, t) for name, model in METHODS.items()}
rng = np.random.default_rng(0)
models = [load(f"regression-linear-{LAYERS}-layers-seed{seed}") for seed in range(SEEDS)]
trained = np.stack([response(model, t, rng) for model in models])
print(
    f"Prediction of each method of {LAYERS} layers, and the largest |1 − t·g(t)| on [1/{KAPPA}, 1]"
)
for name, model in METHODS.items():
    assert model.n_layers == LAYERS
    print(f"{name:36} {np.abs(built[name]).max():8.2g}  {model.formula()}")
for seed, values in enumerate(trained):
    print(f"{f'trained, seed {seed}':36} {np.abs(values).max():8.2g}")
with saving(file) as target:
    save(target, picture, t, built, trained)
print(f"\npicture: {file}")
