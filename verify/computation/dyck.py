"""The claim `dyck`: Dyck words of k types of brackets in four layers, at any depth of nesting."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Annotated

import numpy as np

from constructions.computation import dyck as construction
from constructions.transformer import Transformer
from theory.computation.dyck import (
    adversarial_words,
    brackets,
    is_dyck,
    random_dyck,
)
from theory.kinds import Count, read
from verify.claim import Run, claim, option
from verify.computation.options import Length, Samples
from verify.evidence.gaps import States, averaging, gap_finding, looking_up
from verify.evidence.restoring import (
    leak_bound,
    restored,
    same_as_hardmax,
    sharpness_at_two_lengths,
)
from verify.evidence.sequences import (
    LONGER,
    MOST_LONGER,
    answers_equal,
    computes,
    equal_over_q,
    registers_hold,
)
from verify.evidence.size import bits
from verify.evidence.statement import OverTokens
from verify.finding import Finding, labelled

CASES = (1, None), (2, None), (3, None), (1, 3), (2, 3)  # types and depth
MANY = 9, 4  # types and depth of longer words only
QUICK = 30  # length of words in a quick run
LEAST = 2.0**-20  # the smallest sharpness considered


@claim(
    picture="verify.computation.dyck_picture:draw",
    faults_seen=[
        {"types": 1, "max_length": 6, "samples": 8},
        {"types": 1, "depth": 1, "max_length": 6, "samples": 8},
        {"types": 2, "max_length": 6, "samples": 8},
        {"types": 3, "depth": 1, "max_length": 6, "samples": 8},
    ],
)
def dyck(
    run: Run,
    *,
    types: Annotated[
        int | None,
        option("number of types of brackets; by default several numbers are run", min=1, max=30),
    ] = None,
    depth: Annotated[
        int | None,
        option(
            "largest number of brackets that may be open at once; by default it is unbounded",
            min=1,
            max=10**4,
        ),
    ] = None,
    max_length: Length = 60,
    samples: Samples = 50,
) -> Iterator[Finding]:
    """For all k and T, four causal layers of one head output, after each symbol of words of at most
    T symbols, whether the prefix is a Dyck word of k types of brackets.

    The nesting depth (the number of brackets that are open at once) is unbounded.  A test of
    whether the nesting depth is at most a given bound takes no additional layer.  For every k the
    width is 11, and a layer has at most 4 ReLUs.  For one type of brackets, two layers of width 4
    suffice, without positional embeddings.  Softmax attention has the same outputs above an inverse
    temperature that does not depend on T.
    """
    given = read(Count, "types", 2 if types is None else types), depth
    several = CASES[::2] if run.quick else CASES
    max_length = run.limited(QUICK, max_length=max_length)
    for k, most in several if types is depth is None else (given,):
        statement = judges(run, k, most)
        model = statement.at(2 * k, max_length).model
        # The largest length for which there are at most 50 000 words.
        longest = {1: 12, 2: 7, 3: 6}.get(k, 3)
        precision = bits(model, max_length, "T")
        yield from computes(run, statement, 2 * k, max_length, samples, precision, 1, longest)
        yield from labelled(f"{statement.label}/words", _words(run, statement, k, most, model))
        for states in head_states(model):
            yield gap_finding(statement.label, model, states)
        yield from labelled(statement.label, softmax(run, statement, k, most, max_length))
    if types is depth is None:
        k, most = MANY
        statement = judges(run, k, most)
        model = statement.at(2 * k, max_length).model
        yield from labelled(f"{statement.label}/words", _words(run, statement, k, most, model))
    k, most = given
    word = random_dyck(1, min(max_length, 24), k, run.rng)[0]
    at = 2 * len(word) // 3
    word[at] = k + (word[at] + 1) % k  # a closing bracket, usually of a wrong type
    run.draw(judges(run, k, most).at(2 * k, len(word)).model, word, k)


def judges(run: Run, k: int, depth: int | None) -> OverTokens:
    """The statement that the construction `dyck` recognises the same Dyck words as a stack does."""
    return OverTokens(
        f"k={k}" + f",D={depth}" * (depth is not None),
        lambda V, n: run.build(construction, k, n, depth=depth),
        lambda words: is_dyck(words, k, depth).astype(int),
        symbols=2 * k,
        shown=lambda word: brackets(word, k),
        theorem="dyck-bounded" if depth is not None else "dyck" if k > 1 else "dyck-1",
        parameters={"k": k},
    )


def _words(
    run: Run, statement: OverTokens, k: int, depth: int | None, model: Transformer
) -> Iterator[Finding]:
    """Evidence on words that are nearly Dyck words."""
    n = model.interface.max_length
    families = adversarial_words(n, k, run.rng, depth)
    batches = [(model, rows) for rows in families.values()]
    length = max(n, min(LONGER * n, MOST_LONGER))
    if run.extends:
        more = adversarial_words(length, k, run.rng, depth)
        rows = np.concatenate([rows[:2] for rows in more.values()])
        batches.append((statement.at(2 * k, length).model, rows))
    yield answers_equal(
        "long",
        f"Dyck words, and words that are nearly Dyck words, of {n} and of {length} symbols",
        statement,
        batches,
        f" of {len(families)} families",
    )
    rows = np.concatenate([rows[:1] for rows in families.values()])
    yield equal_over_q(statement, model, rows, f"({n} symbols)")
    rows = np.concatenate([rows[:4] for rows in families.values()])
    yield registers_hold(statement, model, rows, f"({n} symbols)")


def head_states(model: Transformer) -> Iterator[States]:
    """Yields the queries and keys of the heads for averages, balances and matching brackets."""
    yield averaging(model, 1)
    if model.n_layers > 2:
        yield looked_up(model)
    if model.n_layers > 3:
        yield matched(model)
    yield averaging(model, model.n_layers)


def looked_up(model: Transformer) -> States:
    """The queries and keys of layer 2, whose head looks up position b, or position 0 if b < 0.

    b is the balance, with −N < b < N at a token that attends to N tokens.
    """
    most = model.interface.context
    pairs = ((N, b) for N in range(1, most + 1) for b in range(1 - N, N))
    N, b = map(np.array, zip(*pairs, strict=True))
    queries = {"average": b.astype(np.float64), "inverse": np.ones(len(b))}
    return looking_up(model, 2, queries, np.maximum(b, 0), line=("j", "square"), over=N)


def matched(model: Transformer) -> States:
    """The queries and keys of layer 3, whose head looks up the opening bracket that matches.

    The matching bracket is the latest opening bracket at which the balance is 1 more than the
    present balance. If no opening bracket matches, the head looks up BOS.
    """
    context = model.interface.context
    b = np.arange(context, dtype=np.float64)
    listed = [(0, 0, 0.0, 1.0)]
    listed += [(j, c, s, 0.0) for j in range(1, context) for c in range(j + 1) for s in (1.0, -1.0)]
    j, c, sign, bos = map(np.array, zip(*listed, strict=True))
    right = (c == b[:, None] + 1) & (sign > 0)
    preference = np.where(right, j, np.where(bos > 0, 0.0, -np.inf))
    keys = {"balance": c, "balance_square": c**2, "sign": sign, "bos": bos, "j": j}
    keys = {name: values.astype(np.float64) for name, values in keys.items()}
    return States(3, {"balance": b, "balance_square": b**2}, keys, preference, j)


def softmax(
    run: Run, statement: OverTokens, k: int, depth: int | None, max_length: int
) -> Iterator[Finding]:
    """Checks that the MLPs remove softmax errors at one sharpness, for words of all lengths."""
    model = statement.at(2 * k, max_length).model
    for layer, states in inexact(model, k).items():
        yield restored(
            f"softmax/restored/layer-{layer}",
            f"the MLP of layer {layer} removes errors of up to a quarter in its input registers",
            model,
            layer,
            states,
        )
    bound, wanted = sharpness_stated(k, depth)
    build = lambda T: statement.at(2 * k, T).model  # noqa: E731
    yield sharpness_at_two_lengths("softmax/sharpness", build, max_length, bound, wanted)
    short = min(max_length, 12)
    rows = np.concatenate([r[:1] for r in adversarial_words(short, k, run.rng, depth).values()])
    yield same_as_hardmax("softmax/same", build(short), rows[:4])


def inexact(model: Transformer, k: int) -> dict[int, dict[str, np.ndarray]]:
    """For each layer, the exact contents of registers that its MLP reads and that may have errors.

    The contents are integer balances and differences of types, at opening and closing brackets and
    at BOS. The register `error` contains averages, which are 0 or above 1/C, where C exceeds the
    number of tokens. A few values of `error` suffice, since the step function that reads it is
    monotone.
    """
    T = model.interface.max_length
    b, least = range(T + 1), 2.0 ** -(T + 1).bit_length()
    found = dict[int, dict[str, np.ndarray]]()
    if model.n_layers > 2:
        found[2] = _listed(("balance",), ((each,) for each in b))
        rest = product((0.0, least, 1.0, 4.0), b)
        found[model.n_layers] = _listed(("error", "balance"), rest)
    if model.n_layers > 3:
        kinds = (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0)
        states = ((s, bos, off) for s, bos in kinds for off in differences(k).tolist())
        found[3] = _listed(("sign", "bos", "type"), states)
    return {layer: found[layer] for layer in sorted(found) if model.blocks[layer - 1].restores}


def differences(k: int) -> np.ndarray:
    """All differences of two of k types of brackets."""
    return np.arange(1 - k, k)


def _listed(names: tuple[str, ...], states: Iterator[tuple[float, ...]]) -> dict[str, np.ndarray]:
    columns = np.array([*states], dtype=np.float64)
    return {name: columns[:, [i]] for i, name in enumerate(names)}


def sharpness_stated(k: int, depth: int | None) -> tuple[float, str]:
    """The sharpness that is stated to suffice for k types of brackets.

    At this sharpness, the head of layer 3 puts an attention weight of at most 1/(8(k − 1)) on
    tokens other than the token that it looks up.
    """
    if k > 1:
        return leak_bound(1 / (8 * (k - 1))), f"ln(32(k − 1) + 2) for k = {k} types of brackets"
    return (1.0, "") if depth is not None else (LEAST, "2^−20, the smallest β of the search")
