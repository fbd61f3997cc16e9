"""The claim `shortcut`: automata with solvable groups in a depth that does not depend on T."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import Annotated, Any

import numpy as np

from constructions.computation.semiautomaton import Form
from constructions.transformer import Transformer
from theory.computation import (
    NotSolvable,
    Semiautomaton,
    bounded_dyck,
    cascade,
    cyclic,
    gridworld,
)
from theory.computation.cascade import Cascade
from theory.computation.permutations import derived_series
from theory.computation.semiautomata import Map
from theory.kinds import InputError
from theory.sequences import random_sequences
from verify.claim import Run, claim, option
from verify.computation.options import (
    RANDOM,
    Automaton,
    Compact,
    File,
    Length,
    Regex,
    Samples,
    chosen,
)
from verify.evidence.certificates import for_every_length
from verify.evidence.gaps import States as HeadStates
from verify.evidence.gaps import at_positions, averaging, counting, gap_finding
from verify.evidence.restoring import leak_bound, makes, same_as_hardmax, sharpness_at_two_lengths
from verify.evidence.sequences import agreement
from verify.evidence.size import size, units
from verify.evidence.statement import OverTokens
from verify.finding import Finding, labelled, same

NAMES = "mod-3-with-reset", "S3", "gridworld-4", "dyck-4", "S4", "all-maps-3", "A5"
SYMBOLS = 32  # the largest number of symbols in the word of the picture


@claim(
    picture="verify.computation.shortcut_picture:draw",
    certifies=True,
    faults_seen=[
        {"max_length": 4, "samples": 8},
        {"automaton": "A5"},
    ],
)
def shortcut(
    run: Run,
    *,
    automaton: Automaton = None,
    file: File = None,
    regex: Regex = None,
    states: Annotated[
        int, option("number of states of the random automaton", min=1, max=8, only=RANDOM)
    ] = 3,
    compact: Compact = False,
    max_length: Length = 40,
    samples: Samples = 30,
) -> Iterator[Finding]:
    """For every T and every semiautomaton whose holonomy groups are solvable, a transformer whose
    depth and width do not depend on T computes the states on words of at most T symbols.

    The numbers of heads and hidden neurons do not depend on T either. The transformer computes a
    cascade (a Krohn–Rhodes decomposition) of counters and flip-flops.  A counter takes two layers,
    and a flip-flop takes one layer.  Counters and flip-flops of the cascade that do not depend on
    each other are computed in parallel. The model has hard attention.  Softmax in its
    place gives the same answers at every inverse temperature above a bound that does not depend
    on T.  A semiautomaton with a group that is not solvable, such as A5, has no cascade of counters
    and flip-flops. If TC⁰ ≠ NC¹, which is not known, no transformer of constant depth computes the
    states of this semiautomaton.
    """
    shown: tuple[Transformer, Cascade] | None = None
    automata = chosen(run, automaton, file, NAMES, states, regex)
    cascades = [(A, _cascade(A, compact, states)) for A in automata]
    if run.plot and all(isinstance(cascaded, NotSolvable) for _, cascaded in cascades):
        raise InputError(f"{cascades[0][0].name} has no cascade that could be drawn: omit --plot")
    for A, cascaded in cascades:
        if isinstance(cascaded, NotSolvable):
            yield from labelled(A.name, [refused(cascaded)])
            continue
        yield from labelled(A.name, [walked(cascaded)])
        run.certify(lambda: for_every_length(cascaded))  # noqa: B023  at once
        for form in ("lean", "robust"):
            statement = simulates(run, cascaded, form, compact)
            model = statement.at(A.n_symbols, max_length).model
            yield from labelled(statement.label, [free_of_length(statement, model)])
            yield from labelled(statement.label, stated_size(A, model))
            yield from agreement(run, statement, A.n_symbols, max_length, samples)
            for states_of_head in head_states(model, cascaded):
                yield gap_finding(statement.label, model, states_of_head)
            if model.n_layers:  # without layers there are no MLPs
                yield from labelled(statement.label, [tabled(model, cascaded)])
        if model.n_layers:  # without layers softmax makes no error
            yield from labelled(A.name, softmax(run, statement, A, max_length))
        shown = shown or (model, cascaded)
    if automaton is None and file is None and regex is None:
        yield smallest()
    if shown is not None:
        run.draw(
            *shown, run.rng.integers(shown[1].automaton.n_symbols, size=min(max_length, SYMBOLS))
        )


def _cascade(A: Semiautomaton, compact: bool, states: int) -> Cascade | NotSolvable:
    """The cascade of the automaton, or the reason for which there is none."""
    try:
        return cascade(A, compact=compact)
    except NotSolvable as reason:
        return reason
    except InputError as error:
        if A.name.startswith("random"):
            raise InputError(
                f"states is {states}: give fewer states or another seed, as {error}"
            ) from None
        raise


def walked(of: Cascade) -> Finding:
    """Checks that the cascade has the state of the automaton after words of every length."""
    cases = len(list(of.walk()))
    kinds = ", ".join(f"{stage.kind} with {stage.size} values" for stage in of.stages) or "none"
    return same(
        "cascade",
        f"states of the automaton and of its cascade (stages: {kinds}), on words of every length",
        of.disagreements(),
        0,
        evidence="proved",
        words=f"equal in all {cases} reachable cases, each a state of the automaton with the "
        "values of the stages",
        wanted="equal",
    )


def simulates(run: Run, of: Cascade, form: Form, compact: bool) -> OverTokens:
    """The statement that `shortcut` of the given form computes the automaton's states."""
    from constructions.computation import shortcut

    A = of.automaton
    return OverTokens(
        f"{A.name}/{form}",
        lambda V, n: run.build(shortcut, A, n, form=form, compact=compact),
        A.run,
        symbols=A.n_symbols,
    )


def free_of_length(statement: OverTokens, model: Transformer) -> Finding:
    """Checks that models for words of at most T and of at most 8T symbols have the same size.

    The size consists of the numbers of layers, heads and hidden neurons, and of the width.
    """
    V, T = model.interface.vocabulary_size, model.interface.max_length
    short, long = sizes({f"T = {n}": statement.at(V, n).model for n in (T, 8 * T)}).values()
    words = ", ".join(f"{what} {count}" for what, count in short.items())
    words = words.replace("units", "hidden neurons")
    return same(
        "depth",
        f"size of the model for words of at most {8 * T} symbols",
        long,
        short,
        words=words,
        wanted=f"the size of the model for words of at most {T} symbols",
    )


def stated_size(A: Semiautomaton, model: Transformer) -> Iterator[Finding]:
    """Compares the size of the model with the stated size, if the automaton has a stated size."""
    n, T = A.n_states, model.interface.max_length
    if n > 1 and cyclic(n) == A:
        yield size(model, "shortcut-counter", m=n, T=T)
    elif n > 2 and gridworld(n - 1) == A:
        yield size(model, "shortcut-gridworld", S=n - 1, T=T)
    elif n > 2 and bounded_dyck(n - 2) == A:
        yield size(model, "shortcut-dyck", D=n - 2, T=T)


def sizes(models: dict[str, Transformer]) -> dict[str, dict[str, int]]:
    """The numbers of layers, heads and hidden neurons and the width of each model."""
    return {
        name: {
            "layers": model.n_layers,
            "heads": model.n_heads,
            "width": model.d_model,
            "units": sum(units(model)),
        }
        for name, model in models.items()
    }


def head_states(model: Transformer, of: Cascade) -> Iterator[HeadStates]:
    """Yields the possible queries and keys of every head, for the findings on score gaps.

    The heads of a layer are the averaging head, the lookups of counts, and the flip-flops.
    """
    given = given_after(model, of)
    for layer in range(1, model.n_layers + 1):
        kinds = {i: stage.kind for i, stage in enumerate(of.stages, start=1)}
        averages = [i for i in kinds if kinds[i] == "counter" and given[i] == layer - 1]
        counters = [i for i in kinds if kinds[i] == "counter" and given[i] == layer - 2]
        flip_flops = [i for i in kinds if kinds[i] == "flip-flop" and given[i] == layer - 1]
        heads = [averaging(model, layer)] if averages else []
        line = "j", "square"
        for i in counters:
            heads.append(counting(model, layer, {f"fraction{i}": 1.0}, "inverse", line, len(heads)))
        for i in flip_flops:
            heads.append(latest_states(model, layer, len(heads), i, of.stages[i - 1].size))
        yield from heads


def given_after(model: Transformer, of: Cascade) -> dict[int, int]:
    """By counter and flip-flop, the number of layers after which its input is in the stream.

    By the layer invariants, the value of a counter is in the stream two layers later, and the value
    of a flip-flop one layer later.
    """
    there = [stage.after for stage in model.stages if stage.register != "state"]
    takes = {"counter": 2, "flip-flop": 1}
    pairs = enumerate(zip(of.stages, there, strict=True), start=1)
    return {i: after - takes[it.kind] for i, (it, after) in pairs if it.kind in takes}


def latest_states(model: Transformer, layer: int, head: int, i: int, size: int) -> HeadStates:
    """The possible queries and keys of the head of a flip-flop, which looks up its latest input.

    BOS always has an input. i is the number of the flip-flop among the stages of the cascade, and
    `size` is its number of values.
    """
    here = at_positions(model, "j")["j"].ravel()
    given = np.vstack([np.eye(size), np.zeros(size)])
    position, value = (part.ravel() for part in np.meshgrid(here, np.arange(size + 1)))
    kept = (position > 0) | (value < size)
    position, value = position[kept], value[kept]
    keys = {"j": position, f"in{i}": given[value]}
    preference = np.where(value < size, position, -np.inf)[None]
    return HeadStates(layer, {}, keys, preference, position, head, changed=(f"in{i}",))


def tabled(model: Transformer, of: Cascade) -> Finding:
    """Checks that the MLPs compute the inputs of the cascade's stages and the automaton's state.

    The MLPs are run on all combinations of values of the stages to which words of any length lead.
    """
    rows = list({values for _, values in of.walk()})
    rows = [(a, *values) for values in rows for a in range(of.automaton.n_symbols)]
    given, layers = given_after(model, of), dict[int, Any]()
    there = {line.register: line.after for line in model.stages}
    symbols = np.eye(of.automaton.n_symbols)[[row[0] for row in rows]]
    for layer, block in enumerate(model.blocks, start=1):
        if block.mlp is None:
            continue
        before, wanted = {"symbol": symbols, "bos": np.zeros((len(rows), 1))}, dict[str, Any]()
        for i, stage in enumerate(of.stages, start=1):
            one_hot = np.eye(stage.size + 1, stage.size)  # NONE, the last row, is 0
            values, inputs = one_hot[[row[i] for row in rows]], [stage.table(row) for row in rows]
            # The MLP of a layer writes a table stage, and the MLP of the next layer reads it.
            if stage.kind == "table" and there[f"is{i}"] == layer + 1:
                wanted[f"is{i}"] = values
            elif there[f"is{i}"] <= layer:
                before[f"is{i}"] = values
            if stage.kind == "counter" and given[i] == layer:
                wanted[f"in{i}"] = np.array(inputs)
            if stage.kind == "flip-flop" and given[i] == layer:
                wanted[f"in{i}"] = one_hot[inputs]
        if layer == model.n_layers:
            wanted["state"] = np.eye(of.automaton.n_states)[[of.answer(row) for row in rows]]
        layers[layer] = before, wanted
    return makes(
        "tables", "every MLP computes the inputs of the stages and the state", model, layers
    )


def softmax(
    run: Run, statement: OverTokens, A: Semiautomaton, max_length: int
) -> Iterator[Finding]:
    """Checks that one sharpness suffices at two maximum lengths, and encloses softmax logits."""

    def build(T: int) -> Transformer:
        return statement.at(A.n_symbols, T).model

    # An error is at most twice the weight on other tokens; tables of k registers allow 1/(4k).
    restores = [made.within for block in build(1).blocks for made in block.restores]
    bound = leak_bound(min(min(within.values()) for within in restores) / 2)
    wanted = f"ln(32·{max(map(len, restores))} + 2)"
    yield sharpness_at_two_lengths("softmax/sharpness", build, max_length, bound, wanted)
    rows = random_sequences(2, min(max_length, 12), A.n_symbols, run.rng)
    yield same_as_hardmax("softmax/same", build(min(max_length, 12)), rows)


def refused(reason: NotSolvable) -> Finding:
    """Checks with sympy the order of the perfect core of a holonomy group that is not solvable.

    An automaton with such a group has no cascade of counters and flip-flops: this theorem is cited,
    not checked.  If TC⁰ ≠ NC¹, no transformer of constant depth computes the automaton's states.
    """
    core = perfect_core(reason.group)
    return same(
        "refused",
        "order of the perfect core of a holonomy group; the order is above 1, so that the group is "
        "not solvable and there is no cascade [KrohnRhodes1965]",
        reason.core,
        core,
        words=str(reason),
        wanted=f"{core}, as computed by sympy",
    )


def smallest() -> Finding:
    """Checks that holonomy groups on at most four states are solvable, and that A5 is not.

    A holonomy group acts on the tiles of a set of states that words permute.  So the holonomy group
    is a quotient of a group of permutations of at most four states. The symmetric group of four
    points is solvable, and all subgroups of a solvable group and all quotients of subgroups are
    solvable.
    """
    points = range(1, 6)
    found = [len(derived_series(frozenset(permutations(range(n))))[-1]) for n in points]
    cycles = [(*range(1, n), 0) for n in points]
    swaps = [(1, 0, *range(2, n)) if n > 1 else (0,) for n in points]
    by_sympy = [perfect_core(both) for both in zip(cycles, swaps, strict=True)]
    return same(
        "smallest",
        "order of the perfect core of the group of all permutations of n points, for n = 1 … 5",
        found,
        by_sympy,
        words=", ".join(map(str, found)) + "; the group is solvable up to n = 4, not at n = 5",
        wanted="the orders computed by sympy",
    )


def perfect_core(generators: Iterable[Map]) -> int:
    """The order, by sympy, of the perfect core of the group that the permutations generate.

    The perfect core is the last group of the derived series.
    """
    from sympy.combinatorics import Permutation, PermutationGroup

    group = PermutationGroup(*(Permutation(list(each)) for each in generators))
    while (below := group.derived_subgroup()).order() < group.order():
        group = below
    return int(group.order())
