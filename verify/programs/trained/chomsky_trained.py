"""The claim `chomsky-trained`: trained transformers on three tasks of the Chomsky hierarchy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from constructions.trained import configuration_of, shipped, untrained
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import models_of, seeds_of
from verify.evidence.statistics import BY, above, below, estimated
from verify.finding import Finding, at_least, labelled
from verify.programs.trained.generalisation import Accuracies, Inputs

KIND, PREFIX = "a softmax transformer trained on chomsky", "chomsky-"

# The thresholds, and which task is learnt at which lengths, were stated before any of these models
# was trained.
RIGHT = 0.99  # the smallest accuracy at trained lengths that counts as learnt
SOLVED = 0.9  # the smallest accuracy at longer lengths that counts as solved
GENERALISES = "bucket sort"  # the task that is solved at longer lengths
QUICK = 200


@claim(picture="verify.programs.trained.chomsky_trained_picture:draw")
def chomsky_trained(
    run: Run,
    *,
    checkpoint: Annotated[
        str | None,
        option(
            "a model trained on chomsky: a shipped name or a file; by default all shipped models"
        ),
    ] = None,
    inputs: Annotated[
        int,
        option("number of fresh inputs up to the trained length, and beyond", min=80, max=10**5),
    ] = 2000,
) -> Iterator[Finding]:
    """Published observation [Deletang2023]: transformers that are trained on tasks of the Chomsky
    hierarchy are right at the trained lengths but, for most tasks, not at longer ones, even for
    tasks that transformers of constant depth solve exactly.

    Three tasks are tested, one of each class: cycle navigation (regular), reverse string
    (deterministic context-free) and bucket sort (context-sensitive). Models are trained on inputs
    of at most T = 10 tokens and tested on fresh inputs of each length up to 5T. The accuracy is the
    fraction of symbols of an output that are right, averaged over inputs, with the same weight for
    each length. Every seed has separate findings. All thresholds were stated before training.

    built     the hand-built model is right on all of these inputs.
    right     the accuracy at lengths 1, …, T is at least 99 %.
    learnt    the accuracy at lengths 1, …, T (`within`), and that at lengths T + 1, …, 5T
              (`beyond`), exceeds those of two null models: the best constant output of each length,
              and the model before training.
    longer    for bucket sort, the accuracy at lengths T + 1, …, 5T is at least 90 %; for the other
              tasks it is below 90 %.
    order     at lengths T + 1, …, 5T, every model of bucket sort has a larger accuracy than every
              model of the other tasks.
    """
    names = [name for name in shipped() if name.startswith(PREFIX)]
    names = names if checkpoint is None else seeds_of(checkpoint)
    drawn, found = dict[str, Inputs](), dict[str, Accuracies]()
    for name in names:
        made = configuration_of(name)
        if run.quick and checkpoint is None and made.seed:
            continue
        [(label, model, task)] = models_of(name, KIND)
        if task.problem not in drawn:
            T, count = task.length, run.limited(QUICK, inputs=inputs)
            within, beyond = (-(-count // lengths) for lengths in (T, task.longest - T))
            drawn[task.problem] = Inputs(task, within, beyond, run.seed)
            yield from labelled(task.problem, built(drawn[task.problem]))
        null = untrained(made).requires_grad_(False)
        found[label] = Accuracies.measured(drawn[task.problem], model, null)
        yield from labelled(label, findings_of(found[label]))
    yield from order(found)
    run.draw(found)


def built(inputs: Inputs) -> Iterator[Finding]:
    """The finding that the hand-built model is right on all inputs."""
    worst = min(float(each.min()) for each in inputs.of_built)
    yield at_least(
        "built",
        "smallest accuracy of the hand-built model on an input",
        "exact",
        worst,
        1.0,
        words=f"{worst:.0%} on {sum(map(len, inputs.of_built))} inputs of 1 to "
        f"{inputs.lengths[-1]} tokens",
    )


def findings_of(model: Accuracies) -> Iterator[Finding]:
    """The findings on one trained model."""
    T, longest = model.inputs.task.length, model.inputs.task.longest
    where = {"within": f"lengths 1 to {T}", "beyond": f"lengths {T + 1} to {longest}"}
    accuracy = {each: estimated(model.at(each, model.of_model)) for each in where}
    yield above(
        "right",
        f"accuracy at {where['within']}",
        accuracy["within"],
        RIGHT,
        words=f"{accuracy['within']:.2%}",
        wanted=f"at least {RIGHT:.0%}, {BY}",
    )
    for each, lengths in where.items():
        nulls = {
            "the best constant output": model.at(each, model.of_constant),
            "the model before training": model.at(each, model.of_untrained),
        }
        larger = max(nulls.values(), key=lambda null: float(null.mean()))
        more = estimated(model.at(each, model.of_model) - larger)
        yield above(
            f"learnt/{each}",
            f"(accuracy at {lengths}) − (accuracy of the best constant output of each length, or "
            "of the model before training, whichever is larger)",
            more,
            words=f"{more:.2%}; for comparison, accuracy of "
            + ", of ".join(f"{name} {float(null.mean()):.1%}" for name, null in nulls.items()),
            wanted=f"above 0, {BY}",
        )
    solves = model.inputs.task.problem == GENERALISES
    yield (above if solves else below)(
        "longer",
        f"accuracy at {where['beyond']}",
        accuracy["beyond"],
        SOLVED,
        words=f"{accuracy['beyond']:.2%}; at length {longest} "
        f"{float(model.of_model[-1].mean()):.1%}",
        wanted=f"{'at least' if solves else 'below'} {SOLVED:.0%}, {BY}",
    )


def order(models: dict[str, Accuracies]) -> Iterator[Finding]:
    """The finding that bucket sort generalises best, if several tasks are measured."""
    sorts, others = (
        [
            float(each.at("beyond", each.of_model).mean())
            for each in models.values()
            if (each.inputs.task.problem == GENERALISES) is wanted
        ]
        for wanted in (True, False)
    )
    if sorts and others:
        yield at_least(
            "order",
            f"smallest accuracy of a model of {GENERALISES} at longer inputs, compared with the "
            "largest one of a model of another task",
            "trained",
            min(sorts),
            max(others),
            words=f"{min(sorts):.1%}",
            wanted=f"at least {max(others):.1%}",
        )
