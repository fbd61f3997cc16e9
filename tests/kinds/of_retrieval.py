"""Tables for retrieval; `public.py` says what each holds."""

from theory.retrieval import DEFAULT, Fact

EXAMPLES = {
    "Fact": lambda: Fact("John", "mother", "Helen"),
    "Lexicon": lambda: DEFAULT,
}
