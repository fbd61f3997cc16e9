"""The claim `hopfield`: energy, cycles and capacity of the classical Hopfield network."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from theory.memory.hopfield import (
    asynchronous_update,
    asynchronous_update_by_definition,
    hebb,
    hebb_fields,
    hopfield_energy,
    hopfield_fields,
    synchronous_run,
    synchronous_update,
)
from theory.memory.patterns import flipped, mixture, random_patterns
from verify.claim import Run, claim, option
from verify.domains import Rational, outputs
from verify.finding import Finding, Verdict
from verify.memory.hopfield_capacity import capacity_findings, mostly

if TYPE_CHECKING:
    from constructions.memory.hopfield import HopfieldNetwork

Instance = tuple[np.ndarray, np.ndarray]


@claim(
    source="[Hopfield1982]; [Goles1981]; [McEliece1987]; [AGS1985]",
    draws=True,
    faults_seen=[{"d": 24, "samples": 4}],
)
def hopfield(
    run: Run,
    *,
    d: Annotated[int, option("neurons of the networks that are measured", min=1)] = 1000,
    samples: Annotated[int, option("networks measured at each load", min=1)] = 200,
) -> Iterator[Finding]:
    """Flips lower the energy by 2|h|, synchronous cycles have length 1 or 2, and α_c = 0.13790556….

    All for symmetric weights of zero diagonal, and where a zero field keeps the old value. Energies
    and cycles are checked over all states of small networks in whole numbers, and in long runs of
    large ones; the transformer of one layer a step makes the same updates. Hebb's rule keeps a bit
    of a stored pattern with a chance that is known exactly; d/(2 ln d) patterns are stored if
    almost all and d/(4 ln d) if all must be fixed points; states near a pattern exist up to α_c.
    """
    small = list(_networks(run.rng, 4 if run.quick else 5, 2 if run.quick else 6))
    yield _energy_drops(small)
    yield _runs_of_flips(run, small)
    yield _long_runs(run, 60 if run.quick else 200)
    yield from _sign_of_zero(small)
    yield _cycles(small)
    yield _asymmetric()
    yield from _transformer(run, small)
    yield _mirror_images(run)
    yield _mixtures(run, d)
    yield from capacity_findings(run, d, -(-samples // 5) if run.quick else samples)
    if run.plot:
        from verify.memory.capacity_picture import draw_hopfield

        draw_hopfield(run.plot, min(max(d, 50), 300), run.rng)


def all_states(d: int) -> np.ndarray:
    """The 2^d states (2^d, d); bit i of the row's number is neuron i, 1 for +1."""
    return 2 * (np.arange(2**d)[:, None] >> np.arange(d) & 1) - 1


def _networks(rng: np.random.Generator, most: int, count: int) -> Iterator[Instance]:
    """Small random whole weights, many of them 0 so that fields vanish, and biases."""
    for d in range(1, most + 1):
        for size in range(1, count + 1):
            upper = np.triu(rng.integers(-size, size + 1, (d, d)), 1)
            yield upper + upper.T, rng.integers(-size, size + 1, d) * (size % 2)


def _energies(weights: np.ndarray, bias: np.ndarray) -> list[int]:
    """E of every state, pair by pair."""
    d = len(bias)
    pairs = [(i, j) for i in range(d) for j in range(i)]
    w, b = weights.tolist(), bias.tolist()
    return [
        -sum(w[i][j] * s[i] * s[j] for i, j in pairs) - sum(b[i] * s[i] for i in range(d))
        for s in all_states(d).tolist()
    ]


def exact_comparison(name: str, holds: str, bound: str, wrong: str | None) -> Finding:
    """An exact comparison: what was compared, or the first difference."""
    measured = holds if wrong is None else "they differ"
    return Finding(name, "exact", measured, bound, Verdict.of(wrong is None), wrong or "")


def _energy_drops(networks: list[Instance]) -> Finding:
    """E(s) − E(s with bit i flipped) = −2 s_i h_i, for every state and every bit."""
    wrong, compared = None, 0
    for w, b in networks:
        s, energies = all_states(len(b)), np.array(_energies(w, b))
        h = hopfield_fields(w, s, b)
        if (hopfield_energy(w, s, b) != energies).any():
            wrong = f"energies: W = {w.tolist()}, b = {b.tolist()}"
        for i in range(len(b)):
            other = np.arange(len(s)) ^ (1 << i)
            differ = np.flatnonzero(energies - energies[other] != -2 * s[:, i] * h[:, i])
            compared += len(s)
            if len(differ):
                wrong = f"W = {w.tolist()}, b = {b.tolist()}, s = {s[differ[0]].tolist()}, bit {i}"
    return exact_comparison(
        f"a flip to the sign of the field, all states of {len(networks)} small networks",
        f"the energy falls by 2|h| in {compared} flips",
        "exactly 2|h_i|",
        wrong,
    )


def _runs_of_flips(run: Run, networks: list[Instance]) -> Finding:
    """Asynchronous runs from every state, update by update, against the fast ones."""
    wrong, most = None, 0.0
    for w, b in networks:
        s = all_states(len(b))
        order, energies = run.rng.permutation(len(b)), _energies(w, b)
        ends = asynchronous_update(w, s, order, b)
        limit = int(np.abs(np.triu(w)).sum() + np.abs(b).sum())
        powers = 1 << np.arange(len(b))
        for k in range(0, len(s), 1 if len(b) < 4 else 3):
            visited = np.array(asynchronous_update_by_definition(w, s[k], order, b))
            path = np.array(energies)[(visited > 0) @ powers]
            moved = (visited[1:] != visited[:-1]).any(axis=1)
            fields = np.abs(hopfield_fields(w, visited[:-1], b))
            turned = np.take_along_axis(
                fields, np.abs(visited[1:] - visited[:-1]).argmax(axis=1)[:, None], axis=1
            )[:, 0]
            flips = int(moved.sum())
            if (
                (path[:-1] - path[1:] != 2 * turned * moved).any()
                or (turned[moved] == 0).any()
                or flips > limit
                or (flips, visited[-1].tolist()) != (ends.flips[k], ends.states[k].tolist())
                or not ends.converged[k]
            ):
                wrong = f"W = {w.tolist()}, b = {b.tolist()}, s = {s[k].tolist()}, order {order}"
            most = max(most, flips / max(limit, 1))
    return exact_comparison(
        "asynchronous runs, update by update",
        f"E falls by 2|h| at every flip; at most {most:.0%} of the allowed flips",
        "as by definition, in at most Σ_{i<j}|w_ij| + Σ|b_i| flips",
        wrong,
    )


def _long_runs(run: Run, d: int) -> Finding:
    """Large networks: every flip takes at least 2 off the whole-number energy."""
    wrong, flips = None, 0
    for size in (1, 1000):
        upper = np.triu(run.rng.integers(-size, size + 1, (d, d)), 1)
        w, b = upper + upper.T, run.rng.integers(-size, size + 1, d)
        s = random_patterns(5, d, run.rng)
        ends = asynchronous_update(w, s, run.rng, b)
        drop = hopfield_energy(w, s, b) - hopfield_energy(w, ends.states, b)
        stable = (ends.states * hopfield_fields(w, ends.states, b) >= 0).all()
        if not (stable and ends.converged.all() and (drop >= 2 * ends.flips).all()):
            wrong = f"weights up to {size}: E falls by {drop.tolist()} in {ends.flips.tolist()}"
        flips += int(ends.flips.sum())
    return exact_comparison(
        f"long asynchronous runs of {d} neurons",
        f"{flips} flips, each lowering E; all ends stable",
        "E falls by at least 2 a flip",
        wrong,
    )


def _sign_of_zero(networks: list[Instance]) -> Iterator[Finding]:
    """Two other rules for a zero field: sgn 0 = +1 (a flip may lower nothing), and turning over."""
    smallest, wrong, moved, zeros = None, None, None, 0
    ones = [(1 - np.eye(d, dtype=np.int64), np.zeros(d, dtype=np.int64)) for d in (2, 3)]
    for w, b in [*ones, *networks]:
        s = all_states(len(b))
        h = hopfield_fields(w, s, b)
        zero = np.argwhere(h == 0)
        zeros += len(zero)
        for k, i in zero:
            energies = hopfield_energy(w, s[[k, k ^ (1 << i)]], b)
            if energies[0] != energies[1] or h[k ^ (1 << i), i]:
                moved = f"W = {w.tolist()}, b = {b.tolist()}, s = {s[k].tolist()}, neuron {i}"
            if smallest is None and s[k, i] < 0:
                smallest = f"W = {w.tolist()}, b = {b.tolist()}, s = {s[k].tolist()}, neuron {i}"
        # Whole fields 2h + 1 are never 0 and have the sign of h, or + where h = 0.
        positive = np.where(h >= 0, 1, -1)
        if (synchronous_update(2 * w, s, 2 * b + 1) != positive).any():
            wrong = f"W = {w.tolist()}, b = {b.tolist()}"
    yield exact_comparison(
        "if sgn 0 were +1, a flip could lower nothing",
        f"drop 0 at {smallest}",
        "so the proof by energy alone breaks",
        None if smallest else "no zero field was found",
    )
    yield exact_comparison(
        "yet sgn 0 = +1 is the rule of 2W with bias 2b + 1, whose fields are never 0",
        f"the same update at all states of {len(networks) + 2} networks",
        "so its runs end too: a flip lowers the energy of that network",
        wrong,
    )
    yield exact_comparison(
        "if a zero field turned its neuron over, runs would go on for ever",
        f"field and energy are as before, at {zeros} zero fields",
        "the field stays 0, and so would turn the neuron again",
        moved,
    )


def _cycles(networks: list[Instance]) -> Finding:
    """Synchronous runs from every state, followed in the table of all updates."""
    wrong, twos, states, still = None, 0, 0, 0
    for w, b in networks:
        s, powers = all_states(len(b)), 1 << np.arange(len(b))
        h = s @ w + b
        after = (np.where(h == 0, s, np.sign(h)) > 0) @ powers  # the update as a table
        entered, length = np.array([_cycle(after, k) for k in range(len(s))]).T
        found, ends = (
            synchronous_run(w, s, b),
            [_walk(after, k, n) for k, n in enumerate(entered.tolist())],
        )
        same = (
            np.array_equal(found.period, length)
            and np.array_equal(found.steps, entered)
            and ((found.states > 0) @ powers).tolist() == ends
        )
        # −⟨s(t), W s(t−1)⟩ − ⟨b, s(t) + s(t−1)⟩, from (s, s') to (s', s'').
        last, now = s[after], s[after[after]]
        first = -np.vecdot(last, s @ w) - (s + last) @ b
        second = -np.vecdot(now, last @ w) - (last + now) @ b
        if not same or (second > first).any() or length.max() > 2:
            wrong = f"W = {w.tolist()}, b = {b.tolist()}"
        # With 2W + I and 2b, whose update 2h + s has no zero field, it has to fall off a cycle.
        moving = after[after] != np.arange(len(s))
        falls = 2 * (first - second) + np.vecdot(now - s, last)
        still += int((moving & (first == second)).sum())
        if (falls[moving] <= 0).any():
            wrong = f"−⟨s', (2W + I)s⟩ − 2⟨b, s + s'⟩ does not fall: W = {w.tolist()}"
        twos, states = twos + int((length == 2).sum()), states + len(s)
    return exact_comparison(
        f"synchronous runs from all states of {len(networks)} small networks",
        f"length 1 or 2 ({twos} of {states} states end in a 2-cycle); the two-step energy never "
        f"rises; that of 2W + I falls off cycles, that of W stands still there {still} times",
        "length 1 or 2, found as by definition",
        wrong,
    )


def _cycle(after: np.ndarray, start: int) -> tuple[int, int]:
    """When a walk through the table enters its cycle, and the cycle's length."""
    seen: dict[int, int] = {}
    while start not in seen:
        seen[start] = len(seen)
        start = int(after[start])
    return seen[start], len(seen) - seen[start]


def _walk(after: np.ndarray, start: int, count: int) -> int:
    for _ in range(count):
        start = int(after[start])
    return start


def _asymmetric() -> Finding:
    """The longest synchronous cycles for small weights between 2 neurons, and in a ring of 3."""
    weights = [np.array([[0, p], [q, 0]]) for p, q in product((-1, 0, 1), repeat=2)]
    for signs in product((-1, 1), repeat=3):
        weights.append(np.roll(np.diag(signs), 1, axis=0))
    longest: dict[int, tuple[int, list[Any]]] = {2: (0, []), 3: (0, [])}
    for w in weights:
        d = len(w)
        s = all_states(d)
        h = s @ w.T
        after = (np.where(h == 0, s, np.sign(h)) > 0) @ (1 << np.arange(d))
        length = max(_cycle(after, k)[1] for k in range(len(s)))
        if length > longest[d][0]:
            longest[d] = length, w.tolist()
    return Finding(
        "without symmetry cycles are longer",
        "exact",
        ", ".join(f"length {n} at W = {w}" for n, w in longest.values()),
        "above 2: the hypothesis is needed",
        Verdict.of(all(n > 2 for n, _ in longest.values())),
    )


def _transformer(run: Run, networks: list[Instance]) -> Iterator[Finding]:
    """One layer a step, by weights and by attention: over Q on all states, in float64 on many."""
    from constructions.memory.hopfield import hebbian_attention, hopfield_update

    wrong, compared = None, 0
    for w, b in networks[:: 3 if run.quick else 2]:
        s = all_states(len(b))
        scale = 2.0 ** float(run.rng.integers(-30, 10))  # weights need not be whole
        wanted = _two_updates(w, s, b)
        model = run.build(hopfield_update, w * scale, b * scale, 2)
        wrong, compared = wrong or _over_q(model, s, wanted), compared + len(s)
    yield exact_comparison(
        "transformer by weights, over Q: two updates of all states of small networks",
        f"equal from {compared} states",
        "s ← sgn(W s + b), kept where the field is 0",
        wrong,
    )
    wrong, compared = None, 0
    for P, d in ((1, 3), (2, 3), (2, 4), (3, 4)) if run.quick else ((1, 4), (2, 4), (3, 4), (4, 5)):
        xi, s = random_patterns(P, d, run.rng), all_states(d)
        wanted = _two_updates(hebb(xi), s)
        model = run.build(hebbian_attention, xi, 2)
        wrong, compared = wrong or _over_q(model, s, wanted), compared + len(s)
    yield exact_comparison(
        "transformer by linear attention, over Q: two updates of all states",
        f"equal from {compared} states",
        "Hebb's rule: s ← sgn(Σ_μ ξ^μ⟨ξ^μ, s⟩ − P s)",
        wrong,
    )
    d, P, wrong = (60, 8, None) if run.quick else (200, 30, None)
    xi = random_patterns(P, d, run.rng)
    s = np.concatenate([flipped(xi, d // 5, run.rng), random_patterns(20, d, run.rng)])
    wanted = _two_updates(hebb(xi), s)
    for model in (
        run.build(hopfield_update, hebb(xi), None, 2),
        run.build(hebbian_attention, xi, 2),
    ):
        if not np.array_equal(model(s).numpy(), wanted):
            wrong = f"{model.name} differs from the definition"
    yield exact_comparison(
        f"both transformers in float64, {P} patterns of {d} neurons",
        f"equal from {len(s)} states: every sum is a whole number below 2^53",
        "two synchronous updates",
        wrong,
    )


def _two_updates(w: np.ndarray, s: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
    return synchronous_update(w, synchronous_update(w, s, b), b)


def _over_q(model: HopfieldNetwork, s: np.ndarray, wanted: np.ndarray) -> str | None:
    """The transformer's answers in rational arithmetic, and the first that is not as wanted."""
    domain = Rational()
    tokens, P = model.tokens(s)
    rows = outputs(model, domain.weights(tokens.numpy()), P, domain).tolist()[P:]
    for state, row, answer in zip(s.tolist(), rows, wanted.tolist(), strict=True):
        if any(value != bit for value, bit in zip(row, answer, strict=True)):
            return f"{model.name}: from {state} to {[str(v) for v in row]} instead of {answer}"
    return None


def _mirror_images(run: Run) -> Finding:
    """Without bias −s is a fixed point whenever s is; with sgn 0 = +1 it need not be."""
    wrong, fixed, lost = None, 0, None
    for P, d in ((1, 3), (2, 4), (3, 5), (4, 6)):
        weights, s = hebb(random_patterns(P, d, run.rng)), all_states(d)
        h = hopfield_fields(weights, s)
        kept = (synchronous_update(weights, s) == s).all(axis=1)
        positive = (np.where(h >= 0, 1, -1) == s).all(axis=1)
        # The number of −s is that of s with all bits turned.
        if (kept != kept[::-1]).any():
            wrong = f"W = {weights.tolist()}"
        fixed += int(kept.sum())
        if (positive & ~positive[::-1]).any():
            lost = lost or f"at {P} patterns of {d} neurons"
    return exact_comparison(
        "−s is fixed whenever s is, all states of 4 Hebb networks",
        f"{fixed} fixed points"
        + (f"; with sgn 0 = +1 some have no mirror image ({lost})" if lost else ""),
        "pairs s, −s",
        wrong,
    )


def _mixtures(run: Run, d: int) -> Finding:
    """sgn(ξ¹ + ξ² + ξ³) in networks of 3 patterns: P/d is as low as it gets."""
    d, networks, fixed = max(d, 100), 20, 0
    for _ in range(networks):
        xi = random_patterns(3, d, run.rng)
        s = mixture(xi)
        fixed += int((hebb_fields(xi, s) * s >= 0).all())
    return Finding(
        f"spurious: the majority of 3 patterns, {d} neurons",
        "statistical",
        f"a fixed point of {fixed} of {networks} networks",
        "more than half of them (observed)",
        mostly(fixed, networks, 0.5),
    )
