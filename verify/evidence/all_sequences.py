"""The evidence that a model computes a function of tokens: all sequences up to a length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from typing import NamedTuple

import numpy as np
import torch

from constructions.blocks import normed, plural
from constructions.exactness import exact_in
from constructions.prefixes import PrefixOutputs, answers_at_every_prefix
from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.waiting import Pace, announced
from verify.evidence.function_of_tokens import Answers, all_of_length, slots_at
from verify.evidence.registers import register_differences
from verify.evidence.sequences import (
    answers_equal,
    differences_over_q,
    distances,
    exact_evidence,
    in_parts,
)
from verify.evidence.statement import OverTokens
from verify.finding import Evidence, Finding, Verdict, at_least, no_counterexample

MOST_OVER_Q = 128  # sequences on which a model is run in rational arithmetic
MOST_REGISTERS = 2**12  # sequences on which registers are compared


class Measured(NamedTuple):
    """The smallest positive distance of a score from the largest, and whether largest ones tie.

    `crowded` states whether for some m ≥ 1 more than 4m tokens have scores that are at least m and
    less than m + 1 declared gaps below the largest.
    """

    gap: float
    ties: bool
    crowded: bool


def on_all_sequences(model: Transformer, answers: Answers, lengths: range) -> Iterator[Finding]:
    """Yields the findings that a model has the function's answers to all sequences.

    Further findings are about rational arithmetic, the margin between logits, the gaps between
    scores, softmax in place of hardmax, and the layer invariants, as far as the model has them. One
    line on standard error announces a run of more than a minute.
    """
    of = model.interface
    rows = [part for length in lengths for part in all_of_length(of, length)]
    # The answers of a causal model to a sequence include those to its prefixes.
    whole = [part for part in rows if part.shape[1] == lengths[-1]] if model.is_causal else rows
    span = f"{lengths[0]} to {lengths[-1]}" if len(lengths) > 1 else f"{lengths[0]}"
    tokens = "token" if span == "1" else "tokens"
    where = f"every sequence of {span} {tokens} of {plural(of.vocabulary_size, 'symbol')}"
    statement = OverTokens("", lambda V, n: model, answers, symbols=of.vocabulary_size)
    has_margin = of.margin is not None and not of.frequencies and model.unembed.W_U.shape[-1] > 1
    has_gaps = any(block.margins for block in model.blocks)
    passes = 1 + (has_margin + has_gaps if _is_rational(model) else 0)
    total = sum(map(len, whole)) + passes * sum(map(len, rows))
    pace = Pace(f"certify, {sum(map(len, rows))} sequences", total)

    def paced(parts: list[np.ndarray]) -> Iterator[np.ndarray]:
        for part in parts:
            yield part
            pace.done(len(part))

    heads = measured_gaps(model, paced(whole))
    evidence = _evidence(model, heads)
    shared, name = all_outputs(model, lengths[-1]), f"answers to {where}"
    found = answers_equal("answers", name, statement, _with(model, paced(rows)), shared=shared)
    found.evidence = evidence
    yield found
    if found.verdict is not Verdict.HOLDS:
        return  # its detail names the first register that differs
    if not _is_rational(model):
        return
    some, rounds = _some(whole, MOST_OVER_Q), evidence == "float"
    compared = announced(some, "certify, rational arithmetic")
    dtype = str(model.like.dtype).removeprefix("torch.")
    equal = "" if rounds else f", and logits equal the {dtype} logits"
    yield no_counterexample(
        "rational",
        f"answers{'' if rounds else ' and logits'} in rational arithmetic on {_scope(some, whole)}",
        differences_over_q(statement, model, compared, rounds),
        words=f"answers are right{equal} on {len(some)} sequences",
    )
    if has_margin:
        yield _margin(statement, model, paced(rows), evidence, shared)
    if has_gaps:
        yield _gaps(model, heads, evidence)
        yield from _softmax(statement, model, paced(rows), where, lengths[-1])
    if model.stages:
        some = _some(whole)
        lengths_of = groupby(some, key=len)
        yield no_counterexample(
            "registers",
            f"registers compared with the layer invariants on {_scope(some, whole)}",
            chain.from_iterable(
                register_differences(statement, model, np.array([*same])) for _, same in lengths_of
            ),
            evidence=evidence,
            words=f"equal on {len(some)} sequences",
        )


def _is_rational(model: Transformer) -> bool:
    """Whether outputs are rational numbers: there is neither softmax nor a normalisation."""
    norms = [model.ln_final, *(n for b in model.blocks for n in (b.norm, b.ln1, b.ln2))]
    soft = any(attn.normalise == "softmax" for attn in model.attentions)
    return not soft and all(norm is None for norm in norms)


def _with(
    model: Transformer, rows: Iterable[np.ndarray]
) -> Iterator[tuple[Transformer, np.ndarray]]:
    return ((model, part) for part in rows)


def _some(rows: list[np.ndarray], most: int = MOST_REGISTERS) -> list[np.ndarray]:
    """All sequences, or at most `most` of them, evenly spaced."""
    each = list(chain.from_iterable(rows))
    return [each[i] for i in np.unique(np.linspace(0, len(each) - 1, most).round().astype(int))]


def _scope(some: list[np.ndarray], rows: list[np.ndarray]) -> str:
    total = sum(map(len, rows))
    return "all of them" if len(some) == total else f"{len(some)} of these {total} sequences"


def _evidence(model: Transformer, heads: dict[tuple[int, int], Measured]) -> Evidence:
    """The kind of evidence of a run in the dtype of the model.

    Averages and declared bounds are not exact, and neither is a dtype that rounds a partial sum.
    """
    averages = any(measured.ties for measured in heads.values())
    try:
        if averages or model.at_most or not exact_in(model).fits_in(model.like.dtype):
            return "float"
        return exact_evidence(model)
    except InputError:  # of a layer for which exactness is not defined
        return "float"


def measured_gaps(
    model: Transformer, rows: Iterable[np.ndarray]
) -> dict[tuple[int, int], Measured]:
    """The gaps between scores of each hardmax head on sequences, by layer and head from 1."""
    found = dict[tuple[int, int], Measured]()
    for batch in rows:
        prompt = model.prompt(batch)
        for layer, (block, H) in enumerate(
            zip(model.blocks, model.residual_stream(prompt), strict=False), 1
        ):
            if block.attn is None or block.attn.normalise != "hardmax":
                continue
            for part in block.attn.parts():
                these = [h for h, mask in enumerate(block.attn.masks, 1) if mask == part.mask]
                Q, K = part.queries_keys(normed(H, block.ln1), prompt.n_examples)
                scores = Q @ K.transpose(-1, -2)
                scores.masked_fill_(part.hidden(scores), -torch.inf)
                below = scores.amax(-1, keepdim=True) - scores  # (…, heads, T, keys)
                for h, apart in zip(these, below.unbind(-3), strict=True):
                    lower = apart[(apart > 0) & apart.isfinite()]
                    before = found.get((layer, h), Measured(np.inf, False, False))
                    declared = block.margins[h - 1].gap if block.margins else np.inf
                    found[layer, h] = Measured(
                        min(before.gap, float(lower.min()) if len(lower) else np.inf),
                        before.ties or bool(((apart == 0).sum(-1) > 1).any()),
                        before.crowded or _crowded(apart / declared),
                    )
    return found


def _crowded(gaps: torch.Tensor) -> bool:
    """Whether for some m ≥ 1 more than 4m of the distances (…, keys) are from m to below m + 1."""
    whole, keys = gaps.floor(), gaps.shape[-1]
    return any(bool(((whole == m).sum(-1) > 4 * m).any()) for m in range(1, keys // 4 + 1))


def all_outputs(model: Transformer, length: int) -> PrefixOutputs | None:
    """The outputs of a causal model on all sequences, or None if prefixes have no outputs."""
    if not answers_at_every_prefix(model):
        return None
    return PrefixOutputs(model, slots_at(model.interface, length))


def _margin(
    statement: OverTokens,
    model: Transformer,
    rows: Iterable[np.ndarray],
    evidence: Evidence,
    shared: PrefixOutputs | None,
) -> Finding:
    """The finding that logits differ by the margin that the model declares."""
    parts = chain.from_iterable(in_parts(model, each, shared) for each in rows)
    least = min(chain.from_iterable(distances(statement, model, *part) for part in parts))
    return at_least(
        "margin",
        "smallest difference between the right logit and any other, and the declared margin",
        evidence,
        float(least),
        float(model.interface.margin),
    )


def _gaps(
    model: Transformer, heads: dict[tuple[int, int], Measured], evidence: Evidence
) -> Finding:
    """The finding that scores have the gaps that the model declares."""
    measured, declared, wrong = dict[str, float](), dict[str, float](), dict[str, str]()
    for layer, block in enumerate(model.blocks, 1):
        for h, margin in enumerate(block.margins, 1):
            if (layer, h) in heads:
                name, found = f"layer {layer}, head {h}", heads[layer, h]
                measured[name], declared[name] = found.gap, margin.gap
                if found.gap < margin.gap:
                    wrong[name] = (
                        f"has the gap {found.gap:g}, less than the declared {margin.gap:g}"
                    )
                elif found.ties and not margin.ties:
                    wrong[name] = "attends to several tokens: declare Margin(…, ties=True)"
                elif found.crowded and margin.graded:
                    wrong[name] = "has scores that are not graded: declare Margin(…, graded=False)"
    return Finding(
        "gaps",
        "smallest gap below the largest score, ties and graded scores as declared",
        evidence,
        measured,
        declared,
        Verdict.of(not wrong) if measured else Verdict.UNDECIDED,
        "; ".join(f"{gap:g} in {name}" for name, gap in measured.items()),
        "; ".join(f"≥ {gap:g}" for gap in declared.values()),
        detail="; ".join(f"{name} {what}" for name, what in wrong.items()),
    )


def _softmax(
    statement: OverTokens,
    model: Transformer,
    rows: Iterable[np.ndarray],
    where: str,
    length: int,
) -> Iterator[Finding]:
    """The finding that softmax has the same answers at the sharpness that the gaps imply, if any.

    There is none for a model without a declared margin or gap, or without a bound on the error.
    """
    try:
        beta = model.least_sharpness()
        soft = model.sharpened(beta)
    except InputError:
        return
    yield answers_equal(
        "softmax",
        f"answers with softmax at the inverse temperature β = {beta:.4g}, which follows from the "
        f"gaps, to {where}",
        statement,
        _with(soft, rows),
        shared=all_outputs(soft, length),
    )
