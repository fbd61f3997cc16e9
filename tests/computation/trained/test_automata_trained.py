"""The claim `automata-trained`: on shipped models, on built ones in their place, and on others."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import semiautomaton, shortcut
from constructions.trained import (
    PatchedAttention,
    RedirectedAttention,
    load,
    preset,
    untrained,
)
from constructions.trained.tasks.automata import Automata
from theory.computation import benchmark_automaton
from verify.claim import Run
from verify.computation.trained import attention, mechanisms
from verify.computation.trained.attention import Words
from verify.computation.trained.automata_trained import automata_trained, findings_of, right
from verify.computation.trained.last_symbols import SYMBOLS, by_last_symbols
from verify.computation.trained.mechanisms import Subject
from verify.computation.trained.planted import built
from verify.evidence.checkpoints import Trained
from verify.finding import Verdict
from verify.interpret.linear_probes import discriminated, explained

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED
T = 20
FLIP_FLOP = "automata-small-4-layers-flip-flop-stay0.8-seed0"


@dataclass(frozen=True)
class FromStart(Automata, kind="automata-from-place-0"):
    """The same words at place 0, as built models read them: no token before a word is known."""

    def sequences(self, count, generator):
        symbols, states = self.random_words(count, generator)
        return symbols, states.where(torch.arange(2 * self.length) < self.length, -1)


def subject(model, automaton, task=None, count=40):
    stay = 0.8 if automaton == "flip-flop" else None
    task = task or FromStart(automaton, T, stay)
    null = untrained(preset("automata", automaton=automaton, seed=5)).requires_grad_(False)
    return Subject(model, null, task, np.random.default_rng(0), count, 300, 40)


def verdicts(model, automaton, **more):
    return {each.id: each.verdict for each in findings_of(subject(model, automaton, **more))}


def words_of(task, count=40):
    drawn = task.sequences(count, torch.Generator().manual_seed(0))
    return Words(*(each.numpy() for each in drawn))


BUILT = {
    # automaton, builder: what does not hold of it, or of a null model, too
    ("parity", shortcut): {"counter/count"},
    ("S3", shortcut): {f"doubling/layer-{layer}" for layer in (1, 2, 3, 4)},
    ("S3", semiautomaton): {"counter/even"},
    ("A5", semiautomaton): set(),
}


@pytest.mark.parametrize(("automaton", "build"), BUILT)
def test_built_models_have_what_was_built(automaton, build):
    found = verdicts(build(benchmark_automaton(automaton), 2 * T), automaton)
    lost = {id for id, verdict in found.items() if verdict is not HOLDS}
    assert lost == BUILT[automaton, build]
    assert {id.split("/")[0] for id in found} > {"right", "learnt"}


@pytest.mark.parametrize(
    ("automaton", "lost"),
    [("parity", set()), ("flip-flop", set()), ("dyck-2", {"flip-flop/attends"})],
)
def test_models_planted_by_the_self_test_have_what_is_asked_at_random_places(automaton, lost):
    task = Automata(automaton, T, 0.8 if automaton == "flip-flop" else None)
    ((_, model, _),) = built([Trained("", None, task)])
    found = verdicts(model, automaton, task=task)
    assert {id for id, verdict in found.items() if verdict is not HOLDS} == lost


@pytest.mark.parametrize(
    "automaton", ["flip-flop", *(pytest.param(a, marks=pytest.mark.slow) for a in ("parity", "S3"))]
)
def test_untrained_models_have_nothing(automaton):
    task = Automata(automaton, T, 0.8 if automaton == "flip-flop" else None)
    null = untrained(preset("automata", automaton=automaton)).requires_grad_(False)
    found = verdicts(null, automaton, task=task)
    kept = {id for id, verdict in found.items() if verdict is HOLDS}
    assert kept == set()


def test_a_built_model_that_is_none(monkeypatch):
    """What is measured has to be all there in the built model."""
    model = shortcut("flip-flop", 2 * T)
    dull = untrained(preset("automata", automaton="flip-flop")).requires_grad_(False)
    monkeypatch.setattr(
        "verify.computation.trained.mechanisms.shortcut", lambda machine, length: dull
    )
    found = verdicts(model, "flip-flop")
    assert found["flip-flop/attends"] is found["flip-flop/redirected"] is FAILS
    assert found["right/beyond"] is HOLDS


def test_a_table_that_knows_all_makes_it_undecided(monkeypatch):
    module = "verify.computation.trained.automata_trained.by_last_symbols"
    monkeypatch.setattr(module, lambda others, words, outside: words.states)
    of = subject(shortcut("parity", 2 * T), "parity")
    for where, words in (("within", of.within), ("beyond", of.long.after(T))):
        share, more = right(of, where, words, of.choosing)
        assert share.verdict is UNDECIDED
        assert more.verdict is not HOLDS


# ---------------------------------------------------------------- words and places


@pytest.mark.parametrize("name", ["parity", "flip-flop"])
def test_symbols_of_probability_0_are_never_drawn(name, monkeypatch):
    """Also where the uniform number, which is at least 0 and below 1, is 0."""
    monkeypatch.setattr("torch.rand", lambda size, **_: torch.zeros(size))
    words, _ = Automata(automaton=name, length=5, stay=0.0).random_words(3, 0)
    assert (words == 1).all()


def test_words():
    words = words_of(Automata("S3", T))
    assert words.inside.sum(1).tolist() == [T] * 40
    assert words.inside[np.arange(40), words.last].all()
    assert (words.last == words.inside.argmax(1) + T - 1).all()
    assert (words.after(T).states[:, :T] == -1).all()
    assert len(words.first(3).tokens) == 3
    again = words.permuted(np.random.default_rng(0))
    assert (again != words.tokens).any(1).all()
    assert (np.where(words.inside, 0, again) == np.where(words.inside, 0, words.tokens)).all()
    for old, new, inside in zip(words.tokens, again, words.inside, strict=True):
        assert sorted(old[inside]) == sorted(new[inside])


@pytest.mark.parametrize(("automaton", "writes"), [("flip-flop", {1, 2}), ("dyck-2", {0, 1})])
def test_the_latest_symbol_that_gives_something(automaton, writes):
    words = words_of(Automata(automaton, T))
    gave = attention.set_before(benchmark_automaton(automaton), words)
    places, rng = attention.latest(gave), np.random.default_rng(0)
    drawn = [attention.some(gave, rng) for _ in range(30)]
    for row, (tokens, inside) in enumerate(zip(words.tokens, words.inside, strict=True)):
        for i in range(2 * T):
            before = [j for j in range(i) if inside[j] and tokens[j] in writes]
            asked = inside[i] and (writes == {0, 1} or tokens[i] not in writes) and before
            assert places[row, i] == (before[-1] if asked else -1)
            assert {each[row, i] for each in drawn} <= (set(before) if asked else {-1})
    spread = np.array(drawn)[:, gave.sum(-1) == 5]
    assert np.mean([len(set(column)) for column in spread.T]) > 4.9


def test_maps_of_the_last_symbols():
    machine, words = benchmark_automaton("A5"), words_of(Automata("A5", T))
    for symbols in (1, 4, T):
        found = attention.maps(machine, words, symbols)
        for tokens, last, images in zip(words.tokens, words.last, found, strict=True):
            assert tuple(images) == machine.map_of(tokens[last + 1 - symbols : last + 1].tolist())
    # The last symbol alone does not determine the map of the last two.
    images, said = attention.maps(machine, words, 2), words.tokens[np.arange(40), words.last]
    counts = [np.unique(images[said == a], axis=0, return_counts=True)[1] for a in (0, 1)]
    known = mechanisms.by_shorter(machine, words, words, 2)
    assert known == sum(each.max() for each in counts) / 40 < 1


def test_even_attention():
    words = words_of(Automata("parity", T))
    model = untrained(preset("automata")).requires_grad_(False)
    flat = attention.uniform(model, 1, words, 2)
    start = words.inside.argmax(1)
    for row, first in enumerate(start):
        assert not flat[row, :first].any()
        for i in range(first, 2 * T):
            assert flat[row, i, first : i + 1].tolist() == [1 / (i + 1 - first)] * (i + 1 - first)
            assert flat[row, i].sum() == pytest.approx(1)
    # Of a built model BOS is seen, and the symbol itself is not.
    flat = attention.uniform(shortcut("parity", 2 * T), 1, words_of(FromStart("parity", T)), 2)
    assert flat.shape[1:] == (41, 41)
    assert flat[0, 3].tolist() == [1 / 3] * 3 + [0] * 38


def test_given_patterns():
    heads = load(FLIP_FLOP).blocks[0].attn
    H = torch.randn(3, 5, 64, generator=torch.Generator().manual_seed(0))
    alone = RedirectedAttention(heads, np.full((3, 5), -1))
    assert torch.allclose(alone(H, 0), heads(H, 0), atol=1e-6)
    places = np.array([[0, 0, 1, 3, -1]] * 3)
    looked = RedirectedAttention(heads, places)
    shown = looked.pattern(H, 0)
    assert torch.equal(shown[:, :, 4], heads.pattern(H, 0)[:, :, 4])
    assert (shown[:, :, 3, 3] == 1).all()
    carried = sum(H[:, 1] @ heads.W_V[h] @ heads.W_O[h] for h in range(4))
    assert torch.allclose(looked(H, 0)[:, 2], carried, atol=1e-5)
    assert torch.allclose(looked.after(H, 0), H + looked(H, 0))
    half = PatchedAttention(heads, np.full((3, 5, 5), 0.2))
    assert torch.allclose(half(H, 0)[:, 0], half(H, 0)[:, 4], atol=1e-6)


def test_patterns_of_context_only_heads_are_given_for_all_tokens():
    heads = load("regression-linear-2-layers-seed0").blocks[0].attn
    H = torch.randn(2, 6, 32, generator=torch.Generator().manual_seed(0))
    alone = RedirectedAttention(heads, np.full((2, 6), -1))
    assert torch.allclose(alone(H, 4), heads(H, 4), atol=1e-6)
    looked = RedirectedAttention(heads, np.array([[5, -1, -1, -1, -1, -1]]))
    to_last = sum(H[:, 5] @ W_V @ W_O for W_V, W_O in zip(heads.W_V, heads.W_O, strict=True))
    assert torch.allclose(looked(H, 4)[:, 0], to_last, atol=1e-5)


# ---------------------------------------------------------------- tables and probes


def test_a_table_of_the_last_symbols():
    """Right where the state is a function of them, and no better than a guess where it is not."""
    task = Automata("flip-flop", T)
    words, others = words_of(task), words_of(task, 4000)
    said = by_last_symbols(others, words, 3)
    known = np.zeros_like(words.inside)
    for i in range(SYMBOLS, 2 * T):
        known[:, i] = (words.tokens[:, i - SYMBOLS + 1 : i + 1] > 0).any(1) & words.inside[:, i]
    assert (said == words.states)[known].mean() > 0.97
    task = FromStart("parity", T)
    words, others = words_of(task, 200), words_of(task, 4000)
    right = by_last_symbols(others, words, 2) == words.states
    assert right[:, : SYMBOLS - 1].all()  # it sees where the word begins
    assert abs(right[:, SYMBOLS:T].mean() - 0.5) < 0.05


def test_read_outs():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 400, 6))
    read = rng.normal(size=6)
    assert explained(X, X @ read + 3, Y, Y @ read + 3).mean == pytest.approx(1)
    noisy = explained(X, X @ read, Y, Y @ read + rng.normal(size=400))
    wanted = (read**2).sum() / ((read**2).sum() + 1)
    assert abs(noisy.mean - wanted) < 3 * noisy.error + 0.02
    assert explained(X, rng.normal(size=400), Y, rng.normal(size=400)).mean < 0.05
    # Classes on a line are separated, also the middle one, and a constant feature does no harm.
    states = rng.integers(0, 3, (2, 400))
    one, other = (
        np.stack([s, s * 0 + 1, noise], 1) for s, noise in zip(states, X[:, :2].T, strict=True)
    )
    fitted, asked = states[..., None]
    assert discriminated(one, fitted, other, asked).mean == 1
    assert discriminated(X, fitted, Y, asked).mean < 0.5
    assert discriminated(one * 0, fitted, other * 0, asked).mean < 0.5
    # Of several kinds all have to be read off: where one is lost, so is the row.
    lost = rng.integers(0, 2, (2, 400))
    kinds, others = (np.stack(each, axis=1) for each in zip(states, lost, strict=True))
    right = discriminated(one, kinds, other, others)
    assert 0.4 < right.mean < 0.6


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"checkpoint": "nothing"}, "nothing"),
        ({"checkpoint": "induction-small-2-layers"}, "hop automata"),
        ({"checkpoint": "no/such.safetensors"}, "no/such.safetensors"),
    ],
)
def test_bad_input(options, names):
    with rejects(*names.split()):
        list(automata_trained.findings(Run(quick=True), **options))
