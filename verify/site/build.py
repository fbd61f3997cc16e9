"""`python -m verify report FILE.json … --out DIR`: pages of the user's runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from theory.kinds import InputError
from theory.reading import content_of
from verify.finding import Verdict
from verify.ledger.theorems import entries_of
from verify.output.report import SCHEMA

MOST_BYTES = 10**8  # the largest size of a file with runs
CONFIGURATION = "from verify.site.conf import *\n"
INDEX = """# Report

These pages are generated from the runs and from the code that made them.

LISTED

```{toctree}
:hidden:

statements/index
references
```
"""


def report(files: Sequence[Path], out: Path) -> Path:
    """Writes the pages of the statements that the runs in `files` show.

    Returns the path of the first page.

    Raises ValueError for files without runs, and for two runs of the same statement of which a page
    would show only one. Also raises ValueError for a folder that is not empty or cannot be made,
    and for missing packages of the extra `site`.
    """
    runs = [run for file in files for run in runs_in(file)]
    if not any(entries_of(run["claim"]) for run in runs):
        raise InputError(
            "the files contain no run that shows a statement of the index: give other files"
        )
    try:
        from sphinx.cmd.build import build_main

        from verify.site.pages import pages, runs_of, write
    except ModuleNotFoundError as error:
        raise InputError(
            f"the pages need the package {error.name}, which is not installed: run pip "
            "install 'weightwright[site]'"
        ) from None
    shown = dict[str, list[str]]()  # a statement's verdicts
    for run in runs:
        own = [
            entry.name
            for entry in entries_of(run["claim"])
            if any(each is run for each in runs_of(entry, runs))
        ]
        for name in own:
            shown.setdefault(name, []).append(run["verdict"])
        if not own:
            at = ", ".join(f"{name} {value}" for name, value in run["parameters"].items())
            raise InputError(
                f"the run of {run['claim']} with {at} would have the same page as another run of "
                "this claim: put one of these runs into a separate report"
            )
    _empty(out)
    with TemporaryDirectory() as folder:
        source = Path(folder)
        (source / "conf.py").write_text(CONFIGURATION, encoding="utf-8")
        listed = [
            f"- [{name}](statements/{name}.md): {', '.join(verdicts)}"
            for name, verdicts in shown.items()
        ]
        index = INDEX.replace("LISTED", "\n".join(listed))
        write(source, {"index.md": index, **pages(runs, [*shown], own=True)})
        doctrees = source / "doctrees"
        if build_main(["-q", "-b", "html", "-d", str(doctrees), folder, str(out)]):
            raise InputError("the pages could not be built: see the messages above")
    return out / "index.html"


def runs_in(file: Path) -> list[Mapping[str, Any]]:
    """Returns the runs in a file that `verify NAME --json` or `verify all --json` wrote."""
    content = content_of(file, MOST_BYTES)
    try:
        document = json.loads(content.decode())
        json.dumps(document, ensure_ascii=False).encode()  # no half of a surrogate pair
        runs = document.get("claims", [document])
        if not runs or not all(map(_is_run, runs)):
            raise ValueError
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise InputError(
            f"{file} is damaged or contains no runs: give a file that `python -m verify NAME "
            "--json FILE` has written"
        ) from None
    schemas = {run["schema"] for run in runs} - {SCHEMA}
    if schemas:
        raise InputError(
            f"{file} has schema {schemas.pop()}, but this version reads schema {SCHEMA}: "
            "run `python -m verify NAME --json FILE` again"
        )
    return list(runs)


def _is_run(document: Any) -> bool:
    """Whether a JSON document is a run of a claim, as `verify.output.report.as_json` writes it."""
    match document:
        case {
            "schema": int(),
            "claim": str(),
            "statement": str(),
            "parameters": dict(),
            "verdict": str(verdict),
            "findings": list(findings),
            "environment": dict(),
        } if all(map(_is_finding, findings)):
            return verdict == Verdict.together(Verdict(each["verdict"]) for each in findings)
    return False


def _is_finding(document: Any) -> bool:
    match document:
        case {
            "name": str(),
            "evidence": str(),
            "verdict": str(verdict),
            "measured": _,
            "bound": _,
            "words": str(),
            "wanted": str(),
        }:
            return verdict in {*map(str, Verdict)}
    return False


def _empty(out: Path) -> None:
    """Raises ValueError unless a folder is new, or empty."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise InputError(
                f"the folder {out} exists and is not empty: give the name of a new folder"
            )
    except OSError as error:
        raise InputError(
            f"cannot write into {out} ({error.strerror or error}): choose another folder"
        ) from None
