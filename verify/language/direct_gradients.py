"""The claim `direct-gradients`: without CoT, a gradient hardly depends on the parity to learn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np
import torch

from constructions.tokens import Tokens
from constructions.trained.form import Form
from constructions.trained.transformers import TransformerShape
from theory.language import (
    bits_by_elimination,
    least_step_signal,
    mean_signal_bound,
    signals,
)
from theory.sequences import all_sequences
from verify.claim import Run, claim, option
from verify.finding import Finding, as_stated, at_least, at_most, same

NETS, HIDDEN = 5, 6  # networks of integer weights, whose gradients are integers
ROUNDED = 1e-10  # relative rounding error of sums of 2^d products in float64
RATIO = 1  # smallest ratio of the signal at a CoT node to the mean signal without CoT
SEEDS, MORE, ENOUGH = 10, 10, 9
MOST = 200  # largest number of bits


@claim(
    faults_seen=[{"d": 6}],
)
def direct_gradients(
    run: Run,
    *,
    d: Annotated[int, option("number of bits of the words of the networks", min=2, max=10)] = 8,
    bits: Annotated[
        int, option("number of bits of the words of the parities", min=20, max=MOST)
    ] = 64,
) -> Iterator[Finding]:
    """For every differentiable model f of words of d bits, Σ_S ‖E χ_S ∇f‖² = E‖∇f‖², where the sum
    is over all 2^d sets S of bits.

    Bits are ±1, χ_S is the parity (the product) of the bits in S, ∇ is the gradient with respect to
    the parameters, and E is the mean over all words.  If f is trained on the parity χ_S with the
    loss ½E(f − χ_S)², only the part −E χ_S ∇f of the gradient depends on S.  So the mean of ‖E χ_S
    ∇f‖² over the C(d, k) parities of k bits is at most E‖∇f‖²/C(d, k).

    In a chain of thought, the bits of S are the leaves of a binary tree, and the value of each
    inner node is the product y of its two children.  The model of a node averages m tokens by
    softmax of the scores w and maps the average z to φ(z) = 4z² − 1.  The part E y∇φ of the
    gradient in w depends on the two children.  At w = 0, ‖E y∇φ‖² is at least the fraction (2 −
    4/m)/m² of E‖∇φ‖².

    These bounds concern gradients, not learning: Gaussian elimination over GF(2) finds S from
    slightly more than d examples.
    """
    yield _integers(run, d)
    yield _transformer(run, d)
    yield _signal(bits)
    yield _eliminated(run, bits)


def _integers(run: Run, d: int) -> Finding:
    """Parseval's identity for gradients of Σ a_i relu(w_i x + b_i), in integers."""
    words = 1 - 2 * all_sequences(d, 2)
    alike = 0
    for _ in range(NETS):
        W, b = run.rng.integers(-3, 4, size=(d, HIDDEN)), run.rng.integers(-3, 4, size=HIDDEN)
        a = run.rng.integers(-3, 4, size=HIDDEN)
        z = words @ W + b
        on = (z > 0) * a
        inner = (on[:, None, :] * words[:, :, None]).reshape(len(words), -1)
        gradients = np.hstack([np.maximum(z, 0), on, inner])
        alike += int(signals(gradients).sum()) == 2**d * int((gradients**2).sum())
    return same(
        "integers",
        f"Σ_S ‖E χ_S ∇f‖² = E‖∇f‖² for networks f with integer weights, over all 2^{d} sets S of "
        f"bits, where χ_S is the parity of S and E the mean over all 2^{d} words",
        alike,
        NETS,
        words=f"both sides are equal for {alike} networks, in integers",
        wanted=f"equality for all {NETS} networks",
    )


def _transformer(run: Run, d: int) -> Finding:
    """Parseval's identity for gradients of an untrained transformer, in float64."""
    gradients = of_transformer(d, run.seed)
    found, wanted = signals(gradients).sum() / 4**d, (gradients**2).sum() / 2**d
    off = abs(found - wanted) / wanted
    return at_most(
        "transformer",
        "relative difference between Σ_S ‖E χ_S ∇f‖² and E‖∇f‖² for an untrained transformer f "
        f"with {gradients.shape[1]} weights, over all sets S of {d} bits, where χ_S is the parity "
        f"of S and E the mean over all 2^{d} words",
        "float",
        float(off),
        ROUNDED,
        words=f"Σ_S ‖E χ_S ∇f‖² = {found:.12g}, E‖∇f‖² = {wanted:.12g}",
        wanted=f"at most {ROUNDED:g}, for rounding errors",
    )


def of_transformer(d: int, seed: int) -> np.ndarray:
    """The gradients (2^d, weights) of a random transformer's logit of token 1 at the last position.

    The gradients are computed on all words of d bits, in float64.
    """
    form = Form(Tokens(2, d), 2, 2, positions=d)
    model = TransformerShape(n_layers=1, n_heads=2, d_model=8, d_mlp=16).build(form, seed, "bits")
    weights = list(model.double().parameters())
    rows = []
    for word in all_sequences(d, 2):
        parts = torch.autograd.grad(model.logits(word[None])[0, -1, 1], weights)
        rows.append(torch.cat([part.flatten() for part in parts]).numpy())
    return np.array(rows)


def _signal(d: int) -> Finding:
    """The signal at a CoT node of m = d + k − 2 tokens over the mean signal without CoT, k = d/2.

    Each is an exact fraction of the mean square of the respective gradient.
    """
    k = d // 2
    step, without = least_step_signal(d + k - 2), mean_signal_bound(d, k)
    finding = at_least(
        "signal",
        "ratio of the fraction of the squared gradient that depends on the target at a node of a "
        f"chain of thought to the mean of this fraction for a parity of {k} of {d} bits without a "
        "chain of thought",
        "proved",
        step / without,
        RATIO,
        words=f"the fraction is at least {float(step):.2g} at a node, and the mean fraction is at "
        f"most {float(without):.2g} without a chain of thought",
        wanted=f"a ratio of at least {RATIO}",
    )
    m, sets = d + k - 2, math.prod(range(d - k + 1, d + 1)) // math.factorial(k)
    return as_stated(finding, [step, without], [2 * (m - 2) / m**3, 1 / sets])


def _eliminated(run: Run, d: int) -> Finding:
    """The seeds for which Gaussian elimination over GF(2) finds the bits of a parity."""
    right, n = 0, d + MORE
    for _ in range(SEEDS):
        words = run.rng.integers(2, size=(n, d))
        chosen = np.sort(run.rng.permutation(d)[: d // 2])
        right += bits_by_elimination(words, words[:, chosen].sum(axis=1) % 2) == chosen.tolist()
    return at_least(
        "eliminated",
        f"seeds for which elimination over GF(2) finds the parity from {n} random words of {d} "
        "bits",
        "exact",
        right,
        ENOUGH,
        words=f"{right} of {SEEDS} seeds",
        wanted=f"at least {ENOUGH} seeds",
    )
