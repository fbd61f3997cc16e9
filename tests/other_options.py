"""The figures of claims with other options than those of the recorded run (see `figures.py`).

A line of `other_options.txt` that is not indented is a claim with options, each of which differs
from its default in some line.  Below it are the findings at quick sizes, or at full sizes where it
says `quick=False`: their ids, the kinds of evidence, the verdicts of what does not depend on a
sample, and the figures, with the whole numbers in the name: a claim that runs smaller sizes than
its options says so there.  A test runs the claims again.  After a change on purpose,
`python tests/other_options.py` writes the findings again; the difference is read before it is
committed.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import figures
import record

from theory.kinds import InputError

FILE = Path(__file__).with_name("other_options.txt")
Found = dict[str, tuple[str, list[float]]]


def parsed(line: str) -> tuple[str, dict[str, Any]]:
    """A claim and its options: `newton k=7 layout="ladder"`."""
    name, _, given = line.partition(" ")
    pairs = re.sub(r" (?=[a-z_]+=)", ", ", given)
    return name, eval(f"dict({pairs})", {"Path": Path})


def found(line: str) -> Found:
    """By id, the evidence with its verdict and the figures of each finding of a run."""
    name, options = parsed(line)
    quick = options.pop("quick", True)
    try:
        document = record.run(name, options, quick=quick)
    except InputError:
        return {"refused": ("", [])}
    compared = figures.figures(document)
    return {
        each["id"]: (
            kind if kind in figures.UNCERTAIN else f"{kind} {each['verdict']}",
            [*map(float, figures.WHOLE.findall(each["name"])), *numbers],
        )
        for each in document["findings"]
        for kind, numbers in [compared[each["id"]]]
    }


def recorded() -> dict[str, Found]:
    """By line, what is recorded."""
    runs: dict[str, Found] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("  "):
            of = runs[line] = {}
            continue
        id, *words = line.split()
        evidence = " ".join(word for word in words if word[0].isalpha() and word != "inf")
        of[id] = evidence, [float(word) for word in words[len(evidence.split()) :]]
    return runs


if __name__ == "__main__":
    lines = []
    for line in recorded():
        start = time.perf_counter()
        lines.append(line)
        for id, (evidence, numbers) in found(line).items():
            lines.append("  " + " ".join([id, *evidence.split(), *(f"{n:g}" for n in numbers)]))
        if (seconds := time.perf_counter() - start) > 2:
            print(f"{seconds:.1f} s: {line}")
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
