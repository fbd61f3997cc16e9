"""Searches for a lookup at which a model is not its algorithm: in float64, over Q, and in cells
that are not looked at."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from constructions.transformer import Transformer
from verify.domains import Rational, read_out, streams


def looked_at(model: Transformer, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """What the registers of all lookups hold by the layer invariants, (…, m, M)."""
    return np.concatenate([stage.holds(points, queries) for stage in model.stages], axis=-1)


def wrong_lookups(model: Transformer, answers: np.ndarray, *inputs: np.ndarray) -> Iterator[str]:
    """Registers beside the layer invariants, and then the answers (sets, m), for inputs
    (sets, …)."""
    passed, rows = list(model.streams(*inputs)), model.prompt(*inputs).answers
    held = {
        stage: passed[stage.after][:, rows, model.stream[stage.register]] for stage in model.stages
    }
    sides = [(str(stage), H.numpy(), stage.holds(*inputs)) for stage, H in held.items()]
    sides.append(("the answer", model(*inputs).numpy()[..., None], answers[..., None]))
    for what, found, wanted in sides:
        for row, at in np.argwhere((found != wanted).any(-1)).tolist():
            points, *queries = (each[row].tolist() for each in inputs)
            asked = f"query {queries[0][at]}" if queries else f"token {at}"
            wrong = f"{found[row, at]} instead of {wanted[row, at]}"
            yield f"{model.name}: {what} is {wrong}, {asked} in {points}"


def wrong_over_q(model: Transformer, answers: np.ndarray, *inputs: np.ndarray) -> Iterator[str]:
    """The same of one set in rational arithmetic: inputs (…) and answers (m,)."""
    prompt = model.prompt(*inputs)
    passed = [H.tolist()[prompt.answers] for H in streams(model, prompt, Rational())]
    sides = [("the answer", read_out(model, Rational().matrix(passed[-1]), Rational()), answers)]
    for stage in model.stages:
        held = [row[model.stream[stage.register]] for row in passed[stage.after]]
        sides.append((str(stage), Rational().matrix(held), stage.holds(*inputs)[..., 0]))
    for what, found, wanted in sides:
        if [float(value) for (value,) in found.tolist()] != wanted.tolist():
            yield f"{model.name} over Q: {what} for {[each.tolist() for each in inputs]}"


def noticed(
    model: Transformer, points: np.ndarray, moved: np.ndarray, queries: np.ndarray
) -> Iterator[str]:
    """Queries (sets, 1, …) that hold other numbers, after whatever layer, when points are moved."""
    pairs = zip(model.streams(points, queries), model.streams(moved, queries), strict=True)
    for before, after in pairs:
        differs = (before[:, -1] != after[:, -1]).any(-1).numpy()
        yield from (f"{model.name}: query {each.tolist()}" for each in queries[differs])
