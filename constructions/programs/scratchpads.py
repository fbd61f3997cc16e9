"""Tasks of the Chomsky hierarchy whose answers are decoded after a working [Deletang2023]."""

from __future__ import annotations

from typing import Any

import numpy as np

from constructions.call import construction
from constructions.interface import Model
from constructions.programs.compiler import compiled
from constructions.programs.interface import ProgramTokens
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, Integers, Positive, Within, checked, shown
from theory.programs.chomsky import TASKS
from theory.programs.chomsky.decoded import SCRATCHPADS
from theory.programs.chomsky.scratchpads import EQUALS


@construction
def chomsky_scratchpad(
    name: str, max_length: Count, *, sharpness: Positive | None = None
) -> Transformer:
    """The transformer that decodes the answers of a task after its working.

    `name` is "binary multiplication", "compute sqrt" or "modular arithmetic, brackets and
    products", and inputs have at most `max_length` tokens. The model is the compiled causal program
    of `SCRATCHPADS[name]` in `theory.programs.chomsky.decoded`, which also states its idea, its
    tokens and the number of steps; its number of layers does not grow with the length.

    `decoded_answers(model, inputs)` returns the answers to inputs, which are lists of tokens 0, 1,
    …, and `model.generate(prompt, steps)` the decoded tokens; a prompt consists of the texts of an
    input's tokens and "=": `model.generate("1001=", 9)`. A
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
    words = model.interface
    none = (None,) * words.bottom
    model.interface = Working(
        vocabulary, (*words.values, *none), longest, words.margin, words.averages
    )
    model.interface.texts = TASKS[name].tokens
    first = pad.prompt(TASKS[name], TASKS[name].draw(max_length, np.random.default_rng(0)))
    model.interface.sample = tuple(model.interface.indices(first).tolist())
    return model


class Working(ProgramTokens):
    """The interface of models that decode an answer after its working.

    A sequence of tokens begins with `texts` of an input's tokens, and "=".
    """

    texts: tuple[str, ...] = ()

    def _longer(self, n_tokens: int) -> str:
        return "build the model with a larger max_length"

    def _row(self, sequence: Any) -> list[int]:
        numbers = super()._row(sequence)
        given = [*sequence]
        if EQUALS not in given or not {*given[: given.index(EQUALS)]} <= {*self.texts}:
            raise InputError(
                f"the sequence is {shown(sequence)}: give tokens of {shown([*self.texts])} and "
                "'=' after them, or call decoded_answers"
            )
        return numbers


@checked
def decoded_answers(model: Model, inputs: Any) -> list[list[int]]:
    """The answers that a model of `chomsky_scratchpad` decodes for several inputs of one length.

    Inputs are lists of tokens 0, 1, … of the task, which the task draws; other inputs have some
    answer.

    Raises ValueError for another model, for tokens that the task does not have, for inputs of
    different lengths, and for inputs that are too long.
    """
    if model.call is None or model.construction != "chomsky_scratchpad":
        raise InputError(f"model is {model.name}: give a model of chomsky_scratchpad")
    name, most = model.call.value("name"), model.call.value("max_length")
    task, pad = TASKS[name], SCRATCHPADS[name]
    tokens = Integers("inputs n", Within(least=0, below=len(task.tokens)))
    given: list[list[int]] = tokens.read("inputs", inputs).tolist()
    if (n := len(given[0])) > most:
        raise InputError(
            f"inputs have {n} tokens, but the model takes at most {most}: build the model with "
            f"max_length={n}"
        )
    prompts = model.interface.indices([pad.prompt(task, x) for x in given])
    steps = [pad.steps(x) for x in given]
    decoded = model.generate(prompts.to(model.like.device), max(steps))
    rows = zip(given, steps, model.interface.decoded(decoded), strict=True)
    return [pad.answer(x, row[:count]) for x, count, row in rows]
