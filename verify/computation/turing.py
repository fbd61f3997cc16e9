"""The claim `turing`: every Turing machine, with its steps as a chain of thought."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np

from constructions.computation import turing_machine
from constructions.transformer import Transformer
from theory.computation import MACHINES, TuringMachine, read_machine
from theory.computation.histories import after_each_step
from theory.computation.turing import Step
from theory.kinds import InputError
from theory.sequences import all_sequences
from verify.claim import Run, claim, option
from verify.computation.decoding import decoded, softened
from verify.computation.options import MOST_DRAWN
from verify.evidence.gaps import States, averaging, counting, gap_finding
from verify.evidence.restoring import makes
from verify.evidence.sequences import (
    answers_equal,
    equal_over_q,
    families_of,
    margin_kept,
    registers_hold,
)
from verify.evidence.size import size
from verify.evidence.statement import OverTokens
from verify.finding import Finding, labelled

MOST_HISTORIES = 10**4  # the largest number of histories of one length of which all are run
MOST_STEPS = 10**4
FAR = 120  # length of the histories that go far from cell 0 and return
LISTED = 32  # length of the model whose heads are checked at all queries and keys


@claim(
    picture="verify.computation.turing_picture:draw",
    faults_seen=[{"machine": "busy-beaver-2", "steps": 4, "samples": 2}],
)
def turing(
    run: Run,
    *,
    machine: Annotated[
        str | None,
        option("the name of a machine, or a JSON file with a machine", metavar="NAME|FILE"),
    ] = None,
    steps: Annotated[int, option("number of steps on a blank tape", min=1, max=MOST_STEPS)] = 200,
    samples: Annotated[int, option("number of random histories", min=1, max=MOST_DRAWN)] = 20,
) -> Iterator[Finding]:
    """For every one-tape Turing machine and T, three layers of at most four heads decode its first
    T steps, with one token for each step.

    For states Q and tape symbols Γ, the vocabulary has 2|Q||Γ| tokens, and the width is |Q| + 2|Γ|
    + 15.  These sizes do not depend on time or space.  The last layer has a ReLU for each rule of
    the machine.  If tokens also contain the number of the cell that a step writes, one layer of one
    head suffices. After the last step the output is ⊥ (no answer).  For example, the busy beaver of
    4 states halts after 107 steps.
    """
    machines = chosen(run, machine)
    for M in machines:
        for form in ("steps", "addressed"):
            statement = continues(run, M, form)
            made = M.run(steps)
            model = statement.build(0, min(len(made) + 1, steps))
            yield from labelled(statement.label, _runs(run, M, statement, model, made, samples))
            listed = statement.at(0, min(model.interface.max_length, LISTED)).model
            for states in head_states(listed):
                found = gap_finding(statement.label, listed, states)
                found.words += f", for histories of {listed.interface.max_length} steps"
                yield found
    if run.plot:
        run.draw([(M, decoded_steps(run, M, steps)) for M in machines])


def chosen(run: Run, machine: str | None) -> list[TuringMachine]:
    """The machine with the given name or in the given file; by default several machines."""
    if machine is None:
        return [*MACHINES.values()][: 2 if run.quick else None]
    if machine in MACHINES:
        return [MACHINES[machine]]
    if not machine.endswith(".json"):
        raise InputError(
            f"machine is {machine!r}: give one of the names {', '.join(MACHINES)}, or a .json file"
        )
    return [read_machine(Path(machine))]


def _runs(
    run: Run,
    M: TuringMachine,
    statement: OverTokens,
    model: Transformer,
    made: list[Step],
    samples: int,
) -> Iterator[Finding]:
    T = model.interface.max_length
    name = "turing-addressed" if model.interface.addressed else "turing"
    yield size(model, name, n=M.n_states, m=M.n_symbols)
    prompts, wanted = on_blank(model, M, made, T)
    marked = sum(map(bool, M.configuration([*M.writing(), *made]).tape.values()))
    halts = ", then ⊥ since the machine halts" if wanted[0, -1] < 0 else ""
    found = decoded("run", "decoded steps on a blank tape", [(model, prompts, wanted)])
    found.words = (
        found.words
        and f"the model is right for {len(made)} steps{halts}; {marked} cells are then not blank"
    )
    yield found
    yield decoded(
        "words", "20 decoded steps on every word of at most 3 symbols", on_words(statement, M)
    )
    short = statement.at(0, longest(run, M)).model
    longer = [(model, histories(run, model, samples))]
    if run.extends:
        far = statement.at(0, FAR).model
        longer.append((far, far_from_0(run, far)))
    yield answers_equal(
        "histories",
        f"next step after every history of at most {short.interface.max_length} steps, and after "
        f"some longer histories, which reach cells −{FAR // 2} and {FAR // 2}",
        statement,
        [(short, every_history(short)), *sorted(longer, key=lambda each: each[1].shape[1])],
    )
    yield makes(
        "table", "the MLP applies every rule of the machine", model, {model.n_layers: _cases(M)}
    )
    few = statement.at(0, min(T, 8 if run.quick else 16)).model
    rows, scope = histories(run, few, 2), f"({few.interface.max_length} steps)"
    yield margin_kept(statement, [(short, every_history(short)), (model, prompts[:, :T])])
    yield equal_over_q(statement, few, rows[:2], scope)
    yield registers_hold(statement, few, rows, scope)
    yield from softened(model, prompts, wanted, few, rows[:2])


def continues(run: Run, M: TuringMachine, form: str) -> OverTokens:
    """The statement that `turing_machine` of the given form computes the step after any history."""
    addressed = form == "addressed"
    return OverTokens(
        f"{M.name}/{form}",
        lambda _, T: run.build(turing_machine, M, T, addressed=addressed),
        lambda tokens: after_each_step(M, tokens, addressed)["next"][..., 0].astype(int),
    )


def on_blank(
    model: Transformer, M: TuringMachine, made: list[Step], steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """The prompt for a blank tape and the next `steps` tokens, ⊥ after the machine halts."""
    prompt = model.interface.prompt()
    tokens = model.interface.tokens([*M.writing(), *made])[len(prompt) :]
    return np.array([prompt]), np.array([(tokens + [-1] * steps)[:steps]])


def on_words(
    statement: OverTokens, M: TuringMachine
) -> Iterator[tuple[Transformer, np.ndarray, np.ndarray]]:
    """Yields a model, prompts and their continuations, for each word length from 1 to 3.

    The prompts (m, prompt length) are those of all words of this length.  The continuations
    (m, 20) are the 20 tokens that follow each prompt, or −1 (⊥) after the machine halts.
    """
    for length in range(1, 4):
        model = statement.at(0, length + 20).model
        words = all_sequences(length, M.n_symbols).tolist()
        prompts = [model.interface.prompt(word) for word in words]
        runs = [model.interface.tokens([*M.writing(word), *M.run(20, word)]) for word in words]
        wanted = [(tokens[length + 1 :] + [-1] * 20)[:20] for tokens in runs]
        yield model, np.array(prompts), np.array(wanted)


def longest(run: Run, M: TuringMachine) -> int:
    """The largest length, at most 4, with few enough histories to run all of this length."""
    kinds, most = 2 * M.n_states * M.n_symbols, 200 if run.quick else MOST_HISTORIES
    return max(T for T in range(1, 5) if kinds**T <= most or T == 1)


def every_history(model: Transformer) -> np.ndarray:
    """All histories of the model's length from cell 0, as tokens."""
    interface = model.interface
    return _placed(model, all_sequences(interface.max_length, interface.kinds))


def histories(run: Run, model: Transformer, samples: int) -> np.ndarray:
    """Random and adversarial histories, as tokens.

    If tokens are addressed, the histories also contain jumps of the head.
    """
    T, kinds = model.interface.max_length, model.interface.kinds
    found = [_placed(model, rows) for rows in families_of(run, kinds, T, samples).values()]
    if model.interface.addressed:
        numbers = run.rng.integers(2 * np.arange(T) + 1, size=(samples, T))
        found.append(run.rng.integers(kinds, size=(samples, T)) + kinds * numbers)
    return run.rng.permutation(np.concatenate(found))


def far_from_0(run: Run, model: Transformer) -> np.ndarray:
    """Histories of random states and symbols that move to one side, and then back to cell 0.

    On the way back, the head reads the symbols that the history wrote on the way out.
    """
    T, kinds = model.interface.max_length, model.interface.kinds
    rows = run.rng.integers(kinds // 2, size=(4, T))
    right = np.arange(T) < T // 2
    return _placed(model, 2 * rows + np.array([right, ~right] * 2))


def _placed(model: Transformer, rows: np.ndarray) -> np.ndarray:
    """The tokens of histories from cell 0, from the numbers of their steps."""
    if not model.interface.addressed:
        return rows
    moves = 2 * (rows % 2) - 1
    cells = np.cumsum(moves, axis=-1) - moves
    return rows + model.interface.kinds * np.where(cells > 0, 2 * cells - 1, -2 * cells)


def _cases(M: TuringMachine) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """All states and symbols, and the results of the rules; unchanged without a rule."""
    pairs = [(q, s) for q in range(M.n_states) for s in range(M.n_symbols)]
    after = [M.rules[q][s] or Step(q, s, 0) for q, s in pairs]
    states, symbols = np.eye(M.n_states), np.eye(M.n_symbols)
    (q, s), (to, written, moves) = np.array(pairs).T, np.array(after).T
    made = {"state": states[to], "symbol": symbols[written], "go": moves[:, None]}
    return {"state": states[q], "symbol": symbols[s]}, made


def head_states(model: Transformer) -> Iterator[States]:
    """Yields the queries and keys of the heads for averages, cells and the latest write."""
    if not model.interface.addressed:
        yield from (averaging(model, 1, head) for head in range(2))
        for pair, name in enumerate(("before", "after")):
            for sign in range(2):
                # The positive part of a negative average is 0.
                fraction = {name: -1.0, f"{name}_up": 0.0} if sign else {f"{name}_up": 1.0}
                inverse, line = f"{name}_inverse", ("j", "square")
                yield counting(model, 2, fraction, inverse, line, 2 * pair + sign)
    yield _writes(model)


def _writes(model: Transformer) -> States:
    """The lookups of the last layer: all cells of the head, all possible writes, and BOS."""
    T = model.interface.max_length
    heads = np.arange(-T, T + 1)
    found = [(0, 0, 1)]
    for j in range(1, T + 1):
        reach = range(1 - j, j, 1 if model.interface.addressed else 2)
        found += [(cell, j, 0) for cell in reach]
    cell, j, bos = np.array(found).T
    preference = np.where(cell == heads[:, None], j, -np.inf)
    preference[:, 0] = 0  # BOS, if no step wrote the cell
    queries = {"head": heads, "head_square": heads**2}
    keys = {"cell": cell, "cell_square": cell**2, "j": j, "bos": bos}
    return States(model.n_layers, queries, keys, preference, j)


def decoded_steps(run: Run, M: TuringMachine, steps: int) -> list[Step]:
    """The steps that the model decodes on a blank tape, in the form without cells in tokens."""
    model = continues(run, M, "steps").at(0, steps).model
    interface = model.interface
    found: list[Step] = interface.steps(model.generate(interface.prompt(), steps))
    return found
