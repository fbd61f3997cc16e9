"""Models whose answers are known, in place of trained ones: every finding says what is the case."""

from functools import partial

import numpy as np
import pytest
import torch

from constructions import induction_heads
from constructions.trained import load
from constructions.trained.configuration import Regression
from theory.regression import Prompts, ols
from theory.retrieval import find
from verify.claim import Run
from verify.finding import Finding, Verdict
from verify.trained import induction
from verify.trained.circuits import attended, attention_of, decoded
from verify.trained.ill_conditioned import ill_conditioned
from verify.trained.induced_weights import Asked, Matched, induced
from verify.trained.induction import induction_trained
from verify.trained.layers import layers
from verify.trained.linear_depth import fewest, linear_depth
from verify.trained.lstm import lstm
from verify.trained.newton_or_gd import newton_or_gd
from verify.trained.noisy import noisy
from verify.trained.predictors import Algorithms
from verify.trained.probes import Probed

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED
TASK = Regression(3, 7)


class Planted:
    """Layer i answers by the i-th rule, and the model by `own`, the last unless given.

    Beside its answer a layer's stream may have other coordinates, if its rule gives them.
    """

    def __init__(self, *rules, task=TASK, own=None):
        self.rules, self.task, self.n_layers = rules, task, len(rules)
        self.own = own or rules[-1]

    def representations(self, x, y, x_query):
        algorithms = _algorithms(x, y, x_query)
        yield torch.zeros((*algorithms.labels.shape, 1))
        for rule in self.rules:
            said = rule(algorithms)
            yield torch.from_numpy(said if said.ndim == 3 else said[..., None])

    def __call__(self, x, y, x_query):
        said = self.own(_algorithms(x, y, x_query))
        return torch.from_numpy(said if said.ndim == 2 else said[..., 0])


def _algorithms(x, y, x_query):
    return Algorithms(Prompts(x, y, x_query, np.zeros(len(x)), x_query))


def newton(k, start="gram"):
    return lambda a: a.newton([k], start)[0]


def descent(k, factor=1.9):
    return lambda a: a.gradient_descent([k], factor)[0]


def ridge(penalty):
    return lambda a: a.spectrum.ridge([penalty])[0]


def silent(a):
    return np.zeros(a.labels.shape)


def online(a):
    return a.online_gradient_descent()[0][0]


def least_squares(a):
    return a.least_squares()


def with_noise(rule, coordinates):
    """40 further coordinates that have nothing to do with the labels."""
    rng = np.random.default_rng(0)

    def both(a):
        said = rule(a)
        return np.concatenate(
            [said[..., None], rng.standard_normal((*said.shape, coordinates))], -1
        )

    return both


def mixed(rule, other, share):
    """Whose errors are those of the first, and `share` of what the second errs more."""
    return lambda a: rule(a) + share * (other(a) - rule(a))


@pytest.fixture
def verdicts(monkeypatch):
    """Of a claim's findings on planted models, by their names without the model's."""

    def run(claim, models, **options):
        module = claim.check.__module__
        monkeypatch.setattr(
            f"{module}.models_of",
            lambda name, kind: {k: v for k, v in models.items() if k.startswith(name)},
        )
        found = claim.findings(Run(seed=0, quick=True), **options)
        return {f"{f.name} ".replace(": ", " ", 1).strip(): f.verdict for f in found}

    return run


def of(found, name, *words):
    """The one verdict of a model whose finding has all the words."""
    (verdict,) = (
        v
        for finding, v in found.items()
        if finding.startswith(name) and all(word in finding for word in words)
    )
    return verdict


def test_layers(verdicts):
    def found(*rules, samples=300, **own):
        return verdicts(layers, {"a": Planted(*rules, **own)}, checkpoint="a", samples=samples)

    assert {*found(newton(2), newton(5), newton(12)).values()} == {HOLDS}
    swapped = found(newton(12), newton(5), newton(20))
    assert of(swapped, "a layer 2 improves") is FAILS
    assert of(swapped, "a layer 1 improves") is of(swapped, "a layer 3 improves") is HOLDS
    assert of(found(newton(2), newton(2)), "a layer 2 improves") is UNDECIDED
    better = found(newton(2), newton(5), own=least_squares)
    assert of(better, "a the read-out of the last layer") is FAILS
    assert of(better, "a layer 2 improves") is HOLDS
    few = found(newton(2), newton(10), own=least_squares, samples=20)
    assert of(few, "a the read-out of the last layer") is not HOLDS
    # What fitting to useless coordinates costs is taken off.
    for rules in ((newton(5), with_noise(newton(5), 40)), (with_noise(newton(5), 40), newton(5))):
        assert of(found(*rules, samples=2000), "a layer 2 improves") is UNDECIDED


def test_layers_with_noisy_labels(verdicts):
    """With as many examples as dimensions least squares errs by anything, and ridge does not."""
    noisy_task = Regression(3, 7, noise=0.5)
    model = Planted(ridge(3.0), ridge(0.25), task=noisy_task)
    found = verdicts(layers, {"a": model}, checkpoint="a", samples=1000)
    assert {*found.values()} == {HOLDS}
    probed = Probed.of(Run(seed=0), model, 4000)
    assert probed.error(0 * probed.predictions[0]).mean() == pytest.approx(1, abs=0.03)
    assert probed.error(model(*asked(probed)).numpy()).mean() == pytest.approx(probed.best)


def asked(probed):
    return probed.prompts.x, probed.prompts.y, probed.prompts.x_query


def test_newton_or_gradient_descent(verdicts):
    def found(*rules):
        return verdicts(newton_or_gd, {"a": Planted(*rules)}, checkpoint="a", samples=200)

    closer, growth = "the last layer is more like Newton", "steps that match, {}: {} growth"
    by_newton = found(*map(newton, (2, 6, 10, 14, 18)))
    assert of(by_newton, "a", closer) is HOLDS
    assert of(by_newton, "a", growth.format("Newton", "linear")) is HOLDS
    assert of(by_newton, "a", growth.format("Newton by squared difference", "linear")) is HOLDS
    by_descent = found(*map(descent, (2, 8, 32, 128)))
    assert of(by_descent, "a", closer) is FAILS
    assert of(by_descent, "a", growth.format("gradient descent", "exponential")) is HOLDS
    fallen = found(*map(newton, (2, 6, 10, 14, 3, 1)))
    assert of(fallen, "a", growth.format("Newton", "linear")) is FAILS
    # From αI they are 2^k gradient steps of size 1/λmax.
    assert of(found(newton(2, "identity"), newton(5, "identity")), "a", closer) is FAILS


def test_ill_conditioned(verdicts):
    def found(rule):
        task = Regression(4, 9, "ill-conditioned")
        models = {"a": Planted(newton(1), rule, task=task)}
        return verdicts(ill_conditioned, models, checkpoint="a", samples=200)

    steps, closer = "a steps that match the last layer", "a the last layer is more like Newton"
    by_newton = found(newton(20))
    assert of(by_newton, steps) is of(by_newton, closer) is HOLDS
    assert of(found(newton(14)), steps) is FAILS  # about five times as many gradient steps
    few = found(descent(6, 1.0))
    assert of(few, steps) is of(few, closer) is FAILS
    assert of(found(silent), steps) is FAILS


def test_lstm(verdicts):
    def found(recurrent, *attentive, samples=200):
        models = {"a": recurrent, **{f"b{i}": each for i, each in enumerate(attentive)}}
        return verdicts(lstm, models, checkpoint="a", transformer="b", samples=samples)

    as_claimed = found(Planted(online, online), Planted(least_squares))
    assert {*as_claimed.values()} == {HOLDS}
    assert len(as_claimed) == 6
    reverse = found(Planted(newton(2), least_squares), Planted(online))
    for words in ("more like online gradient descent", "less like least squares"):
        assert all(v is FAILS for f, v in reverse.items() if words in f)
    assert of(reverse, "a the first layer is as good as the last") is FAILS
    assert of(reverse, "a forgets") is not HOLDS
    assert of(reverse, "b0 does not forget") is FAILS
    shares = {0.1: HOLDS, 0.5: FAILS}  # of the error a hundredth, and a quarter
    for share, verdict in shares.items():
        partly = Planted(mixed(least_squares, online, share))
        several = found(Planted(online, online), Planted(least_squares), partly, samples=1000)
        assert of(several, "b0 does not forget") is HOLDS
        assert of(several, "b1 does not forget") is verdict
    empty = found(Planted(silent, silent), Planted(least_squares))
    assert of(empty, "a the first layer is as good as the last") is not HOLDS
    assert of(empty, "a forgets") is not HOLDS
    noisy_one = Planted(lambda a: least_squares(a) + 0.3 * a.labels * np.sin(1e3 * a.labels))
    for samples in (20, 100):
        uncertain = found(Planted(silent, silent), noisy_one, samples=samples)
        assert of(uncertain, "b0 does not forget") is UNDECIDED
    alone = found(Planted(online), Planted(least_squares))
    assert of(alone, "a the first layer is as good as the last") is UNDECIDED


def test_noisy(verdicts):
    def found(penalty, other):
        noise = Regression(3, 7, noise=0.5)
        models = {"a": Planted(ridge(penalty), task=noise), "b": Planted(ridge(other))}
        return verdicts(noisy, models, checkpoint="a", noiseless="b", samples=1000)

    assert {*found(0.25, 0.03).values()} == {HOLDS}
    more = found(1.0, 1.0)
    assert of(more, "a nearest to the penalty") is of(more, "b nearest to the penalty") is FAILS
    assert of(more, "a errs less than ridge regression") is not HOLDS
    silent_one = found(1e6, 0.25)
    assert of(silent_one, "a errs less") is of(silent_one, "b nearest") is FAILS


def bent(rule):
    """Not linear in the query: |said| is added."""
    return lambda a: rule(a) + np.abs(rule(a))


def test_induced_weights(verdicts):
    def found(*rules, samples=100):
        models = {"a": Planted(*rules, task=Regression(3, 5))}
        return verdicts(induced, models, checkpoint="a", samples=samples)

    linear, closer = "a on most prompts", "a the weights of the last layer are more like Newton's"
    by_newton = found(*map(newton, (2, 5, 8, 11)))
    assert {of(by_newton, linear), of(by_newton, closer)} == {HOLDS}
    assert of(by_newton, "a", "of Newton: linear growth") is HOLDS
    assert of(found(*map(descent, (2, 8, 32))), closer) is FAILS
    by_descent = found(*map(descent, (2, 8, 32, 128)))
    assert of(by_descent, "a", "of gradient descent: exponential growth") is HOLDS
    assert of(found(bent(newton(20))), linear) is FAILS
    empty = found(silent, samples=30)
    assert of(empty, "a steps whose weights match, of Newton") is FAILS
    assert of(empty, linear) is not HOLDS


def test_what_induces_weights():
    """The weights of 4 and of 9 steps match best; what is not linear is measured without bias."""
    run, model = Run(seed=0), Planted(newton(4), newton(9))
    asked = Asked.of(run, model, 60)
    assert asked.weights.shape == (2, 60, 6, 3)
    assert asked.explained.mean() == pytest.approx(1, abs=2e-3)  # the read-out has a constant
    matched = Matched.newton(asked)
    assert matched.steps[matched.cosines.mean(-1).argmax(0)].tolist() == [4, 9]
    assert matched.last.mean() == pytest.approx(1, abs=1e-3)
    crooked = Asked.of(run, Planted(bent(newton(9))), 60)
    assert crooked.explained.mean() < 0.9
    rng = np.random.default_rng(0)
    unrelated = Asked.of(run, Planted(lambda a: rng.standard_normal(a.labels.shape)), 60)
    assert unrelated.explained.mean() == pytest.approx(0, abs=0.02)
    assert np.mean(unrelated.nonlinear / unrelated.said) == pytest.approx(1, abs=0.02)


class Answers(torch.nn.Module):
    """A model for linear-depth: the query's answer by a rule, at every depth its own."""

    def __init__(self, rule):
        super().__init__()
        self.rule = rule

    def forward(self, x, y, x_query):
        return torch.from_numpy(self.rule(x, y, x_query))


def test_linear_depth(verdicts):
    """Shorter steps are no better than the ladder's, and are polynomials of few terms."""

    def found(rule):
        names = [f"regression-linear-{k}-layer{'s' * (k > 1)}-seed0" for k in (1, 2, 3, 4)]
        models = {name: Answers(rule(k)) for k, name in enumerate(names, 1)}
        made = verdicts(linear_depth, models, samples=3000)
        return [[v for f, v in made.items() if f.startswith(name)] for name in names]

    def solved(x, y, x_query):
        return np.vecdot(ols(x, y), x_query)

    n, sizes = 20, {1: 0.78, 2: 0.37, 3: 0.3, 4: 0.27}  # about the best, and then half of it

    def ladder(layers):
        def rule(x, y, x_query):
            S, b = x.swapaxes(1, 2) @ x / n, np.matvec(x.swapaxes(1, 2), y) / n
            w = np.zeros_like(b)
            for _ in range(3 ** (layers - 1)):
                w += sizes[layers] * (b - np.matvec(S, w))
            return np.vecdot(w, x_query)

        return rule

    assert found(ladder) == [[HOLDS], *[[FAILS, FAILS]] * 3]
    assert found(lambda _: solved) == [[HOLDS], *[[HOLDS, HOLDS]] * 3]
    assert found(lambda _: lambda x, *_: np.zeros(len(x))) == [[FAILS], *[[FAILS, FAILS]] * 3]
    sizes[1] = 0.95  # by 20 %, which makes the error about 10 % larger
    assert found(ladder)[0] == [FAILS]


def test_the_fewest_terms():
    best = np.array([5.0, 3.0, 3.5, 1.0])
    assert [fewest(error, best) for error in (6.0, 5.0, 3.0, 2.0, 1.0, 0.5)] == [1, 1, 2, 4, 4, 5]


KNOCKED_OUT = {
    # which weights are 0, and what no longer holds
    "blocks.0.attn.W_Q": (
        "right on",
        "previous-token head",
        "matching head",
        "circuit position",
        "register previous",
        "register answer",
    ),
    "blocks.0.attn.W_O": (
        "right on",
        "matching head",
        "circuit token → token",
        "register previous",
        "register answer",
    ),
    "blocks.1.attn.W_Q": (
        "right on",
        "matching head",
        "circuit token → token",
        "register answer",
    ),
    "blocks.1.attn.W_O": ("right on", "circuit token looked at", "register answer"),
    "pos_embed.W_pos": (
        "right on",
        "previous-token head",
        "matching head",
        "circuit position",
        "register place",
        "register norm",
        "register before",
        "register rank",
        "register previous",
        "register answer",
    ),
}


@pytest.mark.parametrize("weights", KNOCKED_OUT)
def test_induction_without_some_weights(weights, verdicts, monkeypatch):
    two = load("induction-small-2-layers-seed0")
    two.get_parameter(weights).zero_()
    bias = weights.replace("W_Q", "b_Q")
    if bias != weights:
        two.get_parameter(bias).zero_()
    models = {"induction-small-2-layers": two, "induction-small-1-layer": two}
    monkeypatch.setattr(induction, "_transition", lambda name: _nothing())
    found = verdicts(induction_trained, models, samples=40)
    for finding, verdict in found.items():
        if finding.startswith("induction-small-2-layers"):
            expected = not any(word in finding for word in KNOCKED_OUT[weights])
            assert (verdict is HOLDS) == expected, finding


def induction_findings(verdicts, monkeypatch):
    monkeypatch.setattr(induction, "_transition", lambda name: _nothing())
    models = {
        f"induction-small-{k}": load(f"induction-small-{k}-seed0") for k in ("2-layers", "1-layer")
    }
    return lambda: verdicts(induction_trained, models, samples=40), models[
        "induction-small-2-layers"
    ]


def test_a_head_that_looks_elsewhere_too(verdicts, monkeypatch):
    """About half of its attention is where the built head's is."""
    findings, two = induction_findings(verdicts, monkeypatch)
    two.get_parameter("blocks.1.attn.W_Q").mul_(0.1)
    two.get_parameter("blocks.1.attn.b_Q").mul_(0.1)
    tokens = np.random.default_rng(0).integers(0, 16, (20, 64))
    share = attended(attention_of(two, tokens)[1], find(tokens)).mean()
    assert 0.4 < share < 0.7
    assert of(findings(), "induction-small-2-layers", "matching head") is FAILS


def test_a_built_head_that_is_none(verdicts, monkeypatch):
    findings, _ = induction_findings(verdicts, monkeypatch)
    soft = partial(induction_heads, sharpness=4.0)
    monkeypatch.setattr("constructions.induction_heads", soft)
    assert of(findings(), "induction-small-2-layers", "matching head") is FAILS


def test_a_register_that_was_there_before(verdicts, monkeypatch):
    findings, _ = induction_findings(verdicts, monkeypatch)

    def early(*arguments):
        registers = decoded(*arguments)
        left, whole = registers["answer"]
        return {**registers, "answer": (np.stack([left[-1]] * len(left)), whole)}

    assert of(findings(), "induction-small-2-layers", "register answer") is HOLDS
    monkeypatch.setattr(induction, "decoded", early)
    assert of(findings(), "induction-small-2-layers", "register answer") is FAILS


def _nothing():
    return Finding("none: none", "trained", "", "", HOLDS)


def test_one_layer_and_two_exchanged(verdicts, monkeypatch):
    """Neither bound on the share of right answers is met."""
    monkeypatch.setattr(induction, "_transition", lambda name: _nothing())
    monkeypatch.setattr(induction, "_heads", lambda *a: [])
    monkeypatch.setattr(induction, "_circuits", lambda *a: [])
    monkeypatch.setattr(induction, "_registers", lambda *a: [])
    one, two = load("induction-small-1-layer-seed0"), load("induction-small-2-layers-seed0")
    models = {"induction-small-2-layers": one, "induction-small-1-layer": two}
    found = verdicts(induction_trained, models, samples=40)
    assert [v for f, v in found.items() if "right on" in f] == [FAILS, FAILS]
