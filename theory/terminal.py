"""Commands in a terminal: closed pipes, full disks, usage errors, and terminals that show ASCII
only.
"""

import atexit
import codecs
import os
import re
import signal
import sys
import unicodedata
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Any

from typer.core import TyperCommand

SPELLED = {
    "−": "-", "–": "-", "—": "-", "·": "*", "×": "x", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~",
    "→": "->", "←": "<-", "∞": "inf", "√": "sqrt ", "‖": "||", "⟨": "<", "⟩": ">", "⌈": "ceil(",
    "⌉": ")", "⌊": "floor(", "⌋": ")", "∈": " in ", "⊥": "_|_", "∎": "QED", "±": "+-", "ᵀ": "^T",
    "⁺": "^+", "⁻": "^-", "²": "^2", "³": "^3", "ⁿ": "^n", "’": "'", "“": '"', "”": '"', "∘": "o",
    "§": "section ", "′": "'", "∇": "grad ", "∏": "product ",
}  # fmt: skip
FULL = 4  # the exit code where the standard output cannot be written


def run(main: Callable[[], int]) -> int:
    """Runs the command `main` and returns its exit code, for `sys.exit`.

    If the output is a closed pipe (`… | head`), the command ends silently. Characters that the
    terminal's encoding lacks are spelled in ASCII. If the output cannot be written, an error of one
    line is printed. If standard error cannot be written, or is closed, its lines are lost, and the
    exit code remains that of the command.
    """
    _prepare()
    code = main()
    return code if _flushed(code != FULL) else FULL


def script(options: ArgumentParser) -> Namespace:
    """The arguments of a script, whose output is then handled like that of a command in `run`.

    An interruption ends the script with exit code 130, and an output that cannot be written with
    exit code 4, both with one line on standard error. Where another program runs the script and
    takes its output, as the site's gallery does, the process of that program is left as it is.
    """
    if sys.stdout is not sys.__stdout__:
        return options.parse_args()
    _prepare()
    given = options.parse_args()
    sys.excepthook = _ended
    atexit.register(lambda: _flushed(True) or os._exit(FULL))
    return given


def _ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Ends a script in one line, or with the traceback of an error that was not expected."""
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        os._exit(130)
    if isinstance(error, OSError) and error.filename is None:  # of the output
        _tell(error)
        os._exit(FULL)
    sys.__excepthook__(kind, error, trace)


def _prepare() -> None:
    """Prepares the signals and the streams of a command."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: results are written
    screen = sys.__stderr__
    if sys.stderr is None:  # closed, and `print` would write to standard output instead
        sys.stderr = TextIOWrapper(BufferedWriter(FileIO(os.devnull, "w")))
    if screen is not None and sys.stderr is screen and os.name == "posix":
        raw = BufferedWriter(_Lossy(screen.fileno(), "w", closefd=False))
        sys.stderr = TextIOWrapper(raw, screen.encoding, line_buffering=True)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(errors="spelled")  # type: ignore[union-attr]


def _flushed(gives_reason: bool) -> bool:
    """Whether the standard output can be written; if not, one line may give the reason."""
    try:
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
    except OSError as error:
        # Otherwise Python flushes again at exit, and prints a longer error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if gives_reason:
            _tell(error)
        return False
    return True


def _tell(error: OSError) -> None:
    print(f"error: cannot write the output: {error.strerror}", file=sys.stderr)


class _Lossy(FileIO):
    """A file that loses what cannot be written, as to a full disk."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


class Once(TyperCommand):
    """A command that rejects an option that is given twice, since one of the two would be ignored;
    an option whose value is the name of an option, such as a file called -q; and an empty path.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        options = [each for each in self.get_params(ctx) if each.param_type_name == "option"]
        names = {name for each in options for name in (*each.opts, *each.secondary_opts)}
        for option in order:
            for value in _each(values.get(option.name)):
                if value in names:
                    ctx.fail(f"{option.opts[-1]} has no value before {value}: give a value")
        for option, times in Counter(order).items():
            if times > 1 and option.param_type_name == "option" and not option.multiple:
                ctx.fail(f"{option.opts[-1]} is given {times} times: give it once")
        others = super().parse_args(ctx, args)
        for option in order:
            typed, read = values.get(option.name), ctx.params.get(option.name)
            for text, value in zip(_each(typed), _each(read), strict=False):
                if text == "" and isinstance(value, Path):  # Path("") is the current folder
                    ctx.fail(f"{option.opts[-1]} is empty: give a path")
        return others


def _each(value: Any) -> list[Any]:
    """The values of an option, of which some can be given several times."""
    return [*value] if isinstance(value, list | tuple) else [value]


def in_words(error: Exception, *, hint: bool = True) -> str:
    """Returns a usage error of typer as one line of text.

    With `hint`, the line ends with the command that lists the options.
    """
    message = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
    message = re.sub(r"Input should be a valid (integer|number)\b.*", _give, message)
    message = re.sub(r"Unable to parse .*integer, exceeded.*", "give fewer digits", message)
    message = message.replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    return f"{message}; see `{context.command_path} --help`" if hint and context else message


def _give(wrong: re.Match[str]) -> str:
    return f"give {'an' if wrong[1] == 'integer' else 'a'} {wrong[1]}"


def spelled(error: UnicodeError) -> tuple[str, int]:
    """An error handler for `codecs` that spells characters in ASCII.

    For example, α becomes alpha, ≤ becomes <=, ₀ becomes 0, and é becomes e.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_spelled, error.object[error.start : error.end])), error.end


def _spelled(character: str) -> str:
    name, plain = unicodedata.name(character, ""), unicodedata.normalize("NFKD", character)
    ascii_part = plain.encode("ascii", "ignore").decode()
    if name.startswith("GREEK") and "LETTER" in name:
        word = name.partition("LETTER")[2].split()[0].replace("LAMDA", "LAMBDA")
        return word.capitalize() if "CAPITAL" in name else word.lower()
    return SPELLED.get(character) or ascii_part or "?"


codecs.register_error("spelled", spelled)
