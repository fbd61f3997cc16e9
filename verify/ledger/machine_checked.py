"""The claim `machine-checked`: theorems for all sizes and inputs, which Rocq checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from theory.proofs.check import (
    PACKAGES,
    Rejected,
    checked,
    missing,
    sources,
    theorems,
    with_imports,
)
from verify.claim import Run, claim
from verify.finding import Finding, Verdict, same
from verify.ledger.theorems import ledger

QUICK = ("reading",)
"""The files that a quick run compiles, with those that they import."""


@claim(faults_seen=[{}])
def machine_checked(run: Run) -> Iterator[Finding]:
    """The theorems of theory/proofs hold for all sizes and inputs: Rocq proves each without axioms.

    The files are compiled anew, in a temporary folder. A quick run compiles the theorem that
    reading formulas is sound, and what it uses. theory/proofs/README.md lists what is proved, and
    what the proofs assume of the tensors. If Rocq or MathComp is missing, the claim is undecided.
    """
    lacking = missing()
    if lacking:
        yield _absent(lacking)
        return
    texts = with_imports(QUICK if run.quick else sources(), sources())
    found, wrong = dict[str, list[str]](), ""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            found = checked(texts, Path(folder))
        except Rejected as error:
            wrong = str(error)
    for name, text in texts.items():
        stated, derived = theorems(text), found.get(name, [])
        if stated:
            yield same(
                name.replace("_", "-"),
                f"theorems of theory/proofs/{name}.v that Rocq derives without axioms",
                len([each for each in stated if each in derived]),
                len(stated),
                evidence="proved",
                words=", ".join(each for each in stated if each in derived) or "none",
                wanted=", ".join(stated),
                detail=wrong,
                detailed=True,
            )
    named = [place for place in _named() if Path(place.partition(":")[0]).stem in texts]
    derived = [place for place in named if _is_among(place, found)]
    yield same(
        "statements",
        "theorems that the statement index names as machine-checked, and that Rocq derives",
        len(derived),
        len(named),
        evidence="proved",
        wanted="all that it names in the files that are compiled",
        detail=f"{wrong}: {', '.join(place for place in named if place not in derived)}",
    )


def _named() -> list[str]:
    """The theorems of this library that the statement index names, each once."""
    entries = [entry for entry in ledger().values() if not entry.package]
    return [*dict.fromkeys(place for entry in entries for place in entry.machine_checked)]


def _is_among(place: str, found: Mapping[str, list[str]]) -> bool:
    path, _, name = place.partition(":")
    return name in found.get(Path(path).stem, [])


def _absent(lacking: str) -> Finding:
    """The undecided finding if Rocq or MathComp is missing."""
    return Finding(
        "package",
        "the proofs in theory/proofs",
        "proved",
        "none",
        "Rocq and MathComp",
        Verdict.UNDECIDED,
        f"skipped: {lacking}",
        f"apt install {PACKAGES}",
    )
