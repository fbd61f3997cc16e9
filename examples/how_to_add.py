"""Addition by Fourier features: for 15 + 93, a comb outputs the last digit 8, and a bump about 110.

The adder encodes the size of a number to the nearest 5, and its last digit by cosines of periods 2,
2.5, 5 and 10.  Filters remove one or the other.  Pictures are saved in the folder how_to_add, or in
the one given as argument: comb.png, filters.png and tolerance.png.
"""

import numpy as np
from matplotlib.figure import Figure

from constructions import adder, linear_adder
from theory.arithmetic import ZHOU, adder_logits, comb, largest_alpha, period
from verify.arithmetic.fourier_filters import KEPT, filtered
from verify.arithmetic.pictures import draw_adder, draw_filters
from verify.evidence.picture import save
from verify.output.files import folder_argument, saving

folder = folder_argument(__doc__, "how_to_add")
A, B, P, ALPHA = 15, 93, 530, 1000.0
SETS = {"none, the bump alone": (), "10": (1,), "2 and 5": (5, 2), "2, 2.5, 5, 10": ZHOU}

model = adder()
print(model, "\n")
print(
    f"{A} + {B} = {int(model([A, B]))}; without Fourier features {int(linear_adder(260)([A, B]))}\n"
)

print("The comb at c − s = 0 … 5, exactly:", ", ".join(str(comb(ZHOU, d)) for d in range(6)))
for F in list(SETS.values())[1:]:
    alpha, d = largest_alpha(P, F)
    names = ", ".join(f"{float(period(f)):g}" for f in F)
    print(f"periods {names:14} correct errors below 5 up to α = {alpha:6.1f}; then s ± {d} wins")

print("\nAll pairs of 0 … 260, with parts of the logits removed:")
for name, each in filtered(model).items():
    errors = sorted(each.errors)
    wrong = ", ".join(map(str, errors)) if len(errors) < 12 else "multiples of 10"
    print(f"  {name:20} {100 * each.accuracy:7.3f} % right, errors {wrong}")

with saving(folder / "comb.png") as file:
    save(file, draw_adder, model, (A, B))
with saving(folder / "filters.png") as file:
    save(file, draw_filters, model, (A, B), KEPT)

figure = Figure(figsize=(8, 4.5), layout="constrained")
panel = figure.subplots()
errors = np.linspace(-14.95, 14.95, 599)
for name, F in SETS.items():
    found = []
    for error in errors:
        z = adder_logits(P, ALPHA, 200, error, F) if F else -abs(np.arange(P) - 200 - error)
        found.append(int(z.argmax()) - 200)
    panel.plot(errors, found, lw=1.4, label=f"comb of periods {name}" if F else name)
panel.set(
    xlabel="error of the encoded size", ylabel="error of the output", xticks=range(-15, 16, 5)
)
panel.axvspan(-5, 5, color="0.9", zorder=0)
panel.grid(alpha=0.3)
panel.legend(fontsize=8)
panel.set_title(f"errors of the size that are corrected, α = {ALPHA:g}", fontsize=10)
with saving(folder / "tolerance.png") as file:
    figure.savefig(file, dpi=120)
print(f"\nsaved: comb.png, filters.png and tolerance.png in {folder}")
