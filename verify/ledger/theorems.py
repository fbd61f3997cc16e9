"""The statement index: every statement of the library, as data (`theorems.toml` of each topic).

An entry has a statement with its hypotheses, its source by key, and the places of its mathematics,
proof, weights, claim and test.  Its sizes are formulas, which tests compare with the built models.
Kinds:

    theorem       must hold
    bound         must hold
    erratum       a mistake in print, with its correction
    replication   a published observation, with the outcome here
    open          a question, with partial results

Status, the novelty:

    known         stated and proved in the source
    our proof     stated in the source; the proof here is ours
    our size      known except for the size or the construction, which is ours
    new           not known to be in print

Scope of the evidence, from strong to weak: *all sizes and inputs*; *all n and inputs*, for the d
that are named; *all inputs of these sizes*; *all sequences up to a length* (or all graphs, words,
pairs up to a size); named *instances*; a *sample*.

Outcome of a replication: *replicated*, *not replicated* or *mixed*, with the number of seeds.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from types import CodeType
from typing import Any

from theory.kinds import InputError
from verify.ledger import plugins
from verify.ledger.claims import installed, unknown

KINDS = ("theorem", "bound", "erratum", "replication", "open")
VERIFY = Path(__file__).parent.parent
STATUS = ("known", "our proof", "our size", "new")
SCOPES = (
    "all sizes and inputs",
    "all n and inputs",
    "all inputs of these sizes",
    "all sequences up to a length",
    "instances",
    "sample",
)
OUTCOMES = ("replicated", "not replicated", "mixed")
TOPICS = (
    "regression",
    "retrieval",
    "memory",
    "computation",
    "graphs",
    "arithmetic",
    "sensitivity",
    "language",
    "structures",
    "programs",
    "stock",
)
# the characters of names, which are also names of files
WORD = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def ceil_log(base: int, value: int) -> int:
    """The exact integer ⌈log_base value⌉, for value ≥ 1."""
    power, exponent = 1, 0
    while power < value:
        power, exponent = power * base, exponent + 1
    return exponent


def bits(V: int) -> int:
    """The length ⌈log₂ V⌉ of binary codes of V symbols; it is 1 for V = 1."""
    return max(1, ceil_log(2, V))


FUNCTIONS = {
    "ceil_log": ceil_log,
    "floor_log2": lambda value: value.bit_length() - 1,
    "bits": bits,
    "ones": int.bit_count,
    "min": min,
    "max": max,
}


@dataclass(frozen=True)
class Formula:
    """A formula for a size of a model: `Formula("2*d + 2")(d=5)` is 12.

    A formula that begins with "≤" is an upper bound; every other formula is exact.
    """

    text: str

    def __call__(self, **parameters: int) -> int:
        """Its value at these parameters."""
        return int(eval(self.code, {"__builtins__": {}}, {**FUNCTIONS, **parameters}))

    @property
    def code(self) -> CodeType:
        """The compiled formula; raises SyntaxError for text that is not a formula."""
        return compile(self.text.removeprefix("≤ "), "<ledger>", "eval")

    def admits(self, value: int, **parameters: int) -> bool:
        """Whether the formula allows a model of these parameters to have the size `value`."""
        stated = self(**parameters)
        return value <= stated if self.text.startswith("≤") else value == stated

    def latex(self) -> str:
        """The formula in LaTeX, written by SymPy."""
        import sympy

        names = {
            "ceil_log": lambda base, value: sympy.ceiling(sympy.Function(f"log_{base}")(value)),
            "floor_log2": lambda value: sympy.floor(sympy.Function("log_2")(value)),
            "bits": lambda V: sympy.ceiling(sympy.Function("log_2")(V)),
            "ones": sympy.Function("ones"),
            "min": sympy.Min,
            "max": sympy.Max,
        }
        # Names of one character are symbols, also those that SymPy uses otherwise.
        names |= {name: sympy.Symbol(name) for name in re.findall(r"\b[a-zA-Z]\b", self.text)}
        stated = sympy.sympify(self.text.removeprefix("≤ "), locals=names, evaluate=False)
        return r"\le " * self.text.startswith("≤") + sympy.latex(stated)

    def __str__(self) -> str:
        text = re.sub(r"ceil_log\(([\ds]), ((?:[^()]|\([^()]*\))+)\)", _log, self.text)
        text = re.sub(r"floor_log2\((\w+)\)", r"⌊log₂\1⌋", text)
        text = re.sub(r"bits\((\w+)\)", r"⌈log₂\1⌉", text)
        text = re.sub(r"bits\(([^()]+)\)", r"⌈log₂(\1)⌉", text)
        text = re.sub(r"(\d)\*([a-zA-Z⌈(])", r"\1\2", text)
        return text.replace("**", "^").replace("*", "·")


def _log(match: re.Match[str]) -> str:
    base, value = match[1].translate(str.maketrans("0123456789s", "₀₁₂₃₄₅₆₇₈₉ₛ")), match[2]
    return f"⌈log{base}({value})⌉"


@dataclass(frozen=True)
class Theorem:
    """One entry of the statement index.

    `hypotheses` is "none" if the statement has no hypotheses. `scope`, `status` and `outcome` begin
    with one of `SCOPES`, `STATUS` and `OUTCOMES`. `theory`, `proof` and `weights` are files with a
    function or class ("path:name"), and `test` is a file. `build` is the call that makes the model,
    and `over` contains the parameters at which the model is tested. `claim` is the claim that shows
    the statement. If the claim also shows other statements, `findings` contains the ids of the
    findings for this statement; if the default options do not show this statement, `options`
    contains options that do. `found` contains the recorded verdicts, by id, of the findings of a
    replication that do not hold. `machine_checked` contains the theorems that Rocq has checked for
    all sizes and inputs ("theory/proofs/file.v:theorem"). `machine_checked_part` is the part of the
    statement that they contain, if they lack more than widths and numbers of heads. `unproved`
    names steps that are used without proof. For a statement of another package, `package` is the
    name of the package, and the entry's files and functions belong to this package.
    """

    name: str
    topic: str
    kind: str
    status: str
    hypotheses: str
    statement: str
    source: str
    scope: str
    claim: str
    outcome: str = ""
    theory: str = ""
    proof: str = ""
    weights: str = ""
    test: str = ""
    build: str = ""
    findings: Sequence[str] = ()
    over: Mapping[str, list[int]] = field(default_factory=dict)
    sizes: Mapping[str, Formula] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    found: Mapping[str, str] = field(default_factory=dict)
    machine_checked: Sequence[str] = ()
    machine_checked_part: str = ""
    unproved: str = ""
    open: str = ""
    package: str = ""

    @property
    def standing(self) -> str:
        """The outcome of a replication, or the status of any other statement."""
        return self.outcome.partition(":")[0] or self.status

    @property
    def command(self) -> str:
        """The command that runs the claim of the statement."""
        words = [
            f" --{name}" + f" {value}" * (value is not True) for name, value in self.options.items()
        ]
        return f"python -m verify {self.claim}{''.join(words)}"


@cache
def ledger() -> dict[str, Theorem]:
    """All entries by name: first the entries of this library, then the entries of other packages.

    An index of another package that cannot be read is left out, with a line on standard error.
    """
    found = dict[str, Theorem]()
    for topic in TOPICS:
        found |= entries((VERIFY / topic / plugins.FILE).read_text(encoding="utf-8"))
    for point in plugins.ledgers():
        try:
            file, text = plugins.text_of(point)
            plugins.check(file, text, partial(_wrong, found, point.value))
            found |= entries(text, point.value)
        except InputError as error:
            plugins.warn(f"{error} (its statements are left out)")
    return found


def _wrong(taken: Collection[str], package: str, name: str, entry: Any) -> str:
    """The error in an entry of the index of another package; empty if there is none."""
    texts = ("topic", "kind", "status", "hypotheses", "statement", "source", "scope", "claim")
    more = ("outcome", "theory", "proof", "weights", "test", "build", "unproved", "open")
    tables = ("over", "sizes", "options", "found")
    known = {each.name for each in fields(Theorem)} - {"name", "package"}
    if not isinstance(entry, dict):
        return f"{name} is in no entry: write [NAME] above it"
    if name in taken:
        return f"there is a statement {name} already: give it another name"
    if unknown := [each for each in entry if each not in known]:
        return f"{name} has a field '{unknown[0]}': choose one of {', '.join(sorted(known))}"
    for each in texts:
        if not isinstance(entry.get(each), str):
            return f'{name} has no {each}: write {each} = "…"'
    for each in (*more, "machine_checked_part"):
        if not isinstance(entry.get(each, ""), str):
            return f'{name} has {each} that is not text: write {each} = "…"'
    for each in (name, entry["topic"]):
        if not WORD.fullmatch(each) or each == "index" or each.startswith("topic-"):
            return f"'{each}' is not a name: use a … z and digits, with - between words"
    for each in tables:
        if not isinstance(entry.get(each, {}), dict):
            return f"{name} has {each} that is not a table: write {each} = {{ … }}"
    words = {"kind": KINDS, "status": STATUS, "scope": SCOPES}
    words |= {"outcome": OUTCOMES} if entry["kind"] == "replication" else {}
    for each, allowed in words.items():
        if (word := entry.get(each, "").partition(":")[0]) not in allowed:
            return f"{name} has the {each} '{word}': use one of {', '.join(allowed)}"
    for each, item in {"findings": "size", "machine_checked": "proofs/file.v:theorem"}.items():
        listed = entry.get(each, [])
        if not isinstance(listed, list) or {*map(type, listed)} - {str}:
            return f'{name} has {each} that are not a list of names: write {each} = ["{item}"]'
    if entry["claim"] not in installed():
        return f"{name} has a claim '{entry['claim']}' that is not installed: see `verify.claims`"
    if plugins.left_out(package, installed()[entry["claim"]]):
        return f"{name} has a claim '{entry['claim']}' that is left out: another has its name"
    if plugins.is_ours(installed()[entry["claim"]]):
        return f"{name} has a claim '{entry['claim']}' of this library: name one of its own package"
    for parameter, values in entry.get("over", {}).items():
        if not isinstance(values, list) or not values or {*map(type, values)} != {int}:
            return f"{name} is over {parameter} = {values}: write {parameter} = [1, 2, 5]"
    for size in entry.get("sizes", {}).values():
        try:
            Formula(size).code  # noqa: B018
        except (SyntaxError, AttributeError):
            return f"{name} has a size {size!r} that is not a formula"
    return ""


def entries(text: str, package: str = "") -> dict[str, Theorem]:
    """Returns the entries of a statement index in TOML, by name; the index belongs to `package`."""
    found: dict[str, dict[str, Any]] = tomllib.loads(text)
    for entry in found.values():
        entry["sizes"] = {what: Formula(size) for what, size in entry.get("sizes", {}).items()}
    return {name: Theorem(name, package=package, **entry) for name, entry in found.items()}


def theorem(name: str) -> Theorem:
    """Returns the entry named `name`.

    Raises ValueError, with the nearest name, if no entry has this name.
    """
    known = ledger()
    if name not in known:
        if name in {entry.topic for entry in known.values()}:
            raise InputError(
                f"'{name}' is a topic, not a statement: run `verify list {name}` to see its "
                "statements"
            )
        near = get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean '{near[0]}'?" if near else "`verify list` shows them all"
        raise InputError(f"there is no statement '{name}': {hint}")
    return known[name]


def no_claim(name: str, known: Collection[str], kind: str = "claim") -> InputError:
    """The error for a name that no claim has; for a statement, it names the claim that shows it."""
    stated = ledger().get(name)
    if stated is None or stated.claim not in known:
        return unknown(name, known, kind)
    return InputError(
        f"'{name}' is a statement, not a {kind}: give its claim '{stated.claim}' instead"
    )


def entries_of(claim: str) -> list[Theorem]:
    """The entries that a claim shows."""
    return [entry for entry in ledger().values() if entry.claim == claim]


def sources_of(claim: str) -> str:
    """The references of the statements that a claim shows, each once."""
    texts = [entry.source for entry in entries_of(claim)]
    found = [re.findall(r"\[\w[^\]]+\]|weightwright", text) or [text] for text in texts]
    return ", ".join(dict.fromkeys(each for references in found for each in references))


def option_sets(claim: str) -> list[dict[str, Any]]:
    """The sets of options with which a claim shows all its statements, the defaults first."""
    sets: list[dict[str, Any]] = [{}]
    for entry in entries_of(claim):
        if entry.options not in sets:
            sets.append(dict(entry.options))
    return sets


def must_hold(claim: str) -> bool:
    """Whether a claim must hold; a claim need not hold if all its statements are replications."""
    kinds = {entry.kind for entry in entries_of(claim)}
    return kinds != {"replication"}


def recorded(claim: str) -> dict[str, str]:
    """The recorded verdicts of a claim's findings, by id, except for the verdict "holds"."""
    return {id: verdict for entry in entries_of(claim) for id, verdict in entry.found.items()}
