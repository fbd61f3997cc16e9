"""Compiles the proofs of a folder and checks what they assume.

    python3 theory/proofs/check.py [BUILD]

It needs Python's standard library only, besides Rocq and MathComp.  Every theorem and corollary
must be followed by `Print Assumptions name.` in the same file, and Rocq must answer "Closed under
the global context": neither the proof nor anything that it uses rests on an axiom or on a proof
that is admitted.  A file of this program prints the same for weightwright.file.name, so that no
file answers for itself.  Commands that admit a proof, turn off a check or write a file, and other
words for *Theorem* and *Lemma*, are rejected wherever they stand.
Files that are compiled once are compiled again only if they, or files that they import, change.

Exit 0: all theorems are checked; 1: a file is rejected; 2: wrong arguments; 3: nothing is checked,
because Rocq, MathComp or a folder that can be written to is missing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).parent
PACKAGES = "coq libcoq-mathcomp-ssreflect libcoq-mathcomp-algebra"
CLOSED = "Closed under the global context"
OPTIONS = ("-q", "-Q", ".", "weightwright", "-w", "-notation-overridden,-ambiguous-paths")
# commands and tactics that assume something, or that turn off what Rocq checks; that write files or
# run other code; modules, in which a name can hide another; and results that are not printed
ESCAPES = (
    "Admitted",
    "admit",
    "Admit",
    "give_up",
    "Axioms?",
    "Conjectures?",
    "Parameters?",
    "Primitive",
    "Declare",
    "Modules?",
    "Unset",
    "bypass_check",
    "Type-in-type",
    "Add LoadPath",
    "Load",
    "Drop",
    "Redirect",
    "Extraction",
    "Cd",
    "Goal",
    "Save",
    "Fail",
    "Fact",
    "Remark",
    "Property",
    "Proposition",
    "Example",
)
HARMLESS = ("Unset Strict Implicit", "Unset Printing Implicit Defensive")
REQUESTS = "all_assumptions"  # the file of this program, of which no file may have the name
REQUIRED = r"Require\s+(?:Import|Export)\s([^.]*)\.(?=\s|$)"
USAGE = "usage: python3 theory/proofs/check.py [BUILD], with a folder for compiled files"


class Rejected(Exception):
    """The error for a file that Rocq, or this program, rejects."""


def missing() -> str:
    """What is missing to compile the proofs, in one line; "" if nothing is."""
    programs = [name for name in ("coqc",) if shutil.which(name) is None]
    if not programs:
        where = subprocess.run(["coqc", "-where"], capture_output=True, text=True)
        if where.returncode:
            return f"coqc does not run: on Debian, install {PACKAGES}"
        library = Path(where.stdout.strip()) / "user-contrib" / "mathcomp"
        programs = [
            f"MathComp's {part}"
            for part in ("ssreflect", "algebra")
            if not (library / part).is_dir()
        ]
    if not programs:
        return ""
    return f"{' and '.join(programs)} not found: on Debian, install {PACKAGES}"


def sources(folder: Path = FOLDER) -> dict[str, str]:
    """The text of each file of proofs, by its name without the ending."""
    return {file.stem: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.v"))}


def code(text: str) -> str:
    """A file without its comments, which may contain comments, and without its strings."""
    depth, kept = 0, []
    for part in re.split(r'(\(\*|\*\)|"[^"]*")', text):
        if part == "(*":
            depth += 1
        elif part == "*)" and depth:
            depth -= 1
        elif depth == 0:
            kept.append('""' if part.startswith('"') else part)
    return "".join(kept)


def imported(text: str) -> set[str]:
    """The files of the same folder that a file imports."""
    found = re.findall(rf"\bFrom\s+weightwright\s+{REQUIRED}", code(text))
    return {name for names in found for name in names.split()}


def imports_otherwise(text: str) -> bool:
    """Whether a file imports files otherwise than by `From library Require Import names.`."""
    words = code(text)
    proper = re.findall(rf"\bFrom\s+(?:mathcomp|Coq|weightwright)\s+{REQUIRED}", words)
    return len(re.findall(r"\bRequire\b", words)) != len(proper)


def theorems(text: str) -> list[str]:
    """The theorems and corollaries that a file states, in order."""
    return re.findall(r"\b(?:Theorem|Corollary)\s+([\w']+)", code(text))


def printed(text: str) -> list[str]:
    """The names whose assumptions a file prints, in order."""
    return re.findall(r"\bPrint\s+Assumptions\s+([\w'.]*[\w'])\s*\.(?=\s|$)", code(text))


def escapes(text: str) -> list[str]:
    """The commands of a file that assume something, or that turn off a check."""
    words = code(text)
    for allowed in HARMLESS:
        words = words.replace(allowed, "")
    return re.findall(rf"(?<![\w'])(?:{'|'.join(ESCAPES)})(?![\w'])", words)


def with_imports(names: Iterable[str], texts: Mapping[str, str]) -> dict[str, str]:
    """These files and those that they import, directly or not, of the files with these texts."""
    found: dict[str, str] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name in texts and name not in found:
            found[name] = texts[name]
            waiting += imported(texts[name])
    return dict(sorted(found.items()))


def checked(
    texts: Mapping[str, str] | None = None, build: Path | None = None, jobs: int = 2
) -> dict[str, list[str]]:
    """The theorems of files that Rocq has checked, by the name of their file.

    `texts` contains the text of each file by its name, by default of all files of this folder; of
    the files that a file imports, it contains each. Compiled files and what Rocq prints are kept in
    the folder `build`, by default build/proofs. At most `jobs` files are compiled at a time. Raises
    Rejected, with the file and the reason, for a file that does not compile, imports a file that is
    not in `texts`, contains an escape, states a theorem twice or has a theorem whose assumptions
    are not printed or not empty.
    """
    texts = sources() if texts is None else texts
    build = Path("build", "proofs") if build is None else build
    build.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        _reject_text(name, text, {*texts})
    found: dict[str, list[str]] = {}
    for name, output in _outputs(texts, build, jobs):
        names = printed(texts[name])
        answers = re.findall(rf"^(?:{CLOSED}|Axioms:|Section Variables:)$", output, re.MULTILINE)
        if len(answers) != len(names):
            raise Rejected(f"{name}.v prints {len(answers)} of {len(names)} assumptions")
        for theorem, answer in zip(names, answers, strict=True):
            if answer != CLOSED:
                raise Rejected(f"{name}.v: {theorem} depends on axioms")
            found.setdefault(name, []).append(theorem)
    _ask_again(found, build)
    return dict(sorted(found.items()))


def _reject_text(name: str, text: str, names: set[str]) -> None:
    """Raises Rejected for a file, one of those with these names, that must not be compiled."""
    forbidden = escapes(text)
    if forbidden:
        raise Rejected(f"{name}.v contains '{forbidden[0]}': every proof must be complete")
    absent = sorted(imported(text) - names)
    if absent:
        raise Rejected(f"{name}.v imports {absent[0]}, but there is no file {absent[0]}.v")
    if imports_otherwise(text):
        raise Rejected(f"{name}.v: import files by 'From … Require Import …' alone")
    stated = theorems(text)
    twice = [each for each in stated if stated.count(each) > 1]
    if twice:
        raise Rejected(f"{name}.v states {twice[0]} twice: give every theorem a name of its own")
    without = [each for each in stated if each not in printed(text)]
    if without:
        raise Rejected(f"{name}.v states {without[0]}: add 'Print Assumptions {without[0]}.'")


def _ask_again(found: Mapping[str, list[str]], build: Path) -> None:
    """Raises Rejected if a theorem depends on an axiom, by a file outside those of the theorems."""
    places = [f"weightwright.{name}.{each}" for name, names in found.items() for each in names]
    requests = [f"Require weightwright.{name}.\n" for name in found]
    requests += [f"Print Assumptions {place}.\n" for place in places]
    (build / f"{REQUESTS}.v").write_text("".join(requests), encoding="utf-8")
    run = _coqc(REQUESTS, build)
    if run.returncode:
        raise Rejected(f"{REQUESTS}.v does not compile: {run.stderr.strip()}")
    if run.stdout.splitlines() != [CLOSED] * len(places):
        raise Rejected(f"not all theorems are free of axioms: see {build / REQUESTS}.v")


def _outputs(texts: Mapping[str, str], build: Path, jobs: int) -> Iterator[tuple[str, str]]:
    """What Rocq prints for each file, in an order in which a file follows its imports."""
    order = TopologicalSorter({name: imported(text) & {*texts} for name, text in texts.items()})
    order.prepare()
    version = subprocess.run(["coqc", "--version"], capture_output=True, text=True).stdout
    version += " ".join(OPTIONS)
    keys: dict[str, str] = {}
    running: dict[Future[str], str] = {}
    with ThreadPoolExecutor(jobs) as workers:
        while order.is_active():
            for name in order.get_ready():
                below = "".join(keys[each] for each in sorted(imported(texts[name]) & {*texts}))
                keys[name] = sha256((version + below + texts[name]).encode()).hexdigest()
                running[workers.submit(_compiled, name, texts[name], keys[name], build)] = name
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(done)
                yield name, done.result()
                order.done(name)


def _compiled(name: str, text: str, key: str, build: Path) -> str:
    """What Rocq prints for one file, compiled unless it was compiled with the same key."""
    kept, output = build / f"{name}.key", build / f"{name}.out"
    products = [build / f"{name}.vo", output]
    if kept.exists() and kept.read_text() == key and all(each.exists() for each in products):
        return output.read_text(encoding="utf-8")
    kept.unlink(missing_ok=True)
    (build / f"{name}.v").write_text(text, encoding="utf-8")
    run = _coqc(name, build)
    if run.returncode:
        raise Rejected(f"{name}.v does not compile: {run.stderr.strip()}")
    output.write_text(run.stdout, encoding="utf-8")
    kept.write_text(key)
    return run.stdout


def _coqc(name: str, build: Path) -> subprocess.CompletedProcess[str]:
    command = ["coqc", *OPTIONS, f"{name}.v"]
    return subprocess.run(command, cwd=build, capture_output=True, text=True)


def main(arguments: list[str]) -> int:
    """Prints the theorems that are checked, or what is missing or wrong; returns the exit code."""
    if len(arguments) > 1 or any(each.startswith("-") for each in arguments):
        print(USAGE, file=sys.stderr)
        return 2
    lacking = missing()
    if lacking:
        print(f"the proofs are not checked: {lacking}", file=sys.stderr)
        return 3
    try:
        found = checked(build=Path(arguments[0]) if arguments else None)
    except Rejected as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"the proofs are not checked: {error}", file=sys.stderr)
        return 3
    for name, names in found.items():
        print(f"{name + '.v':24} {', '.join(names)}")
    number = sum(map(len, found.values()))
    print(f"Rocq has checked {number} theorems in {len(found)} files, which assume no axioms")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
