"""Compares layers of trained transformers with steps of Newton's method and gradient descent.

Prints, layer by layer, the similarity of errors and the number of steps that matches best, on
isotropic and on ill-conditioned prompts; then the similarity of transformers and LSTMs, all seeds
of each, to algorithms, hand-built transformers, and the published values.  Writes the heat maps
isotropic.png and ill_conditioned.png, and every cell with its standard error, isotropic.csv and
ill_conditioned.csv, to the folder newton_vs_trained, or to the one that is given.
"""

import numpy as np

from constructions import newton, online_gradient_descent
from constructions.trained import sidecar
from theory.regression import error_similarity
from theory.waiting import announced
from verify.claim import Run
from verify.evidence.checkpoints import Trained, models_of
from verify.evidence.picture import save
from verify.interpret import algorithms, predictions_of
from verify.interpret.algorithms import FACTORS
from verify.output.files import folder_argument, saving
from verify.regression.trained.options import LSTM, TRANSFORMER
from verify.regression.trained.pictures import similarities_picture
from verify.regression.trained.probes import Probed
from verify.regression.trained.prompts import prompts_of
from verify.regression.trained.similarities import (
    DESCENT_STEPS,
    NEWTON_STEPS,
    Tables,
    save_cells,
)

folder = folder_argument(__doc__, "newton_vs_trained")


run = Run(seed=0)  # every model has different prompts


def compare(trained: Trained) -> Tables:
    """Prints the similarity of the layers of one checkpoint to algorithms."""
    print(f"{trained.name}, trained by: {sidecar(trained.name)['command']}")
    probed = Probed.of(run, trained, samples=1000)
    errors = probed.error(probed.predictions).mean(-1)
    print("squared error after layer 1, 2, …:", " ".join(f"{error:.3f}" for error in errors[1:]))
    tables = Tables.of(probed)
    for table in (tables.newton, tables.gradient_descent, *tables.momentum):
        rows = table.mean.argmax(axis=0)
        cells = [f"{table.mean[k, i]:.3f} ± {table.error[k, i]:.3f}" for i, k in enumerate(rows)]
        print(f"{table.algorithm}, steps that match best:", *table.best)
        print("  similarity of errors:", "  ".join(cells))
    print()
    return tables


for prompts, name in (
    ("isotropic", "regression-small"),
    ("ill_conditioned", "regression-small-ill-conditioned"),
):
    trained = announced(models_of(name, TRANSFORMER), f"comparisons on {prompts} prompts")
    found = {each.name: compare(each) for each in trained}
    with saving(folder / f"{prompts}.png") as file:
        save(file, similarities_picture, found, prompts)
    with saving(folder / f"{prompts}.csv") as file:
        save_cells(file, found)

models = [*models_of("regression-small", TRANSFORMER), *models_of("regression-small-lstm", LSTM)]
p = prompts_of(models[0].task, 1000, seed=0)
known = algorithms(p)
predicted = np.stack([predictions_of(each.model, p) for each in models])[..., 1:]
alpha = float(1 / known.spectrum.largest.max() ** 2)  # one for all prompts, in the weights
descent = [known.gradient_descent(DESCENT_STEPS, factor) for factor in FACTORS]
built = [predictions_of(newton(5, k, alpha), p) for k in range(10, 27, 4)]
rules = {
    "Newton, best steps": known.newton(NEWTON_STEPS),
    "descent, best steps": np.concatenate(descent),
    "online descent": known.online_gradient_descent()[0],
    "built Newton": np.stack(built),
    "built online": predictions_of(online_gradient_descent(5, 10), p)[None],
}
print("Similarity of errors, whole models (built Newton: best of 10, 14, …, 26 steps)")
rows = {"": list(rules)}
alike = [error_similarity(rule[..., 1:], predicted, known.labels[:, 1:]) for rule in rules.values()]
for column, each in enumerate(models):
    best = [(found, found.mean[:, column].argmax()) for found in alike]
    rows[each.name] = [f"{a.mean[k, column]:.3f} ± {a.error[k, column]:.3f}" for a, k in best]
rows["published transformer, d = 20"] = ["0.991", "0.957", "0.806"]
rows["published LSTM, d = 20"] = ["0.920", "0.916", "0.954"]
for name, cells in rows.items():
    print(f"{name:30}", *(f"{cell:20}" for cell in cells[:-1]), cells[-1])
print(f"\nheat maps and every cell: {folder}/")
