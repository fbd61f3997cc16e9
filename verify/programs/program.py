"""The claim `program`: transformers that are compiled from programs in RASP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Annotated, Any

import numpy as np
import torch

from constructions.attention import Attention
from constructions.blocks import plural
from constructions.programs import compiled
from constructions.transformer import Transformer
from theory.kinds import InputError, shown
from theory.programs import (
    Expression,
    Length,
    Select,
    SelectorWidth,
    SOp,
    evaluate,
    indices,
    tokens,
)
from theory.programs.batch import Batch
from theory.programs.depth import most_layers
from theory.programs.domains import Domains
from theory.programs.library.examples import PROGRAMS
from theory.programs.simplify import simplified
from theory.programs.values import Value, exact
from verify import program_checker
from verify.claim import Run, claim, option
from verify.domains import Rational, outputs, streams
from verify.evidence.sequences import exact_evidence
from verify.evidence.size import size
from verify.evidence.softmax import enclosed
from verify.finding import (
    Evidence,
    Finding,
    Verdict,
    at_most,
    labelled,
    no_counterexample,
)
from verify.programs.certified import computes_program
from verify.programs.options import Program, Vocabulary, read_program, read_vocabulary

NAMES = (
    *("reverse", "histogram", "sort", "fraction_of_previous", "detect_pattern", "induction"),
    *("most_frequent", "place_in_run", "depth", "shuffle_dyck"),
)
CAUSAL = tuple(name for name in NAMES if name != "most_frequent")  # causal means of two tokens
TOGETHER = 20  # tokens for which all of them are compiled in seconds
MOST = 3000  # the number of sequences of which all are run
QUICK, WORK = 2**18, 2**21  # multiplications with which contents are enumerated


@claim(
    faults_seen=[{"program": "sort", "max_length": 4}, {"program": "depth", "max_length": 4}],
    certifies=True,
)
def program(
    run: Run,
    *,
    program: Program = None,
    vocabulary: Vocabulary = None,
    max_length: Annotated[
        int, option("number of tokens of the longest sequences", min=1, max=500)
    ] = 6,
    causal: Annotated[bool, option("select only positions up to the query")] = False,
    samples: Annotated[
        int | None,
        option("number of random sequences, by default 100, or 20 if quick", min=1, max=10**6),
    ] = None,
) -> Iterator[Finding]:
    """For every RASP program that `compiled` accepts at a vocabulary and a length, a transformer
    computes the values of the program exactly, with heads that attend to exactly the positions that
    its selectors select. Programs are accepted if their s-ops have few values, at most 50 000, and
    maps as few combinations of values, and if their numbers are of similar sizes.

    The transformer has at most 2a + s + 1 layers, for the largest sum over the paths through the
    program, with a aggregates, widths and lengths on a path and s maps that are split because of
    the number of their combinations of values. Answers are compared with the values by definition,
    in exact rationals, and so are the attention pattern of every head and the register of every
    s-op. Softmax in place of hardmax gives the same answers above a stated inverse temperature.
    """
    if vocabulary is not None and program is None:
        raise InputError("vocabulary is given without a program: give a program too")
    if program is None and max_length > TOGETHER:
        raise InputError(
            f"max_length is {max_length}, more than {TOGETHER}, without a program: give a program "
            "too, or a smaller max_length"
        )
    count = samples or (20 if run.quick else 100)
    for text in (NAMES if not causal else CAUSAL) if program is None else (program,):
        name, sop, own = read_program(text)
        tokens = read_vocabulary(vocabulary) if vocabulary is not None else own
        if tokens is None:
            raise InputError(f"the program {name} has no vocabulary: give --vocabulary")
        try:
            model = run.build(compiled, sop, tokens, max_length, causal=causal)
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
        found = _compiled(run, name, sop, model, tokens, max_length, causal, count)
        yield from labelled(name, found)


def _compiled(
    run: Run,
    name: str,
    sop: SOp,
    model: Transformer,
    vocabulary: Sequence[Value],
    n: int,
    causal: bool,
    samples: int,
) -> Iterator[Finding]:
    """The findings on one program."""
    case = Case(sop, model, [exact(token) for token in vocabulary], causal)
    most = 300 if run.quick else MOST
    short = list(_all(len(case.vocabulary), n, most))
    short = [case.valid(rows) for rows in short]
    yield case.sizes()
    yield case.answers("all-short", f"every sequence of at most {len(short)} tokens", short)
    lengths = sorted({(n + 1) // 2, n})
    drawn = [
        case.valid(run.rng.integers(len(case.vocabulary), size=(samples, length)))
        for length in lengths
    ]
    if n > 1:  # sequences of one token have been run one by one
        yield _enumerated(run, name, sop, vocabulary, n, causal)
    yield case.answers("random", f"random sequences of {_and(lengths)} tokens", drawn)
    if sop is PROGRAMS["sort"][0] and len(vocabulary) == 3 and n > 2 and not causal:
        yield size(model, "programs", n=n)
    few = [rows[:: max(1, len(rows) // 20)] for rows in (*short, *drawn) if len(rows)]
    yield case.heads(few)
    yield case.gaps(few)
    yield case.registers(few)
    yield case.over_q([rows[:1] for rows in few])
    yield from case.softmax([*short, *drawn], drawn[-1][:1])


def _enumerated(
    run: Run, name: str, sop: SOp, vocabulary: Sequence[Value], n: int, causal: bool
) -> Finding:
    """Follows all sequences at once, by the contents that each token may have.

    The length is the first one in n, n/2, n/4, … for which this is affordable. A statement that is
    verified is added to the certificate.
    """
    found, reason, length = None, "", 2 * n
    while found is None and length > 1:
        length = (length + 1) // 2
        model = run.build(compiled, sop, vocabulary, length, causal=causal)
        try:
            statement = computes_program(model, sop, name, causal=causal)
            found = program_checker.computed(statement, QUICK if run.quick else WORK)
        except (ArithmeticError, InputError) as rejected:
            reason = str(rejected)
            if not isinstance(rejected, program_checker.TooLarge):
                break
    if found is not None:
        run.certify(lambda: statement)
    return Finding(
        "all-sequences",
        f"all sequences of at most {plural(length, 'token')}, by the values and contents that each "
        "token may have in them",
        "exact",
        "not verified" if found is None else "verified",
        "verified",
        Verdict.UNDECIDED if found is None else Verdict.HOLDS,
        words=f"not verified: {reason}"
        if found is None
        else f"answers and attention are as defined, with at most {found['contents']} contents",
        wanted="answers and attention as defined",
        detail="" if found else f"not verified: {reason}",
    )


class Case:
    """A program, a model that should compute it, and the comparison of the two."""

    def __init__(
        self, sop: SOp, model: Transformer, vocabulary: Sequence[Value], causal: bool
    ) -> None:
        self.sop, self.model, self.vocabulary, self.causal = sop, model, [*vocabulary], causal
        self.evidence: Evidence = exact_evidence(model)

    def valid(self, rows: np.ndarray) -> np.ndarray:
        """The sequences at which the program has values."""
        return rows[Batch(self.sop, self.vocabulary, rows, causal=self.causal).valid]

    def values(self, row: np.ndarray) -> list[Any]:
        """The values by definition."""
        return self.at(self.sop, row)

    def tokens(self, row: np.ndarray) -> list[Value]:
        return [self.vocabulary[i] for i in row]

    def sizes(self) -> Finding:
        """Compares the number of layers with the bound 2a + s + 1."""
        m = self.model
        length = m.interface.max_length
        domains = Domains(tokens, self.vocabulary, length, causal=self.causal)
        most = most_layers(simplified(self.sop, domains), domains)
        hidden = max((len(b.mlp.b_in) for b in m.blocks if b.mlp is not None), default=0)
        return at_most(
            "layers",
            f"number of layers for at most {length} tokens of {shown(self.vocabulary)}",
            "exact",
            m.n_layers,
            most,
            words=f"{m.n_layers}, with at most {m.n_heads} heads and {hidden} hidden neurons in a "
            f"layer, width {m.d_model}, {m.n_parameters} weights",
        )

    def answers(self, id: str, what: str, batches: Iterable[np.ndarray]) -> Finding:
        """Compares the model's answers with the values by definition."""
        batches = [rows for rows in batches if len(rows)]
        if not batches:
            raise InputError(f"{self.sop} has no value at {what}: give another vocabulary")

        def wrong() -> Iterator[str]:
            for rows in batches:
                got = self.model.interface.decoded(self.model(rows))
                for row, answers in zip(rows, got, strict=True):
                    if answers != (wanted := self.values(row)):
                        yield f"{self.tokens(row)}: {answers}, by definition {wanted}"

        return no_counterexample(
            id,
            f"answers on {what}",
            wrong(),
            evidence=self.evidence,
            words=f"the values by definition on {sum(map(len, batches))} sequences",
        )

    def rounding(self, holds: Any) -> float:
        """A bound on the rounding error of a register: 0 unless it holds a mean.

        Sums of at most 500 numbers, and means of means, lose far less than 12 bits in float64.
        """
        numbers = [*holds.numbers.values()]
        if all(float(each).is_integer() for each in numbers):
            return 0.0
        return 2.0**-40 * max(map(abs, numbers))

    def content(self, holds: Any, row: np.ndarray) -> np.ndarray:
        """The content of a register at the tokens of a sequence, from the values by definition."""
        return np.array([holds.numbers[v] for v in self.at(holds.sop, row)])

    def at(self, expression: Expression, row: np.ndarray) -> list[Any]:
        """The values of an expression by definition."""
        return evaluate(expression, self.tokens(row), causal=self.causal)

    def attention(self, rows: np.ndarray) -> Iterator[tuple[int, Attention, torch.Tensor]]:
        """Yields the layers with heads: the number, the attention and its input."""
        for number, (block, H) in enumerate(
            zip(self.model.blocks, self.model.streams(rows), strict=False), start=1
        ):
            if block.attn is not None:
                yield number, block.attn, H

    def patterns(self, rows: np.ndarray) -> Iterator[tuple[int, int, SOp, np.ndarray]]:
        """Yields a layer, a head, an s-op that it computes, and the patterns of its queries."""
        holds: dict[str, Any] = {each.register: each.holds for each in self.model.stages}
        for number, attn, H in self.attention(rows):
            pattern = attn.pattern(H, 0).numpy()
            for h in range(attn.n_heads):
                written = attn.W_O[h].abs().sum(0).numpy()
                for name in self.model.stream:
                    if written[self.model.stream[name]].any():
                        yield number, h, holds[name].sop, pattern[:, h, 1:]

    def selected(self, sop: SOp, row: np.ndarray) -> np.ndarray:
        """The pattern of the head of an s-op, by definition: uniform over selected positions."""
        selector = Select(indices, indices, "true") if isinstance(sop, Length) else sop.selector  # type: ignore[attr-defined]
        chosen = np.array(self.at(selector, row), dtype=bool)
        width = isinstance(sop, Length | SelectorWidth)
        bos = np.ones(len(row), dtype=bool) if width else ~chosen.any(1)
        seen = np.column_stack([bos, chosen])
        return seen / seen.sum(1, keepdims=True)

    def heads(self, batches: Iterable[np.ndarray]) -> Finding:
        """Compares every head's attention pattern with its selector by definition."""

        def wrong() -> Iterator[str]:
            for rows in batches:
                for layer, h, sop, pattern in self.patterns(rows):
                    for row, found in zip(rows, pattern, strict=True):
                        if not np.array_equal(found, self.selected(sop, row)):
                            at = f"layer {layer}, head {h + 1}, which computes {sop}"
                            yield f"{at}, on {self.tokens(row)}"

        return no_counterexample(
            "heads",
            "attention patterns, compared with the positions that selectors select",
            wrong(),
            evidence=self.evidence,
            words="uniform over the selected positions, for every head: with BOS for widths, and "
            "on BOS alone for means over no position",
        )

    def gaps(self, batches: Iterable[np.ndarray]) -> Finding:
        """Compares the smallest score gap of every head with its declared margin."""
        short, count = list[str](), 0
        for rows in batches:
            for layer, attn, H in self.attention(rows):
                for h, scores in _scores(attn, H):
                    gap = _gap(scores)
                    declared = self.model.blocks[layer - 1].margins[h].gap
                    count += 1
                    if gap < declared:
                        short.append(f"layer {layer}, head {h + 1}: {gap:g} < {declared:g}")
        return no_counterexample(
            "gaps",
            "score gaps of the heads",
            short,
            evidence=self.evidence,
            words=f"at least the declared margins, 1 or 1/2, in {count} patterns"
            if count
            else "the model has no heads",
        )

    def registers(self, batches: Iterable[np.ndarray]) -> Finding:
        """Compares every register with the s-op that it holds, by definition."""
        means = [stage for stage in self.model.stages if self.rounding(stage.holds)]

        def wrong() -> Iterator[str]:
            for rows in batches:
                H = list(self.model.streams(rows))
                for stage in self.model.stages:
                    got = H[stage.after][..., 1:, self.model.stream[stage.register]].numpy()[..., 0]
                    allowed = self.rounding(stage.holds)
                    for row, content in zip(rows, got, strict=True):
                        wanted = self.content(stage.holds, row)
                        if (abs(content - wanted) > allowed).any():
                            yield f"{stage} on {self.tokens(row)}: {content}, not {wanted}"

        return no_counterexample(
            "registers",
            "registers in every layer, compared with the values of s-ops",
            wrong(),
            evidence="float" if means else self.evidence,
            words=f"{len(self.model.stages)} registers hold the numbers of their s-ops"
            + f", {len(means)} of them means up to a relative error of 2^−40" * bool(means),
        )

    def over_q(self, batches: Iterable[np.ndarray]) -> Finding:
        """Compares answers and registers of the model over Q with the values by definition."""
        batches = [*batches]

        def wrong() -> Iterator[str]:
            for row in (row for rows in batches for row in rows):
                prompt = self.model.prompt(row)
                logits = outputs(self.model, prompt, Rational()).tolist()
                best = [max(range(len(line)), key=line.__getitem__) for line in logits]
                none = self.model.interface.n_answers
                indices = torch.tensor([-1 if i == none else i for i in best])
                got = self.model.interface.decoded(indices)
                if got != self.values(row):
                    yield f"{self.tokens(row)}: {got}"
                H = [each.tolist() for each in streams(self.model, prompt, Rational())]
                for stage in self.model.stages:
                    at = self.model.stream[stage.register].start
                    held = [line[at] for line in H[stage.after][1:]]
                    wanted = self.content(stage.holds, row)
                    exactly = [float(Fraction(int(each.p), int(each.q))) for each in held]
                    if exactly != wanted.tolist():
                        yield f"{stage} on {self.tokens(row)}: {held}"

        return no_counterexample(
            "rational",
            "answers and registers in rational arithmetic",
            wrong(),
            words="the values by definition, and the numbers of all s-ops, without rounding, on "
            f"{sum(map(len, batches))} sequences",
        )

    def softmax(self, batches: Iterable[np.ndarray], rows: np.ndarray) -> Iterator[Finding]:
        """Compares answers with softmax at a sufficient sharpness, and encloses its logits."""
        if not self.model.attentions:
            return
        beta = 1.001 * self.model.least_sharpness()
        soft = Case(self.sop, self.model.sharpened(beta), self.vocabulary, self.causal)
        soft.evidence = "float"
        what = f"these sequences with softmax attention at the inverse temperature β = {beta:.4g}"
        yield soft.answers("softmax/answers", what, batches)
        if self.model.softmax_error(beta).logits > 0:  # otherwise softmax makes no error
            yield enclosed(self.model, beta, rows, "one sequence")


def _scores(attn: Attention, H: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
    """Yields a head and its scores (…, T, T) at the tokens after BOS, −∞ for hidden keys."""
    for part in attn.parts():
        Q, K = part.queries_keys(H, 0)
        scores = Q @ K.transpose(-1, -2)
        scores = scores.masked_fill(part.hidden(scores), -torch.inf)[..., 1:, :]
        same = (h for h, mask in enumerate(attn.masks) if mask == part.mask)
        for place, h in enumerate(same):
            yield h, scores[:, place]


def _gap(scores: torch.Tensor) -> float:
    """The smallest difference between the largest score of a row and the next smaller one."""
    top = scores.amax(-1, keepdim=True)
    below = scores.masked_fill(scores == top, -torch.inf)
    return float((top[..., 0] - below.amax(-1)).min())


def _all(V: int, n: int, most: int) -> Iterator[np.ndarray]:
    """All sequences of 1, 2, … tokens, up to the length at which there are more than `most`."""
    for length in range(1, n + 1):
        if length > 1 and V**length > most:
            return
        yield np.array(list(product(range(V), repeat=length)))


def _and(lengths: Sequence[int]) -> str:
    return " and ".join(map(str, lengths))
