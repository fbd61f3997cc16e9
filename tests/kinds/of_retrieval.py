"""Tables for retrieval; `public.py` documents them."""

from theory.retrieval import DEFAULT, Fact

EXAMPLES = {
    "Fact": lambda: Fact("John", "mother", "Helen"),
    "Lexicon": lambda: DEFAULT,
}
