"""The recorded run of all claims at quick sizes, `docs/_build/runs.json`, of exactly these sources.

`make record` (`python tests/record.py`) makes it, unless it is there and of the same sources and
versions of packages: what they are is hashed into `runs.key` beside it, so that a record is never
an old one.  The site shows it, and the tests compare what they run with it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from verify.cli.report import environment

ROOT = Path(__file__).parent.parent
PACKAGES = ("theory", "constructions", "verify")
RUNS = ROOT / "docs" / "_build" / "runs.json"
KEY = RUNS.with_suffix(".key")


def key() -> str:
    """A hash of all files of the packages, of the entry points and of the versions of packages."""
    files = [ROOT / "pyproject.toml"]
    for package in PACKAGES:
        files += sorted(file for file in (ROOT / package).rglob("*") if file.is_file())
    found = sha256(json.dumps(environment()).encode())
    for file in files:
        if "__pycache__" not in file.parts:
            found.update(f"\0{file.relative_to(ROOT).as_posix()}\0".encode())
            found.update(sha256(file.read_bytes()).digest())
    return found.hexdigest()


def runs() -> list[dict[str, Any]] | None:
    """The recorded runs; None where there are none of these sources."""
    if not RUNS.exists() or not KEY.exists() or KEY.read_text() != key():
        return None
    claims: list[dict[str, Any]] = json.loads(RUNS.read_text(encoding="utf-8"))["claims"]
    return claims


def make() -> int:
    """Run all claims, unless that was done; the exit code is that of `verify all`."""
    if runs() is not None:
        return 0
    RUNS.parent.mkdir(parents=True, exist_ok=True)
    KEY.unlink(missing_ok=True)
    made = key()
    words = ["-m", "verify", "all", "--quick", "--jobs", "2", "--quiet", "--json"]
    code = subprocess.run([sys.executable, *words, str(RUNS)], cwd=ROOT, check=False).returncode
    if code == 0:
        KEY.write_text(made)
    return code


if __name__ == "__main__":
    sys.exit(make())
