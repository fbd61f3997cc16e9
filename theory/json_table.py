"""Tables in JSON files: automata, machines, graphs, Boolean functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from theory.kinds import InputError, shown
from theory.reading import content_of

MOST_BYTES, MOST_CHARACTERS = 10**7, 60  # limits: of a file, and of the name in it


def json_table(path: Path, known: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a JSON file; the first of the `known` fields is required.

    If the value in the file is not an object, it is the value of that first field. Raises
    ValueError for a file that cannot be read or is not JSON, and for unknown fields.
    """
    content = content_of(path, MOST_BYTES)
    try:
        given: Any = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        where = " ".join(str(error).split())
        raise InputError(f"{path} is not JSON ({where}): give {known[0]}") from None
    fields = given if isinstance(given, dict) else {known[0]: given}
    unknown = sorted(fields.keys() - set(known))
    if unknown or known[0] not in fields:
        raise InputError(
            f"{path} has {', '.join(unknown) or f'no {known[0]}'}: give {known[0]!r}, and "
            f"{' and '.join(map(repr, known[1:]))} if wanted"
        )
    name = fields.get("name", "")
    if not isinstance(name, str) or not f"{name} ".isprintable() or len(name) > MOST_CHARACTERS:
        raise InputError(
            f"the name in {path} is {shown(name)}: give at most {MOST_CHARACTERS} printable "
            "characters"
        )
    return fields
