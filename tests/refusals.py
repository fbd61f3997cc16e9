"""What is wrong with an input is one line that names the parameter; its words may change.

Tests look at the class of the error, at the parameters that its line names and, on the command
line, at the exit code; never at the wording, which `docs/stability.md` does not promise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from theory.kinds import InputError


@contextmanager
def rejects(*names: str, error: type[Exception] = InputError) -> Iterator[None]:
    """Requires that the body raises this error, in one line in which each of `names` stands.

    A name is a parameter, or a value that the caller has to see again.
    """
    with pytest.raises(error) as caught:
        yield
    check_line(str(caught.value), *names)


def check_line(message: str, *names: str) -> None:
    """Requires one line of text in which each of `names` stands as a word, with `_` or `-`."""
    assert message.strip(), "an error without a message"
    assert "\n" not in message.strip(), f"more than one line: {message!r}"
    for name in names:
        word = re.escape(name).replace("_", "[-_]")
        assert re.search(rf"(?<!\w){word}(?!\w)", message), f"no {name!r} in {message!r}"


def rejected(capsys: pytest.CaptureFixture[str], arguments: list[str], *names: str) -> None:
    """Requires that the command line exits with 2, one line on standard error and nothing else.

    In an option's place its name as it is typed may stand, `--step-size` for `step_size`.
    """
    from verify.cli.main import main

    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    check_line(err, *names)
