"""Words that the field has better terms for, and where they stand in docs and in strings.

`python tests/docs/dialect.py PATH …` lists them in docstrings, messages, help and comments, and in
Markdown outside code.  docs/glossary.md maps the same words to the terms of the field.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

# What is not written, and what is written in its place.
DIALECT = {
    r"asks?|asked|asking": "query, request, raise the question",
    r"tells?|told": "states, outputs, distinguishes",
    r"says?|said|saying": "outputs, predicts, states, reports",
    r"answers? of a head|(?:head|keys?) answers": "key",
    r"carries(?! out| over)|carried by a head": "value, contains, has",
    r"letters?": "token, symbol, bit, variable",
    r"chances?": "probability",
    r"an? (?:equal |greater |larger |smaller )?share|the shares?|shares of": "fraction, proportion",
    r"even (?:distribution|law|chances?|weights?|draws?)|drawn evenly|evenly drawn": "uniform",
    r"laws? of (?:the |a )?(?:data|prompts?|inputs?|tokens?|documents?|facts?|queries)":
        "distribution",
    r"whole numbers?": "integer",
    r"grains?": "unit in the last place, quantum",
    r"read-?outs?|read_outs?": "unembedding, probe",
    r"by heart": "memorised",
    r"what is not so": "hallucinate",
    r"zoos?": "benchmark automata",
    r"latch(?:es)?": "flip-flop",
    r"sure bounds?": "deterministic bound",
    r"worked steps?|(?<!chain.of.)(?<!chains.of.)thoughts?(?! experiment)":
        "chain of thought, CoT tokens",
    r"parallel machines?": "PRAM",
    r"comparisons of counts": "counting logic",
    r"planted faults?|faults? planted": "mutant",
    r"is refused|are refused|refuses?|refusals?": "raises ValueError, rejects",
    r"words of (?:an|the) MLP": "MLP primitives",
    r"one-token attention|hardmax over ties": "unique-hard, average-hard attention",
    r"rooms?|kitchen|house": "package, module, space",
    r"own examples?": "training examples",
    r"of nothing|no number": "write what is missing",
    r"remembers?|knows": "stores, contains, is given",
    r"happens?|behaves?": "state what is computed",
}  # fmt: skip
SOME = re.compile(rf"\b(?:{'|'.join(DIALECT)})\b", re.IGNORECASE)
PATTERNS = {re.compile(rf"\b(?:{word})\b", re.IGNORECASE): term for word, term in DIALECT.items()}


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of prose of a Markdown, TOML or Python file, with their numbers."""
    text = path.read_text()
    if path.suffix == ".md":
        text = re.sub(r"```.*?```", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
        text = re.sub(r"^    .*$", "", text, flags=re.MULTILINE)
        text = re.sub(r"`[^`\n]*`", "", text)
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            for i, line in enumerate(re.sub(r"`[^`\n]*`", "", node.value).splitlines()):
                yield node.lineno + i, line
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def found(path: Path) -> Iterator[tuple[int, str, str]]:
    """Each word of the table in a file: its line, the word, and the line's text."""
    for number, line in prose(path):
        for pattern in PATTERNS if SOME.search(line) else ():
            for match in pattern.finditer(line):
                yield number, match[0], line.strip()


def files(paths: list[str]) -> Iterator[Path]:
    """The Markdown, TOML and Python files among paths and below folders."""
    for given in map(Path, paths):
        below = sorted(given.rglob("*")) if given.is_dir() else [given]
        for path in below:
            if path.suffix in {".md", ".py", ".toml"} and "_build" not in path.parts:
                yield path


if __name__ == "__main__":
    for path in files(sys.argv[1:]):
        for number, word, line in found(path):
            print(f"{path}:{number}: {word} | {line}")
