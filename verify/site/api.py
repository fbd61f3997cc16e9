"""The API pages, generated from the packages.

There is a page for each package or module with an `__all__`, a page for the modules of
`constructions`, and a page for further names that the template package uses.

Sphinx's autodoc finds classes, members and docstrings.  Hooks convert docstrings, which are plain
text, and show signatures as written.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Container, Iterator, Sequence
from copy import deepcopy
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from textwrap import dedent, indent
from typing import Any

from constructions.interface import Model
from verify.site.prose import EMPHASIS, blocks, cited, escaped

PACKAGES = "theory", "constructions", "verify"
SPECIAL = re.compile(r"([\\*`|_])")
WORD = re.compile(r"[A-Za-z_][\w.]*")
MOST = 80  # the largest number of characters of a value that is shown
UP = "../"  # the path from an API page to the other pages
OPTIONS = {"members": True, "undoc-members": True, "member-order": "bysource"}  # of autodoc
INDEX = """# API

[What is stable](../stability.md) lists the names that do not change between versions.

{listed}

```{{toctree}}
:hidden:

{names}
```
"""


def pages(template: Path) -> dict[str, str]:
    """Returns the API pages by name; `template` is the folder of the template package."""
    exported = {
        room: [f"{room}.{name}" for name in import_module(room).__all__] for room in rooms()
    }
    known = {id(value(name)) for names in exported.values() for name in names}
    floor = [f"constructions.{name}" for name in import_module("constructions").__all__]
    exported["constructions"] = [name for name in floor if id(value(name)) not in known]
    known |= {id(value(name)) for name in exported["constructions"]}
    besides = [name for name in imported(template) if id(value(name)) not in known]
    about = {room: inspect.getdoc(import_module(room)) or "" for room in sorted(exported)}
    made = {
        f"{room}.rst": page(room, f".. py:module:: {room}\n\n{restructured(text)}", exported[room])
        for room, text in about.items()
    }
    about["template"] = f"Further names that packages such as `examples/{template.name}` import."
    made["template.rst"] = page("For other packages", restructured(about["template"]), besides)
    told = {name: escaped(text.split("\n\n")[0], UP) for name, text in about.items()}
    listed = "\n".join(f"- [{name}]({name}.rst): {text}" for name, text in told.items())
    made["index.md"] = INDEX.format(listed=listed, names="\n".join(about))
    return made


def rooms() -> Iterator[str]:
    """The names of the modules and packages, directly in the three packages, that have an
    `__all__`.

    The three packages are `theory`, `constructions` and `verify`.
    """
    for package in PACKAGES:
        for module in iter_modules(import_module(package).__path__, f"{package}."):
            if _assigned(module.name, "__all__"):
                yield module.name


def imported(folder: Path) -> list[str]:
    """The names, such as "theory.kinds.InputError", that modules in a folder import from this
    library.
    """
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in sorted(folder.rglob("*.py"))]
    return sorted(
        {
            f"{node.module}.{alias.name}"
            for tree in trees
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGES)
            for alias in node.names
        }
    )


def value(name: str) -> Any:
    """Returns the object with the name `name`, such as "theory.regression.newton"."""
    module, _, own = name.rpartition(".")
    return getattr(import_module(module), own)


def page(title: str, about: str, names: Sequence[str]) -> str:
    """Returns the page of a package: the description `about` and the documentation of `names`."""
    links = " · ".join(f":py:obj:`{name.rpartition('.')[2]} <{name}>`" for name in names)
    head = title.replace(".", ".\u200b")  # a narrow window may break the line here
    head += "\n" + "=" * len(head)
    return "\n\n".join([head, about, links, *map(_entry, names)]) + "\n"


def _entry(name: str) -> str:
    it = value(name)
    if inspect.isclass(it):
        kind = "exception" if issubclass(it, Exception) else "class"
        # members of torch are not shown
        inherited = "\n   :inherited-members: Module" * issubclass(it, Model)
        return f".. auto{kind}:: {name}{inherited}"
    if inspect.isroutine(it):
        return f".. autofunction:: {name}"
    module, _, own = name.rpartition(".")
    said, text = _origin(module, own)
    shown = f"\n   :value: {said}" if len(said) <= MOST else ""
    return f".. py:data:: {name}{shown}\n\n{indent(restructured(text), '   ')}"


@cache
def _tree(module: str) -> ast.Module:
    """The syntax tree of a module, without importing it."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return ast.Module([], [])
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))


def _assigned(module: str, name: str) -> tuple[str, str] | None:
    """The value that a module assigns to a name, and the docstring below."""
    body = _tree(module).body
    for node, after in zip(body, [*body[1:], ast.Pass()], strict=True):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(each, ast.Name) and each.id == name for each in targets):
            said = after.value if isinstance(after, ast.Expr) else None
            text = said.value if isinstance(said, ast.Constant) else ""
            return ast.unparse(node.value), inspect.cleandoc(str(text))
    return None


def _origin(module: str, name: str) -> tuple[str, str]:
    """`_assigned` in the module from which this module imports the name."""
    found = _assigned(module, name)
    if found is None:
        (found,) = (
            _origin(node.module or "", name)
            for node in _tree(module).body
            if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}
        )
    return found


def _definition(it: Any) -> Any:
    """The definition of a function or class, or None."""
    it = inspect.unwrap(getattr(it, "__func__", it))
    if not inspect.isfunction(it):
        return None
    found: Any = _tree(it.__module__)
    for part in it.__qualname__.split("."):
        inside = getattr(found, "body", [])
        named = [each for each in inside if getattr(each, "name", None) == part]
        found = named[-1] if named else None
    return found


def signature(app: Any, what: str, name: str, it: Any, *given: Any) -> tuple[str, str] | None:
    """Returns the signature of a function, method or class as the source contains it.

    If the result is None, Sphinx's autodoc writes the signature.
    """
    if what == "exception":
        return None
    if inspect.isclass(it):
        if issubclass(it, Enum):
            return "", ""
        defined = _definition(it.__init__) if "__init__" in vars(it) else None
        if defined is None:
            bare = [
                p.replace(annotation=p.empty) for p in inspect.signature(it).parameters.values()
            ]
            return str(inspect.Signature(bare)).replace("<factory>", "..."), ""
    else:
        defined = _definition(it)
    if defined is None:
        return None
    parameters = deepcopy(defined.args)
    if what != "function" and "staticmethod" not in map(ast.unparse, defined.decorator_list):
        del parameters.args[0]
    returns = "" if defined.returns is None or inspect.isclass(it) else ast.unparse(defined.returns)
    return f"({ast.unparse(parameters)})", returns


def docstring(app: Any, what: str, name: str, it: Any, options: Any, lines: list[str]) -> None:
    """Converts the lines of a docstring, in place, for Sphinx's autodoc."""
    text = "\n".join(lines)
    if text.startswith("Alias for field number"):
        text = ""
    own = inspect.signature(it).parameters if inspect.isfunction(it) else ()
    lines[:] = [*restructured(text, own).split("\n"), ""]


def restructured(text: str, own: Container[str] = ()) -> str:
    """Returns a docstring as reStructuredText.

    A name in backticks becomes a link if the page documents the name, unless the name is one of the
    function's own parameters, `own`.
    """
    return "\n\n".join(
        f".. code-block:: text\n\n{indent(dedent(block), '   ')}" if stands else _prose(block, own)
        for block, stands in blocks(text)
    )


def _prose(text: str, own: Container[str]) -> str:
    """A paragraph; the empty `\\ ` separates stressed words from the text beside them."""
    parts = re.split(r"`([^`]+)`", text)
    shown = "".join(_code(part, own) if i % 2 else _words(part) for i, part in enumerate(parts))
    return f"\\ {shown}" if shown else ""


def _code(text: str, own: Container[str]) -> str:
    if WORD.fullmatch(text) and text not in own:
        return f"\\ :py:obj:`{text}`\\ "
    return f"\\ ``{text}``\\ "


def _words(text: str) -> str:
    plain, *stressed = EMPHASIS.split(text)
    shown = [_plain(plain)]
    for stars, words, after in zip(*[iter(stressed)] * 3, strict=True):
        shown.append(f"\\ {stars}{_plain(words)}{stars}\\ {_plain(after)}")
    return "".join(shown)


def _plain(text: str) -> str:
    return cited(
        SPECIAL.sub(r"\\\1", text),
        lambda key: f"\\ `{key} <{UP}references.html#{key.lower()}>`__\\ ",
    )


def setup(app: Any) -> None:
    """The entry point of a Sphinx extension."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-process-docstring", docstring)
