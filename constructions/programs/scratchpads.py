"""Tasks of the Chomsky hierarchy whose answers are decoded after a working [Deletang2023]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from constructions.call import construction
from constructions.interface import Model
from constructions.programs.compiler import compiled
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, Positive, checked, shown
from theory.programs.chomsky import TASKS
from theory.programs.chomsky.decoded import SCRATCHPADS


@construction
def chomsky_scratchpad(
    name: str, max_length: Count, *, sharpness: Positive | None = None
) -> Transformer:
    """The transformer that decodes the answers of a task after its working.

    `name` is "binary multiplication", "compute sqrt" or "modular arithmetic, brackets and
    products", and inputs have at most `max_length` tokens. The model is the compiled causal program
    of `SCRATCHPADS[name]` in `theory.programs.chomsky.decoded`, which also states its idea, its
    tokens and the number of steps; its number of layers does not grow with the length.

    `model.generate(prompt, steps)` returns the decoded tokens, and `decoded_answers` the answers. A
    `sharpness` gives softmax attention at this inverse temperature.

    Raises ValueError for another name, and for a sharpness at which tokens could be wrong, with the
    smallest sufficient one.
    """
    if name not in SCRATCHPADS:
        raise InputError(f"name is {shown(name)}: give one of {', '.join(map(repr, SCRATCHPADS))}")
    pad = SCRATCHPADS[name]
    longest = max_length + pad.most(max_length)  # with "=", and without the last decoded token
    vocabulary = pad.vocabulary(TASKS[name])
    model = compiled(pad.program(), vocabulary, longest, causal=True, sharpness=sharpness)
    first = pad.prompt(TASKS[name], TASKS[name].draw(max_length, np.random.default_rng(0)))
    model.interface.sample = tuple(model.interface.indices(first).tolist())
    return model


@checked
def decoded_answers(model: Model, inputs: Sequence[Sequence[int]]) -> list[list[int]]:
    """The answers that a model of `chomsky_scratchpad` decodes for several inputs of one length.

    Raises ValueError for another model, for inputs of different lengths, and for inputs that are
    too long.
    """
    if model.call is None or model.construction != "chomsky_scratchpad":
        raise InputError(f"model is {model.name}: give a model of chomsky_scratchpad")
    name = model.call.value("name")
    task, pad = TASKS[name], SCRATCHPADS[name]
    prompts = model.interface.indices([pad.prompt(task, x) for x in inputs])
    steps = [pad.steps(x) for x in inputs]
    decoded = model.generate(prompts.to(model.like.device), max(steps))
    rows = zip(inputs, steps, model.interface.decoded(decoded), strict=True)
    return [pad.answer(x, row[:count]) for x, count, row in rows]
