"""The smallest score gap of a head over all prompts, from its weights.

A head's score depends only on the registers that it reads.  If these take finitely many values, all
pairs of a query and a key that occur in any prompt are listed, with the keys that the proof
prefers; the gap is the smallest difference between the scores of a preferred key and of a key that
must not be attended to.  Registers with embedded values are listed as in the embedding, and no
earlier layer may write to them; registers that a layer computes are listed as in its invariant.
Scores are computed in float64 and checked to be exact: scores, sums and differences are integer
multiples of a power of two, below 2^52 times this power.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from constructions.blocks import Block, plural
from constructions.exactness import quantum_of
from constructions.transformer import Transformer
from verify.finding import Finding, Verdict

Values = Mapping[str, np.ndarray]
ALL = slice(None)


@dataclass(frozen=True)
class States:
    """The possible queries and keys of a head in layer `layer` (counted from 1).

    queries, keys  map each register that the head reads to the register's values,
                   a row for each state
    preference     (queries, keys): the head must attend to the visible keys of largest
                   preference; −inf marks keys to which it must never attend
    position       (keys,): states of one position exclude each other
    over           (queries,): the real queries are the rows of `queries` divided by `over`, the
                   number of averaged tokens; so the rows are integers
    changed        embedded registers to which earlier layers add; `queries` and `keys` contain the
                   sums.  Earlier layers must not write to other embedded registers, unless
                   queries are averages
    """

    layer: int
    queries: Values
    keys: Values
    preference: np.ndarray
    position: np.ndarray
    head: int = 0
    over: np.ndarray | None = None
    changed: tuple[str, ...] = ()


def at_positions(model: Transformer, *registers: str, at: slice | np.ndarray = ALL) -> Values:
    """The values of registers at the positions `at`, from the embedding of positions."""
    assert model.pos_embed is not None
    W_pos = model.pos_embed.W_pos.numpy()[at]
    return {name: W_pos[:, model.stream[name]] for name in registers}


def at_tokens(model: Transformer, *registers: str, tokens: np.ndarray | slice = ALL) -> Values:
    """The values of registers at the tokens `tokens`, from the embedding of tokens."""
    W_E = model.embed.W_E.numpy()[tokens]
    return {name: W_E[:, model.stream[name]] for name in registers}


def looking_up(
    model: Transformer,
    layer: int,
    queries: Values,
    wanted: np.ndarray,
    head: int = 0,
    *,
    line: tuple[str, ...] = ("place", "norm"),
    at: slice = ALL,
    over: np.ndarray | None = None,
) -> States:
    """The states of a head that attends to given positions.

    The registers `line` contain the lattice points or the numbers of positions
    (`tokens/positions.py`). Query number q sees all positions `at`, and must attend to the position
    with index wanted[q] in `at`.
    """
    keys = at_positions(model, *line, at=at)
    here = np.arange(len(keys[line[0]]))
    preference = np.where(wanted[:, None] == here, 0.0, -np.inf)
    return States(layer, queries, keys, preference, here, head, over)


def counting(
    model: Transformer,
    layer: int,
    fractions: Mapping[str, float],
    inverse: str,
    line: tuple[str, str],
    head: int = 0,
) -> States:
    """The states of a head that attends to position k, given the fractions k/N and 1/N.

    Here N is the number of tokens that the query sees, and k < N of these tokens are counted
    (`tokens/heads.py`). The states cover all N up to the number of positions and all k < N. The
    query's registers in `fractions` contain fractions[name]·k/N, and the register `inverse`
    contains 1/N.
    """
    assert model.pos_embed is not None
    count = len(model.pos_embed.W_pos)
    N, k = np.divmod(np.arange(count * count), count)
    N, k = N[k <= N] + 1, k[k <= N]
    queries = {name: factor * k for name, factor in fractions.items()} | {inverse: np.ones(len(k))}
    return looking_up(model, layer, queries, k, head, line=line, over=N)


def averaging(model: Transformer, layer: int, head: int = 0) -> States:
    """The single state of a head that averages over all tokens that it sees."""
    return States(layer, {}, {}, np.zeros((1, 1)), np.zeros(1), head)


def gap_finding(label: str, model: Transformer, states: States) -> Finding:
    """The finding that a head's declared margin is at most its smallest score gap.

    If the margin is declared as graded, the finding also requires graded scores: for every integer
    m ≥ 1, at most 4·m keys have scores from m to m + 1 margins below the score of the right key.
    """
    declared = model.blocks[states.layer - 1].margins[states.head]
    stray = _reads_others(model, states)
    id = f"{label}/gap/layer-{states.layer}" + f"-head-{states.head + 1}" * (states.head > 0)
    id = id.replace(" ", "-")
    name = f"{label}: layer {states.layer}, head {states.head + 1}, " + (
        "scores of all visible keys"
        if declared.gap == np.inf
        else "smallest score gap between a right key and a wrong key"
    )
    if stray:
        return Finding(
            id,
            name,
            "proved",
            "different",
            declared.gap,
            Verdict.FAILS,
            "not all reads listed",
            "",
            stray,
        )
    scores, exact = _scores(model, states)
    gap, tie, crowd, shared = _measured(scores, states, declared.gap)
    holds = gap >= declared.gap and tie == 0 and (not declared.graded or crowd <= 1)
    holds = holds and (declared.ties or not shared)
    if holds and declared.graded and declared.gap < np.inf:
        exact = exact and bool(np.frexp(declared.gap)[0] == 0.5)  # distances are divided by it
    pairs, wanted = plural(scores.size, "query–key pair"), f"at least {declared.gap:g}"
    words = f"no wrong key, over {pairs}"
    if declared.gap == np.inf:
        words = "all equal" + f", over {pairs}" * (scores.size > 1)
    if gap < np.inf:
        words = f"{gap:g}, over {pairs}"
        if declared.graded:
            g = "" if declared.gap == 1 else f"{declared.gap:g}·"
            last = f"{g}(m + 1)" if g else "m + 1"
            words += (
                f"; for every integer m ≥ 1, at most {4 * crowd:.2g}·m keys have a score that is "
                f"lower than that of the right key by at least {g}m and less than {last}"
            )
            wanted = f"a gap of {wanted}, and at most 4·m such keys for every m"
    detail = f"gap {gap}, keys that should tie differ by {tie}, crowd {crowd}, ties: {shared}"
    return Finding(
        id,
        name,
        "proved" if exact else "float",
        gap,
        declared.gap,
        Verdict.of(holds) if exact else Verdict.UNDECIDED,
        words,
        wanted if declared.gap < np.inf else "equal",
        "" if holds and exact else detail + "; float64 rounds these scores" * (not exact),
    )


def _measured(
    scores: np.ndarray, states: States, declared: float
) -> tuple[float, float, float, bool]:
    """The measured numbers of a gap finding.

    They are the smallest gap, the largest difference between the scores of keys that should tie,
    the largest ratio of a number of keys to the number 4·m that graded scores allow (`_crowd`), and
    whether any keys should tie.
    """
    gap, tie, crowd, shared = np.inf, 0.0, 0.0, False
    _, place = np.unique(states.position, return_inverse=True)
    over = np.ones(len(scores)) if states.over is None else states.over
    for row, preference, N in zip(scores, states.preference, over, strict=True):
        # Only one state of a position occurs in a prompt: the one with the largest score counts.
        below = np.full(place.max() + 1, -np.inf)
        never = preference == -np.inf
        np.maximum.at(below, place[never], row[never])
        by_preference = np.flatnonzero(~never)[np.argsort(preference[~never], kind="stable")]
        levels = np.flatnonzero(np.diff(preference[by_preference])) + 1
        for keys in np.split(by_preference, levels):
            right, lower = row[keys], below[below > -np.inf]
            tie, shared = max(tie, float(np.ptp(right))), shared or bool(np.ptp(place[keys]))
            if lower.size:
                gap = min(gap, float((right.min() - lower.max()) / N))
                crowd = max(crowd, _crowd((right.min() - lower) / N / declared))
            np.maximum.at(below, place[keys], right)
    return gap, tie, crowd, shared


def _scores(model: Transformer, states: States) -> tuple[np.ndarray, bool]:
    """The scores (queries, keys), and whether they are exact in float64."""
    attn = model.blocks[states.layer - 1].attn
    assert attn is not None
    sides, exact = list[np.ndarray](), True
    queries, keys = (states.queries, attn.W_Q, attn.b_Q), (states.keys, attn.W_K, attn.b_K)
    for count, (values, W, b) in zip(states.preference.shape, (queries, keys), strict=True):
        rows = np.zeros((count, model.d_model + 1))
        rows[:, -1] = 1 if states.over is None or values is not states.queries else states.over
        for name, held in values.items():
            rows[:, model.stream[name]] = held.reshape(count, -1)
        weights = np.vstack([W[states.head].numpy(), b[states.head].numpy()])
        side, alike = exact_product(rows, weights)
        sides, exact = [*sides, side], exact and alike
    scores, alike = exact_product(sides[0], sides[1].T)
    return scores, exact and alike


def exact_product(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, bool]:
    """The product A B in float64, and whether it is exact.

    The product is exact if all partial sums are multiples of one power of two and are below 2^52
    times this power.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        unit = float(quantum_of(A).min(initial=np.inf) * quantum_of(B).min(initial=np.inf))
        most = float((abs(A) @ abs(B)).max(initial=0.0))
        # A unit below the normal numbers, such as 0, would be rounded to 0.
        normal = unit >= np.finfo(float).smallest_normal
        return A @ B, bool(normal and most < 2.0**52 * unit and np.isfinite(most))


def _reads_others(model: Transformer, states: States) -> str:
    """A read of the head whose values are not listed, in words; empty if there is none.

    It may be a read of another register, of a register to which both a token's symbol and its
    position add, or of an embedded register that a layer changes.
    """
    attn = model.blocks[states.layer - 1].attn
    if attn is None:
        return f"layer {states.layer} has no heads"
    W_E, W_pos = model.embed.W_E, None if model.pos_embed is None else model.pos_embed.W_pos
    for side, values, W in (("query", states.queries, attn.W_Q), ("key", states.keys, attn.W_K)):
        read = np.abs(W[states.head].numpy()).max(axis=1)
        for name in model.stream:
            at = model.stream[name]
            if not read[at].any():
                continue
            if name not in values:
                return f"the {side} of layer {states.layer} reads register {name}"
            if W_pos is not None and (W_pos[:, at].any() and W_E[:, at].any()):
                return f"both tokens and positions write to register {name}"
            if name in states.changed or (side == "query" and states.over is not None):
                continue
            if W_E[:, at].any() or (W_pos is not None and W_pos[:, at].any()):
                for number, block in enumerate(model.blocks[: states.layer - 1], start=1):
                    if _writes(block, at):
                        return f"layer {number} writes to the embedded register {name}"
    return ""


def _writes(block: Block, at: slice) -> bool:
    """Whether a layer may change these coordinates of the stream."""
    outputs = [] if block.attn is None else [block.attn.W_O]
    outputs += [] if block.mlp is None else [block.mlp.W_out, block.mlp.b_out]
    return block.norm is not None or any(bool(W[..., at].any()) for W in outputs)


def _crowd(distances: np.ndarray) -> float:
    """The maximum over integers m of (number of distances in [m, m + 1))/(4·max(m, 1))."""
    level, count = np.unique(np.floor(distances), return_counts=True)
    return float((count / (4 * np.maximum(level, 1))).max())
