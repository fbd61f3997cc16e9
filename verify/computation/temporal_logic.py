"""Evidence on the weights of a past-LTL formula at every length: gaps, tables, restored bits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from constructions.blocks import Stage
from constructions.computation.temporal_logic import Holds
from constructions.transformer import Transformer
from theory.computation.temporal_program import Program
from theory.computation.truth_tables import TruthTable
from verify.evidence.gaps import States, at_positions, at_tokens
from verify.evidence.restoring import after_mlp, traces
from verify.finding import Finding, Verdict

MOST_STATES = 2**14  # values of a symbol and the bits of one table


def head_states(model: Transformer, by: Program) -> Iterator[States]:
    """Yields the possible queries and keys of each head, at BOS and at all other positions.

    Each head computes an operator φ since ψ of the formula, and `stop` is the bit of ψ or ¬φ. The
    head prefers positions where `stop` is 1 to positions where `stop` is 0, and then later
    positions to earlier positions.
    """
    if not by.steps:
        return
    heads, V = Counter[int](), model.interface.vocabulary_size
    j, symbol = at_positions(model, "j")["j"], at_tokens(model, "symbol")["symbol"]
    here = np.arange(len(j))
    for step in by.steps:
        head, registers = heads[step.depth], _flag_registers(model, step.depth, heads[step.depth])
        heads[step.depth] += 1
        values, stops = np.zeros((1, 0)), np.zeros(1, dtype=bool)
        if registers == ["symbol"]:
            values, stops = symbol[:V], np.broadcast_to(step.stop.values, V)
        elif registers:
            values, stops = np.array([[0.0], [1.0]]), np.array([False, True])
        at = np.concatenate([[0], np.repeat(here[1:], len(values))])
        flag_values = np.vstack([0 * values[:1], np.tile(values, (len(here) - 1, 1))])
        flags = np.concatenate([[False], np.tile(stops, len(here) - 1)])
        keys = {"j": j[at]} | dict.fromkeys(registers, flag_values)
        preference = (len(here) * flags + at)[None].astype(np.float64)
        yield States(step.depth, {}, keys, preference, at, head)


def _flag_registers(model: Transformer, layer: int, head: int) -> list[str]:
    """The registers that the keys of a head read, without the position."""
    attn = model.blocks[layer - 1].attn
    assert attn is not None
    read = attn.W_K[head].abs().sum(1)
    return [name for name in model.stream if name != "j" and read[model.stream[name]].any()]


def tables_written(model: Transformer, by: Program) -> Iterator[Finding]:
    """Checks that every truth table is exact for all symbols and bits that it reads, and 0 at BOS.

    The truth tables are the Boolean parts of the formula. The stream at BOS is a row of zeros.
    Together with the findings on score gaps, exact tables prove that the model is right at every
    length.  A table that depends only on the symbol is in the token embedding, and all other tables
    are in MLPs.
    """
    wrong, count, exact, stray = 0, 0, True, list[str]()
    for stage, table in _written(model, by):
        variables, states = _states(model, table)
        H = np.zeros((len(variables) + 1, model.d_model))  # the last row is BOS
        for register, values in states.items():
            H[:-1, model.stream[register]] = values
        after, alike = model.embed.W_E.numpy(), True
        if stage.after:
            mlp = model.blocks[stage.after - 1].mlp
            assert mlp is not None
            after, alike = after_mlp(mlp, H)
            stray += _reads_others(model, stage, states)
        entries = table.values[tuple(variables[:, v] for v in table.reads)]
        wanted = np.append(np.broadcast_to(entries, len(variables)), False)
        wrong += int((after[:, model.stream[stage.register]][:, 0] != wanted).sum())
        count, exact = count + len(H), exact and alike
    if count:
        yield Finding(
            "tables/weights",
            "the MLPs compute the truth tables for all symbols and bits, and 0 at BOS",
            "proved" if exact else "float",
            wrong,
            0,
            Verdict.of(wrong == 0 and not stray) if exact else Verdict.UNDECIDED,
            f"{wrong} of {count} entries are wrong",
            "none",
            stray[0] if stray else "",
        )


def bits_restored(model: Transformer, by: Program) -> Iterator[Finding]:
    """Checks that errors of 1/(4k) in the k bits that a truth table reads do not change it."""
    wrong, tried, exact, large = 0, 0, True, False
    V = model.interface.vocabulary_size
    for block in model.blocks:
        for made in block.restores:
            bits = sorted(int(n.removeprefix("since")) for n in made.within if n != "symbol")
            if V * 2 ** len(bits) > MOST_STATES:
                large = True
                continue
            table = TruthTable((0, *bits), np.zeros((V, *[2] * len(bits))))
            _, states = _states(model, table)
            H = np.zeros((V * 2 ** len(bits), model.d_model))
            for register, values in states.items():
                H[:, model.stream[register]] = values
            assert block.mlp is not None
            bad, alike = traces(block.mlp, model.stream, H, made)
            wrong, tried, exact = wrong + int(bad.sum()), tried + len(H), exact and alike
    if tried or large:
        decided = exact and (wrong or not large)
        yield Finding(
            "restored",
            "errors of up to 1/(4k) in the k bits that a truth table reads do not change its value",
            "proved" if exact else "float",
            wrong,
            0,
            Verdict.of(wrong == 0) if decided else Verdict.UNDECIDED,
            f"the value changes for {wrong} of {tried} inputs",
            "none",
        )


def _written(model: Transformer, by: Program) -> Iterator[tuple[Stage, TruthTable]]:
    """The tables that have a register, each with the stage that describes it."""
    tables = {formula: table for table, formula in by.tables.items()}
    for stage in model.stages:
        if stage.register.startswith("part"):
            assert isinstance(stage.holds, Holds)
            yield stage, tables.get(stage.holds.formula, by.answer)


def _states(model: Transformer, table: TruthTable) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """All values (states, variables) of the symbol and of the bits that a table reads.

    The second result maps names of registers to these values.
    """
    V, bits = model.interface.vocabulary_size, [v for v in table.reads if v]
    every = np.indices((V, *[2] * len(bits))).reshape(1 + len(bits), -1)
    variables = np.zeros((every.shape[1], max(bits, default=0) + 1), dtype=np.int64)
    variables[:, [0, *bits]] = every.T
    states = {"symbol": np.eye(V)[variables[:, 0]]}
    return variables, states | {f"since{v}": variables[:, [v]].astype(float) for v in bits}


def _reads_others(model: Transformer, stage: Stage, states: dict[str, np.ndarray]) -> Iterator[str]:
    """Messages for registers outside `states` that the ReLUs of a table read."""
    mlp = model.blocks[stage.after - 1].mlp
    assert mlp is not None
    neurons = (mlp.W_out[:, model.stream[stage.register]] != 0).any(1)
    for name in model.stream:
        if name not in states and mlp.W_in[model.stream[name]][:, neurons].any():
            yield f"ReLUs of {stage.register} read {name}"
