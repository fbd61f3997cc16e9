"""What models are trained on, against the definitions and the theory's own samplers."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import previous_token
from constructions.trained import preset, untrained
from constructions.trained.presets import PRESETS
from constructions.trained.tasks.automata import SLIP, Automata
from constructions.trained.tasks.bigrams import Bigrams
from constructions.trained.tasks.hop import Hop
from constructions.trained.tasks.regression import Regression
from constructions.trained.tasks.task import Corpus, TokenTask
from theory.computation import BENCHMARK_AUTOMATA, benchmark_automaton
from theory.regression import gaussian_prompts, ill_conditioned_prompts
from theory.retrieval import hop


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("size", ["small", "linear"])
@pytest.mark.parametrize("covariance", ["isotropic", "ill-conditioned"])
def test_the_loss_is_that_of_the_answers(covariance, size):
    """Trained is what is called: the loss is the mean squared error of the model's own answers, in
    units of the scale."""
    made = preset("regression", size, covariance=covariance)
    x, y, counted = made.task.draw(made, 50, generator(), step=0)
    assert (counted == 1).all()
    model, n = untrained(made).requires_grad_(False), made.task.points - 1
    if size == "small":
        errors = model(x[:, :n], y[:, :n], x[:, n]) - y
    else:
        errors = model(x[:, :n], y[:, :n], x[:, n:].movedim(1, 0)).T - y[:, n:]
    assert errors.shape == counted.shape == (50, 11 if size == "small" else 8)
    wanted = float((errors / made.task.scale).square().mean())
    assert float(made.task.loss(model, x, y, counted)) == pytest.approx(wanted, rel=1e-4)


def test_what_is_not_counted_does_not_matter():
    made = preset("regression", "paper")
    model = untrained(replace(made, shape=preset("regression").shape)).requires_grad_(False)
    x, y, counted = made.task.draw(made, 4, generator(), step=0)
    other = y + 1e3 * (1 - counted)
    losses = [float(made.task.loss(model, x, labels, counted)) for labels in (y, other)]
    assert losses[0] == pytest.approx(losses[1])
    assert float(made.task.loss(model, x, other, torch.ones_like(counted))) > 100 * losses[0]


def test_the_entropy_of_what_is_wanted():
    """Over the number of all tokens; where nothing is wanted it is 0."""
    made = preset("induction")
    tokens, wanted = made.task.draw(made, 10, generator(), step=0)
    model = untrained(made).requires_grad_(False)
    chances = model.logits(tokens).log_softmax(-1).numpy()
    entropy = -sum(
        chances[i, t, wanted[i, t]] for i in range(10) for t in range(64) if wanted[i, t] >= 0
    )
    assert float(made.task.loss(model, tokens, wanted)) == pytest.approx(entropy / 640, rel=1e-4)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_hops_are_those_of_the_theory(k):
    tokens, wanted = Hop(4, 20, k).sequences(50, generator(k))
    assert (wanted.numpy() == hop(tokens.numpy(), k)).all()
    assert tokens.unique().tolist() == [0, 1, 2, 3]


def test_bigrams_follow_their_chain():
    """Over two symbols: conditional probabilities are fixed in a sequence, uniform over many."""
    tokens, following = Bigrams(2, 2000).sequences(200, generator())
    assert (tokens[:, 1:] == following[:, :-1]).all()
    after = [
        [following[i][tokens[i] == v].double().mean().item() for v in (0, 1)]
        for i in range(200)
        if tokens[i].unique().numel() == 2
    ]
    halves = [
        [
            following[i, part][tokens[i, part] == 0].double().mean().item()
            for part in (slice(0, 1000), slice(1000, 2000))
        ]
        for i in range(50)
    ]
    halves = np.array([pair for pair in halves if not np.isnan(pair).any()])
    assert np.abs(halves[:, 0] - halves[:, 1]).mean() < 0.05
    frequencies = np.array(after)
    # Uniform on (0, 1): mean 1/2 and variance 1/12, here of about 200 chains.
    assert np.abs(frequencies.mean(0) - 0.5).max() < 4 * np.sqrt(1 / 12 / 190)
    assert np.abs(frequencies.var(0) - 1 / 12).max() < 0.03


def test_bigrams_are_symbols_where_probabilities_sum_to_less_than_one(monkeypatch):
    """By rounding, a cumulative sum can end below the largest number that is drawn."""
    largest = 1 - 2.0**-24
    monkeypatch.setattr(torch, "rand", lambda size, **_: torch.full(size, largest))
    tokens, following = Bigrams(64, 3).sequences(200, generator())
    assert int(tokens.max()) == int(following.max()) == 63


@pytest.mark.parametrize("name", BENCHMARK_AUTOMATA)
def test_states_are_those_of_the_automaton(name):
    """At the word's symbols and nowhere else, for all T + 1 beginnings."""
    machine, T = benchmark_automaton(name), 6
    tokens, wanted = (each.numpy() for each in Automata(name, T).sequences(300, generator()))
    assert tokens.shape == wanted.shape == (300, 2 * T)
    begins = (tokens == machine.n_symbols).sum(1)
    assert sorted({*begins}) == [*range(T + 1)]
    for symbols, states, first in zip(tokens, wanted, begins, strict=True):
        assert (symbols[:first] == machine.n_symbols).all()
        assert (states[first : first + T] == machine.run(symbols[first : first + T])).all()
        assert (states[:first] == -1).all()
        assert (states[first + T :] == -1).all()


@pytest.mark.parametrize(
    ("name", "stay"),
    [("A5", None), ("flip-flop", None), ("flip-flop", 0.8), ("parity", 0.0), ("dyck-2", None)],
)
def test_symbols_have_their_probabilities(name, stay):
    """Relative frequencies of the symbols in each state, within five standard errors."""
    task = Automata(name, 10, stay)
    machine = task.machine
    symbols, states = (each.numpy() for each in task.random_words(20_000, generator(1)))
    assert (states == machine.run(symbols)).all()
    law = np.full((machine.n_states, machine.n_symbols), 1 / machine.n_symbols)
    if stay is not None:
        law[:] = [stay, *[(1 - stay) / (machine.n_symbols - 1)] * (machine.n_symbols - 1)]
    if name == "dyck-2":  # depths 0, 1, 2, and 3 for an error; symbols open and close
        law[0], law[2] = (1 - SLIP, SLIP), (SLIP, 1 - SLIP)
    np.testing.assert_allclose(task.distribution, law, rtol=1e-12)
    before = np.pad(states[:, :-1], ((0, 0), (1, 0)), constant_values=machine.start)
    for q in machine.reachable():
        here = symbols[before == q]
        frequencies = np.bincount(here, minlength=machine.n_symbols) / len(here)
        assert (abs(frequencies - law[q]) <= 5 * np.sqrt(law[q] * (1 - law[q]) / len(here))).all()


@pytest.mark.parametrize("values", [("chess", 20), ("S3", 20, 0.5)])
def test_automata_that_there_are_not_are_rejected(values):
    with rejects("automaton" if len(values) == 2 else "S3"):
        Automata(*values)


@pytest.mark.parametrize(
    "task",
    [name for name in PRESETS if name not in ("digits", "text")],  # these read data
)
@pytest.mark.parametrize(
    ("parameter", "wrong"),
    [("model", None), *(("prompts", n) for n in (-1, 0, 1, 1.5, 10**12)), ("seed", -1)],
)
def test_an_evaluation_reads_its_arguments(task, parameter, wrong):
    made = preset(task, next(iter(PRESETS[task]))[0])
    right = {"model": previous_token(2, 3), "prompts": 2, "seed": 0}
    with rejects(parameter):
        made.task.evaluate(**right | {parameter: wrong})


@pytest.mark.parametrize(
    "task", ["induction", "bigrams", "automata", "even-process", "addition", "modular", "parity"]
)
@pytest.mark.parametrize("wrong", [{"count": -1}, {"count": 1.5}, {"count": 10**12}, {"seed": -1}])
def test_random_sequences_read_their_arguments(task, wrong):
    made = preset(task, next(iter(PRESETS[task]))[0])
    with rejects(*wrong):
        made.task.sequences(**{"count": 2, "seed": 0} | wrong)


@pytest.mark.parametrize("step", ["x", -1, 1.5, np.inf])
def test_steps_are_integers(step):
    made = preset("regression", "paper")
    for function in (made.rate, made.curriculum.reached):
        with rejects("step"):
            function(step)


def test_automata_are_measured_at_both_lengths():
    """An untrained model, on words twice as long as those of training."""
    task = Automata("parity", 5)
    model = untrained(replace(preset("automata"), task=task)).requires_grad_(False)
    lines = [*task.evaluate(model, 200, 0)]
    symbols, states = task.random_words(200, generator())
    right = float((model(symbols) == states)[:, 5:].double().mean())
    assert f" {right:.2%} " in lines[2]
    share = float(states[:, 5:].double().mean())
    assert lines[3].endswith(f" {max(share, 1 - share):.2%}")


@pytest.mark.parametrize(("end", "beyond"), [(1e-6, 0), (1e6, np.inf)])
def test_noise_at_its_limits(end, beyond):
    assert Regression(2, 3, noise=end).noise == end
    with rejects("noise"):
        Regression(2, 3, noise=np.nextafter(end, beyond))


@pytest.mark.parametrize("covariance", ["isotropic", "ill-conditioned"])
def test_moments_are_those_of_the_theory(covariance):
    """E xxᵀ, E y² and E(y|x)² by both samplers, within five standard errors."""
    task = Regression(4, 3, covariance, noise=0.5)
    x, y = task.examples(20_000, generator(1), d=4, points=3)
    theirs = gaussian_prompts if covariance == "isotropic" else ill_conditioned_prompts
    p = theirs(20_000, 2, 4, noise=0.5, seed=2)
    for ours, other in (
        (x[:, 0, :, None] * x[:, 0, None, :], p.x[:, 0, :, None] * p.x[:, 0, None, :]),
        (y[:, 0] ** 2, p.y[:, 0] ** 2),
        (y[:, 0] * y[:, 1], p.y[:, 0] * p.y[:, 1]),
        ((x[:, 0] * x[:, 1]).sum(-1) ** 2, (p.x[:, 0] * p.x[:, 1]).sum(-1) ** 2),
    ):
        a, b = ours.double().numpy(), other
        spread = np.sqrt((a.var(0) + b.var(0)) / len(a))
        assert (np.abs(a.mean(0) - b.mean(0)) <= 5 * spread).all()


def test_labels_are_linear_and_late_coordinates_zero():
    x, y = Regression(5, 9).examples(10, generator(3), d=3, points=9)
    assert (x[..., 3:] == 0).all()
    w = np.linalg.lstsq(x[0, :, :3].double().numpy(), y[0].double().numpy(), rcond=None)[0]
    np.testing.assert_allclose(x[0, :, :3].double().numpy() @ w, y[0], atol=1e-5)


def test_scale_is_the_root_of_the_mean_eigenvalue():
    assert Regression(5, 9).scale == 1
    assert Regression(4, 9, "ill-conditioned").scale ** 2 == pytest.approx(50.5)
    assert Regression(5, 9, "ill-conditioned").scale ** 2 == pytest.approx(203 / 5)


def test_the_curriculum():
    paper = preset("regression", "paper")
    for step, d, points in (
        (0, 5, 11),
        (1999, 5, 11),
        (2000, 6, 13),
        (30_000, 20, 41),
        (10**5, 20, 41),
    ):
        x, y, counted = paper.task.draw(paper, 2, generator(), step=step)
        assert (x.shape, y.shape) == ((2, 41, 20), (2, 41))
        assert (x != 0).any(0).any(0).tolist() == [True] * d + [False] * (20 - d)
        assert counted.tolist() == [[1] * points + [0] * (41 - points)] * 2
    with rejects("curriculum"):
        replace(preset("hop"), curriculum=paper.curriculum)


@dataclass(frozen=True)
class Numbers(Corpus, TokenTask, kind="numbers"):
    """Seven sequences; the wanted token of each is its number."""

    corpus = (
        torch.arange(7)[:, None].expand(7, 2),
        torch.arange(7)[:, None].expand(7, 2),
    )

    def sequences(self, count, generator):
        return tuple(part[:count] for part in self.corpus)

    def best(self, tokens, wanted):
        return "best possible: 0 nats"


def test_a_corpus_is_gone_through_in_epochs():
    """Each has every prompt once, in another order for each epoch and seed, however many are drawn
    at once."""
    made = replace(preset("bigrams"), task=Numbers(7, 2), batch_size=3)

    def drawn(made, steps, step):
        tokens, wanted = made.task.draw(made, 3 * steps, generator(), step=step)
        assert (tokens == wanted).all()
        return tokens[:, 0].tolist()

    whole = drawn(made, 70, 0)
    epochs = [whole[start : start + 7] for start in range(0, 210, 7)]
    assert all(sorted(epoch) == [*range(7)] for epoch in epochs)
    assert len({*map(tuple, epochs)}) > 25
    assert drawn(made, 20, 0) + drawn(made, 11, 20) + drawn(made, 39, 31) == whole
    assert drawn(replace(made, seed=1), 70, 0) != whole
