"""An induction head whose weights were written by hand: two layers that continue a pattern.

Prints the model in words, what each layer moves in a short sentence, the answers for every
convention, its size beside a compiler's, and how sharp a softmax has to be.
"""

import argparse

from constructions import induction_heads
from theory.retrieval import induction, random_sequences
from theory.terminal import script
from verify.retrieval.narration import narrate
from verify.retrieval.words import word_tokens

script(argparse.ArgumentParser(description=__doc__))

tokens, words = word_tokens("The dog saw the cat and the cat saw the bird and the")
vocabulary = list(dict.fromkeys(words))
V, n = len(vocabulary), len(tokens)

print("The sentence:", " ".join(words))
print("What came after the last word the last time it stood here?\n")
model = induction_heads(V, n)
print(model, "\n")
print("\n".join(narrate(model, tokens, words)))

print("\nThe answers at every word, by convention (– is none):")
print(f"{'match':8}{'no match':10}" + "".join(f"{word:>5}" for word in words))
for match in ("latest", "first", "mean"):
    for no_match in ("bottom", "self"):
        answers = induction_heads(V, n, match, no_match)(tokens).tolist()
        assert answers == induction(tokens, match, no_match).tolist()
        shown = ["–" if answer < 0 else vocabulary[answer] for answer in answers]
        print(f"{match:8}{no_match:10}" + "".join(f"{word:>5}" for word in shown))

print("\nFor 8 tokens and sequences of up to 128:")
model = induction_heads(8, 128)
nonzero = sum(int(weights.count_nonzero()) for weights in model.parameters())
print(
    f"  by hand     {model.n_layers} layers, width {model.d_model}, {model.n_parameters} "
    f"weights ({nonzero} not 0)"
)
print("  a compiler  4 layers, width 2341, 58 million weights, wrong on 20 of 20 sequences")
print("              (a RASP compiler's best encoding: figures reported, not measured here)")

sequences = random_sequences(batch=20, length=128, vocabulary_size=8, seed=0)
wrong = (model(sequences).numpy() != induction(sequences)).any(-1).sum()
print(f"  by hand     wrong on {wrong} of 20 random sequences, with hardmax")

print(
    "\nSoftmax instead of hardmax; the largest error of a logit (answers stay right below "
    f"{model.interface.margin / 2}):"
)
print("sharpness    bound for all prompts    on these 20    sequences with a wrong answer")
for sharpness in (model.least_sharpness() + 0.01, 6.0, 8.0, 12.0, 16.0, 24.0):
    soft = model.sharpened(sharpness)
    bound = model.softmax_error(sharpness).logits
    error = float((soft.logits(sequences) - model.logits(sequences)).abs().max())
    wrong = (soft(sequences).numpy() != induction(sequences)).any(-1).sum()
    print(f"{sharpness:9.2f}    {bound:21.1e}    {error:11.1e}    {wrong:29}")
