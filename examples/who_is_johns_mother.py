"""Two facts, one question: a hand-built transformer answers by two look-ups.

Prints what each of its four layers reads and writes, and the answers to harder questions.
"""

import argparse

from constructions import fact_lookup
from theory.retrieval import answer, words
from theory.terminal import script
from verify.retrieval.narration import narrate

script(argparse.ArgumentParser(description=__doc__))

TEXT = (
    "Jane is a teacher. Helen is a doctor. The mother of John is Helen. "
    "What is the profession of John's mother?"
)
MORE = {
    "A later fact overrides": "Helen is a doctor. John's mother is Helen. Helen is a pilot. "
    "What is the profession of the mother of John?",
    "A fact is missing": "Jane is a teacher. The mother of John is Helen. "
    "What is the profession of John's mother?",
    "One relation": "The mother of John is Helen. Helen is a doctor. Who is John's mother?",
}

model = fact_lookup(max_length=64)
tokens = model.interface.lexicon.tokens(TEXT)
print(TEXT, "\n")
print(f"{model.n_layers} layers of at most {model.n_heads} heads, width {model.d_model}.")
print("a ← b: token a attends to token b;  = c: and now contains information from token c.\n")
print("\n".join(narrate(model, tokens, words(TEXT))))
print(
    """
Layer 1 copies the latest name and relation to every word, and the word before it to every full
stop.  After layer 2 each full stop contains a fact: subject, relation and object.  The question
mark makes two look-ups: layer 3 finds John's mother, layer 4 her profession."""
)
for title, text in MORE.items():
    found = model(text)
    assert found == answer(text)  # by the grammar and the facts
    print(f"\n{title}.\n  {text}\n  {found or 'none: the fact is missing'}")
