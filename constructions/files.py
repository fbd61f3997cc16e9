"""Models as files: weights as safetensors, and beside them a JSON sidecar that says what they are.

    save(model, "newton.safetensors")       # and newton.json
    load("newton.safetensors")(x, y, x_query)

The tensors bear the names of `model.state_dict()`, so that any tool reads them, and come back bit
by bit.  The sidecar says in words what the model is (its call, source, registers and layers, and
for answers that are the largest of several logits what a float format needs for exact ones), and
holds all that is no tensor, as `constructions.values` writes it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from constructions.exactness import exact_in
from constructions.interface import Model
from constructions.transformer import Transformer
from constructions.values import Reader, Writer
from theory.kinds import FilePath, InputError, checked

VERSION = 2  # of the sidecar's form


@checked
def save(model: Model, path: FilePath, statement: Mapping[str, Any] | None = None) -> Path:
    """Write a model's weights to `path`, `….safetensors`, and its sidecar beside it, `….json`.

    Whatever happens, each of them is a whole file or none, and `load` takes only those that belong
    together.  `statement` is what the sidecar is to say of the theorem besides, as JSON.  Returns
    the path of the sidecar.

    Raises ValueError for another suffix, a place where no file can be written, a `….json` that is
    no sidecar (a certificate, say), and a model with parts that have no name: functions in
    functions, classes of other packages.
    """
    path = target(path)
    writer = Writer()
    written = writer.value(model, "")
    weights = save_tensors(writer.tensors)
    record = {
        "weightwright": VERSION,
        "name": model.name,
        "source": model.source,
        "statement": dict(statement or {}),
        **_described(model),
        "format": str(model.like.dtype).removeprefix("torch."),
        "sha256": _digest(weights, written),
        "model": written,
    }
    sidecar = path.with_suffix(".json")
    try:
        text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise InputError(f"the statement is no JSON: {error}") from None
    for file, content in (path, weights), (sidecar, text.encode()):
        part = file.with_name(f".{os.getpid()}.part")
        try:
            part.write_bytes(content)
            part.replace(file)
        except OSError as error:
            raise InputError(f"cannot write {file}: {error.strerror}; name another") from None
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
    return sidecar


def target(path: str | Path) -> Path:
    """Where `save` writes the weights; ValueError for a place where it cannot, or should not."""
    path = _weights(path)
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder {path.parent}: make it, or name another")
    for file in path, path.with_suffix(".json"):
        if os.path.lexists(file) and not os.path.isfile(file):
            raise InputError(f"{file} is no file: name another")
    sidecar = path.with_suffix(".json")
    if os.path.isfile(sidecar) and not _is_sidecar(sidecar):
        raise InputError(f"{sidecar} is there and is no sidecar: name the model otherwise")
    return path


def _is_sidecar(path: Path) -> bool:
    """Whether a file is the sidecar of some model, of any version."""
    try:
        return "weightwright" in json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError, TypeError):
        return False


def _digest(weights: bytes, written: Any) -> str:
    """Of the weights and of what is no tensor, so that neither is changed unseen."""
    text = json.dumps(written, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(weights + text.encode()).hexdigest()


@checked
def load(path: FilePath) -> Model:
    """The model that `save` wrote to `path`, in the format in which it was saved.

    Raises ValueError for files that are not there, weights that are damaged or that the sidecar was
    not written for, a sidecar of another version or form, and objects that are not of this project.
    What a sidecar of the right form says besides, such as a sharpness, is taken at its word.
    """
    path = _weights(path)
    sidecar = path.with_suffix(".json")
    for file in path, sidecar:
        if not os.path.isfile(file):
            raise InputError(f"there is no file {file}: a model is two files, weights and sidecar")
    weights = path.read_bytes()
    try:
        record = json.loads(sidecar.read_bytes())
        version, digest, written = (record[key] for key in ("weightwright", "sha256", "model"))
    except (ValueError, RecursionError, KeyError, TypeError):
        raise InputError(
            f"{sidecar.name} is not the sidecar of a saved model: save the model again, or load "
            "a trained one by constructions.trained.load"
        ) from None
    if version != VERSION:
        raise InputError(f"{sidecar.name} has version {version!r}, not {VERSION}: save it again")
    if digest != _digest(weights, written):
        raise InputError(
            f"{sidecar.name} was changed, or written for other weights than {path.name}: "
            "restore both"
        )
    try:
        model = Reader(load_tensors(weights)).value(written)
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
            f"{sidecar.name} does not describe a model ({reason}): restore it"
        ) from None
    if not isinstance(model, Model):
        raise InputError(f"{sidecar.name} describes no model: restore it")
    return model


def _weights(path: str | Path) -> Path:
    if not isinstance(path, str | Path) or Path(path).suffix != ".safetensors" or "\0" in str(path):
        called = repr(str(path)[-80:])  # the end, where the name stands
        raise InputError(f"the weights' file is called {called}: call it ….safetensors")
    return Path(path)


def _described(model: Model) -> dict[str, Any]:
    """What a reader of the sidecar wants to know and `load` does not."""
    if not isinstance(model, Transformer):
        return {}
    spans = {name: model.stream[name] for name in model.stream}
    exact = None if model.interface.margin is None else exact_in(model)
    return {
        "registers": {name: [span.start, span.stop] for name, span in spans.items()},
        "layers": str(model).splitlines(),
        "exact": None if exact is None else vars(exact),
    }
