"""Programs in RASP as transformers: every s-op becomes numbers of the residual stream [Weiss2021].

A program is compiled into heads and MLPs, by the definitions of its s-ops:

    selectors       the scores of heads, largest at the selected positions (`heads.py`)
    Aggregate       the mean of numbers over these positions: the output of the head
    SelectorWidth   w, from the mean 1/(w + 1) of a flag of BOS
    maps            affine functions are read from the stream; others are steps of a head's output,
                    or piecewise linear functions of an integer, in MLPs (`columns.py`)

Each s-op stands in the earliest layer that its parts allow.  All scores are computed from exact
integers, so that ties of scores are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, islice, pairwise, product
from math import ceil, floor, log2
from typing import Any

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.attention import Mask
from constructions.blocks import Block, Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.margins import Margin, Restores
from constructions.primitives import Interpolation, Primitive, Staircase
from constructions.programs.columns import Leaf, Pieces, Reading, at_bos, read
from constructions.programs.functions import bends_of
from constructions.programs.heads import HeadPlan, Heads
from constructions.programs.interface import ProgramTokens
from constructions.stream import LinearRead, Map, Stream
from constructions.tokens import sizes
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, Positive, shown
from theory.programs.batch import Batch
from theory.programs.domains import MOST, Domains
from theory.programs.foreign import program_of
from theory.programs.interpreter import trace
from theory.programs.language import Expression, SOp, Tokens, tokens
from theory.programs.simplify import simplified
from theory.programs.tabulated import Tables
from theory.programs.values import Value, exact, is_number

TRIED = 4096  # the number of sequences at which a program must have values, before it is compiled


@construction
def compiled(
    program: Any,
    vocabulary: Any,
    max_length: Count,
    *,
    causal: bool = False,
    sharpness: Positive | None = None,
) -> Transformer:
    """The transformer that computes a RASP program: `compiled(reverse(), "abc", 10)("cab")`.

    The answers are the values of the s-op `program`, at all sequences of 1 to `max_length` tokens
    of `vocabulary` at which it has values: lists of ints, Fractions or other objects; None stands
    for "no value". Arrays of integers are indices of tokens, and the answers are then indices of
    values, −1 for None; see `ProgramTokens`. If `causal`, every selector selects only positions
    j ≤ i in row i, `length` is i + 1, and all heads are causal. `program` may also consist of
    objects of another library whose classes and attributes are named as in Tracr; see
    `theory.programs.program_of`.

    Functions of the program must return equal values for equal arguments: they are not random, and
    they are called once for equal arguments. With hardmax attention, all answers are right, and all
    registers except means are exact in float64. A `sharpness` gives softmax attention at this
    inverse temperature. The time to compile grows with the numbers of values that selectors
    compare, at least with the square of `max_length`. `save` stores models whose tokens and values
    are numbers, texts and tuples; pickle cannot store lambdas of a program.

    Raises ValueError

    - for a selector, and for a vocabulary that is empty, contains None or contains a token twice;
    - for a program that has no value at one of the sequences that are tried (all short ones, and
      random ones), with this sequence;
    - for an s-op with more than 50 000 possible values, and for an elementwise map whose operands,
      or a union of selectors whose keys or queries, have more than 50 000 combinations of values,
      unless it is a function of fewer combinations of tokens, positions, widths and means, or a
      linear combination of numbers;
    - for a program that needs integers of more than 31 bits, or sums that are not exact in float64,
      because its numbers differ much in size or have many digits;
    - for a sharpness at which answers could be wrong, with a sufficient one.
    """
    sop = program_of(program)
    if not isinstance(sop, SOp):
        raise InputError(f"program is the selector {sop}: give an s-op")
    known = _vocabulary(vocabulary)
    if max_length > MOST:
        raise InputError(f"max_length is {max_length}: give an integer ≤ {MOST}")
    sizes(len(known), max_length)
    domains = Domains(tokens, known, max_length, causal=causal)
    simple = simplified(sop, domains)
    assert isinstance(simple, SOp)
    return _Built(simple, domains).model().sharpened(sharpness)


def _vocabulary(vocabulary: Any) -> tuple[Value, ...]:
    """The tokens; raises ValueError for a vocabulary that is empty or contains a token twice."""
    try:
        tokens = tuple(exact(token) for token in islice(vocabulary, MOST + 1))
    except TypeError:
        raise InputError(f"vocabulary is {shown(vocabulary)}: give a list of tokens") from None
    if not tokens:
        raise InputError("vocabulary is empty: give at least one token")
    if len(tokens) > MOST:
        raise InputError(f"vocabulary has more than {MOST} tokens: give fewer tokens")
    if None in tokens:
        raise InputError("vocabulary contains None, which stands for 'no value': give other tokens")
    if len({*tokens}) < len(tokens):
        twice = next(token for i, token in enumerate(tokens) if token in tokens[:i])
        raise InputError(f"vocabulary contains {shown(twice)} twice: give different tokens")
    return tokens


class _Built:
    """The parts of the model of a program."""

    def __init__(self, program: SOp, domains: Domains) -> None:
        self.program, self.domains, vocabulary = program, domains, domains.vocabulary
        self.L, self.causal = domains.max_length, domains.causal
        _try(program, domains)
        self.values = self.domains.values[program]
        if {*self.values} <= {*vocabulary, None}:
            self.values = (*vocabulary, *([None] if None in self.values else []))
        self._plan({})
        if more := self._offsets():
            self._plan(more)
        self.layers = max((self.answer.time + 1) // 2, 0)
        names = dict.fromkeys(self.columns.columns, 1)
        self.stream = Stream(**names, bos=1)
        self.stream.fits(max(1, self.layers), heads=max(1, len(self.heads.plans)))

    def _plan(self, offsets: Mapping[str, int]) -> None:
        """Plans heads, columns and the answer, with these offsets of means."""
        self.heads = Heads(self.domains, self.causal, offsets)
        self.columns = self.heads.columns
        self.codes, self.answer = self._answer()
        self._keep_what_is_read()

    def _offsets(self) -> dict[str, int]:
        """Larger offsets of means, where sums of their steps would not be exact."""
        found = {}
        for (_, raw), (leaf, columns) in self.columns.steps.items():
            if columns:
                needed = ceil(self._sums(leaf, columns) / 2)
                if needed > self.columns.columns[raw].offset:
                    found[raw] = 1 << (needed - 1).bit_length()
        return found

    def _sums(self, leaf: Leaf, columns: dict[str, np.ndarray]) -> float:
        """A bound on sums of steps, in units of the smallest slope: see `_steps`."""
        assert leaf.raw is not None
        values = [float(each) for each in leaf.raw[1]]
        ascending = np.array(values if values[0] < values[-1] else [-each for each in values])
        changes = np.diff(np.array([*columns.values()], dtype=np.float64).T, axis=0)
        margins = 2.0 ** np.floor(np.log2(np.diff(ascending) / 2))
        activations = 2 * (ascending[-1] - ascending[:-1]) / margins + 1
        return float((abs(changes).T @ activations).max() * margins.max())

    def _answer(self) -> tuple[list[Fraction], Reading]:
        """A number for each value of the program, and a reading of this number."""
        own = self.domains.values[self.program]
        scale = self.columns.scale(self.program)
        numbers = [v for v in self.values if is_number(v)]
        if scale is not None and len(numbers) == len(self.values):
            code = {v: Fraction(v) * scale for v in numbers}
        else:
            code = {v: Fraction(i) for i, v in enumerate(self.values)}
        reading = self.columns.reading(self.program, [code[v] for v in own], exact=False)
        codes = [code[v] for v in self.values]
        if self.columns.error(reading):  # of a mean that is read directly
            most = max(map(abs, codes))
            gap = min((b - a for a, b in pairwise(sorted(codes))), default=Fraction(1))
            if 2 * most * self.columns.error(reading) + most**2 / 2**48 > gap**2 / 8:
                codes = [Fraction(i) for i in range(len(self.values))]
                code = dict(zip(self.values, codes, strict=True))
                reading = self.columns.reading(self.program, [code[v] for v in own])
        return codes, reading

    def _keep_what_is_read(self) -> None:
        """Removes columns and heads on which the answer does not depend."""
        columns, needs = self.columns, dict[str, set[str]]()
        for plan in self.heads.plans:
            needs[plan.into] = {name for reading in plan.readings() for name in reading.factors}
        for (_, raw), (_, held) in columns.steps.items():
            needs |= {name: {raw} for name in held}
        for pieces in columns.pieces.values():
            needs |= {name: {*pieces.z.factors} for name in pieces.columns}
        used, waiting = set[str](), {*self.answer.factors}
        while waiting:
            name = waiting.pop()
            used.add(name)
            waiting |= needs.get(name, set()) - used
        columns.keep(used)
        self.heads.plans = [plan for plan in self.heads.plans if plan.into in used]

    def model(self) -> Transformer:
        """The transformer."""
        blocks = [self.layer(number) for number in range(1, self.layers + 1)]
        codes, margin = self._labels()
        reading = self.read(self.answer, self.answer.constant)
        logits = reading.without_constant @ Map(2 * codes[None], "2·codes")
        bias = 2 * codes * float(self.answer.constant) - codes**2
        columns = self.columns.columns
        means = [float(each.most) for each in columns.values() if not each.exact]
        within = [off for block in blocks for r in block.restores for off in r.within.values()]
        seen = min([*within, margin / (8 * max(1.0, float(abs(codes).max())))])
        vocabulary = self.domains.vocabulary
        return Transformer(
            self.embedding(),
            blocks,
            unembed(self.stream, logits, bias=bias),
            pos_embed=self.positions(),
            interface=ProgramTokens(
                vocabulary, self.values, self.L, margin, (max(means, default=1.0), seen)
            ),
            stream=self.stream,
            stages=tuple(self.stages()),
            at_most={name: float(column.most) for name, column in columns.items()},
            source="[Weiss2021]; [Lindner2023]",
        )

    def _labels(self) -> tuple[np.ndarray, float]:
        """The numbers of the values as floats, and the margin of the logits 2·code·y − code².

        Here y is exactly the number of the answer. A float differs from a fraction by at most an
        eighth of the smallest gap, so that it has few bits, and logits are exact.
        """
        if len(self.codes) == 1:
            return np.zeros(1), 1.0
        ordered = sorted(self.codes)
        gap = min(b - a for a, b in pairwise(ordered))
        if all(code.denominator == 1 for code in self.codes):
            return np.array([float(code) for code in self.codes]), float(gap**2)
        unit = Fraction(2) ** (floor(log2(gap)) - 2)
        return np.array([float(round(code / unit) * unit) for code in self.codes]), float(
            3 * gap**2 / 4
        )

    def read(self, reading: Reading, at_bos: Any) -> LinearRead:
        return read(self.stream, self.columns.columns, reading, at_bos)

    def embedding(self) -> Embed:
        """The embedding of tokens and BOS: functions of the token, offsets of means, and BOS."""
        vocabulary = self.domains.vocabulary
        held = {"bos": np.array([0.0] * len(vocabulary) + [1.0])}
        for name, (leaf, values) in self.columns.embedded.items():
            if isinstance(leaf, Tokens):
                of = dict(zip(self.domains.values[leaf], map(float, values), strict=True))
                held[name] = np.array([*(of[token] for token in vocabulary), 0.0])
        for name, column in self.columns.columns.items():
            if column.offset:
                held[name] = np.full(len(vocabulary) + 1, float(column.offset))
        return Embed(rows(self.stream, **held))

    def positions(self) -> PosEmbed | None:
        """The position embedding: functions of the position, 0 at BOS."""
        held = {
            name: np.array([0.0, *map(float, values)])
            for name, (leaf, values) in self.columns.embedded.items()
            if not isinstance(leaf, Tokens)
        }
        return PosEmbed(rows(self.stream, **held)) if held else None

    def layer(self, number: int) -> Block:
        """A layer: heads whose readings are known, then functions of what is known."""
        words, restores = list[Primitive](), list[Restores]()
        for (layer, raw), (leaf, columns) in self.columns.steps.items():
            if layer == number and columns:
                word, within = self._steps(raw, leaf, columns)
                words.append(word)
                restores.append(Restores(tuple(columns), {raw: within}))
        for (layer, _), pieces in self.columns.pieces.items():
            if layer == number:
                words += self._interpolations(pieces)
        plans = [plan for plan in self.heads.plans if plan.layer == number]
        alike = groupby(sorted(plans, key=HeadPlan.pattern), key=HeadPlan.pattern)
        heads = [self._head(list(these)) for _, these in alike]
        mask: Mask = "causal" if self.causal else "full"
        return block(self.stream, heads, words, normalise="hardmax", mask=mask, restores=restores)

    def _head(self, plans: list[HeadPlan]) -> Head:
        """One head for plans of one pattern, which differ in the values that they average."""
        plan, columns = plans[0], self.columns.columns
        pairs = [
            (self.read(q, at_bos(q, columns)), self.read(k, 0)) for q, k in plan.score.merged()
        ]
        bos = self.read(plan.bos, at_bos(plan.bos, columns) + plan.own)
        queries, keys = zip(*pairs, (bos, self.stream.read("bos")), strict=True)
        values = tuple(self.read(each.value, each.at_bos) for each in plans)
        margin = Margin(plan.gap, graded=False, ties=True)
        into = tuple(each.into for each in plans)
        return Head(queries, keys, values, into, margin=margin, mask=plan.score.mask)

    def _steps(
        self, raw: str, leaf: Leaf, columns: dict[str, np.ndarray]
    ) -> tuple[Staircase, float]:
        """The columns as steps of a head's output, and the error of the output that they allow.

        Between two values of the output the step of width `margin`, a power of two, is in the
        middle, up to margin/256 and to a multiple of the unit that the output is rounded to.
        """
        assert leaf.raw is not None
        reading, values = leaf.raw
        sign = 1 if values[0] < values[-1] else -1  # ascending in the number of the value
        ascending = [sign * each for each in values]
        entries = np.array([columns[name] for name in columns], dtype=np.float64).T
        changes = np.diff(entries, axis=0)
        kept = np.flatnonzero(changes.any(1))
        unit = self.columns.columns[raw].offset / 2**52
        places, margins, slack = [], [], list[Fraction]()
        for low, high in ((ascending[k], ascending[k + 1]) for k in kept):
            margin = Fraction(2) ** floor(log2((high - low) / 2))
            grid = max(margin / 256, unit)
            place = round((low + high + margin) / 2 / grid) * grid
            places.append(float(place))
            margins.append(float(margin))
            slack += [high - place, place - margin - low]
        # Activations are multiples of unit/margin, so sums below 2^53 of the finest are exact.
        if self._sums(leaf, columns) > 2**53 * unit or self.columns.columns[raw].error > (
            min(slack) / 2
        ):
            raise InputError(
                f"steps of {leaf.sop} at {len(values)} values are not exact in float64: give "
                "numbers of similar sizes and few digits, or a smaller max_length"
            )
        argument = self.read(sign * reading, floor(ascending[0]) - 1)
        steps = Staircase(
            argument, np.array(places), np.array(margins), changes[kept], tuple(columns)
        )
        return steps, float(min(slack)) / 2

    def _interpolations(self, pieces: Pieces) -> Iterator[Interpolation]:
        """The columns as piecewise linear functions of an integer."""
        by_support: dict[tuple[int, ...], list[str]] = {}
        for name, held in pieces.columns.items():
            by_support.setdefault(tuple(sorted(held)), []).append(name)
        for support, names in by_support.items():
            values = np.array([[pieces.columns[name][z] for name in names] for z in support])
            knots, entries = bends_of(np.array(support), values)
            argument = self.read(pieces.z, int(knots[0]))
            made = Interpolation(argument, knots, entries.astype(np.float64), tuple(names))
            if made.most(support[-1]) > 2**53:
                raise InputError(
                    f"{names[0]} has {len(knots)} steps whose sums are not exact in float64: give "
                    "smaller numbers or a smaller max_length"
                )
            yield made

    def stages(self) -> Iterator[Stage]:
        """The content of every register that holds a function of an s-op."""
        tables, vocabulary = Tables(self.domains), self.domains.vocabulary
        program = tables.of(self.program)
        for name, column in self.columns.columns.items():
            assert column.holds is not None
            sop, numbers = column.holds
            content = dict(zip(self.domains.values[sop], map(float, numbers), strict=False))
            held: Any = tables.of(sop)
            holds = Content(program, vocabulary, self.causal, held, content)
            yield Stage((column.time + 1) // 2, name, holds)


@dataclass(frozen=True)
class Content:
    """The content of a register: a number for each value of an s-op of a program.

    The functions of `program` and `sop` are tables, over sequences of the vocabulary.
    """

    program: Expression
    vocabulary: tuple[Value, ...]
    causal: bool
    sop: SOp
    numbers: Mapping[Value, float]

    def __call__(self, tokens: Any) -> np.ndarray:
        """The contents (…, T, 1) for the indices (…, T) of tokens."""
        batch = Batch(self.program, self.vocabulary, np.asarray(tokens), causal=self.causal)
        batch.add(self.sop)
        known = [self.numbers.get(value, np.nan) for value in batch.known[self.sop]]
        return np.array([*known, np.nan])[batch.of[self.sop]][..., None]


def _try(program: SOp, domains: Domains) -> None:
    """Raises ValueError if the program has no value at one of the sequences that are tried.

    Also raises ValueError if an s-op has a value there that `domains` does not list.
    """
    V, L, causal = len(domains.vocabulary), domains.max_length, domains.causal
    rng = np.random.default_rng(0)
    for n in sorted({*range(1, min(L, 8) + 1), *(L - L // 2**k for k in range(1, 8)), L} - {0}):
        if V**n <= TRIED:
            tokens = np.array(list(product(range(V), repeat=n)))
        else:
            tokens = rng.integers(V, size=(max(4, TRIED // n**2), n))
        batch = Batch(program, domains.vocabulary, tokens, causal=causal)
        if not batch.valid.all():
            sequence = [domains.vocabulary[i] for i in tokens[np.flatnonzero(~batch.valid)[0]]]
            try:
                trace(program, sequence, causal=causal)
            except InputError as error:
                raise InputError(f"at the sequence {shown(sequence)}, {error}") from None
            raise AssertionError(sequence)
        for each, numbers in batch.of.items():
            if isinstance(each, SOp):
                found = {batch.known[each][i] for i in np.unique(numbers)}
                if others := found - {*domains.values[each]}:
                    raise InputError(
                        f"{each} has the value {shown(others.pop())} at a sequence, but not as a "
                        "function of the values of its operands: give functions that return equal "
                        "values for equal arguments"
                    )
