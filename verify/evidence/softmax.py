"""Margins at work: softmax at a sharpness, short floats, and the real error enclosed by balls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from theory.checks import InputError
from verify.claim import Run
from verify.domains import Ball, outputs
from verify.finding import Finding, Verdict
from verify.retrieval.float_formats import FORMATS, Format
from verify.retrieval.task import Task, families_of, one_hot

if TYPE_CHECKING:
    from constructions.retrieval import SequenceModel

LEAST_ERROR = 1e-9
LONGEST = 2**12  # models are built up to this length to find the largest that is exact


def softmax_options(
    task: Task, model: SequenceModel, error: float, sharpness: float | None
) -> None:
    """Raise InputError for an error, or a sharpness, at which answers could be wrong."""
    half = model.answers.margin / 2
    if not LEAST_ERROR <= error < half:
        raise InputError(
            f"error is {error:g}: give a number from {LEAST_ERROR:g}, which float64 can show, to "
            f"below {half:g}, half the distance between the logits of '{task.label}', beyond which "
            "answers are lost"
        )
    if sharpness is not None:
        model.sharpened(sharpness)


def softmax(
    run: Run,
    task: Task,
    V: int,
    n: int,
    error: float,
    sharpness: float | None,
    rows: Callable[[Run, int, int], np.ndarray] | None = None,
) -> Iterator[Finding]:
    """The sharpness for an error, its dependence on n, and the real error under its bound.

    `rows(run, V, count)` draws prompts of a fixed form; without it, V and n are free.
    """
    model = task.build(V, n)
    yield _in_float64(run, task, model, V, error, rows)
    yield _growth(
        model, task.build(V, 8 * n) if rows is None else task.build(8 * V, n), task, error
    )
    if rows is None:
        length = min(n, 12)
        short, shown = task.build(V, length), f"{length} tokens"
        prompts = np.concatenate([r[:1] for r in families_of(run, V, length, 2).values()])
    else:
        short, shown = task.build(min(V, 6), n), f"size {min(V, 6)}"
        prompts = rows(run, min(V, 6), 6)
    beta = sharpness or short.least_sharpness(error)
    real = max(enclosed_error(short, beta, row) for row in prompts)
    wanted = short.softmax_error(beta).logits
    yield Finding(
        f"{task.label}: the real softmax error at β = {beta:.4g} ({shown}, {len(prompts)} prompts)",
        "enclosure",
        f"≤ {real:.3g}" + (f", {real / wanted:.0%} of its bound" if wanted else ""),
        f"{wanted:.3g}",
        Verdict.of(real <= wanted),
    )


def _in_float64(
    run: Run,
    task: Task,
    model: SequenceModel,
    V: int,
    error: float,
    rows: Callable[[Run, int, int], np.ndarray] | None,
) -> Finding:
    """At the sharpness that promises this error in every prompt, the errors of long prompts.

    Rounding, of the last of 53 bits, is far below LEAST_ERROR.
    """
    n = model.prompt.max_length
    beta = model.least_sharpness(error)
    bound = model.softmax_error(beta)
    prompts = list(families_of(run, V, n, 4).values()) if rows is None else [rows(run, V, 8)]
    soft = model.sharpened(beta)
    largest = max(float((soft.logits(r[:8]) - model.logits(r[:8])).abs().max()) for r in prompts)
    leaks = ", ".join(f"{max(layer):.1e}" for layer in bound.leaks)
    return Finding(
        f"{task.label}: softmax for logit errors of {error:g} in every prompt of {n} tokens takes "
        f"β = {beta:.4g}",
        "float",
        f"error {largest:.2g} on {sum(len(r[:8]) for r in prompts)} sequences (all answers right "
        f"from β = {model.least_sharpness():.3g}; weight leaked by layer ≤ {leaks})",
        f"{bound.logits:.3g}",
        Verdict.of(largest <= bound.logits),
    )


def _growth(model: SequenceModel, larger: SequenceModel, task: Task, error: float) -> Finding:
    """The sharpness needed as sequences become longer, from what the last layer leaks.

    With A the logit error per leaked weight and γ the gap: if the scores are graded, γβ is at most
    ln(4A/ε) + ½ whatever n; if not, all other tokens may lie one gap below: ln(A·n/ε) + ½.
    """
    shown, holds, graded = [], True, True
    for sized in (model, larger):
        beta = sized.least_sharpness(error)
        bound = sized.softmax_error(beta)
        graded = all(margin.graded for margin in sized.margins[-1])
        gap = min(margin.gap for margin in sized.margins[-1])
        leak = max(bound.leaks[-1])
        crowd = 4 if graded else sized.context
        per_leak = bound.logits / leak if leak else 0.0
        # Where nothing that leaks changes a logit, every sharpness will do.
        limit = np.log(crowd * per_leak / error) + 0.5 if per_leak else np.inf
        shown.append(f"n = {sized.prompt.max_length}: β = {beta:.4g}")
        holds = holds and bool(gap * beta <= limit)
    return Finding(
        f"{task.label}: sharpness as the length grows",
        "proved",
        "; ".join(shown),
        f"γβ ≤ ln({'4A' if graded else 'An'}/{error:g}) + ½",
        Verdict.of(holds),
    )


def enclosed_error(model: SequenceModel, sharpness: float, row: np.ndarray) -> float:
    """An upper bound, by balls, on the largest |softmax logit − hardmax logit| of a sequence."""
    hard = model.logits(row).tolist()
    with Ball.precision(192):
        domain = Ball()
        soft = outputs(
            model.sharpened(sharpness), one_hot(model, row, domain), model.prompt.n_examples, domain
        ).tolist()[len(model.prompt.prefix) :]
        differences = [
            abs(ball - domain.number(*exact.as_integer_ratio()))
            for balls, line in zip(soft, hard, strict=True)
            for ball, exact in zip(balls, line, strict=True)
        ]
        widest = max(float(d.rad()) for d in differences)
        if not widest < 1e-20:
            raise InputError(f"the balls are {widest:.1e} wide: take a smaller sharpness")
        return max(float(d.upper()) for d in differences) * (1 + 1e-15)


def formats(run: Run, task: Task, V: int) -> Iterator[Finding]:
    """The longest sequences for which no partial sum of the scores is rounded, by float format."""
    import torch

    for name, kept in FORMATS.items():
        n, bits = longest(lambda n: task.build(V, n), kept), kept.significand
        text = f"n = {n}" if n < LONGEST else f"n ≥ {LONGEST} (not searched further)"
        if bits > 11 or n == 0:
            yield Finding(
                f"{task.label}: {name}, longest sequences without any rounding",
                "proved",
                text,
                f"{bits} bits",
                Verdict.of(n > 0),
            )
            continue
        model = task.build(V, n).to(getattr(torch, name))
        families = families_of(run, V, n, 2)
        wrong = sum(
            int((model(rows[:2]).numpy() != task.answers(rows[:2])).sum())
            for rows in families.values()
        )
        yield Finding(
            f"{task.label}: {name}, longest sequences without any rounding",
            "proved",
            f"{text}; {wrong} wrong answers in {len(families)} families there",
            f"{bits} bits",
            Verdict.of(wrong == 0),
        )


def longest(build: Callable[[int], SequenceModel], kept: Format) -> int:
    """The largest n, up to LONGEST, at which the format is exact (it is at all shorter ones)."""
    from constructions.retrieval.margins import exact_in

    def fits(n: int) -> bool:
        needs = exact_in(build(n))
        return needs.bits <= kept.significand and needs.largest <= kept.largest

    if fits(LONGEST):
        return LONGEST
    low, high = 0, 1
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
