"""The recorded run of all claims at quick sizes, with their pictures, of exactly these sources.

`make record` (`python tests/record.py`) makes it in `docs/_build`, unless it is there and of the
same sources and installed packages: what they are is hashed into `runs.key` beside it, so that a
record is never an old one.  The site shows it, and tests read what it found instead of running the
claims again.  What came out is not judged here but in `test_conformance.py`.
"""

from __future__ import annotations

import json
import shutil
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from hashlib import sha256
from importlib.metadata import distributions
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from verify.claim import Run
from verify.ledger.claims import installed
from verify.ledger.theorems import option_sets, sources_of
from verify.output.report import as_json, environment

ROOT = Path(__file__).parent.parent
PACKAGES = ("theory", "constructions", "verify")
RUNS = ROOT / "docs" / "_build" / "runs.json"
KEY = RUNS.with_suffix(".key")
PICTURES = RUNS.with_name("pictures")
PROCESSES = 2


def run(
    name: str, options: dict[str, Any], picture: Path | None = None, *, quick: bool = True
) -> dict[str, Any]:
    """A claim's run as `--json` writes it; its picture, if it has one, goes into this file."""
    claim = installed()[name].load()
    given, start = {**claim.defaults, **options}, time.perf_counter()
    found = [*claim.findings(Run(quick=quick, plot=picture if claim.draws else None), **given)]
    parameters, seconds = {**given, "seed": 0, "quick": quick}, time.perf_counter() - start
    text = as_json(name, claim.statement, sources_of(name), parameters, found, seconds)
    document: dict[str, Any] = json.loads(text)
    return document


def by_ledger() -> dict[tuple[str, int], dict[str, Any]]:
    """The options of each run: by claim and number, the option sets of the ledger; not of claims
    that need a user's data."""
    return {
        (name, number): options
        for name, point in installed().items()
        if not point.load().needs_options
        for number, options in enumerate(option_sets(name))
    }


def picture_of(name: str, number: int) -> Path:
    """Where the picture of a claim's run with one of its option sets is."""
    return PICTURES / f"{name}-{number}.png"


def key() -> str:
    """A hash of all files of the packages, of the entry points and of what is installed."""
    installed_ones = sorted({f"{each.name} {each.version}" for each in distributions()})
    files = [ROOT / "pyproject.toml"]
    for package in PACKAGES:
        files += sorted(file for file in (ROOT / package).rglob("*") if file.is_file())
    found = sha256(json.dumps([environment(), installed_ones]).encode())
    for file in files:
        if "__pycache__" not in file.parts:
            found.update(f"\0{file.relative_to(ROOT).as_posix()}\0".encode())
            found.update(sha256(file.read_bytes()).digest())
    return found.hexdigest()


@cache
def recorded() -> dict[str, list[tuple[dict[str, Any], Path]]]:
    """By claim, the recorded runs and pictures; nothing where there are none of these sources."""
    found: dict[str, list[tuple[dict[str, Any], Path]]] = {}
    if KEY.exists() and KEY.read_text() == key():
        for document in json.loads(RUNS.read_text(encoding="utf-8"))["claims"]:
            runs = found.setdefault(document["claim"], [])
            runs.append((document, picture_of(document["claim"], len(runs))))
    return found


def make() -> None:
    """Run each claim with each of its option sets, unless that was done."""
    if recorded():
        return
    KEY.unlink(missing_ok=True)
    shutil.rmtree(PICTURES, ignore_errors=True)  # a picture that is drawn no more is not found
    PICTURES.mkdir(parents=True)
    made = key()
    tasks = [
        (name, options, picture_of(name, number)) for (name, number), options in by_ledger().items()
    ]
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        documents = [*pool.map(run, *zip(*tasks, strict=True))]
    text = json.dumps({"schema": 2, "claims": documents}, ensure_ascii=False)
    RUNS.write_text(text, encoding="utf-8")
    KEY.write_text(made)


if __name__ == "__main__":
    make()
