"""The claim `lstm` on models whose answers are known."""

from dataclasses import fields, replace
from functools import partial

import numpy as np
import pytest
from planted import TASK, Planted, descent, following, least_squares, mixed, newton, online, silent

from theory.regression import Prompts
from verify.evidence.statistics import estimated
from verify.finding import Verdict
from verify.regression.trained.lstm import at_error_of, lstm
from verify.regression.trained.probes import Probed
from verify.regression.trained.prompts import prompts_of

RULES = "Newton", "gradient-descent"
HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED


def test_lstm(verdicts):
    def found(recurrent, *attentive, samples=200):
        models = {"a": recurrent, **{f"b{i}": each for i, each in enumerate(attentive)}}
        return verdicts(lstm, models, checkpoint="a", transformer="b", samples=samples)

    as_claimed = found(Planted(online, online), Planted(least_squares))
    assert {*as_claimed.values()} == {HOLDS}
    assert len(as_claimed) == 9
    reverse = found(Planted(newton(2), least_squares), Planted(online))
    for id in ("a/online/b0", "a/first-layer", "a/forgets/b0"):
        assert reverse[id] is FAILS, id
    assert reverse["a/forgets"] is not HOLDS
    by_newton = found(Planted(newton(2), newton(4)), Planted(online))
    assert by_newton["a/online/Newton"] is FAILS
    assert by_newton["a/online/gradient-descent"] is FAILS
    shares = {0.1: HOLDS, 0.5: FAILS}  # of the error a hundredth, and a quarter
    partly = (Planted(mixed(least_squares, online, share)) for share in shares)
    several = found(Planted(online, online), Planted(least_squares), *partly, samples=1000)
    assert several["a/forgets/b0"] is HOLDS
    assert [several["a/forgets/b1"], several["a/forgets/b2"]] == [*shares.values()]
    empty = found(Planted(silent, silent), Planted(least_squares))
    for id in ("a/null", "a/online/b0", "a/online/Newton", "a/online/gradient-descent"):
        assert empty[id] is not HOLDS, id
    assert empty["a/first-layer"] is not HOLDS
    assert empty["a/forgets"] is not HOLDS
    noisy_one = Planted(lambda a: least_squares(a) + 0.5 * np.sin(1e3 * following(a)[..., 0]))
    for samples in (20, 100):
        uncertain = found(Planted(silent, silent), noisy_one, samples=samples)
        assert uncertain["a/forgets/b0"] is UNDECIDED
    alone = found(Planted(online), Planted(least_squares))
    assert alone["a/first-layer"] is UNDECIDED


def evaluated(rule, samples, seed=0):
    """A planted model and its predictions on fresh prompts, without its layers."""
    p = prompts_of(TASK, samples, np.random.default_rng(seed))
    nothing = np.zeros((1, 1, 1))
    own = Probed(p, nothing, nothing[None], trained=Planted(rule).named())
    return own, rule(own.algorithms)


@pytest.mark.parametrize(
    ("rule", "power", "doublings"),
    [(newton(4), 2, 4), (descent(11, 1.0), 1, np.log2(11)), (descent(1, 1.0), 1, 0)],
)
def test_steps_of_equal_error_are_found_again(rule, power, doublings):
    own, predicted = evaluated(rule, 200)
    found, similar = at_error_of(predicted, own, power, predicted)
    assert found == pytest.approx(doublings, abs=1e-4)
    assert similar == pytest.approx(1, abs=1e-4)


def test_between_whole_steps_errors_are_equal_too():
    half = partial(lambda a, power: a.filtered(power, 3.5), power=2)
    own, predicted = evaluated(half, 200)
    for power in (1, 2):
        found, _ = at_error_of(predicted, own, power, predicted)
        error = own.error(own.algorithms.filtered(power, found)).mean()
        assert error == pytest.approx(own.error(predicted).mean(), rel=1e-4)


def test_the_error_of_a_similarity_at_equal_error():
    """Steps are estimated from the same prompts, which increases it: compared with a jackknife that
    leaves out each prompt and estimates the steps again."""
    own, predicted = evaluated(mixed(online, newton(4), 0.5), 40)
    _, similar = at_error_of(predicted, own, 1, predicted)

    def without(i):
        p = own.prompts
        parts = (np.delete(getattr(p, f.name), i, axis=0) for f in fields(p))
        left = replace(own, prompts=Prompts(*parts))
        kept = np.delete(predicted, i, axis=0)
        return at_error_of(kept, left, 1, kept)[1].mean()

    means, m = np.array([without(i) for i in range(40)]), 40
    jackknifed = np.sqrt((m - 1) / m * ((means - means.mean()) ** 2).sum())
    assert estimated(similar).error == pytest.approx(jackknifed, rel=0.03)


def test_what_errs_as_much_as_no_number_of_steps():
    """The nearest number of steps is taken."""
    own, predicted = evaluated(silent, 100)
    found, similar = at_error_of(predicted, own, 1, predicted)
    assert found == pytest.approx(0, abs=1e-3)
    assert np.isfinite(similar).all()


def test_seeds_are_the_unit(verdicts):
    def found(*recurrent):
        models = {f"a{i}": each for i, each in enumerate(recurrent)}
        models["b"] = Planted(least_squares)
        predicted = verdicts(lstm, models, checkpoint="a", transformer="b", samples=200)
        return {id: verdict for id, verdict in predicted.items() if id.startswith("seeds/")}

    like, unlike = Planted(online, online), Planted(newton(2), newton(4))
    assert found(like, like) == {}
    equal = [f"{kind}/{rule}" for kind in ("online", "as-online") for rule in RULES]
    assert found(like, like, like) == {f"seeds/{id}": HOLDS for id in ("null", *equal)}
    assert found(like, like, unlike)["seeds/online/Newton"] is UNDECIDED
    assert found(*[unlike] * 5)["seeds/online/Newton"] is FAILS


@pytest.mark.parametrize(
    ("recurrent", "attentive", "verdict"),
    [
        ([online] * 3, [least_squares] * 3, HOLDS),
        ([online, online, silent], [least_squares] * 3, UNDECIDED),
        ([silent] * 3, [least_squares] * 3, FAILS),
        ([online] * 3, [least_squares] * 2, None),
    ],
)
def test_every_seed_of_one_kind_is_compared_with_every_seed_of_the_other(
    recurrent, attentive, verdict, verdicts
):
    models = {f"a{i}": Planted(rule) for i, rule in enumerate(recurrent)}
    models |= {f"b{i}": Planted(rule) for i, rule in enumerate(attentive)}
    found = verdicts(lstm, models, checkpoint="a", transformer="b", samples=200)
    assert found.get("seeds/transformers") is verdict
