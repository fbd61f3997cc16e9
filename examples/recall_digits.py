"""Handwritten digits with their lower half covered, recalled by three associative memories.

Prints the fraction of stored digits that each of them recalls, and saves a picture of ten digits,
stored, covered and recalled: `python examples/recall_digits.py [PICTURE]`.
"""

from importlib.resources import files

import numpy as np
from matplotlib.figure import Figure

from constructions import retrieve
from theory.memory import asynchronous_update, dense_update, hebb
from verify.output.files import picture_argument, saving

target = picture_argument(__doc__, "recall_digits.png")

STORED = 20
DEGREE = 20
BETA, STEPS = 1.0, 5

with (files("verify.memory") / "digits.csv").open(encoding="utf-8") as table:
    data = np.loadtxt(table, delimiter=",")
digits = np.where(data[:, 1:] > 7, 1, -1)  # 64 pixels, ink is +1


def covered(images: np.ndarray) -> np.ndarray:
    """The images with blank paper over their lower half."""
    return np.where(np.arange(64) < 32, images, -1)


def classical(stored: np.ndarray, images: np.ndarray) -> np.ndarray:
    return asynchronous_update(hebb(stored), images, np.random.default_rng(0)).states


def dense(stored: np.ndarray, images: np.ndarray) -> np.ndarray:
    return dense_update(stored, images, DEGREE, np.random.default_rng(0)).states


def modern(stored: np.ndarray, images: np.ndarray) -> np.ndarray:
    return np.sign(retrieve(stored.astype(float), images, BETA, STEPS).numpy())


memories = {
    "classical, Hebb's rule": classical,
    f"dense, degree {DEGREE}": dense,
    f"modern, β = {BETA:g}, {STEPS} updates": modern,
}

print("Digits of 8 × 8 pixels with the lower half covered: fraction recalled without a wrong pixel")
print(f"{'stored':>8}" + "".join(f"{name:>27}" for name in memories) + f"{'nearest stored':>20}")
for count in (1, 3, 10, STORED, 50, 100, 200):
    stored = digits[:count]
    cues = covered(stored)
    fractions = [
        (recall(stored, cues) == stored).all(axis=1).mean() for recall in memories.values()
    ]
    nearest = ((cues @ stored.T).argmax(axis=1) == np.arange(count)).mean()
    print(
        f"{count:8}" + "".join(f"{fraction:27.0%}" for fraction in fractions) + f"{nearest:20.0%}"
    )
print(
    "Digits share most of their pixels, and Hebb's rule adds them up; higher powers of the\n"
    "overlap distinguish them. The last column is the digit of largest overlap: half a digit\n"
    "does not always determine which one it was."
)


stored = digits[:STORED]
shown = slice(0, 10)
rows = {"stored": stored[shown], "covered": covered(stored[shown])}
rows |= {name: recall(stored, covered(stored[shown])) for name, recall in memories.items()}
figure = Figure(figsize=(10, 5.6), layout="constrained")
axes = figure.subplots(len(rows), 10)
for line, (name, images) in zip(axes, rows.items(), strict=True):
    for axis, image, wanted in zip(line, images, stored[shown], strict=True):
        axis.imshow(image.reshape(8, 8), cmap="gray_r", vmin=-1, vmax=1)
        axis.set_xticks([])
        axis.set_yticks([])
        right = name == "stored" or (image == wanted).all()
        colour = "black" if name in ("stored", "covered") else "tab:green" if right else "tab:red"
        for spine in axis.spines.values():
            spine.set(color=colour, linewidth=1 if colour == "black" else 2)
    line[0].set_ylabel(name.replace(", ", "\n"), rotation=0, ha="right", va="center")
figure.suptitle(f"{STORED} digits stored, ten of them recalled (green: without a wrong pixel)")
with saving(target) as file:
    figure.savefig(file, dpi=120)
print(f"\nThe picture is in {target}")
