"""Searches for inputs at which a register or an answer differs from the layer invariants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from constructions.transformer import Transformer
from verify.domains import Rational, streams, unembedding
from verify.evidence.registers import registers_in_float64


def wrong_in_float64(model: Transformer, answers: np.ndarray, *inputs: np.ndarray) -> Iterator[str]:
    """Yields, in words, registers that differ from the layer invariants, and wrong answers.

    The inputs have shape (sets, …), and the right answers `answers` have shape (sets, m) for m
    answers to each set.
    """
    registers = registers_in_float64(model, *inputs)
    sides = [(str(stage), held, proved) for stage, held, proved in registers]
    sides.append(("the answer", model(*inputs).numpy()[..., None], answers[..., None]))
    for what, found, wanted in sides:
        for row, at in np.argwhere((found != wanted).any(-1)).tolist():
            first, *queries = (each[row].tolist() for each in inputs)
            place = f"query {queries[0][at]}" if queries else f"token {at}"
            wrong = f"{found[row, at]} instead of {wanted[row, at]}"
            yield f"{model.name}: {what} is {wrong}, {place} in {first}"


def wrong_over_q(model: Transformer, answers: np.ndarray, *inputs: np.ndarray) -> Iterator[str]:
    """Yields, over Q, registers that differ from the layer invariants, and wrong answers, in words.

    The inputs are one prompt, and the right answers `answers` have shape (m,) for m answers, or
    (m, d) for m answers in d dimensions.
    """
    domain, prompt = Rational(), model.prompt(*inputs)
    passed = [H.tolist()[prompt.answers] for H in streams(model, prompt, domain)]
    sides = []
    for stage in model.stages:
        held = domain.matrix([row[model.stream[stage.register]] for row in passed[stage.after]])
        times = domain.number(*stage.times.as_integer_ratio())
        sides.append((str(stage), times * held, stage.holds(*inputs)))
    sides.append(("the answer", unembedding(model, domain.matrix(passed[-1]), domain), answers))
    for what, found, wanted in sides:
        rows, given = found.tolist(), [each.tolist() for each in inputs]
        proved = domain.weights(wanted.reshape(len(rows), -1).astype(np.float64)).tolist()
        for at, (row, right) in enumerate(zip(rows, proved, strict=True)):
            if row != right:
                values = f"{[*map(str, row)]} instead of {[*map(str, right)]}"
                yield f"{model.name}: {what} is {values}, at {at} of {given}"
