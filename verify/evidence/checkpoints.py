"""Which checkpoints a claim speaks of."""

from __future__ import annotations

from typing import TypeVar

from theory.checks import InputError

Model = TypeVar("Model")


def seeds_of(name: str) -> list[str]:
    """The shipped checkpoints of a name, one for each seed; a file `….safetensors` is itself.

    Raises ValueError if there is none.
    """
    from constructions.trained import shipped

    if name.endswith(".safetensors"):
        return [name]
    found = [other for other in shipped() if other == name or other.startswith(f"{name}-seed")]
    if not found:
        known = sorted({other.rsplit("-seed", 1)[0] for other in shipped()})
        raise InputError(f"no checkpoint {name}: shipped are {', '.join(known) or 'none'}")
    return found


def models_of(name: str, kind: type[Model]) -> dict[str, Model]:
    """The models of `seeds_of(name)` by their names; ValueError if one is not of the kind."""
    from constructions.trained import load

    found: dict[str, Model] = {}
    for each in seeds_of(name):
        model = load(each)
        if not isinstance(model, kind):
            raise InputError(
                f"{described(each)} is a {type(model).__name__}: this claim is about a "
                f"{kind.__name__}"
            )
        found[each] = model
    return found


def described(name: str) -> str:
    """A checkpoint in a few words: its file's name, or the name it is shipped under."""
    return name.rsplit("/", 1)[-1].removesuffix(".safetensors")
