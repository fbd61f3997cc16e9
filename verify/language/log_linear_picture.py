"""The picture of `log-linear`: conditional entropies of the even process, and window costs."""

from __future__ import annotations

from matplotlib.figure import Figure

from theory.language import conditional_entropy, entropy_rate, even_process

LAST = 12


def draw() -> Figure:
    """The picture of the even process: its conditional entropies, and the costs of finite windows.

    The left panel shows the entropy of symbol t given the past, with its limit.  The right panel
    shows the extra loss of predictors that read only the last symbols, by the number of these
    symbols, at the largest t.
    """
    of, times = even_process(), range(1, LAST + 1)
    entropies = [float(conditional_entropy(of, t)) for t in times]
    figure = Figure(figsize=(9, 3.6))
    left, right = figure.subplots(1, 2)
    left.plot(times, entropies, "o-", label="H(X_t | X_<t)")
    left.axhline(float(entropy_rate(of)), color="0.5", ls="--", label="rate ⅔ ln 2")
    left.set(xlabel="t", ylabel="nats", title="the even process")
    left.legend()
    right.bar(range(LAST), [each - entropies[-1] for each in entropies])
    right.set(xlabel="symbols in the window", ylabel="nats")
    right.set_title(f"cost of a finite window at t = {LAST}")
    return figure
