"""The claim `automata`: every semiautomaton on words of T symbols in ⌈log₂T⌉ layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from constructions.computation import semiautomaton
from constructions.computation.semiautomaton import Form
from constructions.transformer import Transformer
from theory.computation import Semiautomaton
from theory.kinds import InputError
from theory.sequences import random_sequences
from theory.waiting import foretold
from verify.claim import Run, claim, option
from verify.computation.options import (
    RANDOM,
    Automaton,
    File,
    Length,
    Regex,
    Samples,
    chosen,
)
from verify.evidence.certificates import on_all_sequences
from verify.evidence.gaps import States as HeadStates
from verify.evidence.gaps import at_positions, gap_finding, looking_up
from verify.evidence.restoring import (
    all_maps_of,
    leak_bound,
    makes,
    same_as_hardmax,
    sharpness_at_two_lengths,
)
from verify.evidence.sequences import computes
from verify.evidence.size import units
from verify.evidence.statement import OverTokens
from verify.finding import Finding, Verdict, labelled

NAMES = "S3", "A5"
MOST_STATES = 64  # a model has 2n² neurons in each layer
CUBE, CUBE_QUICK = 6e-4, 2e-4  # seconds for n³: 150 and 50 at n = 64
QUICK = 40  # length of words in a quick run
MOST_PAIRS = 100_000  # the largest number of pairs (map, state) for which all maps are checked


@claim(
    certifies=True,
    faults_seen=[{"states": 2, "max_length": 4, "samples": 8}],
)
def automata(
    run: Run,
    *,
    automaton: Automaton = None,
    file: File = None,
    regex: Regex = None,
    states: Annotated[
        int,
        option("number of states of the random automaton", min=1, max=MOST_STATES, only=RANDOM),
    ] = 4,
    max_length: Length = 100,
    samples: Samples = 50,
) -> Iterator[Finding]:
    """For every semiautomaton of n states and every T, ⌈log₂T⌉ layers of one unique-hard causal
    head, of width 2n + 2, output the state after each symbol of all words of at most T symbols.

    A semiautomaton is a finite automaton without accepting states.  Each symbol is a map of the n
    states to themselves.  At every position, a layer composes the map of a block of symbols with
    the map of the block before it.  The head retrieves the latter map.  Two variants are built.
    The lean variant has n² + n ReLUs in each layer.  The robust variant has 2n² ReLUs in each layer
    and removes errors of up to ¼ in the entries of the retrieved map.  So the robust variant with
    softmax at any inverse temperature β ≥ ln(32(n − 1) + 2) has the same outputs, and this bound on
    β does not depend on T.
    """
    max_length = run.limited(QUICK, max_length=max_length)
    semiautomata = [*chosen(run, automaton, file, NAMES, states, regex)]
    if run.certificates is not None and all(A.n_states == 1 for A in semiautomata):
        raise InputError(
            f"{semiautomata[0].name} has a single state, so its model has only one output, and "
            "--certificate has nothing to certify: give an automaton of at least 2 states"
        )
    for A in semiautomata:
        if A.n_states > MOST_STATES:
            raise InputError(
                f"{A.name} has {A.n_states} states: give an automaton of at most {MOST_STATES} "
                "states, or build the model alone, with `constructions.semiautomaton`"
            )
        semiautomaton(A, max_length, form="robust")  # raises InputError if it exceeds the memory
    largest = max(A.n_states for A in semiautomata)
    seconds = (CUBE_QUICK if run.quick else CUBE) * largest**3
    foretold(f"an automaton of {largest} states", seconds)
    for A in semiautomata:
        for form in ("lean", "robust"):
            statement = simulates(run, A, form, max_length)
            yield from computes(run, statement, A.n_symbols, max_length, samples)
            model = statement.at(A.n_symbols, max_length).model
            yield from labelled(statement.label, [_units(model, A.n_states, form)])
            for layer in range(1, model.n_layers + 1):
                yield gap_finding(statement.label, model, head_states(model, layer))
            if A.n_states ** (A.n_states + 1) <= MOST_PAIRS:
                yield from labelled(statement.label, [composes(model, A.n_states)])
            if A.n_states > 1:  # a single output has no margin
                run.certify(lambda: _on_all_sequences(statement, A))  # noqa: B023  at once
        if A.n_states > 1:  # a single state needs no attention
            yield from labelled(statement.label, robust(run, A, max_length))


def _on_all_sequences(statement: OverTokens, A: Semiautomaton) -> dict[str, Any]:
    definition = {"automaton": [list(row) for row in A.transitions], "start": A.start}
    return on_all_sequences(statement, A.n_symbols, definition, f"the states of {A.name}")


def simulates(run: Run, A: Semiautomaton, form: Form, max_length: int) -> OverTokens:
    """The statement that `semiautomaton` of the given form computes the automaton's states."""
    return OverTokens(
        f"{A.name}/{form}",
        lambda V, n: run.build(semiautomaton, A, n, form=form),
        A.run,
        symbols=A.n_symbols,
        theorem=f"automata-{form}",
        parameters={"n": A.n_states, "T": max_length},
    )


def _units(model: Transformer, n: int, form: Form) -> Finding:
    """Checks that the number of hidden neurons of each layer equals the stated number."""
    counts = units(model)
    wanted = stated_units(n, form)
    return Finding(
        "units",
        "hidden neurons of each layer",
        "exact",
        counts,
        [wanted] * model.n_layers,
        Verdict.of(counts == [wanted] * model.n_layers),
        f"{wanted} in each of {model.n_layers} layers" if counts else "no layer has any",
        ("n² + n" if form == "lean" else "2n²") + f", for n = {n} states",
    )


def stated_units(n: int, form: Form) -> int:
    """The stated number of a layer's hidden neurons for n states: n² + n (lean), 2n² (robust)."""
    return n * n + n if form == "lean" else 2 * n * n


def head_states(model: Transformer, layer: int) -> HeadStates:
    """The possible queries and keys of the head of a layer, for the finding on its score gap.

    At position i, the head looks up position i − 2^{layer − 1}, or position 0 if i − 2^{layer − 1}
    is negative.
    """
    queries = at_positions(model, "j")
    wanted = np.maximum(np.arange(len(queries["j"])) - 2 ** (layer - 1), 0)
    return looking_up(model, layer, queries, wanted, line=("j", "norm"))


def composes(model: Transformer, n: int) -> Finding:
    """Checks that the MLP of each layer composes all pairs of maps of n states.

    The registers `map` and `fetched` each contain a map of the n states, with a coordinate for the
    image of each state. Automata of n states require no other compositions. A neuron that reads
    coordinate q of `fetched` writes only to coordinate q of both registers. So the composed image
    of state q depends only on `map` and on coordinate q of `fetched`, and it suffices to check
    constant maps in `fetched`.
    """
    name = f"the MLP of each layer composes all pairs of maps of {n} states"
    fetched, into = model.stream["fetched"], (model.stream["fetched"], model.stream["map"])
    for number, block in enumerate(model.blocks, start=1):
        assert block.mlp is not None
        reads, writes = (
            W.detach().numpy() != 0 for W in (block.mlp.W_in[fetched], block.mlp.W_out)
        )
        apart = [(reads[:, :, None] & writes[:, at]).any(axis=1) for at in into]
        if any((pairs & ~np.eye(n, dtype=bool)).any() for pairs in apart):
            found = f"layer {number}: a neuron reads one coordinate of fetched and writes another"
            return Finding("composes", name, "proved", found, 0, Verdict.FAILS, found, "none")
    f, g = np.repeat(all_maps_of(n), n, axis=0), np.tile(np.arange(n)[:, None], (n**n, n))
    composed = np.take_along_axis(f, g, axis=1)
    pair = {"map": f, "fetched": g}, {"map": composed, "fetched": np.zeros_like(g)}
    return makes("composes", name, model, dict.fromkeys(range(1, model.n_layers + 1), pair))


def robust(run: Run, A: Semiautomaton, max_length: int) -> Iterator[Finding]:
    """Checks softmax in the robust form: a sharpness that suffices for all lengths, and logits."""
    n = A.n_states
    yield sharpness_at_two_lengths(
        "softmax/sharpness",
        lambda T: run.build(semiautomaton, A, T, form="robust"),
        max_length,
        leak_bound(1 / (8 * (n - 1))),
        f"ln(32(n − 1) + 2) for n = {n} states",
    )
    short = run.build(semiautomaton, A, min(max_length, 12), form="robust")
    rows = random_sequences(2, min(max_length, 12), A.n_symbols, run.rng)
    yield same_as_hardmax("softmax/same", short, rows)
