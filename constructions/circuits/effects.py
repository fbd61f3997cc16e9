"""Which edges of a circuit change an answer: exhaustive patching, or patching of a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from constructions.circuits.edges import Edge, Node
from constructions.circuits.running import Ports
from constructions.interface import Prompt
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.machine import fits_in_memory
from theory.waiting import Pace

Source = Callable[[int], tuple[int | None, int]]  # the token, and the number of its new content

FIRST, CHUNK = 2**6, 2**12  # patched sequences in the first and in the last forward passes
SUMS = 4  # streams, or scores, that exist at a time while others are computed
BRIEFLY = 2**10  # patched sequences of each edge, before many are tried of some


class Witness(NamedTuple):
    """An intervention that changes an answer.

    The contribution at token `at` of the prompt of `tokens` (None: at all tokens) is replaced by
    that at token `other_at` of the prompt of `other` (None: at the same tokens).  `before` and
    `after` are the answers without and with the intervention, −1 for ⊥.  Prompts include the tokens
    in front, such as BOS.
    """

    tokens: tuple[int, ...]
    at: int | None
    other: tuple[int, ...]
    other_at: int | None
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True)
class Effects:
    """The edges that change an answer, with a witness for each, and the edges that never do.

    If `exhaustive` is true, the interventions are all those on sequences of at most `max_length`
    tokens; otherwise `sequences` is the number of sequences in the sample.
    """

    mattering: tuple[Edge, ...]
    others: tuple[Edge, ...]
    witnesses: Mapping[Edge, Witness] = field(repr=False)
    max_length: int
    sequences: int
    exhaustive: bool

    def __str__(self) -> str:
        scope = (
            f"all {self.sequences} sequences" if self.exhaustive else f"{self.sequences} sequences"
        )
        lines = [
            f"{len(self.mattering)} edges change an answer, {len(self.others)} never do: "
            f"patches of {scope} of at most {self.max_length} tokens"
        ]
        for edge in self.mattering:
            tokens, at, other, other_at, before, after = self.witnesses[edge]
            what = f"from {[*other]}" if at is None else f"at {at} from {[*other]} at {other_at}"
            lines.append(f"  {edge}: {[*tokens]} {what}: {[*before]} → {[*after]}")
        lines += [f"  {edge}: no effect" for edge in self.others]
        return "\n".join(lines)


class Batch:
    """Sequences of one length, with the clean streams, contributions and answers."""

    def __init__(self, model: Transformer, ports: Ports, tokens: np.ndarray) -> None:
        self.model, self.ports = model, ports
        self.tokens = torch.from_numpy(np.ascontiguousarray(tokens)).to(model.like.device)
        prompt = model.interface.write(torch, self.tokens)
        self.prompt: Prompt = prompt
        self.written = ports.start(prompt)
        H = sum(self.written.values(), start=torch.zeros((), dtype=model.like.dtype))
        self.written = {node: each.expand(H.shape) for node, each in self.written.items()}
        self.before: list[Tensor] = []
        for layer in range(1, model.n_layers + 1):
            self.before.append(H)
            _, H, written = ports.after(layer, H, prompt.n_examples, {})
            self.written |= written
        self.before.append(H)

    def answers(self, rows: Tensor, edge: Edge, change: Tensor | None) -> Tensor:
        """The answers (rows, answers) with a change (rows, T, D) at the edge's port."""
        layer = edge.target.layer or self.model.n_layers + 1
        changes = {} if change is None else {(edge.target, edge.port): change}
        prompt = self.prompt._replace(tokens=self.prompt.tokens[rows])
        H = self.before[layer - 1][rows]
        outputs = self.ports.logits(H, prompt, changes, layer=layer, last=layer)
        answers: Tensor = self.model.interface.read(outputs, self.tokens[rows])
        return answers

    def sequence(self, row: int) -> tuple[int, ...]:
        return tuple(self.tokens[row].tolist())


class Value(NamedTuple):
    """Different contributions, and where each occurs first: batch, sequence, token."""

    content: Tensor
    batch: Sequence[int]
    row: Sequence[int]
    at: Sequence[int]


def effects(
    model: Transformer,
    neurons: Mapping[Node, np.ndarray],
    edges: Sequence[Edge],
    live: Sequence[Edge],
    max_length: int,
    samples: int | None,
    rng: np.random.Generator,
    most: int,
) -> Effects:
    """The result of `Circuit.edges_that_matter`."""
    ports = Ports(model, neurons)
    with torch.no_grad():
        drawn = _inputs(model, max_length, samples, rng, most)
        _check_memory(model, len({edge.source for edge in edges}), drawn)
        batches = [Batch(model, ports, tokens) for tokens in drawn]
        needed = {edge: _needed(model, batches, edge, most) for edge in live}
        tries = {edge: _tries(model, batches, edge) for edge in live}
        witnesses = dict(_found(tries, needed))
    return Effects(
        tuple(edge for edge in edges if edge in witnesses),
        tuple(edge for edge in edges if edge not in witnesses),
        witnesses,
        max_length,
        sum(len(batch.tokens) for batch in batches),
        samples is None,
    )


def _inputs(
    model: Transformer,
    max_length: int,
    samples: int | None,
    rng: np.random.Generator,
    most: int,
) -> list[np.ndarray]:
    """All sequences of at most `max_length` tokens, or random ones, in an array for each length."""
    interface = model.interface
    if not isinstance(interface, Tokens):
        raise InputError(
            f"model {model.name} is not over tokens: give a model over tokens, such as "
            "induction_heads"
        )
    least = interface.length or interface.least
    if not least <= max_length <= interface.max_length:
        raise InputError(
            f"max_length is {max_length}: give an integer from {least} to {interface.max_length} "
            f"for {model.name}"
        )
    slots = interface.slots or [range(interface.vocabulary_size)] * max_length
    slots = slots[:max_length]
    if samples is not None:
        what = f"{min(samples, 10**300):.4g} samples"
        fits_in_memory(what, 16 * samples * max_length, "give fewer samples")
        drawn = rng.integers(least, max_length + 1, samples)
        rows = np.stack([rng.integers(s.start, s.stop, samples) for s in slots], axis=1)
        return [np.unique(rows[drawn == n, :n], axis=0) for n in np.unique(drawn)]
    # Answers of a causal model at all prefixes are among those of the longest sequences.
    lengths = [max_length] if model.is_causal else range(least, max_length + 1)
    count = sum(int(np.prod([len(s) for s in slots[:n]], dtype=object)) for n in lengths)
    if count > most:
        raise InputError(
            f"there are {count} sequences of at most {max_length} tokens: give a smaller "
            f"max_length, samples, or most ≥ {count}"
        )
    return [
        np.stack(np.meshgrid(*slots[:n], indexing="ij"), axis=-1).reshape(-1, n) for n in lengths
    ]


def _contents(
    model: Transformer, batches: list[Batch], edge: Edge
) -> tuple[slice, Value, list[list[int]]]:
    """The register, its different contents at a token, and the sequences of different contents."""
    span = model.stream[edge.register]
    patterns = [_patterns(batch.written[edge.source][..., span]) for batch in batches]
    return span, _values(batches, edge.source, span), patterns


def _needed(model: Transformer, batches: list[Batch], edge: Edge, most: int) -> int:
    """The number of patched sequences of an edge; raises InputError if it is above `most`."""
    _, values, patterns = _contents(model, batches, edge)
    needed = sum(
        len(batch.tokens) * (len(rows) + batch.before[0].shape[-2] * len(values.row))
        for batch, rows in zip(batches, patterns, strict=True)
    )
    if needed > most:
        raise InputError(
            f"edge {edge} needs {needed} patched sequences, more than most = {most}: give a "
            "smaller max_length, fewer samples, or a larger most"
        )
    return needed


def _check_memory(model: Transformer, n_sources: int, drawn: list[np.ndarray]) -> None:
    """Raises InputError if the streams and the outputs of all sources need too much memory."""
    of, entries = model.interface, 0
    for count, length in (rows.shape for rows in drawn):
        T = len(of.prefix) + length + len(of.ends(length)[0])
        entries += count * T * (model.d_model * (n_sources + model.n_layers + SUMS) + SUMS * T)
    fits_in_memory(
        f"the streams of {model.name} on {sum(map(len, drawn))} sequences",
        entries * model.like.element_size(),
        "give a smaller max_length, or samples",
    )


def _found(
    tries: Mapping[Edge, Iterator[tuple[int, Witness | None]]], needed: Mapping[Edge, int]
) -> Iterator[tuple[Edge, Witness]]:
    """Yields the edges with a witness.

    All edges are tried briefly at first, since most that matter have a witness early. One line on
    standard error announces that the others take more than a minute.
    """
    left: dict[Edge, int] = {}
    for edge, each in tries.items():
        tried = 0
        for count, witness in each:
            tried += count
            if witness is not None:
                yield edge, witness
            elif tried >= BRIEFLY:
                left[edge] = needed[edge] - tried
                break
    pace = Pace(f"edges_that_matter, {len(left)} of {len(tries)} edges", sum(left.values()))
    for edge, amount in left.items():
        before = pace.amount
        for count, witness in tries[edge]:
            pace.done(count)
            if witness is not None:
                yield edge, witness
        pace.total += pace.amount - before - amount


def _tries(
    model: Transformer, batches: list[Batch], edge: Edge
) -> Iterator[tuple[int, Witness | None]]:
    """Yields a number of patched sequences and their first intervention that changes an answer.

    The generator ends with the first one that does.
    """
    span, values, patterns = _contents(model, batches, edge)
    for b, (batch, firsts) in enumerate(zip(batches, patterns, strict=True)):
        for rows, change, named in _interventions(batch, edge, span, values, firsts):
            clean = batch.answers(rows, edge, None)
            patched = batch.answers(rows, edge, change)
            differs = (clean != patched).flatten(1).any(1)
            if not differs.any():
                yield len(rows), None
                continue
            i = int(differs.int().argmax())
            at, source = named(i)
            other = batches[b if at is None else values.batch[source]]
            witness = Witness(
                batch.sequence(int(rows[i])),
                at,
                other.sequence(source if at is None else values.row[source]),
                None if at is None else values.at[source],
                tuple(clean[i].tolist()),
                tuple(patched[i].tolist()),
            )
            yield len(rows), witness
            return


def _interventions(
    batch: Batch, edge: Edge, span: slice, values: Value, firsts: list[int]
) -> Iterator[tuple[Tensor, Tensor, Source]]:
    """Rows, changes of the port, and a function from the number of a row to its source."""
    here = batch.written[edge.source][..., span]
    count, T, _ = here.shape
    sizes = (len(firsts), T * len(values.row))
    for whole, size in zip((True, False), sizes, strict=True):
        for pairs in _chunks(count * size):
            rows, source = pairs // size, pairs % size
            if whole:
                change = here[torch.tensor(firsts)[source]] - here[rows]
            else:
                at, value = source // len(values.row), source % len(values.row)
                new = values.content[value] - here[rows, at]
                change = here.new_zeros(len(pairs), T, here.shape[-1])
                change[torch.arange(len(pairs)), at] = new
            changed = change.flatten(1).any(1)
            if not changed.any():
                continue
            rows, source, change = rows[changed], source[changed], change[changed]
            padded = here.new_zeros(*change.shape[:-1], batch.before[0].shape[-1])
            padded[..., span] = change
            yield rows, padded, _named(whole, source, firsts, len(values.row))


def _chunks(count: int) -> Iterator[Tensor]:
    """The numbers 0 … count − 1 in chunks, the first of which are small.

    Most edges that matter change an answer in one of the first patches.
    """
    start, size = 0, FIRST
    while start < count:
        yield torch.arange(start, min(start + size, count))
        start, size = start + size, min(2 * size, CHUNK)


def _named(whole: bool, source: Tensor, firsts: list[int], n_values: int) -> Source:
    def of(i: int) -> tuple[int | None, int]:
        number = int(source[i])
        return (None, firsts[number]) if whole else divmod(number, n_values)

    return of


def _patterns(written: Tensor) -> list[int]:
    """The first sequence with each of the different contributions (T, width)."""
    rows = written.flatten(1).double().numpy()
    return sorted(np.unique(rows, axis=0, return_index=True)[1].tolist())


def _values(batches: list[Batch], node: Node, span: slice) -> Value:
    """The different contributions (width,) at a token of any sequence."""
    all_rows, place = [], []
    for b, batch in enumerate(batches):
        here = batch.written[node][..., span]
        rows, first = np.unique(here.flatten(0, 1).double().numpy(), axis=0, return_index=True)
        all_rows.append(rows)
        place += [(b, *divmod(int(i), here.shape[1])) for i in first]
    rows, first = np.unique(np.concatenate(all_rows), axis=0, return_index=True)
    chosen = [place[i] for i in first]
    content = torch.from_numpy(rows).to(batches[0].before[0])
    return Value(content, *([each[i] for each in chosen] for i in range(3)))
