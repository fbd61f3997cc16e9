"""The claim `lstm` on models whose answers are known."""

import numpy as np
from planted import Planted, least_squares, mixed, newton, online, silent

from verify.finding import Verdict
from verify.regression.trained.lstm import lstm

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED


def test_lstm(verdicts):
    def found(recurrent, *attentive, samples=200):
        models = {"a": recurrent, **{f"b{i}": each for i, each in enumerate(attentive)}}
        return verdicts(lstm, models, checkpoint="a", transformer="b", samples=samples)

    as_claimed = found(Planted(online, online), Planted(least_squares))
    assert {*as_claimed.values()} == {HOLDS}
    assert len(as_claimed) == 8
    reverse = found(Planted(newton(2), least_squares), Planted(online))
    for id in ("a/online", "a/online/b0", "a/least-squares/b0", "a/first-layer", "a/forgets/b0"):
        assert reverse[id] is FAILS, id
    assert reverse["a/forgets"] is not HOLDS
    by_newton = found(Planted(newton(2), newton(4)), Planted(online))
    assert by_newton["a/online/Newton"] is FAILS
    shares = {0.1: HOLDS, 0.5: FAILS}  # of the error a hundredth, and a quarter
    partly = (Planted(mixed(least_squares, online, share)) for share in shares)
    several = found(Planted(online, online), Planted(least_squares), *partly, samples=1000)
    assert several["a/forgets/b0"] is HOLDS
    assert [several["a/forgets/b1"], several["a/forgets/b2"]] == [*shares.values()]
    empty = found(Planted(silent, silent), Planted(least_squares))
    assert empty["a/first-layer"] is not HOLDS
    assert empty["a/forgets"] is not HOLDS
    noisy_one = Planted(lambda a: least_squares(a) + 0.3 * a.labels * np.sin(1e3 * a.labels))
    for samples in (20, 100):
        uncertain = found(Planted(silent, silent), noisy_one, samples=samples)
        assert uncertain["a/forgets/b0"] is UNDECIDED
    alone = found(Planted(online), Planted(least_squares))
    assert alone["a/first-layer"] is UNDECIDED
