"""Induction heads that training found, beside those that were written by hand.

Prints which of the built registers the trained stream holds after each layer, and where the heads
of both look; attention, circuits and losses are saved as induction_trained_vs_built.png, or under
the name that is given.
"""

import numpy as np

from constructions import induction_heads
from constructions.trained import load, log_of
from theory.retrieval import find, induction
from verify.evidence.picture import save
from verify.interpret import contents_of, registers
from verify.output.files import picture_argument, saving
from verify.retrieval.trained.circuits import attended, attention_of, circuits_of
from verify.retrieval.trained.induction_picture import draw

picture = picture_argument(__doc__, "induction_trained_vs_built.png")

name, alone = "induction-small-2-layers-seed0", "induction-small-1-layer-seed0"
model = load(name)
V, n = model.interface.vocabulary_size, model.interface.max_length
built = induction_heads(V, n)
tokens = np.random.default_rng(0).integers(0, V, (200, n))
wanted = induction(tokens)
there = wanted >= 0

print(built, "\n")
print(f"{'':32}{'trained':>10}{'one layer':>12}{'built':>10}")
right = [(each(tokens).numpy() == wanted)[there].mean() for each in (model, load(alone), built)]
print(f"{'right answers':32}{right[0]:10.2%}{right[1]:12.2%}{right[2]:10.2%}")
before = np.broadcast_to(np.arange(-1, n - 1), tokens.shape)
maps = attention_of(model, tokens), attention_of(built, tokens)
places = (("layer 1, the token before", before), ("layer 2, after the latest copy", find(tokens)))
for layer, (kind, place) in enumerate(places):
    looked = [attended(each[layer], place).mean() for each in maps]
    print(f"{kind:32}{looked[0]:10.2%}{'':12}{looked[1]:10.2%}")
print("\nCircuits of the trained weights: rows whose largest entry is where the built one has it")
for kind, (matrix, place) in circuits_of(model).items():
    print(f"  {kind:10}{(matrix.argmax(1) == place).mean():8.1%} of {len(matrix)}")
print("\nR² of reading a built register off the trained stream: embedded, after layer 1, layer 2")
for register, row in registers(model, tokens, contents_of(built, tokens)).found.items():
    print(f"  {register:10}" + "".join(f"{r2.mean:8.2f}" for r2 in row))
logs = {each: log_of(each) for each in (name, alone)}
with saving(picture) as file:
    save(file, draw, model, built, tokens[0, :24], logs)
print(f"\npicture: {picture}")
