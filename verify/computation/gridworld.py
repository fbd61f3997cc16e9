"""The claim `gridworld`: a walk between two walls in three layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

import numpy as np

from constructions import gridworld_walk
from constructions.transformer import Transformer
from theory.computation import gridworld as automaton_of
from theory.kinds import InputError
from theory.sequences import all_sequences
from verify.claim import Run, claim, option
from verify.computation.options import Length, Samples
from verify.evidence.gaps import States, at_positions, averaging, counting, gap_finding
from verify.evidence.restoring import makes
from verify.evidence.sequences import computes, differences, exact_evidence, families_of
from verify.evidence.statement import OverTokens
from verify.finding import Finding, Verdict, labelled, no_counterexample

QUARTER = Fraction(1, 4)
MANY = 12  # the largest state of a walk that is run from several initial states
SHORT = 8  # symbols of all words that are run from several initial states
LISTED = 24  # length of the model whose heads are checked at all queries and keys


@claim(
    faults_seen=[{"steps": 2, "max_length": 4, "samples": 8}],
)
def gridworld(
    run: Run,
    *,
    steps: Annotated[
        int,
        option("the largest state S; the states are 0 … S, with walls at both ends", min=1, max=64),
    ] = 3,
    start: Annotated[int, option("the state before the first symbol", min=0, max=64)] = 0,
    max_length: Length = 40,
    samples: Samples = 30,
) -> Iterator[Finding]:
    """For all S ≥ 1, T and initial states, three layers of at most 2S heads and width S + 10
    simulate the walk on 0, …, S between two walls, on all words of at most T symbols.

    Each symbol is a step to the left or to the right, and a step against a wall does not change the
    state. The construction uses the following fact. Let the displacement be the sum of the same
    steps ±1 without walls, and let z be its present value. For b = 1, …, S, the state is at least b
    iff the last time at which the displacement was z − b is later than the last time at which it
    was z − b + S + 1. For this comparison the word is preceded by S steps to the left and by s
    steps to the right, where s is the initial state.
    """
    if start > steps:
        raise InputError(f"start is {start}: give a state from 0 to {steps}")
    statement = walks(run, steps, start)
    yield from computes(run, statement, 2, max_length, samples, symbols=2, longest=8)
    yield from_every_state(run, steps, max_length)
    model = statement.at(2, max_length).model
    yield from labelled(statement.label, [later(model, steps), counted(model, steps)])
    short = statement.at(2, listed := min(max_length, LISTED)).model
    for states in head_states(short, steps):
        yield gap_finding(f"{statement.label}/T={listed}", short, states)


def walks(run: Run, S: int, start: int) -> OverTokens:
    """The statement that `gridworld_walk` computes the states of the walk on 0 … S from `start`."""
    return OverTokens(
        f"S={S}/start={start}",
        lambda V, n: run.build(gridworld_walk, S, n, start=start),
        replace(automaton_of(S), start=start).run,
        symbols=2,
        theorem="gridworld-walk",
        parameters={"S": S},
    )


def from_every_state(run: Run, steps: int, max_length: int) -> Finding:
    """Checks states on random and adversarial words, from several initial states.

    The largest states are `steps` and `MANY`, and the initial states are 0, 1, the one in the
    middle, and the two largest.
    """
    sizes = sorted({steps, MANY} if run.extends else {steps})
    starts = {S: sorted({0, min(1, S), S // 2, S - 1, S}) for S in sizes}
    statements = [walks(run, S, start) for S in sizes for start in starts[S]]
    models = [statement.at(2, max_length).model for statement in statements]
    short = all_sequences(min(max_length, SHORT), 2)
    rows = np.concatenate([rows[:2] for rows in families_of(run, 2, max_length, 2).values()])
    return no_counterexample(
        "starts",
        f"states from several initial states s, on all words of {short.shape[1]} symbols, and on "
        f"random and adversarial words of {max_length} symbols, for "
        + " and for ".join(f"S = {S} (s = {', '.join(map(str, starts[S]))})" for S in sizes),
        (
            wrong
            for statement, model in zip(statements, models, strict=True)
            for words in (short, rows)
            for wrong in differences(statement, model, words)
        ),
        evidence=exact_evidence(models[-1]),
        words=f"all states are right on {len(short) + len(rows)} words",
    )


def later(model: Transformer, S: int) -> Finding:
    """Checks that the last MLP computes the bit [d ≥ 1] of each entry d of the registers `later`.

    The bit is also right if d has an error of at most ¼: the bit is right at d = −1, ¼, ¾ and 2,
    and all kinks of ReLUs are in ¼ … ¾.
    """
    mlp = model.blocks[2].mlp
    assert mlp is not None
    W_in, b_in, W_out = (W.detach().numpy() for W in (mlp.W_in, mlp.b_in, mlp.W_out))
    state, wrong = model.stream["state"].start, 0
    for b in range(1, S + 1):
        read = model.stream[f"later{b}"].start
        units = np.flatnonzero(W_in[read])
        wrong += int((W_in[:, units] != 0).sum() != len(units))  # they read only this register
        written = [
            tuple(Fraction(float(W)) for W in (W_in[read, unit], b_in[unit], W_out[unit, state]))
            for unit in units
        ]
        wrong += any(not QUARTER <= -bias / slope <= 3 * QUARTER for slope, bias, _ in written)
        for d, wanted in ((Fraction(-1), 0), (QUARTER, 0), (3 * QUARTER, 1), (Fraction(2), 1)):
            output = sum(max(d * slope + bias, Fraction(0)) * out for slope, bias, out in written)
            wrong += output != wanted
    return Finding(
        "steps",
        "the MLP of the last layer computes, for each b = 1 … S, whether level z − b was visited "
        "later than level z − b + S + 1, where z is the displacement of the walk without walls",
        "proved",
        wrong,
        0,
        Verdict.of(wrong == 0),
        f"{wrong} errors in {S} step functions, each constant below 1/4 and above 3/4",
        "no error",
    )


def counted(model: Transformer, S: int) -> Finding:
    """Checks that the last MLP only adds the number of positive entries of `later` to `state`.

    Each neuron reads one entry of `later`, so the entries are checked one by one.
    """
    tried = np.vstack([sign * np.eye(S) for sign in (-1, 0, 1, 2)] + [np.ones((1, S))])
    before = {f"later{b}": tried[:, [b - 1]] for b in range(1, S + 1)}
    wanted = {"state": (tried >= 1).sum(axis=1, keepdims=True)}
    name = (
        "the MLP of the last layer adds to the state the number of integers b in 1 … S for which "
        "level z − b was visited later than level z − b + S + 1, where z is the displacement of "
        "the walk without walls"
    )
    return makes("counts", name, model, {3: (before, wanted)})


def head_states(model: Transformer, S: int) -> Iterator[States]:
    """Yields the queries and keys of the heads for averages, displacements and visits."""
    yield averaging(model, 1)
    line = "j", "norm"
    yield counting(model, 2, {"plus": 1.0}, "inverse", line, 0)
    yield counting(model, 2, {"plus": 0.0, "average": -1.0}, "inverse", line, 1)
    places = [place for b in range(1, S + 1) for place in (b, b - S - 1)]
    for head, place in enumerate(places):
        yield visits(model, place, head)


def visits(model: Transformer, place: int, head: int) -> States:
    """The queries and keys of a head that looks up the latest visit to level z − `place`.

    z is the present displacement of the walk without walls. If the level was not visited, the head
    looks up BOS. The token at position j ≥ 1 is on one of the levels −j … j.
    """
    here = at_positions(model, "j")["j"].ravel()
    z = np.arange(-here[-1], here[-1] + 1)
    j, level = (part.ravel() for part in np.meshgrid(here, z))
    kept = abs(level) <= j  # position 0 is BOS, on level 0
    j, level = j[kept], level[kept]
    keys = {"j": j, "level": level, "square": level**2, "bos": 1.0 * (j == 0)}
    target = (z - place)[:, None]
    preference = np.where((level == target) | (j == 0), j, -np.inf)
    return States(3, {"level": z, "square": z**2}, keys, preference, j, head)
