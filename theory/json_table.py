"""Tables in JSON files: automata, machines, graphs, Boolean functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from theory.kinds import InputError, shown
from theory.kinds.errors import TOO_MANY_DIGITS
from theory.reading import content_of

MOST_BYTES, MOST_CHARACTERS = 10**7, 60  # limits: of a file, and of the name in it


def json_table(path: Path, known: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a JSON file; the first of the `known` fields is required.

    If the file contains a value that is not a JSON object, this value becomes the value of the
    first field. Raises ValueError for a file that cannot be read or is not JSON, for unknown or
    repeated fields, and if the first field is missing.
    """
    content = content_of(path, MOST_BYTES)
    try:
        given: Any = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        if TOO_MANY_DIGITS in str(error):
            raise InputError(
                f"{path} contains an integer of more digits than Python reads: give smaller numbers"
            ) from None
        where = " ".join(str(error).split())
        raise InputError(
            f"{path} is not JSON ({where}): write the {known[0]}, or an object with the field "
            f"{known[0]!r}, as JSON"
        ) from None
    if not isinstance(given, dict | list):
        raise InputError(
            f"{path} contains {shown(given)}: write the {known[0]}, or an object with the field "
            f"{known[0]!r}, as JSON"
        )
    fields = given if isinstance(given, dict) else {known[0]: given}
    unknown = sorted(fields.keys() - set(known))
    if unknown or known[0] not in fields:
        found = f"the unknown fields {', '.join(unknown)}" if unknown else f"no field {known[0]!r}"
        raise InputError(
            f"{path} has {found}: give a JSON object with the field {known[0]!r} and, "
            f"optionally, {' and '.join(map(repr, known[1:]))}"
        )
    name = fields.get("name", "")
    if not isinstance(name, str) or not f"{name} ".isprintable() or len(name) > MOST_CHARACTERS:
        raise InputError(
            f"the name in {path} is {shown(name)}: give a name of at most "
            f"{MOST_CHARACTERS} printable characters"
        )
    return fields


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of an object; raises ValueError for a field that occurs twice."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"the field {shown(name)} occurs twice")
        fields[name] = value
    return fields
