"""The claim `automata`: any semiautomaton in ⌈log₂T⌉ layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.computation import Semiautomaton
from theory.computation.semiautomata import identity, then
from theory.sequences import random_sequences
from verify.claim import Run, claim
from verify.computation.options import Automaton, File, Length, Regex, Samples, States, chosen
from verify.evidence.gaps import States as HeadStates
from verify.evidence.gaps import at_positions, exact_product, gap_finding
from verify.evidence.restoring import (
    all_maps_of,
    leak_bound,
    restored,
    same_as_hardmax,
    sharpness_at_all_lengths,
)
from verify.evidence.sequences import agreement
from verify.evidence.size import size
from verify.evidence.statement import OverTokens
from verify.finding import Finding, Verdict, labelled

if TYPE_CHECKING:
    from constructions.computation.semiautomaton import Form
    from constructions.transformer import Transformer

NAMES = "S3", "A5"
MOST_PAIRS = 300_000  # of maps that are composed to be certain of all


@claim(
    source="[Liu2023, Theorem 1]; proved in constructions/computation/semiautomaton.py",
    faults_seen=[{"states": 2, "length": 4, "samples": 4}],
)
def automata(
    run: Run,
    *,
    automaton: Automaton = None,
    file: File = None,
    regex: Regex = None,
    states: States = 4,
    length: Length = 100,
    samples: Samples = 50,
) -> Iterator[Finding]:
    """Every semiautomaton of n states is simulated in ⌈log₂T⌉ layers of one head and width 2n + 2.

    After each of T letters the transformer says the state, for all words.  A layer composes maps of
    the states in pairs: lean, with n² + n units; or robust, with 2n², where a softmax error of a
    quarter in what is fetched leaves no trace, so that the sharpness needed depends neither on T
    nor on the number of layers.
    """
    for A in chosen(run, automaton, file, NAMES, states, regex):
        for form in ("lean", "robust"):
            statement = simulates(run, A, form)
            model = statement.build(A.n_letters, length)
            found = size(model, f"automata-{form}", n=A.n_states, T=length)
            yield from labelled(statement.label, [found, _units(model, A.n_states, form)])
            yield from agreement(run, statement, A.n_letters, length, samples)
            for layer in range(1, model.n_layers + 1):
                yield gap_finding(statement.label, model, head_states(model, layer))
            if 2 * A.n_states * np.log(A.n_states) <= np.log(MOST_PAIRS):
                yield from labelled(statement.label, [composes(model, A.n_states)])
        if A.n_states > 1:  # a state alone is known without looking
            yield from labelled(statement.label, robust(run, A, length))


def simulates(run: Run, A: Semiautomaton, form: Form) -> OverTokens:
    """The construction of this form beside the automaton's own run."""
    from constructions.computation import semiautomaton

    def holds(model: Transformer, words: np.ndarray) -> dict[Any, np.ndarray]:
        return {stage.holds: windows(A, words, stage.holds[1]) for stage in model.stages}

    return OverTokens(
        f"{A.name}/{form}",
        lambda V, n: run.build(semiautomaton, A, n, form=form),
        A.run,
        holds,
        symbols=A.n_letters,
    )


def windows(A: Semiautomaton, words: np.ndarray, window: int) -> np.ndarray:
    """The maps of the last `window` letters up to each one, (…, T, n), letter by letter."""
    found = np.empty((*words.shape, A.n_states))
    for row in np.ndindex(words.shape[:-1]):
        for i in range(words.shape[-1]):
            letters = words[(*row, slice(max(0, i + 1 - window), i + 1))].tolist()
            reached = identity(A.n_states)
            for letter in letters:
                reached = then(reached, A.transitions[letter])
            found[(*row, i)] = reached
    return found


def _units(model: Transformer, n: int, form: Form) -> Finding:
    """ReLU units of a layer."""
    counts = [len(block.mlp.b_in) for block in model.blocks if block.mlp is not None]
    wanted = stated_units(n, form)
    return Finding(
        "units",
        "ReLU units of each layer",
        "exact",
        counts,
        [wanted] * model.n_layers,
        Verdict.of(counts == [wanted] * model.n_layers),
        f"{wanted} in each of {model.n_layers} layers" if counts else "no layer has any",
        "n² + n" if form == "lean" else "2n²",
    )


def stated_units(n: int, form: Form) -> int:
    """n² + n lean, 2n² robust."""
    return n * n + n if form == "lean" else 2 * n * n


def head_states(model: Transformer, layer: int) -> HeadStates:
    """Token i looks up position i − 2^{layer − 1}, or 0 if that is before the word."""
    place = at_positions(model, "j", "norm")
    here = np.arange(len(place["j"]))
    wanted = np.maximum(here - 2 ** (layer - 1), 0)
    preference = np.where(wanted[:, None] == here, 0.0, -np.inf)
    return HeadStates(layer, {"j": place["j"]}, place, preference, here)


def composes(model: Transformer, n: int) -> Finding:
    """Each layer's MLP composes all pairs of maps of n states: it is right for every automaton."""
    maps = all_maps_of(n)
    f, g = (part.reshape(-1, n) for part in np.broadcast_arrays(maps[:, None], maps[None]))
    wanted = np.take_along_axis(f, g.astype(int), axis=1)
    H = np.zeros((len(f), model.d_model))
    H[:, model.stream["map"]], H[:, model.stream["fetched"]] = f, g
    wrong, exact = 0, True
    for block in model.blocks:
        mlp = block.mlp
        assert mlp is not None
        W_in, b_in, W_out = (W.detach().numpy() for W in (mlp.W_in, mlp.b_in, mlp.W_out))
        rows = np.hstack([H, np.ones((len(H), 1))])
        read, first = exact_product(rows, np.vstack([W_in, b_in]))
        added, second = exact_product(np.maximum(read, 0.0), W_out)
        after = H + added + mlp.b_out.detach().numpy()
        right = (after[:, model.stream["map"]] == wanted).all(1)
        right &= (after[:, model.stream["fetched"]] == 0).all(1)
        wrong, exact = wrong + int((~right).sum()), exact and first and second
    return Finding(
        "composes",
        f"the MLP of each layer composes all pairs of maps of {n} states",
        "proved" if exact else "float",
        wrong,
        0,
        Verdict.of(wrong == 0) if exact and model.n_layers else Verdict.UNDECIDED,
        f"{wrong} of {len(f)} pairs wrong in {model.n_layers} layers",
        "none: right for every automaton of so many states",
    )


def robust(run: Run, A: Semiautomaton, length: int) -> Iterator[Finding]:
    """Softmax errors leave no trace: on all maps and numbers, by length, and in balls."""
    from constructions.computation import semiautomaton

    n = A.n_states
    model = run.build(semiautomaton, A, length, form="robust")
    # Coordinate q of what is fetched chooses among the n values of the map.
    f = all_maps_of(n) if n**n <= MOST_PAIRS // n else np.array([[*range(n)], [*range(n)][::-1]])
    pairs = {
        "map": np.repeat(f, n, axis=0),
        "fetched": np.tile(np.arange(n)[:, None] * np.ones(n), (len(f), 1)),
    }
    yield restored(
        "restored", "a fetched number that is off by a quarter leaves no trace", model, 1, pairs
    )
    yield sharpness_at_all_lengths(
        "softmax/sharpness",
        lambda T: run.build(semiautomaton, A, T, form="robust"),
        length,
        leak_bound(1 / (8 * (n - 1))),
        "ln(32(n − 1) + 2)",
    )
    short = run.build(semiautomaton, A, min(length, 12), form="robust")
    rows = random_sequences(2, min(length, 12), A.n_letters, run.rng)
    yield same_as_hardmax("softmax/same", short, rows)
