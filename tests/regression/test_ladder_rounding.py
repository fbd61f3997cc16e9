"""Rounding in the ladder from αI: the theorem of docs/depth.md ("Stable"), equation by equation.

In units where α = 1, X = W Σ Vᵀ; errors of u and e on the examples, as matrices δU and δE with a
row for each, are written in the bases W and V.  Then entry ij mixes with nothing but entry ji.
"""

from itertools import pairwise

import numpy as np
import pytest
import torch

from constructions.regression.ladder import Rung, ladder, powers
from constructions.regression.stages import Powers
from verify.claim import Run
from verify.finding import Verdict
from verify.regression import stability

SLOTS = ("low", "high")


def series(p, t):
    """g_p = 1 + ε + … + ε^{p−1}, ε = 1 − t."""
    return (1 - (1 - t) ** p) / t


def of_the_layer(rung: Rung, at: dict[str, int], ti, tj):
    """Entry ij of δU_n and δE_n as factors of (slot, "u" or "e", transposed) before the layer."""
    ((a_slot, c_slot),) = rung.products
    a, c = at[a_slot], at[c_slot]
    i, j, root = 1 - ti, 1 - tj, np.sqrt(ti * tj)
    u, e = {}, {}

    def add(into, key, factor):
        into[key] = into.get(key, 0) + factor

    add(u, (a_slot, "u", False), j**a - 1 + i**c + i ** (a + c))
    add(u, (c_slot, "u", False), j ** (2 * a))
    add(u, (a_slot, "e", True), -root * series(c, ti) * series(a, tj))
    add(e, (c_slot, "e", False), j ** (2 * a))
    add(e, (a_slot, "u", False), -ti * i**c * (1 + i**a))
    add(e, (a_slot, "e", True), -root * i**c * series(a, tj))
    if rung.cubed:
        for key, factor in e.items():
            add(u, key, factor)
        add(e, (a_slot, "e", False), -tj * j ** (2 * a) - ti * i ** (2 * a))
        add(e, (a_slot, "e", True), -root * i**a * j**a)
    return {"u": u, "e": e}


def of_the_labels(rung: Rung, at: dict[str, int], errors, s, y, left, t):
    """δs_n in the basis W, from the errors of s, u and e; s before the layer and y in it, too."""
    ((a_slot, c_slot),) = rung.products
    a, c = at[a_slot], at[c_slot]
    i, j, d = 1 - left[:, 0], 1 - t, len(t)
    root = np.sqrt(np.append(t, np.zeros(len(left) - d)))
    w = y[:d] / np.sqrt(t)
    found = errors[c_slot, "s"] - i**c * (1 - i**a) * errors[a_slot, "s"]
    found -= errors[c_slot, "e"] @ ((1 - j ** (2 * a)) * w)
    gained = errors[a_slot, "u"].T @ (s[a_slot] + y)
    found[:d] -= root[:d] * j**c * gained
    if rung.cubed:
        found -= root**2 * i ** (2 * a) * errors[a_slot, "s"]
        found[:d] -= root[:d] * j**a * (errors[a_slot, "e"].T @ s[a_slot])
        found -= errors[a_slot, "e"] @ (np.sqrt(t) * j**a * s[a_slot][:d])
    return found


def slope(cubic, at, along):
    """The derivative of a cubic polynomial, which this difference quotient is exactly."""
    near, far = (cubic(at + h * along) - cubic(at - h * along) for h in (1, 2))
    return (8 * near - far) / 12


@pytest.mark.parametrize("power", [4, 13, 14, 41, 128])
def test_a_layer_passes_errors_on_as_stated(power):
    rng = np.random.default_rng(power)
    W, _ = np.linalg.qr(rng.standard_normal((5, 5)))
    V, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    t = np.array([0.02, 0.3, 0.9])
    X = (W[:, :3] * np.sqrt(t)) @ V.T
    plan = powers(power, 1.0)
    model = ladder(3, plan, Powers(1.0, "identity"))
    y = rng.standard_normal(5)
    streams = list(model.streams(X, y, np.zeros(3)))
    # On the null space of Xᵀ t is 0, to which the formulas are continued.
    left, right = np.array([*t, 1e-12, 1e-12])[:, None], t[None, :]
    for layer, (below, above) in enumerate(pairwise(plan[:-1]), start=1):
        at = {rung.slot: rung.exponent for rung in below}
        errors, s, change = {}, {}, torch.zeros_like(streams[layer])
        for slot in at:
            for part in "ue":
                # Exponent 0 stands there from the start, without errors.
                errors[slot, part] = rng.standard_normal((5, 3)) * (at[slot] > 0)
                change[..., :5, model.stream[f"{slot}_{part}"]] = torch.as_tensor(
                    W @ errors[slot, part] @ V.T
                )
            errors[slot, "s"] = rng.standard_normal(5) * (at[slot] > 0)
            register = model.stream[f"{slot}_s"]
            change[..., :5, register] = torch.as_tensor(W @ errors[slot, "s"])[:, None]
            s[slot] = W.T @ streams[layer][..., :5, register].reshape(5).numpy()
        found = slope(lambda H, block=model.blocks[layer]: block(H, 5), streams[layer], change)
        for rung in above:
            stated = of_the_layer(rung, at, left, right)
            for part, factors in stated.items():
                wanted = 0
                for (slot, of, transposed), factor in factors.items():
                    error = errors[slot, of]
                    # Entries ji exist for i up to d; the factor is 0 beyond.
                    mirrored = np.vstack([error[:3].T, np.zeros((2, 3))])
                    wanted = wanted + factor * (mirrored if transposed else error)
                register = model.stream[f"{rung.slot}_{part}"]
                got = W.T @ found[..., :5, register].reshape(5, 3).numpy() @ V
                assert np.abs(got - wanted).max() < 1e-9 * max(1, np.abs(wanted).max())
            wanted = of_the_labels(rung, at, errors, s, W.T @ y, left, t)
            got = W.T @ found[..., :5, model.stream[f"{rung.slot}_s"]].reshape(5).numpy()
            assert np.abs(got - wanted).max() < 1e-9 * max(1, np.abs(wanted).max())


def sizes(at: dict[str, int], ti, tj):
    """What errors are measured in: V = r|δU|/g(t_j), W = max(1, r)|δE|, r = σ_i/σ_j; for each slot
    entries ij and ji of δU, then of δE.  Exponent 0 is exact."""
    r, found = np.sqrt(ti / tj), []
    for slot in SLOTS:
        p = at.get(slot, 0)
        if p:
            found += [r / series(p, tj), 1 / r / series(p, ti), max(1, r), max(1, 1 / r)]
        else:
            found += [0.0] * 4
    return np.array(found)


def layers(power, ti, tj):
    """The exponents after each layer, and the layer's derivative on one pair ij (8 × 8)."""
    at: dict[str, int] = {"low": 0}
    for rungs in powers(power, 1.0):
        step = np.zeros((8, 8))
        for rung in rungs if any(at.values()) else ():
            for mirrored, (x, y) in enumerate(((ti, tj), (tj, ti))):
                for part, factors in of_the_layer(rung, at, x, y).items():
                    row = 4 * SLOTS.index(rung.slot) + 2 * (part == "e") + mirrored
                    for (slot, of, transposed), factor in factors.items():
                        column = 4 * SLOTS.index(slot) + 2 * (of == "e") + (mirrored ^ transposed)
                        step[row, column] += factor
        at = {rung.slot: rung.exponent for rung in rungs}
        yield at, step


@pytest.mark.parametrize("power", [13, 40, 41, 2**10, 2**20, 2**40, 3**30 // 2, 3**30 + 1])
def test_what_a_layer_rounds_is_passed_on_at_most_threefold(power):
    """For all pairs of eigenvalues of a grid, κ to 1e8, from every layer to every later one."""
    grid = np.append(np.geomspace(1e-8, 0.9, 12), 0.999)
    for ti in grid:
        for tj in grid:
            passed = np.zeros((8, 0))  # a column for each entry that a layer has rounded
            for at, step in layers(power, ti, tj):
                size = sizes(at, ti, tj)
                rounded = np.diag(np.divide(1, size, where=size > 0, out=np.zeros(8)))
                passed = np.hstack([step @ passed, rounded])
                assert (size @ np.abs(passed)).max() <= stability.AMPLIFIED == 3


def test_bounds_that_triple_in_each_layer_are_distinguished():
    def found(per_layer):
        layers = [9, 16]
        rounding = [1e-15 * per_layer**L for L in layers]
        return stability.Errors(10.0, layers, [], [], [], [], rounding, [])

    steady = stability.does_not_grow("gram", [found(1.0), found(1.05)])
    assert steady.verdict is Verdict.HOLDS
    for per_layer in (1.3, 3.0):  # by 1.3^7·9/16 = 3.5, and by 1230
        for others in ([], [found(1.0)]):
            growing = stability.does_not_grow("gram", [*others, found(per_layer)])
            assert growing.verdict is Verdict.FAILS


def test_the_errors_of_a_ladder():
    found = stability.errors(Run(seed=0, quick=True), "identity", 10.0)
    assert found.agrees == [Verdict.HOLDS] * 2
    assert found.layers == [9, 16]  # 12 and 23 steps
    assert max(found.float64) < min(found.rounding)
    assert found.bound64 == pytest.approx(found.rounding, rel=1e-3)
    assert max(found.bound64) < 1e-10

    assert max(found.float64) < 1e-14 < min(found.float32) < 1e-5
    ratio = np.finfo(np.float32).eps / np.finfo(np.float64).eps
    assert ratio == stability.FLOAT32
    assert max(found.bound32) == pytest.approx(ratio * max(found.rounding), rel=0.1)


def test_an_error_above_its_bound_fails_and_a_wide_bound_of_float32_decides_nothing():
    def found(float32, bound32, agrees=Verdict.HOLDS):
        each = stability.Errors(
            10.0, [3], [1e-16], [1e-12], [float32], [bound32], [1e-12], [agrees]
        )
        return stability.stays_within("identity", each).verdict

    assert found(1e-7, 1e-4) is Verdict.HOLDS
    assert found(1e-3, 1e-4) is Verdict.FAILS
    assert found(5.0, 1.0) is Verdict.HOLDS  # float64 alone is judged
    assert found(1e-7, 1e-4, Verdict.UNDECIDED) is Verdict.UNDECIDED
