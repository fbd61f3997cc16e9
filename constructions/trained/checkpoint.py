"""Checkpoints: weights as safetensors with a JSON sidecar that describes them.

A sidecar contains the configuration, the number of steps, the loss, the command, the environment
and the hash of the weights.  Files are written under a temporary name and then renamed, so that a
file is complete or absent even after a crash.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from constructions.interface import Model
from constructions.trained.configuration import Configuration, untrained
from theory.kinds import InputError, checked
from theory.reading import content_of

SHIPPED = Path(__file__).parent / "checkpoints"
MOST_BYTES = 10**9  # the largest size of a file of a checkpoint
LINES = 100  # the largest number of lines of a shipped log
KINDS = {"sha256": str, "configuration": object, "steps": int, "loss": int | float, "bytes": int}
"""What every sidecar contains, and its kinds; the configuration is checked where it is read."""
FORMATS = torch.float32, torch.float16  # of training, and of most shipped checkpoints


def shipped() -> list[str]:
    """The names of the trained models that the package contains."""
    return sorted(path.stem for path in SHIPPED.glob("*.safetensors"))


def run_of(name: str) -> str:
    """The name of the final checkpoint of the run to which a checkpoint or snapshot belongs."""
    return re.sub(r"-step\d+$", "", name)


@checked
def load(name: str | Path) -> Model:
    """Returns a trained model: the model of the package with a given name, or that of a file.

    `name` is the name of a model of the package or the path of a file NAME.safetensors. The weights
    are float32, on the CPU, and do not require gradients. The models of the package are stored in
    float16, to which their weights were rounded.

    The JSON file NAME.json in the same folder (the sidecar) contains the configuration of the model
    and the hash of the weights. Raises ValueError if one of these files is missing, if the weights
    do not have this hash or do not fit the configuration, if weights are not finite, or if the
    configuration has another version.
    """
    record, weights = _read(name)
    configuration = _configuration(name, record)
    try:
        model = untrained(configuration)
        tensors = load_tensors(weights)
        model.load_state_dict(tensors)
    except (SafetensorError, RuntimeError) as error:
        reason = " ".join(" ".join(str(error).splitlines()[:2]).split())
        raise InputError(
            f"{path_of(name).name} contains weights that do not fit its configuration "
            f"({reason}): restore both files"
        ) from None
    for weight, tensor in tensors.items():
        if tensor.dtype not in FORMATS:  # load_state_dict converts any dtype
            dtype = str(tensor.dtype).removeprefix("torch.")
            raise InputError(
                f"{path_of(name).name} contains {weight} in {dtype}: convert the weights to "
                "float32 or float16 and write the file again"
            )
    if not all(bool(torch.isfinite(W).all()) for W in model.parameters()):
        raise InputError(
            f"{path_of(name).name} contains NaN or infinite weights: train the model again"
        )
    model.requires_grad_(False)
    return model


@checked
def configuration_of(name: str | Path) -> Configuration:
    """Returns the configuration of a trained model: task, shape and hyperparameters.

    `name` is the name of a model of the package or the path of a file NAME.safetensors. Raises
    ValueError if the files of the model are missing or damaged, or if the configuration has another
    version.
    """
    return _configuration(name, sidecar(name))


def _configuration(name: str | Path, record: Mapping[str, Any]) -> Configuration:
    try:
        return Configuration.from_json(record["configuration"])
    except InputError as error:
        raise InputError(f"{path_of(name).with_suffix('.json').name}: {error}") from None


@checked
def sidecar(name: str | Path) -> dict[str, Any]:
    """Returns the contents of the JSON file (the sidecar) that describes a trained model.

    `name` is the name of a model of the package or the path of a file NAME.safetensors. Raises
    ValueError if one of the model's files is missing or damaged.
    """
    return _read(name)[0]


@checked
def log_of(name: str | Path) -> list[dict[str, Any]]:
    """Returns the training log of a trained model, one record for each interval of steps.

    `name` is the name of a model of the package or the path of a file NAME.safetensors. The log is
    [] if there is none. Raises ValueError for a model that does not exist and for a damaged log.
    """
    path = path_of(name).with_suffix(".jsonl")
    if not path.exists():
        return []
    lines = content_of(path, MOST_BYTES).splitlines()
    try:
        records = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        records = [None]
    if not all(isinstance(record, dict) and {"step", "loss"} <= {*record} for record in records):
        raise InputError(f"{path.name} is not a training log: restore or remove this file")
    return records


def names_a_file(name: str | Path) -> bool:
    """Whether the name of a checkpoint is the path of a file, not the name of a shipped one."""
    return str(name).endswith(".safetensors") or len(Path(name).parts) > 1


def path_of(name: str | Path) -> Path:
    """The path of a checkpoint's weights; raises ValueError if the file does not exist."""
    a_file = names_a_file(name)
    path = Path(name) if a_file else SHIPPED / f"{name}.safetensors"
    if os.path.isfile(path):  # path.is_file() raises OSError for a name that is too long
        return path
    if a_file:
        raise InputError(
            f"there is no regular file {name}: give the path of the weights of a run, "
            "model.safetensors"
        )
    seeds = [other for other in shipped() if other.startswith(f"{name}-seed")]
    raise unknown(str(name), seeds or shipped())


def unknown(name: str, known: Sequence[str]) -> InputError:
    """Returns the error for a name of no checkpoint, with the most similar `known` names."""
    near = sorted(get_close_matches(name, known, n=5))
    hint = f"did you mean {', '.join(near)}?"
    shows_all = "`python -m constructions.trained list` shows all names"
    return InputError(f"there is no checkpoint {name!r}: {hint if near else shows_all}")


def is_whole(path: Path) -> bool:
    """Whether the file of weights and a sidecar that matches these weights exist."""
    with suppress(InputError):
        return bool(_read(path))
    return False


def ship(name: str | Path) -> Path:
    """Adds the trained model `runs/NAME/model….safetensors` to the package; returns its new path.

    Weights are rounded to float16, with a relative error of at most 2^−11 or, for numbers below
    2^−14, an absolute error of at most 2^−25. A snapshot after STEP steps is called NAME-stepSTEP.
    At most 100 evenly spaced lines of the log are shipped, unless a claim reads the whole log.

    Raises ValueError if `load` does, for a model of the package, and for weights larger than 65504,
    the largest number of float16.
    """
    path = path_of(name)
    if path.resolve().parent == SHIPPED.resolve():
        raise InputError(f"{path.stem} is shipped already: give the weights of a run")
    model, record = load(name), sidecar(name)
    largest = max(float(W.abs().max()) for W in model.parameters())
    if largest > torch.finfo(torch.float16).max:
        raise InputError(
            f"{path.name} contains a weight of {largest:.3g}, and the largest number of "
            "float16 is 65504: train the model with weight decay"
        )
    step = path.stem.removeprefix("model")
    shipped_as = SHIPPED / f"{path.absolute().parent.name}{step}.safetensors"
    save(model, shipped_as, record, torch.float16)
    log = path.with_suffix(".jsonl")
    if log.is_file():
        lines = log.read_bytes().splitlines(keepends=True)
        if not configuration_of(name).task.whole_log:
            lines = thinned(lines)
        write(shipped_as.with_suffix(".jsonl"), b"".join(lines))
    return shipped_as


def thinned(lines: list[bytes]) -> list[bytes]:
    """Returns at most 100 evenly spaced lines, among them the first and the last one."""
    last, most = len(lines) - 1, LINES - 1
    return lines if last <= most else [lines[i * last // most] for i in range(LINES)]


def save(
    model: Model, path: Path, record: Mapping[str, Any], precision: torch.dtype = torch.float32
) -> None:
    """Writes the weights to `path`, and `record` and the hash of the weights to its sidecar."""
    tensors = {name: W.cpu().to(precision) for name, W in model.state_dict().items()}
    weights = save_tensors({name: W.contiguous() for name, W in tensors.items()})
    described = {**record, "sha256": hashlib.sha256(weights).hexdigest(), "bytes": len(weights)}
    write(path, weights)
    text = json.dumps(described, indent=2, ensure_ascii=False) + "\n"
    # A lone surrogate, as of a file's name in the command, is written as its escape in JSON.
    write(path.with_suffix(".json"), text.encode(errors="backslashreplace"))


def write(path: Path, content: bytes) -> None:
    """Writes a file atomically: even if the machine stops, the file is complete or absent."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _read(name: str | Path) -> tuple[dict[str, Any], bytes]:
    path = path_of(name)
    beside = path.with_suffix(".json")
    if path == beside:
        raise InputError(
            f"{path.name} is the sidecar of the weights: give {path.stem}.safetensors instead"
        )
    if not beside.is_file():
        raise InputError(f"{path.name} has no sidecar {beside.name}: restore the sidecar")
    try:
        record = json.loads(content_of(beside, MOST_BYTES))
        if not all(_is_a(kind, record[key]) for key, kind in KINDS.items()):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            f"{beside.name} is not the sidecar of a checkpoint: restore the sidecar, or give the "
            "weights of a trained model"
        ) from None
    weights = content_of(path, MOST_BYTES)
    if hashlib.sha256(weights).hexdigest() != record["sha256"]:
        raise InputError(
            f"{path.name} does not have the hash in {beside.name}: restore both files, "
            "since one of them was changed or is incomplete"
        )
    return record, weights


def _is_a(kind: Any, value: Any) -> bool:
    """Whether a JSON value has this kind; true and false are no numbers."""
    return isinstance(value, kind) and not isinstance(value, bool)
