"""Findings on the even process: its conditional entropies and the costs of finite windows."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from theory.language import (
    conditional_entropy,
    entropy_rate,
    even_process,
    log,
    window_cost,
    window_entropy_by_definition,
)
from verify.finding import Finding, no_counterexample, same

WINDOWS = 0, 1, 2, 4, 6


def known_source(quick: bool) -> Iterator[Finding]:
    """The findings that the entropies of the even process are right.

    Entropies computed from beliefs (distributions of the state given the past) are compared with
    sums over all strings and with closed forms.
    """
    of, T = even_process(), 6 if quick else 10
    found = [conditional_entropy(of, t) for t in range(1, T + 1)]
    wanted = [window_entropy_by_definition(of, t, t - 1) for t in range(1, T + 1)]
    yield no_counterexample(
        "entropies",
        f"entropy of symbol t given the earlier symbols, t = 1 … {T}, computed from distributions "
        "of the state, equals the entropy as a sum over all strings of t symbols",
        (f"t = {t}" for t, (a, b) in enumerate(zip(found, wanted, strict=True), 1) if a != b),
        words=f"true for all t: {', '.join(f'{float(each):.6f}' for each in found)} nats",
    )
    yield same(
        "closed",
        "entropy of symbol 3 given symbols 1 and 2, and entropy rate",
        {"symbol 3": str(found[2]), "rate": str(entropy_rate(of))},
        {"symbol 3": str(Fraction(1, 2) * log(3)), "rate": str(Fraction(2, 3) * log(2))},
        words=f"{found[2]} and {entropy_rate(of)}; for comparison, the entropy of symbol {T} given "
        f"the earlier symbols is {float(found[-1]):.6f} nats",
        wanted="½ ln 3 and ⅔ ln 2",
    )
    windows = [window for window in WINDOWS if window < T]
    costs = [window_cost(of, T, window) for window in windows]
    counted = [window_entropy_by_definition(of, T, window) - wanted[-1] for window in windows]
    yield no_counterexample(
        "windows",
        f"extra loss at symbol {T} of reading only the last {', '.join(map(str, windows))} symbols"
        ", computed from distributions of the state, equals the loss as a sum over all strings",
        (f"window {w}" for w, a, b in zip(windows, costs, counted, strict=True) if a != b),
        words=f"true for all windows: {', '.join(f'{float(each):.4f}' for each in costs)} nats",
    )
