"""The claim `chomsky`: the fifteen tasks of the Chomsky hierarchy, by transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated

import numpy as np

from constructions.programs import chomsky_scratchpad, chomsky_task
from constructions.programs.scratchpads import decoded_answers
from constructions.transformer import Transformer
from theory.kinds import InputError, shown
from theory.programs.chomsky import TASKS
from theory.programs.chomsky.decoded import SCRATCHPADS
from theory.programs.chomsky.enumeration import all_inputs
from theory.programs.chomsky.solutions import SOLUTIONS
from verify.claim import Run, claim, option
from verify.evidence.sequences import exact_evidence
from verify.evidence.size import size
from verify.finding import Finding, at_most, labelled, no_counterexample

MOST = 1500  # inputs of each length
LONGEST = 6  # the length up to which inputs are enumerated
NAMES = tuple({**SOLUTIONS, **SCRATCHPADS})
STATED = {
    "reverse string": "chomsky-constant-depth",
    "binary multiplication": "chomsky-scratchpads",
}
LAYERS = {
    "even pairs": 1,
    "modular arithmetic": 6,
    "parity check": 1,
    "cycle navigation": 2,
    "modular arithmetic, brackets": 8,
    "reverse string": 2,
    "solve equation": 9,
    "stack manipulation": 7,
    "binary addition": 9,
    "duplicate string": 3,
    "missing duplicate": 4,
    "odds first": 3,
    "bucket sort": 3,
    "binary multiplication": 4,
    "compute sqrt": 5,
    "modular arithmetic, brackets and products": 7,
}
Inputs = Sequence[Sequence[int]]
Answers = Callable[[Transformer, Inputs], list[list[int]]]


@claim(faults_seen=[{"task": "cycle navigation", "max_length": 5}])
def chomsky(
    run: Run,
    *,
    task: Annotated[
        str | None, option("a task, such as 'parity check'; by default all of them", metavar="NAME")
    ] = None,
    max_length: Annotated[
        int, option("number of tokens of the longest inputs", min=4, max=500)
    ] = 12,
    samples: Annotated[
        int | None,
        option(
            "number of random inputs of each length, by default 20, or 5 if quick",
            min=1,
            max=10**5,
        ),
    ] = None,
) -> Iterator[Finding]:
    """For thirteen tasks of the Chomsky hierarchy, a transformer whose number of layers is bounded
    for all lengths outputs the answer at once; for binary multiplication, square roots and
    bracketed arithmetic with products, one decodes it after a working.

    The transformers are compiled from programs in RASP. The tasks and their random inputs follow
    the published generators. Answers are compared with the tasks' definitions on all short inputs
    and on random ones, also of four times the length.
    """
    if task is not None and task not in NAMES:
        raise InputError(f"task is {shown(task)}: give one of {', '.join(map(repr, NAMES))}")
    count = samples or (5 if run.quick else 20)
    for name in NAMES if task is None else (task,):
        yield from labelled(name, _solved(run, name, max_length, count))


def _solved(run: Run, name: str, n: int, samples: int) -> Iterator[Finding]:
    """The findings on one task."""
    decodes = name in SCRATCHPADS
    build = chomsky_scratchpad if decodes else chomsky_task
    answers: Answers = decoded_answers if decodes else _at_once
    n = min(n, 8) if decodes else n
    model = run.build(build, name, n)
    most = (100 if run.quick else MOST) // (5 if decodes else 1)
    short: list[Inputs] = [
        inputs
        for length in range(1, min(n, 4 if decodes else LONGEST) + 1)
        if (inputs := list(islice(all_inputs(name, length), most + 1))) and len(inputs) <= most
    ]
    what = f"all inputs of {len(short)} lengths up to {max(map(len, short[-1]))}"
    yield _right("all-short", what, name, model, answers, short)
    drawn: list[Inputs] = [
        _drawn(run, name, length, samples) for length in sorted({n // 2, n - 1, n})
    ]
    yield _right("random", f"random inputs of up to {n} tokens", name, model, answers, drawn)
    if not decodes:
        soft = model.sharpened(1.001 * model.least_sharpness())
        what = f"these inputs with softmax attention, β = {soft.attentions[0].scale:.4g}"
        yield _right("softmax", what, name, soft, answers, [*short, *drawn])
    longer = build(name, 2 * n if decodes else 4 * n)
    lengths = f"{model.interface.max_length} and {longer.interface.max_length}"
    yield at_most(
        "depth",
        f"number of layers for at most {lengths} tokens, and the number in the theorem",
        "exact",
        max(model.n_layers, longer.n_layers),
        stated_layers(name),
        words=f"{model.n_layers} and {longer.n_layers}",
    )
    if name in STATED and n > 3:
        yield size(model, STATED[name], n=n)
    far = [_drawn(run, name, 2 * n if decodes else 4 * n, 2 if run.quick else 5)]
    yield _right("longer", "random inputs of the larger length", name, longer, answers, far)


def stated_layers(name: str) -> int:
    """The number of layers in the theorem, the largest one of models for several lengths."""
    return LAYERS[name]


def _at_once(model: Transformer, inputs: Inputs) -> list[list[int]]:
    found: list[list[int]] = model([*inputs])
    return found


def _drawn(run: Run, name: str, length: int, count: int) -> Inputs:
    """Random inputs of one length, that of the first one drawn."""
    first = TASKS[name].draw(length, run.rng)
    drawn = [first, *(TASKS[name].draw(length, run.rng) for _ in range(count - 1))]
    return [x for x in drawn if len(x) == len(first)]


def _right(
    id: str,
    what: str,
    name: str,
    model: Transformer,
    answers: Answers,
    batches: Iterable[Inputs],
) -> Finding:
    """Compares the model's answers with the definition, on inputs of several lengths."""
    batches = list(batches)

    def wrong() -> Iterator[str]:
        for inputs in batches:
            for x, found in zip(inputs, answers(model, inputs), strict=True):
                if list(np.ravel(found)) != (wanted := _by_definition(name, x)):
                    yield f"{TASKS[name].shown(x)}: {found}, by definition {wanted}"

    if not any(batches):
        raise InputError(f"the task {name} has no such inputs: give a larger max_length")
    return no_counterexample(
        id,
        f"answers on {what}",
        wrong(),
        evidence=exact_evidence(model),
        words=f"right on {sum(map(len, batches))} inputs",
    )


def _by_definition(name: str, x: Sequence[int]) -> list[int]:
    return TASKS[name].answer(x)
