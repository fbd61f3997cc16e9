"""What README and docs show: shell commands and Python examples, for the tests and for CI.

`python tests/readme.py commands` prints the commands of README and `docs/commands.md`, one a line,
without those that set up and without the examples, which the site runs and shows (`make docs`).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
COMMANDS = ROOT / "docs" / "commands.md"
EXAMPLE = "python examples/"
PAGES = (README, *sorted((ROOT / "docs").glob("*.md")))


def fences(page: Path, language: str) -> list[str]:
    """The contents of a page's code blocks in a language, in order."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def examples() -> dict[str, tuple[str, str]]:
    """Python blocks that are followed by what they print, and that, by page and number."""
    pair = r"^```python\n((?:(?!```).)*)^```\n\n```text\n(.*?)^```$"
    return {
        f"{page.stem}-{number}": found
        for page in PAGES
        for number, found in enumerate(re.findall(pair, page.read_text("utf-8"), re.M | re.S))
    }


def commands() -> list[str]:
    """The shell commands that a reader runs once the project is installed."""
    blocks = [block for page in (README, COMMANDS) for block in fences(page, "sh")]
    lines = dict.fromkeys(line for block in blocks for line in block.splitlines())
    return [line for line in lines if line and not line.startswith("make ")]


if __name__ == "__main__" and sys.argv[1:] == ["commands"]:
    print("\n".join(line for line in commands() if not line.startswith(EXAMPLE)))
