"""Parity by chain of thought: hand-built, found by one gradient step, and trained.

Prints the accuracy of the hand-built model, the distance of the scores after one gradient step from
its scores, the accuracy of models trained by AdamW with a chain of thought and without, and the
number of examples that Gaussian elimination needs without it; saves a picture of both scores:
`python examples/parity_with_steps.py [PICTURE]`.
"""

import numpy as np
import torch

from constructions import parity_with_steps
from constructions.trained import configuration_of, load, shipped
from theory.language import bits_by_elimination, one_step, parity_tree, with_steps
from verify.evidence.picture import save
from verify.language.one_gradient_step_picture import draw
from verify.output.files import picture_argument, saving

D, K, WORDS = 32, 16, 200
SAMPLES = 1000, 2000, 4000, 8000
SEEDS, TRAINED = 5, 2000

picture = picture_argument(__doc__, "parity_with_steps.png")

rng = np.random.default_rng(0)
positions = rng.permutation(D)[:K].tolist()
tree = parity_tree(D, positions)
model = parity_with_steps(D, K, positions)
words = rng.integers(2, size=(WORDS, D))
decoded, true = (
    model.generate(words, K - 1).numpy(),
    (1 - with_steps(tree, 1 - 2 * words)[:, D:]) // 2,
)
right = (decoded == true).all(axis=1).sum()
print(
    f"The parity of {K} of {D} bits in {K - 1} steps, one layer with {model.n_parameters:,} weights"
)
print(f"Hand-built: all steps are right on {right} of {WORDS} words.\n")

print(
    "One gradient step from 0 on n words with their steps, rounded, beside the hand-built scores:"
)
for n in SAMPLES:
    steps = [one_step(tree, 1 - 2 * rng.integers(2, size=(n, D))) for _ in range(SEEDS)]
    same = sum(bool((np.round(W) == tree.scores).all()) for W in steps)
    off = max(float(abs(W - tree.scores).max()) for W in steps)
    print(f"n = {n:5}: equal in {same} of {SEEDS} seeds; largest error before rounding {off:.2f}")

print("\nAdamW, parity of 8 of 16 bits, 1000 batches of 128 words; accuracy of decoded answers:")
for kind, what in (("steps", "with the steps"), ("answer", "without")):
    fractions = []
    for name in (name for name in shipped() if name.startswith(f"parity-small-{kind}")):
        task = configuration_of(name).task
        asked = torch.from_numpy(np.random.default_rng(1).integers(2, size=(TRAINED, task.d)))
        answers = load(name).generate(asked, task.n_generated)[:, -1]
        fractions.append(float((answers == task.nodes(asked)[:, -1]).double().mean()))
    print(f"{what:17}" + "".join(f"{fraction:8.1%}" for fraction in fractions))

bits = rng.integers(2, size=(D + 10, D))
found = bits_by_elimination(bits, bits[:, positions].sum(axis=1) % 2)
print(f"\nWithout steps, elimination finds the {K} bits from {D + 10} labels:", end=" ")
print("all of them" if found == sorted(positions) else found)

with saving(picture) as file:
    save(file, draw, tree, steps[0], n)
print(f"\nSaved {picture}.")
