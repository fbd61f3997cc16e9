"""A parity that is said step by step: written by hand, found by one gradient step, and trained.

Prints how many words the written model is right about, how far the scores after one gradient step
are from its own, how often models that AdamW trained with steps and without are right, and how many
examples linear algebra needs without any step; saves a picture of the written scores and the found
ones: `python examples/parity_with_steps.py [PICTURE]`.
"""

import numpy as np
import torch

from constructions import parity_with_steps
from constructions.trained import configuration_of, load, shipped
from theory.language import bits_by_elimination, one_step, parity_tree, with_steps
from verify.cli.output import picture_argument, saving
from verify.evidence.picture import save
from verify.language.one_gradient_step_picture import draw

D, K, WORDS = 32, 16, 200
SAMPLES = 1000, 2000, 4000, 8000
SEEDS, TRAINED = 5, 2000

picture = picture_argument(__doc__, "parity_with_steps.png")

rng = np.random.default_rng(0)
letters = rng.permutation(D)[:K].tolist()
tree = parity_tree(D, letters)
model = parity_with_steps(D, K, letters)
words = rng.integers(2, size=(WORDS, D))
said, true = model.generate(words, K - 1).numpy(), (1 - with_steps(tree, 1 - 2 * words)[:, D:]) // 2
right = (said == true).all(axis=1).sum()
print(
    f"The parity of {K} among {D} letters in {K - 1} steps, one layer with {model.n_parameters:,}"
)
print(f"weights written by hand: {right} of {WORDS} words are right in all steps.\n")

print("One gradient step from 0 on n words with their steps, rounded, beside the scores written:")
for n in SAMPLES:
    steps = [one_step(tree, 1 - 2 * rng.integers(2, size=(n, D))) for _ in range(SEEDS)]
    same = sum(bool((np.round(W) == tree.scores).all()) for W in steps)
    off = max(float(abs(W - tree.scores).max()) for W in steps)
    print(f"n = {n:5}: the same in {same} of {SEEDS} seeds, off by up to {off:.2f} before rounding")

print("\nAdamW, 16 letters, parity of 8, 1000 batches of 128 words; right after its own steps:")
for kind, what in (("steps", "with the steps"), ("answer", "the answer alone")):
    shares = []
    for name in (name for name in shipped() if name.startswith(f"parity-small-{kind}")):
        task = configuration_of(name).task
        asked = torch.from_numpy(np.random.default_rng(1).integers(2, size=(TRAINED, task.d)))
        answers = load(name).generate(asked, task.said)[:, -1]
        shares.append(float((answers == task.nodes(asked)[:, -1]).double().mean()))
    print(f"{what:17}" + "".join(f"{share:8.1%}" for share in shares))

bits = rng.integers(2, size=(D + 10, D))
found = bits_by_elimination(bits, bits[:, letters].sum(axis=1) % 2)
print(f"\nWithout steps, elimination finds the letters from {D + 10} answers:", end=" ")
print("all of them" if found == sorted(letters) else found)

with saving(picture) as file:
    save(file, draw, tree, steps[0], n)
print(f"\nSaved {picture}.")
