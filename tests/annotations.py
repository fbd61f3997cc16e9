"""Annotations of the three packages are checked while the tests run, and claims count their work.

An import hook puts `checked` on every function of a module and every method of a class.  Functions
within functions are left to mypy: they would be decorated anew whenever the outer one is called.
The functions of modules with claims and their evidence also count what they do (see `work.py`).
"""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, TypeGuard, get_type_hints

import counting
from beartype import BeartypeConf, beartype

# An int is accepted for a float, as in PEP 484.
_typed = beartype(conf=BeartypeConf(is_pep484_tower=True))
MOST = 1000  # calls of a function that are checked
_checking = True
_for_types: dict[str, CodeType] = {}
"""The imports of each module that only type checkers make."""


def checked(function: Callable[..., Any], *modules: str) -> Callable[..., Any]:
    """A function whose arguments and result are held against its annotations, at its first `MOST`
    calls: small ones are called a million times, and a sixth of all time went into that."""
    modules = modules or (function.__module__,)  # whose names annotations mean
    typed: Callable[..., Any] | None = None
    left = MOST

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal typed, left
        if not _checking or not left:
            return function(*args, **kwargs)
        left -= 1
        if typed is None:
            try:
                names = {name: it for each in modules for name, it in _names(each).items()}
            except ImportError:  # called while modules that import each other are loaded
                return function(*args, **kwargs)
            function.__annotations__ = get_type_hints(function, names, include_extras=True)
            typed = _typed(function)
        return typed(*args, **kwargs)

    return call


def _names(module: str) -> dict[str, Any]:
    """A module's names, with those that it imports for type checkers only."""
    names = dict(vars(sys.modules[module]))
    exec(_for_types[module], names)
    return names


def checked_fields(cls: type) -> type:
    """A data class whose fields are held against their annotations when it is made."""
    if is_dataclass(cls) and "__init__" in vars(cls):
        ours = [base.__module__ for base in reversed(cls.__mro__) if base.__module__ in _for_types]
        cls.__init__ = checked(cls.__init__, *ours)  # type: ignore[method-assign]
    return cls


@contextmanager
def unchecked() -> Iterator[None]:
    """Nothing is held against annotations meanwhile."""
    global _checking
    _checking = False
    yield
    _checking = True


class Checked(SourceFileLoader):
    """Loads a module with `checked` on its functions, past the cache of compiled modules."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        if counting.is_counted(path):
            counting.count(tree)
        _decorate(tree.body)
        imports = [line for node in tree.body if _asks_for_types(node) for line in node.body]
        _for_types[fullname] = compile(ast.Module(imports, []), path, "exec", dont_inherit=True)
        return compile(tree, path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(
            __checked__=checked, __checked_fields__=checked_fields, **counting.NAMES
        )
        super().exec_module(module)


class Finder(MetaPathFinder):
    """Finds modules of some packages as the other finders do, and has them loaded by another."""

    def __init__(self, packages: Iterable[str], loader: type[SourceFileLoader] = Checked) -> None:
        self.packages, self.loader = set(packages), loader

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in self.packages:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (f.find_spec(fullname, path, target) for f in others)), None)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = self.loader(spec.loader.name, spec.loader.path)
        return spec


def _decorate(body: list[ast.stmt]) -> None:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list.append(_name("__checked__", node))
        elif isinstance(node, ast.ClassDef):
            # Beneath `checked` of theory.kinds, which reads what it is given first.
            made = [ast.unparse(each).startswith("dataclass") for each in node.decorator_list]
            place = made.index(True) if True in made else 0
            node.decorator_list.insert(place, _name("__checked_fields__", node))
            _decorate(node.body)


def _name(name: str, where: ast.stmt) -> ast.Name:
    """A name in the line of a statement."""
    return ast.copy_location(ast.Name(name, ast.Load()), where)


def _asks_for_types(node: ast.stmt) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def check_annotations(*packages: str) -> None:
    """From now on, for modules of these packages that are not imported yet."""
    sys.meta_path.insert(0, Finder(packages))
