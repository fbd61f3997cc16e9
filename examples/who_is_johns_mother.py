"""Two facts, one question: a transformer whose weights were written by hand looks up twice.

Prints what each of its four layers moves, and answers to harder questions.
"""

from constructions import fact_lookup
from theory.retrieval import answer, words
from verify.retrieval.narration import narrate

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
print("a ← b: token a looked at token b;  = c: and holds since then what came from token c.\n")
print("\n".join(narrate(model, tokens, words(TEXT))))
print(
    """
Layer 1 hands every word the latest name and relation before it, and every full stop the word
before it.  Layer 2 makes each full stop a fact: whose, which relation, what.  The question mark
asks twice: layer 3 finds John's mother, layer 4 finds her profession."""
)
for title, text in MORE.items():
    said = model(text)
    assert said == answer(text)  # what the grammar and the facts say
    print(f"\n{title}.\n  {text}\n  {said or 'none: the facts do not say'}")
