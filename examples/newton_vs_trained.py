"""The layers of a trained transformer beside steps of Newton's method and of gradient descent.

Prints the similarity of errors, layer by layer, and which steps match best; the heat maps of all
seeds are saved as newton_vs_trained.png, or under the name that is given, and every cell with its
standard error beside it, as a CSV file.
"""

import sys
from pathlib import Path

from constructions.trained import load, shipped, sidecar
from verify.claim import Run
from verify.trained.predictors import Probed
from verify.trained.regression_picture import draw_similarities
from verify.trained.similarities import Tables, save_cells

picture = Path(sys.argv[1] if len(sys.argv) > 1 else "newton_vs_trained.png")
names = [name for name in shipped() if name.startswith("regression-small-seed")]
tables = {}
for name in names:
    print(f"{name}, made by: {sidecar(name)['command']}")
    probed = Probed.of(Run(seed=0), load(name), samples=1000)
    tables[name] = Tables.of(probed)
    errors = probed.error(probed.predictions).mean(-1)
    print("squared error after layer 1, 2, …:", " ".join(f"{error:.3f}" for error in errors[1:]))
    for table in (tables[name].newton, tables[name].gradient_descent, tables[name].momentum):
        mean, error = table.mean, table.error
        best = mean.argmax(axis=0)
        print(f"{table.algorithm}, steps that match best:", *table.best)
        cells = [f"{mean[k, i]:.3f} ± {error[k, i]:.3f}" for i, k in enumerate(best)]
        print("  similarity of errors:", "  ".join(cells))
    print()
draw_similarities(picture, tables, "isotropic")
cells = picture.with_suffix(".csv")
save_cells(cells, tables)
print(f"heat maps: {picture}; every cell: {cells}")
