"""Statements as text: lists for a terminal, Markdown, LaTeX, BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import theory
from theory.kinds import InputError
from verify.ledger.claims import installed
from verify.ledger.theorems import Theorem, ledger

BIBLIOGRAPHY = Path(theory.__file__).with_name("references.bib")
INTRODUCTION = """Every statement of the library, with its hypotheses, its source and its status:
*known*, *our proof* (stated in the source, proved here), *our size* (known but for the size or the
construction) or *new* (not known to be in print). A replication has its outcome instead. d is the
dimension of the inputs, k the number of steps or hops, n that of tokens or examples, V that of
symbols; sizes hold for all parameters of the call. A statement without hypotheses holds as it
stands. Evidence is the command that checks the statement, and the inputs that it covers (the
[glossary](glossary.md) has their kinds). *Machine-checked* are the theorems that Rocq has checked
for all sizes and inputs ([theory/proofs](../theory/proofs/README.md) lists what they state and what
they assume). `python -m verify show NAME` prints all files of a
statement. *Used without proof* are steps that are neither proved here nor checked: results quoted
from print, conjectures, observations. This page is written by `python -m verify list --markdown`.
"""
# The kinds of statements, as titles of the lists of new statements.
NEW = {
    "theorem": "theorems",
    "bound": "bounds",
    "erratum": "errata",
    "replication": "observations on trained models",
    "open": "open questions",
}


def listing(topic: str | None = None) -> Iterator[str]:
    """Returns the list of the statements by topic, as text, with kind and status or outcome.

    Raises ValueError for an unknown topic.
    """
    topics = dict.fromkeys(entry.topic for entry in ledger().values())
    if topic is not None and topic not in topics:
        raise InputError(f"there is no topic '{topic}': give one of {', '.join(topics)}")
    for each in topics if topic is None else (topic,):
        yield each
        for entry in ledger().values():
            if entry.topic == each:
                standing = f"{entry.kind:12} {entry.standing:14}"
                checked = f"{_machine_checked(entry)}: " if entry.machine_checked else ""
                yield f"  {entry.name:28} {standing} {checked}{entry.statement}"


def in_markdown() -> str:
    """Returns all statements in Markdown by topic, the text of `docs/theorems.md`."""
    lines = ["# Statements", "", INTRODUCTION.rstrip(), *_summary()]
    topics = dict.fromkeys(entry.topic for entry in ledger().values())
    for topic in topics:
        lines += ["", f"## {topic}"]
        for entry in ledger().values():
            if entry.topic == topic:
                lines += ["", f"### {entry.name}", "", *_stated(entry)]
    return "\n".join(lines) + "\n"


def _summary() -> Iterator[str]:
    """Lists of statements that are new, not replicated, used without proof, and open."""
    entries = ledger().values()
    listed = {
        **{
            f"New: {title}": [
                (entry, "") for entry in entries if (entry.status, entry.kind) == ("new", kind)
            ]
            for kind, title in NEW.items()
        },
        "Not replicated, or in part": [
            (entry, entry.outcome)
            for entry in entries
            if entry.kind == "replication" and entry.standing != "replicated"
        ],
        "Machine-checked": [
            (entry, "")
            for entry in entries
            if entry.machine_checked and not entry.machine_checked_part
        ],
        "Machine-checked in part": [
            (entry, entry.machine_checked_part) for entry in entries if entry.machine_checked_part
        ],
        "Used without proof": [(entry, entry.unproved) for entry in entries if entry.unproved],
        "Open, and limits": [(entry, entry.open) for entry in entries if entry.open],
    }
    for title, found in listed.items():
        if not found:
            continue
        yield from ("", f"**{title}**", "")
        links = {f"[{entry.name}](#{entry.name})": text for entry, text in found}
        if any(links.values()):
            yield from (f"- {link}: {text}" for link, text in links.items())
        else:
            yield ", ".join(links) + "."


def _stated(entry: Theorem) -> Iterator[str]:
    """A statement in Markdown: hypotheses, conclusion, sizes, proof and evidence."""
    yield f"**{entry.kind.capitalize()}** ({entry.standing}). {entry.source}."
    yield ""
    if entry.hypotheses != "none":
        yield f"*Hypotheses.* {entry.hypotheses}"
        yield ""
    yield f"*Statement.* {entry.statement}"
    sizes = ", ".join(f"{what} {formula}" for what, formula in entry.sizes.items())
    rows = {
        "Outcome": entry.outcome,
        "Sizes": sizes,
        "Without proof": entry.unproved,
        "Open": entry.open,
        "Proof": _linked(entry.proof),
        _machine_checked(entry).capitalize(): ", ".join(map(_linked, entry.machine_checked))
        + f". {entry.machine_checked_part}" * bool(entry.machine_checked_part),
        "Weights": _linked(entry.weights),
        "Evidence": f"`{entry.command}`: {entry.scope}",
    }
    yield ""
    yield from (f"- {name}: {value}" for name, value in rows.items() if value)


def _linked(place: str) -> str:
    path, _, name = place.partition(":")
    return f"[`{name or path}`](../{path})" if path else ""


def in_latex(entry: Theorem) -> Iterator[str]:
    """Returns an entry as a LaTeX environment; symbols in the entry's texts are not converted."""
    sizes = ", ".join(rf"{what} ${formula.latex()}$" for what, formula in entry.sizes.items())
    assumed = "" if entry.hypotheses == "none" else f"{entry.hypotheses} "
    yield rf"\begin{{{entry.kind}}}[{{{entry.source}}}]"
    unproved = f" Used without proof: {entry.unproved}" if entry.unproved else ""
    yield f"  {assumed}{entry.statement}" + f" Sizes: {sizes}." * bool(sizes) + unproved
    yield rf"\end{{{entry.kind}}}"


def _place(claim: str) -> str:
    module, _, name = installed()[claim].value.partition(":")
    return f"{module.replace('.', '/')}.py:{name}"


def _machine_checked(entry: Theorem) -> str:
    return "machine-checked" + " in part" * bool(entry.machine_checked_part)


def _proofs(entry: Theorem) -> Iterator[str]:
    yield entry.proof
    if entry.machine_checked:
        yield f"{_machine_checked(entry)}: {', '.join(entry.machine_checked)}"
    if entry.machine_checked_part:
        yield entry.machine_checked_part


def described(entry: Theorem) -> Iterator[str]:
    """Returns an entry with all its fields as lines of text."""
    yield f"{entry.name} ({entry.kind}, {entry.topic}; {entry.standing})"
    yield f"  {entry.statement}"
    rows = {
        "hypotheses": entry.hypotheses,
        "outcome": entry.outcome,
        "package": entry.package,
        "source": entry.source,
        "theory": entry.theory,
        "proof": "; ".join(filter(None, _proofs(entry))),
        "weights": entry.weights,
        "build": entry.build,
        "sizes": ", ".join(f"{what} {formula}" for what, formula in entry.sizes.items()),
        "claim": f"{entry.command} ({_place(entry.claim)})",
        "findings": ", ".join(entry.findings),
        "scope": entry.scope,
        "test": entry.test,
        "unproved": entry.unproved,
        "open": entry.open,
        "found": ", ".join(f"{id} {verdict}" for id, verdict in entry.found.items()),
    }
    yield from (f"  {name:10} {value}" for name, value in rows.items() if value)


@cache
def bibliography() -> dict[str, str]:
    """The entries of `theory/references.bib`, by key."""
    text = BIBLIOGRAPHY.read_text(encoding="utf-8")
    entries = re.split(r"^(?=@)", text, flags=re.MULTILINE)[1:]
    return {re.findall(r"\{(\w+),", entry)[0]: entry.rstrip() for entry in entries}


def in_bibtex(entries: Iterable[Theorem]) -> Iterator[str]:
    """Returns the BibTeX entries of the statements' sources; raises ValueError if none exists."""
    keys = dict.fromkeys(key for entry in entries for key in re.findall(r"\w+", entry.source))
    found = [bibliography()[key] for key in keys if key in bibliography()]
    if not found:
        raise InputError(
            "the statement has no source in print: cite the library instead (CITATION.cff)"
        )
    yield from found
