"""Models as files: weights as safetensors, with a JSON sidecar that describes the model.

    save(model, "newton.safetensors")       # and newton.json
    load("newton.safetensors")(x, y, x_query)

The tensors have the names of `model.state_dict()`, so that any tool can read them, and are restored
bit by bit.  The sidecar describes the model in words by its call, source, registers and layers.  If
answers are an argmax of logits, it also states the requirements of exact arithmetic on a float
dtype.  It contains everything that is not a tensor, as `constructions.values` writes it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from constructions.consistency import check_finite, check_loaded
from constructions.exactness import exact_in
from constructions.interface import Model
from constructions.transformer import Transformer
from constructions.values import Reader, Writer
from theory.kinds import FilePath, InputError, checked
from theory.reading import content_of

VERSION = 4  # version of sidecars; in version 3 the digest did not include the description

MOST_WEIGHTS, MOST_DESCRIPTION = 2**40, 2**30  # the largest sizes of the files, in bytes


@checked
def save(model: Model, path: FilePath, statement: Mapping[str, Any] | None = None) -> Path:
    """Writes a model to two files: its weights, and a JSON file (the sidecar) that describes it.

    The weights are written to `path`, NAME.safetensors, and the sidecar to NAME.json in the same
    folder. Each file is written whole or not at all. `load` accepts only weights and a sidecar that
    were written together. `statement` describes a theorem about the model, and is stored in the
    sidecar as JSON. Returns the path of the sidecar.

    Raises ValueError for a path that has another suffix or cannot be written, and for an existing
    file NAME.json that is not a sidecar. Also raises ValueError for weights that are not finite,
    for a statement that JSON or UTF-8 cannot represent, and for a model with parts that cannot be
    stored by name, which are nested functions and classes of other packages.
    """
    path = target(path)
    check_finite(model)
    writer = Writer()
    written = writer.value(model, "")
    weights = save_tensors(writer.tensors)
    record = {
        "weightwright": VERSION,
        "name": model.name,
        "source": model.source,
        "statement": None,
        **_described(model),
        "format": str(model.like.dtype).removeprefix("torch."),
        "model": written,
    }
    sidecar = path.with_suffix(".json")
    try:
        # Keys become text, by which the digest sorts them when the file is read.
        record["statement"] = json.loads(json.dumps(dict(statement or {}), allow_nan=False))
        record["sha256"] = _digest(weights, record)
        text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        described = text.encode()
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the statement is not JSON ({error}): give a statement of JSON values"
        ) from None
    for file, content in (path, weights), (sidecar, described):
        part = file.with_name(f".{os.getpid()}.part")
        try:
            part.write_bytes(content)
            part.replace(file)
        except OSError as error:
            raise InputError(
                f"cannot write {file} ({error.strerror}): choose another path"
            ) from None
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
    return sidecar


def target(path: str | Path) -> Path:
    """The path at which `save` writes the weights.

    Raises ValueError if `save` cannot write there.
    """
    path = _weights(path)
    if not path.absolute().parent.is_dir():
        raise InputError(
            f"there is no folder {path.parent}: make this folder, or choose another path"
        )
    for file in path, path.with_suffix(".json"):
        if os.path.lexists(file) and not os.path.isfile(file):
            raise InputError(f"{file} exists and is not a regular file: choose another path")
    sidecar = path.with_suffix(".json")
    if os.path.isfile(sidecar) and not _is_sidecar(sidecar):
        raise InputError(
            f"the file {sidecar} exists and is not the sidecar of a model: choose another path"
        )
    return path


def _is_sidecar(path: Path) -> bool:
    """Whether a file is the sidecar of some model, of any version."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "weightwright" in found


def _digest(weights: bytes, record: Mapping[str, Any]) -> str:
    """The SHA-256 of the weights and of the sidecar without this digest, which detects changes."""
    signed = {key: value for key, value in record.items() if key != "sha256"}
    text = json.dumps(signed, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(weights + text.encode()).hexdigest()


@checked
def load(path: FilePath) -> Model:
    """The model that `save` wrote to `path`, in the dtype in which it was saved.

    `path` is NAME.safetensors, the file of the weights. NAME.json in the same folder is the
    sidecar, which describes the model.

    Raises ValueError if one of these two files is missing, if one of them was changed, or if they
    were not written together. Raises ValueError for a JSON file that is not a sidecar, and for a
    sidecar of another version. Also raises ValueError if the sidecar names classes or functions of
    other packages, if weights are not finite, or if their dtypes or shapes do not fit together.
    """
    path = _weights(path)
    sidecar = path.with_suffix(".json")
    for file in path, sidecar:
        if not os.path.lexists(file):
            raise InputError(
                f"there is no file {file}: give the path of a saved model that has both its "
                f"files, weights and sidecar{_near(path) if file == path else ''}"
            )
    weights, described = content_of(path, MOST_WEIGHTS), content_of(sidecar, MOST_DESCRIPTION)
    try:
        record = json.loads(described)
        version, digest, written = (record[key] for key in ("weightwright", "sha256", "model"))
        wanted = _digest(weights, record)
    except (ValueError, RecursionError, KeyError, TypeError):
        raise InputError(
            f"{sidecar.name} is not the sidecar of a saved model: save the model again, "
            "or load a trained model with constructions.trained.load"
        ) from None
    if version != VERSION:
        raise InputError(
            f"{sidecar.name} has version {version!r}, but this library reads version "
            f"{VERSION}: save the model again"
        )
    if digest != wanted:
        raise InputError(
            f"{sidecar.name} was changed, or was written for weights other than those in "
            f"{path.name}: restore both files"
        )
    try:
        model = Reader(load_tensors(weights)).value(written)
        if not isinstance(model, Model):
            raise InputError(
                "the sidecar (the .json file beside the weights) contains no model: restore it"
            )
        check_loaded(model)
    except (
        SafetensorError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        IndexError,
        RecursionError,
        ZeroDivisionError,
    ) as error:
        reason = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(
            f"{sidecar.name} does not describe a model ({reason}): restore the sidecar, "
            "or save the model again"
        ) from None
    return model


def _near(path: str | Path) -> str:
    """The end of a message: the most similar name in that folder or of a shipped model."""
    path, shipped = Path(path), Path(__file__).parent / "trained" / "checkpoints"
    with suppress(OSError, ValueError):
        names = [each.stem for each in path.parent.glob("*.safetensors")]
        if near := get_close_matches(path.stem, names, n=1):
            return f"; did you mean {path.with_name(near[0])}.safetensors?"
    if near := get_close_matches(path.stem, [each.stem for each in shipped.glob("*.json")], n=1):
        return f"; did you mean constructions.trained.load({near[0]!r})?"
    return ""


def _weights(path: str | Path) -> Path:
    if not isinstance(path, str | Path) or Path(path).suffix != ".safetensors" or "\0" in str(path):
        called = repr(str(path)[-80:])  # the end, which contains the name
        near = _near(path) if isinstance(path, str | Path) else ""
        raise InputError(
            f"the file of weights is called {called}: give the path of a file that ends "
            f"in .safetensors{near}"
        )
    return Path(path)


def _described(model: Model) -> dict[str, Any]:
    """The description of a model for readers of the sidecar; `load` does not need it."""
    if not isinstance(model, Transformer):
        return {}
    spans = {name: model.stream[name] for name in model.stream}
    exact = None if model.interface.margin is None else exact_in(model)
    return {
        "registers": {name: [span.start, span.stop] for name, span in spans.items()},
        "layers": str(model).splitlines(),
        "exact": None if exact is None else vars(exact),
    }
