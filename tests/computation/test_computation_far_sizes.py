"""Computations with many machines, types, states, symbols and gates, against definitions."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from refusals import rejects
from registers import registers_are_right

from constructions import computation as c
from constructions.computation import circuit_evaluator, pram
from theory import computation as t
from theory.computation.benchmark_automata import bounded_dyck, cyclic_with_reset
from theory.computation.components import enough_steps
from theory.computation.counting import counting_words, random_formula
from theory.computation.dyck import adversarial_words
from theory.computation.message_passing import message_round
from theory.computation.subcubes import largest_constant_subcube
from verify.claim import Run
from verify.computation.components import enough
from verify.computation.components import steps as steps_of_paths
from verify.computation.counting import words_of


def rng(n=0):
    return np.random.default_rng(n)


@pytest.mark.parametrize("s", [9, 13])
def test_transposing_large_matrices(s):
    """Every received register, in the program and in its model."""
    matrix = rng(s).integers(100, size=(s, s))
    program = t.transpose(s, 99)
    columns = [matrix[None, :, k] for k in range(s)]
    *_, held = program.run(*columns)
    found = np.stack([held[f"w{k}"][0] for k in range(1, s + 1)], axis=-1)
    assert (found == matrix.T).all()
    assert (pram(program)(*columns).numpy()[0] == matrix.T[:, 0]).all()


@pytest.mark.parametrize(("n", "s"), [(40, 17), (300, 20), (65, 64), (12, 33)])
def test_sums_with_many_slots(n, s):
    x = rng(n).integers(1000, size=(2, n))
    program = t.tree_sum(n, s, 999)
    *_, held = program.run(x)
    assert (held["x"][:, 0] == x.sum(-1)).all()
    assert program.repeat == next(r for r in range(20) if s**r >= n)


def test_a_round_of_many_messages():
    """Six messages for each of five machines; what is not sent is 0."""
    words = tuple(f"w{k}" for k in range(12))
    names = [f"m{i}" for i in range(6)]
    step = message_round({name: f"to {name}" for name in names}, words)
    places = 12 + rng().permutation(60)[:30].reshape(6, 5)  # machines 1, …, 5
    program = t.Program(
        "round", 5, inputs=tuple(names), answer="w0", steps=(step,),
        initial={f"to {m}": tuple(row.tolist()) for m, row in zip(names, places, strict=True)},
        most=100,
    )  # fmt: skip
    sent = rng(1).integers(1, 100, size=(6, 5))
    *_, held = program.run(*sent[:, None])
    wanted = np.zeros(60, dtype=int)
    wanted[places - 12] = sent
    found = np.stack([held[word][0] for word in words], axis=-1)
    assert found.ravel().tolist() == wanted.tolist()


@pytest.mark.parametrize(("fan_in", "base"), [(11, 7), (40, None), (9, 2)])
def test_rounds_of_many_messages(fan_in, base):
    draw = rng(fan_in)
    N = 25
    Q, K = draw.integers(-9, 10, size=(2, N, 3)).tolist()
    V = [[Fraction(int(x), 7) for x in row] for row in draw.integers(-9, 10, size=(N, 2))]
    seen = (draw.random((N, N)) < 0.3) | np.eye(N, dtype=bool)
    found, cluster = t.attention_in_rounds(Q, K, V, seen.tolist(), fan_in, base)
    for i, row in enumerate(found):
        scores = {j: sum(a * b for a, b in zip(Q[i], K[j], strict=True)) for j in range(N)}
        scores = {j: score for j, score in scores.items() if seen[i, j]}
        top = max(scores.values())
        weights = {
            j: Fraction(base) ** (score - top) if base else Fraction(score == top)
            for j, score in scores.items()
        }
        total = sum(weights.values())
        assert row == [sum(w * V[j][c] for j, w in weights.items()) / total for c in range(2)]
    assert cluster.busiest <= fan_in


@pytest.mark.parametrize("depth", [1, 5, 9, 40])
def test_counters_of_open_brackets(depth):
    words = rng(depth).integers(2, size=(8, 150))
    words[:4, ::2] = 0  # words that go far up
    words[4:6] = np.arange(150) % (2 * depth + 2) > depth
    found = bounded_dyck(depth).run(words)
    for word, states in zip(words.tolist(), found.tolist(), strict=True):
        level = 0
        for symbol, state in zip(word, states, strict=True):
            if level is not None:
                level += 1 - 2 * symbol
                level = level if 0 <= level <= depth else None
            assert state == (depth + 1 if level is None else level)


@pytest.mark.parametrize("m", [1, 4, 17, 40])
def test_counters_that_are_reset(m):
    words = (rng(m).random((5, 200)) < 0.05).astype(int)
    for word, states in zip(words.tolist(), cyclic_with_reset(m).run(words).tolist(), strict=True):
        since = 0
        for symbol, state in zip(word, states, strict=True):
            since = 0 if symbol else since + 1
            assert state == since % m


@pytest.mark.parametrize("k", [1, 4, 5, 30, 101])
def test_texts_of_many_brackets(k):
    word = rng(k).integers(2 * k, size=60)
    text = t.brackets(word, k)
    if k <= 4:
        assert text == "".join("([{<)]}>"[a + (4 - k) * (a >= k)] for a in word)
        assert t.read_brackets(text, k) == word.tolist()
    else:
        parts = [f"({a}" if a < k else f"{a - k})" for a in word.tolist()]
        assert text.replace(" ", "") == "".join(parts).replace(" ", "")
    with rejects("word"):
        t.brackets([2 * k], k)


@pytest.mark.parametrize("V", [1, 2, 5, 33, 130])
def test_unary_codes(V):
    words = rng(V).integers(V, size=(2, 3, 9))
    found = t.unary(words, V).astype(int)
    assert found.shape == (2, 3, 9 * (V - 1))
    for word, bits in zip(
        words.reshape(-1, 9).tolist(), found.reshape(6, -1).tolist(), strict=True
    ):
        assert bits == [int(x > v) for x in word for v in range(V - 1)]


@pytest.mark.parametrize(("states", "symbols"), [(1, 2), (33, 20), (3, 130), (70, 9)])
def test_random_machines(states, symbols):
    machine = t.random_machine(states, symbols, 1)
    rules = machine.rules
    assert [(q, a) for q in range(states) for a in range(symbols) if rules[q][a] is None] == [
        (states - 1, symbols - 1)
    ]
    drawn = [rule for row in rules for rule in row if rule is not None]
    after, written, moves = ({*each} for each in zip(*map(tuple, drawn), strict=True))
    assert after <= {*range(states)}
    assert written <= {*range(symbols)}
    if states * symbols > 500:
        assert (len(after), len(written), len(moves)) == (states, symbols, 2)


@pytest.mark.parametrize(("n", "G"), [(12, 30), (33, 5), (1, 40)])
@pytest.mark.parametrize("nand", [False, True])
def test_circuits_with_many_inputs(n, G, nand):
    of = t.random_circuit(n, G, 3, [7] if nand else range(16))
    inputs = rng(n).integers(2, size=(4, n))
    model = circuit_evaluator(n, G, nand=nand)
    found = model.generate(model.interface.prompt(of, inputs), G).tolist()
    for x, row in zip(inputs.tolist(), found, strict=True):
        for gate in of.gates:
            x.append(gate.table >> (2 * x[gate.left] + x[gate.right]) & 1)
        assert row == x[n:]


@pytest.mark.parametrize(("V", "n"), [(5, 4), (9, 3), (2, 10), (40, 1)])
def test_largest_constant_subcubes(V, n):
    """The largest number of free symbols, by all subcubes."""
    values = (rng(V).random(V**n) < 0.9).astype(int)
    cube, found = values.reshape((V,) * n), 0
    for fixed in product([None, *range(V)], repeat=n):
        free = fixed.count(None)
        if free > found:
            part = cube[tuple(slice(None) if x is None else x for x in fixed)]
            found = free if (part == part.flat[0]).all() else found
    subcube = largest_constant_subcube(values, V)
    assert subcube.dimension == found


@pytest.mark.parametrize(("V", "T"), [(2, 12), (9, 40), (33, 66), (20, 7)])
def test_words_whose_counts_nearly_tie(V, T):
    found = counting_words(V, T, 0)
    runs = found["equal runs"]
    lengths = [Counter(word) for word in runs.tolist()]
    for word, counts in zip(runs.tolist(), lengths, strict=True):
        assert len([i for i in range(T) if i == 0 or word[i] != word[i - 1]]) == min(V, T)
        assert max(counts.values()) - min(counts.values()) <= 1
    for family, words in found.items():
        assert words.shape[1] == T, family
        assert words.min() >= 0, family
        assert words.max() < V, family
    for word in found["shuffled"].tolist():
        assert max(Counter(word).values()) - min(Counter(word).values()) <= 1


PERMUTED = t.Semiautomaton(tuple(tuple(rng(a).permutation(7).tolist()) for a in range(3)))
FAR_MODELS = {
    "majority": (lambda: c.majority(300), 2, 300),
    "gated majority": (lambda: c.majority(300, gate=True), 2, 300),
    "automaton": (lambda: c.semiautomaton(PERMUTED, 70), 3, 70),
    "robust automaton": (lambda: c.semiautomaton(PERMUTED, 40, form="robust"), 3, 40),
    "shortcut": (lambda: c.shortcut(t.product(t.cyclic(5), t.gridworld(4)), 200), 2, 200),
    "walk": (lambda: c.gridworld_walk(20, 130, start=3), 2, 130),
}


@pytest.mark.parametrize("name", FAR_MODELS)
def test_layer_invariants_of_long_words(name):
    """Random words, words of one symbol, and words of two runs of equal length."""
    build, V, T = FAR_MODELS[name]
    words = rng(T).integers(V, size=(6, T))
    words[1], words[2], words[3] = 0, V - 1, (np.arange(T) < T // 2) * (V - 1)
    words[4] = V - 1 - words[3]
    registers_are_right(build(), words)


@pytest.mark.parametrize("length", [1, 60, 61, 130, 1000])
def test_long_words_on_a_tape(length):
    machine = t.random_machine(3, 5, 0)
    word = rng(length).integers(1, 5, size=length).tolist()
    steps = machine.writing(word)
    tape, head, state = machine.configuration(steps)
    assert len(steps) == length + 1
    assert [tape.get(head + i, 0) for i in range(-1, length + 1)] == [0, *word, 0]
    assert state == machine.start


@pytest.mark.parametrize("n", [1, 2, 3, 8, 512, 4096, 10**9])
def test_steps_that_are_enough(n):
    """A message along an edge takes two steps, and a path of n nodes has n − 1 edges."""
    assert enough_steps(n) == 2 * n - 2


def test_numbers_of_steps_are_compared_with_those_that_are_enough():
    for found in (enough(Run(quick=True)), steps_of_paths(Run(quick=True))):
        assert found.bound == {key: 2 * int(key[4:]) - 2 for key in found.measured}


@pytest.mark.parametrize("n", [6, 40])
def test_words_that_nearly_close(n):
    """Words on which the claim on Dyck words runs: deep ones, ones that close, ones that fail."""
    words = np.concatenate(words_of(Run(), "dyck-1", 2, n, 3))
    depth = np.cumsum(1 - 2 * words, axis=1)
    assert (depth.min(1) >= 0).any()
    assert depth.max() >= n // 2
    closes = (depth[:, -1] == 0) & (depth.min(1) >= 0)
    assert closes.any()
    assert ((depth[:, -1] == 0) & (depth.min(1) == -1)).any()
    others = sum(map(len, words_of(Run(), "majority", 2, n, 3)))
    nearly = sum(map(len, adversarial_words(n, 1, 0).values()))
    assert len(words) == others + nearly


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: random_formula("aa", 1, 0), "alphabet"),
        (lambda: circuit_evaluator(2, 2).interface.prompt("x", [[0, 1]]), "circuit"),
        (lambda: c.semiautomaton(t.cyclic(2), 4, sharpness=9.0), "sharpness"),
        (lambda: c.shortcut(t.cyclic(2), 4, sharpness=9.0), "sharpness"),
    ],
)
def test_what_is_refused(call, name, unchecked):
    with rejects(name):
        call()
