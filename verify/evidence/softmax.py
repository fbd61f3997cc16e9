"""Softmax in place of hardmax: the sharpness needed, short dtypes, errors in balls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil, log2

import numpy as np
import torch
from flint import arb

from constructions.blocks import plural
from constructions.exactness import exact_in
from constructions.margins import Margin
from constructions.softmax import score_sizes
from constructions.transformer import Transformer
from theory.kinds import InputError
from verify.claim import Run
from verify.domains import Ball, Rational, outputs
from verify.evidence.enclosure import interval
from verify.evidence.formats import FORMATS, Format
from verify.evidence.sequences import exact_evidence, families_of
from verify.evidence.statement import OverTokens
from verify.finding import Finding, as_stated, at_least, at_most, each_at_most, labelled, same

LEAST_ERROR = 1e-9
LONGEST = 2**12  # the largest length of models in the search for the longest exact sequences


def softmax_options(
    statement: OverTokens, model: Transformer, error: float, sharpness: float | None
) -> None:
    """Raises InputError for an error, or a sharpness, at which answers could be wrong."""
    half = model.interface.margin / 2
    if not LEAST_ERROR <= error < half:
        raise InputError(
            f"error is {error:g}: give --error a number of at least {LEAST_ERROR:g} (above the "
            f"rounding of float64) and below {half:g} (half the margin between logits of "
            f"'{statement.label}')"
        )
    if sharpness is not None:
        model.sharpened(sharpness)


def softmax(
    run: Run,
    statement: OverTokens,
    V: int,
    n: int,
    error: float,
    sharpness: float | None,
    rows: Callable[[Run, int, int], np.ndarray] | None = None,
) -> Iterator[Finding]:
    """Yields the findings about the error of softmax attention in place of hardmax.

    The findings are about the sharpness that suffices for an error, the growth of this sharpness
    with the length n, and the error itself.

    `rows(run, V, count)` returns random prompts of a fixed form; without `rows`, prompts are
    sequences of up to n tokens of V symbols.
    """
    model = statement.at(V, n).model
    larger = (statement.at(V, 8 * n) if rows is None else statement.at(8 * V, n)).model
    if rows is None:
        length = min(n, 12)
        short, size = statement.at(V, length).model, f"{length} tokens"
        prompts = np.concatenate([r[:1] for r in families_of(run, V, length, 2).values()])
    else:
        short, size = statement.at(min(V, 6), n).model, f"size {min(V, 6)}"
        prompts = rows(run, min(V, 6), 6)
    found = (
        _in_float64(run, model, V, error, rows),
        _growth(model, larger, error),
        _scale(model, larger),
        enclosed(short, sharpness or short.least_sharpness(error), prompts, size),
    )
    yield from labelled(statement.label, found)


def enclosed(model: Transformer, beta: float, prompts: np.ndarray, size: str) -> Finding:
    """The finding that the error of softmax logits, enclosed by balls, is at most a bound."""
    return at_most(
        "softmax/enclosed",
        f"largest distance of softmax logits from hardmax logits at the inverse temperature "
        f"β = {beta:.4g} ({size}, {plural(len(prompts), 'prompt')})",
        "enclosure",
        enclosed_error(model, beta, prompts),
        model.softmax_error(beta).logits,
    )


def _in_float64(
    run: Run,
    model: Transformer,
    V: int,
    error: float,
    rows: Callable[[Run, int, int], np.ndarray] | None,
) -> Finding:
    """The finding that long prompts have at most this error at the sharpness that ensures it.

    Rounding of float64 is far below LEAST_ERROR.
    """
    n = model.interface.max_length
    beta = model.least_sharpness(error)
    bound = model.softmax_error(beta)
    prompts = list(families_of(run, V, n, 4).values()) if rows is None else [rows(run, V, 8)]
    soft = model.sharpened(beta)
    largest = max(float((soft.logits(r[:8]) - model.logits(r[:8])).abs().max()) for r in prompts)
    leaks = ", ".join(f"{max(layer):.1e}" for layer in bound.leaks)
    layers = f" in layers 1 to {len(bound.leaks)}" if len(bound.leaks) > 1 else ""
    finding = at_most(
        "softmax/float",
        "largest distance of softmax logits from hardmax logits at the inverse temperature "
        f"β = {beta:.4g}, which ensures a distance of at most {error:g} for prompts of {n} tokens "
        f"({sum(len(r[:8]) for r in prompts)} sequences)",
        "float",
        largest,
        bound.logits,
        words=f"answers are right for β ≥ {model.least_sharpness():.3g}; attention weights of "
        f"wrong tokens are at most {leaks}{layers}; the largest distance is {largest:.2g}",
        wanted=f"≤ {bound.logits:.2g}",
    )
    first = model.blocks[0].margins
    stated = [leak_of_first_layer(each, beta, model.interface.context - 1) for each in first]
    # Errors of 1/8 in the scores multiply weights at β = 2 by at most e^½.
    tied = Margin(1.0, ties=True).tie_imbalance(2.0, 0.125)
    return as_stated(finding, [*bound.leaks[0], tied], [*stated, np.sqrt(np.e) - 1])


def leak_of_first_layer(margin: Margin, beta: float, others: int) -> float:
    """The bound on the attention weight of wrong tokens in a layer whose scores have no error.

    Let x be a bound on the sum of the e^{−β·distance} of wrong tokens, for their distances from the
    largest score; their weight is at most x/(1 + x).  All `others` may have the distance of the
    gap.  If scores are graded, 4m tokens have the distance m·gap, for m = 1, 2, …
    """
    if margin.gap == np.inf:
        return 0.0
    with Ball.precision(192):
        q = (-arb(beta) * arb(margin.gap)).exp()
        x = others * q
        if margin.graded:
            x = x.min(4 * q / (1 - q) ** 2)
        return float(x / (1 + x))


def _growth(model: Transformer, larger: Transformer, error: float) -> Finding:
    """The finding about the growth of the sharpness with the length, from the last layer's leak.

    Let A be the logit error per leaked weight, and γ the gap.  If the scores are graded, γβ is at
    most ln(4A/ε) + ½ for all n.  If not, all other tokens may be one gap below the largest score,
    and γβ is at most ln(A·n/ε) + ½.
    """
    needed, limits, graded = dict[str, float](), dict[str, float](), True
    for sized in (model, larger):
        beta, n = sized.least_sharpness(error), sized.interface.max_length
        bound = sized.softmax_error(beta)
        graded = all(margin.graded for margin in sized.blocks[-1].margins)
        gaps = [m.gap for m in sized.blocks[-1].margins if m.gap < np.inf]
        leak = max(bound.leaks[-1])
        crowd = 4 if graded else sized.interface.context
        # If leaked weight changes no logit, every sharpness suffices.
        astray = crowd * bound.logits / leak if leak else 0.0
        limit = max(np.log(astray / error), 0.0) + 0.5 if astray else 0.5
        needed[f"n = {n}"], limits[f"n = {n}"] = beta, float(limit / min(gaps, default=1.0))
    return each_at_most(
        "softmax/growth",
        f"inverse temperature β that ensures a logit error of {error:g}, for two lengths n",
        "float",
        needed,
        limits,
        words="; ".join(f"β = {beta:.4g} for {n}" for n, beta in needed.items()),
        wanted=f"γβ ≤ ln({'4A' if graded else 'A·n'}/{error:g}) + ½, where γ is the score gap and "
        "A is the logit error per unit of attention weight on wrong tokens",
    )


def _scale(model: Transformer, larger: Transformer) -> Finding:
    """The finding about the sizes of scores, which grow with n although the sharpness does not.

    For heads with one right token among N, scores are at most c·max(r, 2)·(N + 1): Θ(n) gaps of c,
    which is Θ(log n) in all layers but the last (`sharpening`); r is the number of bits of a code.
    Scores of heads with ties are entries of a table that does not depend on n.
    """
    found, limits, words = dict[str, float](), dict[str, float](), list[str]()
    for sized in (model, larger):
        n, r = sized.interface.max_length, max(sized.stream.widths.get("code", 0), 2)
        reach = r * (sized.interface.context + 1)
        layers = zip(sized.blocks, score_sizes(sized), score_sizes(model), strict=True)
        for number, (block, sizes, before) in enumerate(layers, start=1):
            heads = zip(block.margins, sizes, before, strict=True)
            limit = max(m.gap * reach if m.graded else same for m, _, same in heads)
            found[f"n = {n}, layer {number}"] = max(sizes)
            limits[f"n = {n}, layer {number}"] = limit
        c, most = _largest_gap(sized), max(map(max, score_sizes(sized)))
        words.append(f"{most:g} for n = {n}, where the score gap c is {c:g}")
    return each_at_most(
        "softmax/scale",
        "largest absolute value of a score, for two lengths n",
        exact_evidence(larger),
        found,
        limits,
        words="; ".join(words),
        wanted="at most c·max(r, 2)·(N + 1) for N tokens with codes of r bits; equal at both "
        "lengths for heads whose right keys can tie",
    )


def enclosed_error(
    model: Transformer, sharpness: float, prompts: np.ndarray
) -> tuple[float, float]:
    """An interval for the largest distance of softmax logits from hardmax logits on prompts.

    Softmax logits are computed in balls, and hardmax logits over Q.  The precision suffices for
    errors down to the smallest number of float64, as every layer multiplies the radii of balls by
    about the sharpness.
    """
    soft, found = model.sharpened(sharpness), list[tuple[float, float]]()
    with Ball.precision(1200 + model.n_layers * max(0, ceil(log2(sharpness)))):
        for prompt in map(model.prompt, prompts):
            softmax, hardmax = (
                outputs(each, prompt, domain).tolist()
                for each, domain in ((soft, Ball()), (model, Rational()))
            )
            found += [
                interval(abs(ball - arb(number)))
                for balls, numbers in zip(softmax, hardmax, strict=True)
                for ball, number in zip(balls, numbers, strict=True)
            ]
    low, high = np.max(found, axis=0)  # NaN if an end is NaN
    return float(low), float(high)


def formats(run: Run, statement: OverTokens, V: int) -> Iterator[Finding]:
    """Yields the findings about the longest sequences without rounding of scores, by dtype."""
    yield from labelled(statement.label, _formats(run, statement, V))


def _formats(run: Run, statement: OverTokens, V: int) -> Iterator[Finding]:
    """The findings of `formats`.

    All numbers of a forward pass are integers, or halves of small integers, and at most
    c·max(r, 2)·(number of tokens + 1) (`_scale`), so they are exact in a dtype up to the stated
    length.  At the length found, `exact_in` derives this from the weights, for all prompts.
    """
    for kind, form in FORMATS.items():
        n = longest(lambda n: statement.at(V, n).model, form)
        model = statement.at(V, max(n, 1)).model
        yield at_least(
            f"format/{kind}",
            f"largest length n of sequences for which {kind} represents all numbers of the model "
            "exactly",
            "proved",
            n,
            stated_length(model, form),
            words=f"n = {n}" if n < LONGEST else f"n ≥ {LONGEST} (not searched further)",
            wanted=f"n ≥ {stated_length(model, form)}, the length stated for {form.significand} "
            "bits of significand",
        )
        if form.significand > 11 or n == 0:
            continue
        short, families = model.to(getattr(torch, kind)), families_of(run, V, n, 2)
        wrong = sum(
            int((short(rows[:2]).numpy() != statement.answers(rows[:2])).sum())
            for rows in families.values()
        )
        yield same(
            f"format/{kind}/answers",
            f"number of wrong answers in {kind} on sequences of this largest length n = {n}",
            wrong,
            0,
            words=f"{wrong}, in {len(families)} families of sequences",
        )


def stated_length(model: Transformer, form: Format) -> int:
    """The length up to which a float format is exact, by the formula of the statement.

    Let the format have a significand of p bits and the largest number L, and let the model have
    score gaps of at most c and codes of r bits. The length is ⌊min(2^p, L/c)/max(r, 2)⌋ − 1, and at
    most 2^(p−2) if heads average. The number of tokens in front of the sequence is subtracted.
    """
    most = min(2**form.significand, int(form.largest / Fraction(_largest_gap(model))))
    stated = most // max(model.stream.widths["code"], 2) - 1
    if any(margin.ties for block in model.blocks for margin in block.margins):
        stated = min(stated, 2 ** (form.significand - 2))
    return min(stated - len(model.interface.prefix), LONGEST)


def _largest_gap(model: Transformer) -> float:
    return max(margin.gap for block in model.blocks for margin in block.margins)


def longest(build: Callable[[int], Transformer], form: Format) -> int:
    """The largest length n, up to LONGEST, at which a hardmax model is exact in a float format.

    `build` returns the model for a length. The format is also exact at all smaller lengths.
    """

    def fits(n: int) -> bool:
        return exact_in(build(n)).fits(form.significand, form.largest, form.smallest)

    if fits(LONGEST):
        return LONGEST
    low, high = 0, 1
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
