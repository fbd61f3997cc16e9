"""A construction on sequences of tokens compared with its definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain

import numpy as np
from torch import Tensor

from constructions.exactness import exact_in
from constructions.prefixes import PrefixOutputs, answers_at_every_prefix, slots_of
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, checked, shown
from theory.sequences import adversarial_sequences, all_sequences, random_sequences
from verify.claim import Run
from verify.domains import Rational, outputs
from verify.evidence.registers import register_differences
from verify.evidence.size import size
from verify.evidence.statement import OverTokens
from verify.finding import Evidence, Finding, Verdict, equal, labelled, no_counterexample

SCORES = 5_000_000  # the number of scores of a layer's heads that are in memory at one time
FLOAT64_BITS = 53
MOST_SHORT = 2**22  # sequences of one length that are all run
LONGER, MOST_LONGER = 8, 320  # longer sequences: 8 times as many tokens, up to 320


@checked
def computes(
    run: Run,
    statement: OverTokens,
    V: Count,
    n: Count,
    samples: Count,
    more: str = "",
    symbols: Count = 4,
    longest: Count = 6,
) -> Iterator[Finding]:
    """Yields the findings that a construction has the stated size and the right answers.

    `more` describes the size. All other parameters are those of `agreement`.
    """
    model, parameters = statement.at(V, n).model, {"V": V, "n": n, **statement.parameters}
    found = size(model, statement.theorem, more, **parameters)
    yield from labelled(statement.label, [found])
    yield from agreement(run, statement, V, n, samples, symbols, longest)


@checked
def agreement(
    run: Run,
    statement: OverTokens,
    V: Count,
    n: Count,
    samples: Count,
    symbols: Count = 4,
    longest: Count = 6,
) -> Iterator[Finding]:
    """Yields the findings that answers are as defined and that registers are as proved.

    Answers and registers are compared on all sequences of at most `longest` tokens over at most
    `symbols` symbols, on random and adversarial sequences of n tokens over V symbols in float64,
    and on some sequences over Q. Quick runs use few sequences.

    Raises ValueError if the statement builds no model, or a model with softmax heads or without a
    margin, if it defines answers of another shape, and for a stage without values of its register.
    """
    sizes = run.limited(3, symbols=symbols), run.limited(4, longest=longest)
    yield from labelled(statement.label, _agreement(run, statement, V, n, samples, sizes))


def _agreement(
    run: Run, statement: OverTokens, V: int, n: int, samples: int, short: tuple[int, int]
) -> Iterator[Finding]:
    most, longest = short
    model = statement.at(V, n).model
    if any(attn.normalise == "softmax" for attn in model.attentions):
        raise InputError(
            f"{statement.label} has softmax heads, whose answers are not rational: build its model "
            "with hardmax heads"
        )
    least, most = (1, most) if statement.symbols is None else (statement.symbols,) * 2
    while longest > 1 and most**longest > MOST_SHORT:  # an automaton may have many symbols
        longest -= 1
    few = range(least, most + 1)
    yield answers_equal(
        "all-short",
        f"every sequence of at most {longest} tokens over at most {most} symbols",
        statement,
        _all_short(statement, few, longest),
    )
    families = families_of(run, V, n, run.limited(8, samples=samples))
    batches = [(model, rows) for rows in families.values()] + list(longer(run, statement, V, n))
    lengths = " and ".join(f"{length}" for length in sorted({rows.shape[1] for _, rows in batches}))
    yield answers_equal(
        "long",
        f"random and adversarial sequences of {lengths} tokens over {V} symbols",
        statement,
        run.progress(batches, statement.label),
        f" of {len(families)} families",
    )
    if model.unembed.W_U.shape[-1] > 1:  # one logit has no margin to others
        yield margin_kept(statement, _for_margins(statement, few, longest, model, families))
    length = min(n, 32 if run.quick else 128)
    model = statement.at(V, length).model
    rows = np.concatenate([r[:1] for r in families_of(run, V, length, 2).values()])[:6]
    yield equal_over_q(statement, model, rows, f"({length} tokens, {V} symbols)")
    rows = np.concatenate([r[:4] for r in families_of(run, V, length, 4).values()])
    yield registers_hold(statement, model, rows, f"({length} tokens)")


def longer(
    run: Run, statement: OverTokens, V: int, n: int
) -> Iterator[tuple[Transformer, np.ndarray]]:
    """Yields a model for 8n tokens, at most 320, with one sequence of each family of this length.

    A model for n tokens has only the positions, layers and constants of this length.  There is no
    longer model for n ≥ 320.
    """
    if n >= MOST_LONGER or not run.extends:
        return
    length = min(LONGER * n, MOST_LONGER)
    rows = np.concatenate([rows[:1] for rows in families_of(run, V, length, 1).values()])
    yield statement.at(V, length).model, rows


def _all_short(
    statement: OverTokens, symbols: range, longest: int
) -> Iterator[tuple[Transformer, np.ndarray]]:
    """All sequences of at most `longest` tokens for each number of symbols, with their models.

    Without BOS in front, the answers of a model could depend on the length, so all lengths are run.
    """
    for v in symbols:
        model, sequences = statement.at(v, longest).model, all_sequences(longest, v)
        for T in range(1, longest + 1):
            yield model, sequences[:: v ** (longest - T), :T]


def _for_margins(
    statement: OverTokens,
    symbols: range,
    longest: int,
    model: Transformer,
    families: dict[str, np.ndarray],
) -> Iterator[tuple[Transformer, np.ndarray]]:
    """All sequences of these sizes and some long sequences, with their models."""
    for v in symbols:
        yield statement.at(v, longest).model, all_sequences(longest, v)
    yield from ((model, rows[:8]) for rows in families.values())


def margin_kept(
    statement: OverTokens, batches: Iterable[tuple[Transformer, np.ndarray]]
) -> Finding:
    """The finding that the right logit exceeds all other logits by at least the model's margin.

    Each batch is a pair (model, sequences). If logits are the frequencies of symbols in T tokens,
    two logits must be equal or differ by at least 2·margin = 1/T, and several logits may be the
    largest.
    """
    least, declared = dict[str, Fraction](), dict[str, Fraction]()
    evidence, holds = list[Evidence](), list[bool]()
    for model, rows in batches:
        if model.interface.margin is None:
            raise InputError(
                f"{model.name} declares no margin of its logits: build its interface with a "
                "margin, as in Tokens(8, 128, margin=2.0)"
            )
        size = f"V = {model.interface.vocabulary_size}, n = {model.interface.max_length}"
        each = (distances(statement, model, *part) for part in in_parts(model, rows))
        for apart in chain.from_iterable(each):
            least[size] = min(apart, least.get(size, apart))
            declared[size] = Fraction(model.interface.margin)
            if model.interface.frequencies:
                twice = 2 * declared[size]
                declared[size] = twice.limit_denominator(model.interface.context)
        evidence.append(exact_evidence(model))
    ties = model.interface.frequencies
    for size, apart in least.items():
        holds.append(apart >= declared[size] if ties else apart == declared[size])
    return Finding(
        "margin",
        "smallest difference between the logit of the right answer and any other logit, for V "
        "symbols and at most n tokens",
        "float" if "float" in evidence else "exact",
        {size: float(apart) for size, apart in least.items()},
        {size: float(margin) for size, margin in declared.items()},
        Verdict.of(all(holds)) if holds else Verdict.UNDECIDED,
        "; ".join(f"{float(apart):.4g} for {size}" for size, apart in least.items())
        or "no two logits differ",
        "at least 1/T for two different frequencies in T tokens"
        if ties
        else "equal to the margin declared by the model",
    )


def distances(
    statement: OverTokens, model: Transformer, rows: np.ndarray, outputs: Tensor
) -> list[Fraction]:
    """The smallest difference between the logit of the right answer and another, without ties.

    `outputs` are the logits of the model on the sequences `rows`.
    """
    logits, right = outputs.double().numpy(), statement.answers(rows)[..., None]
    if logits.shape[-1] == 1:  # there is no other logit
        return []
    right = np.where(right < 0, model.interface.n_answers, right)
    apart = np.take_along_axis(logits, right, axis=-1) - logits
    np.put_along_axis(apart, right, np.inf, axis=-1)
    if not model.interface.frequencies:
        return [Fraction(float(apart.min()))]
    # Fractions with the same denominator, at most T, are different in float64 too.
    most = model.interface.context
    apart = apart[np.isfinite(apart) & (abs(apart) > 0.5 / most)]
    return [Fraction(float(apart.min())).limit_denominator(most)] if apart.size else []


def in_parts(
    model: Transformer, rows: np.ndarray, shared: PrefixOutputs | None = None
) -> Iterator[tuple[np.ndarray, Tensor]]:
    """Yields the rows in parts, with the model's logits.

    For each part, `SCORES` scores at most are in memory, or those of one row.  If the rows are all
    sequences of a length, each prefix is computed once, or looked up in `shared`.
    """
    tokens = rows.shape[1] + len(model.interface.prefix)
    size = max(1, SCORES // (tokens**2 * max(1, model.n_heads)))
    if shared is None and len(rows) > 1 and answers_at_every_prefix(model):
        slots = slots_of(rows)
        shared = None if slots is None else PrefixOutputs(model, slots)
    for part in (rows[start : start + size] for start in range(0, len(rows), size)):
        yield part, model.logits(part) if shared is None else shared(part)


def answers_equal(
    id: str,
    name: str,
    statement: OverTokens,
    batches: Iterable[tuple[Transformer, np.ndarray]],
    more: str = "",
    shared: PrefixOutputs | None = None,
) -> Finding:
    """The finding that all answers on batches of sequences are as the definition requires.

    Each batch is a pair (model, sequences), with the largest model last. `more` describes the
    sequences. `shared` contains the outputs of the model, if known.
    """
    tried = list[tuple[Transformer, int]]()

    def search() -> Iterator[str]:
        for model, rows in batches:
            tried.append((model, len(rows)))
            yield from differences(statement, model, rows, shared)

    wrong, (models, counts) = next(search(), None), zip(*tried, strict=True)
    words = f"all answers of the model are right on {sum(counts)} sequences{more}"
    return equal(id, name, wrong, evidence=exact_evidence(models[-1]), words=words)


def equal_over_q(
    statement: OverTokens, model: Transformer, rows: np.ndarray, where: str
) -> Finding:
    """The finding that rational logits give the right answers and equal the float64 logits."""
    return no_counterexample(
        "rational",
        f"answers and logits of the model in rational arithmetic {where}",
        differences_over_q(statement, model, rows),
        words=f"answers are right, and logits equal the float64 logits on {len(rows)} sequences",
    )


def registers_hold(
    statement: OverTokens, model: Transformer, rows: np.ndarray, where: str
) -> Finding:
    """The finding that registers equal the layer invariants on sequences `rows` (…, T).

    `where` describes the sequences. The finding is undecided if the model has no layer invariants.
    """
    if not model.stages:
        name = f"registers compared with their layer invariants {where}"
        words = "the construction has no layer invariants"
        verdict = Verdict.UNDECIDED
        return Finding("registers", name, exact_evidence(model), 0, 1, verdict, words, "as proved")
    return no_counterexample(
        "registers",
        f"registers compared with their layer invariants {where}",
        register_differences(statement, model, rows),
        evidence=exact_evidence(model),
        words="equal for " + _registers(model),
    )


def _registers(model: Transformer) -> str:
    """The registers with layer invariants, in words: "the registers a (after layers 1, 2), …"."""
    after = dict[str, list[str]]()
    for stage in model.stages:
        after.setdefault(stage.register, []).append(str(stage.after))
    listed = (
        f"`{name}` (after layer{'s' * (len(layers) > 1)} {', '.join(layers)})"
        for name, layers in after.items()
    )
    return f"the register{'s' * (len(after) > 1)} {', '.join(listed)}"


def families_of(run: Run, V: int, n: int, samples: int) -> dict[str, np.ndarray]:
    """Returns random sequences and the families of adversarial sequences, by name."""
    adversarial = adversarial_sequences(n, V, run.rng)
    return {"random": random_sequences(samples, n, V, run.rng), **adversarial}


def exact_evidence(model: Transformer) -> Evidence:
    """The kind of evidence of a float64 run: "exact" if no partial sum is rounded.

    For softmax heads, and for averages over several tokens of largest score, the kind is "float".
    """
    averages = any(margin.ties for block in model.blocks for margin in block.margins)
    averages = averages or any(attn.normalise == "softmax" for attn in model.attentions)
    return "float" if averages or exact_in(model).bits > FLOAT64_BITS else "exact"


def differences(
    statement: OverTokens,
    model: Transformer,
    rows: np.ndarray,
    shared: PrefixOutputs | None = None,
) -> Iterator[str]:
    """Yields, for each part of `rows`, the shortest sequence on which answers are wrong."""
    for part, logits in in_parts(model, rows, shared):
        given = model.interface.check(model.like, part)
        found, wanted = model.interface.read(logits, *given).numpy(), statement.answers(part)
        array = isinstance(wanted, np.ndarray) and wanted.dtype.kind in "biu"
        if not array or wanted.shape != found.shape:
            raise InputError(
                f"the definition of {statement.label!r} maps tokens of shape {part.shape} to "
                f"{shown(wanted)}: give a function to arrays of integers of shape {found.shape}"
            )
        differs = found != wanted
        if differs.any():
            position = int(differs.any(0).argmax())
            row = part[int(differs[:, position].argmax())]
            row = row[: position + 1] if differs.shape[1] == len(row) else row
            yield difference(statement, model, row)


def difference(statement: OverTokens, model: Transformer, row: np.ndarray) -> str:
    """The model's answer and the right answer at the end of a sequence, in words.

    The text also names the first register that differs from its layer invariant.
    """
    try:
        got, wanted = int(model(row)[-1]), int(statement.answers(row)[-1])
        where = next(register_differences(statement, model, row[None]), None)
    except ValueError:  # a model for only one length
        return f"{model.name} on {statement.shown(row)}"
    if where is None:
        where = (
            "no register differs from its invariant: the unembedding or the definition does"
            if model.stages
            else ""
        )
    found = f"{model.name} on {statement.shown(row)}: answer {got}, by definition {wanted}"
    return f"{found}\n{where}".rstrip()


def differences_over_q(
    statement: OverTokens, model: Transformer, rows: Iterable[np.ndarray], rounds: bool = False
) -> Iterator[str]:
    """Yields the sequences on which rational logits give wrong answers or differ from float64
    logits; with `rounds`, logits may differ.
    """
    for row in rows:
        logits = outputs(model, model.prompt(row), Rational()).tolist()
        best = [max(range(len(line)), key=line.__getitem__) for line in logits]
        answers = [-1 if v == model.interface.n_answers else v for v in best]
        same = all(
            float(Fraction(int(q.p), int(q.q))) == f
            for exact, rounded in zip(logits, model.logits(row).tolist(), strict=True)
            for q, f in zip(exact, rounded, strict=True)
        )
        if not (same or rounds) or answers != statement.answers(row).tolist():
            found = f"over Q {answers}, logits as in float64: {same}"
            yield f"{model.name} on {statement.shown(row)}: {found}"
