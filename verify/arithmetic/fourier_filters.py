"""The claim `fourier-filters`: predictions of the adder if parts of its spectrum are removed."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
from flint import fmpq, fmpq_mat

from constructions import adder
from constructions.transformer import Transformer
from theory.arithmetic.adder import (
    default_alpha,
    default_bits,
    largest_alpha,
    n_candidates,
    round_to_multiple,
    sufficient_bits,
)
from theory.arithmetic.filters import leakage, null_space_projection
from theory.arithmetic.fourier import fourier_bins, fourier_matrix
from theory.kinds import InputError, Positive, read
from verify.arithmetic.pairs import (
    Alpha,
    Largest,
    Step,
    called_with,
    of_size,
    rounds_nothing,
    rows_of_pairs,
)
from verify.claim import Run, claim
from verify.finding import (
    Evidence,
    Finding,
    Verdict,
    at_most,
    each_at_most,
    no_counterexample,
    same,
    within,
)

HIGH, LOW = ("sum2", "sum2_5", "sum5", "sum10"), ("low",)
KEPT = {
    # the registers that are kept; all other parts of the logits are removed
    "none removed": (*HIGH, *LOW),
    "low removed": HIGH,
    "high removed": LOW,
    "low and period 2": ("sum2", *LOW),
    "low and period 2.5": ("sum2_5", *LOW),
    "low and period 5": ("sum5", *LOW),
    "low and period 10": ("sum10", *LOW),
}
# The registers that each module writes.
WRITES = {"attention": HIGH, "mlp": LOW, "attention+mlp": (*HIGH, *LOW)}
PUBLISHED = Path(__file__).with_name("fourier_filters.csv")
EPS = float(np.finfo(np.float64).eps)


@claim(
    picture="verify.arithmetic.pictures:draw_filters",
    faults_seen=[{"largest": 10, "alpha": 4.0}],
)
def fourier_filters(
    run: Run, *, largest: Largest = 260, step: Step = 5, alpha: Alpha = None
) -> Iterator[Finding]:
    """Filters that remove Fourier coefficients of logits, and an adder without some frequencies.

    The logits are a function of the candidate and have Fourier coefficients, which are linear in
    the state of the residual stream.  A matrix R maps the state to the coefficients that should be
    removed, and a matrix K maps the state to the other coefficients.  The projection P = I − R⁺R,
    where R⁺ is the pseudoinverse, removes the coefficients of R.  The projection leaves the
    coefficients of K unchanged for every state iff KRᵀ = 0.

    The filter is applied to the transformer of the claim `adder`, which adds a and b by cosines of
    the high frequencies (periods 2, 2.5, 5 and 10) and of a low frequency (a period p above
    2·`largest`).  The low frequency encodes a and b rounded to multiples of `step`.  In the adder
    KRᵀ = 0 holds up to rounding, and P sets registers (named subspaces of the stream) to 0.
    Without the low frequency, all candidates c ≡ a + b mod 10 have the same logit.  Without the
    high frequencies, the adder outputs the sum of the rounded numbers.
    """
    L = of_size(run, largest)
    p = n_candidates(L)
    usual = default_alpha(p)
    alpha = usual if alpha is None else read(Positive, "alpha", alpha)
    limit, _ = largest_alpha(p)
    if alpha > limit:
        raise InputError(
            f"alpha is {alpha:g}, and 2/sin²(5π/p) is {limit:.6g} for p = {p} candidates: give a "
            "number of at most 2/sin²(5π/p), for which the adder is right"
        )
    if alpha < usual and not sufficient_bits(p, step, alpha):
        raise InputError(
            f"alpha is {alpha:g}: rounded weights could change predictions; give a larger alpha, "
            f"such as {usual:g}"
        )
    model = run.build(adder, L, step, alpha, default_bits(p, step, alpha))
    yield from masks(run)
    yield registers_are_bins(model)
    yield leaks(model)
    table = filtered(model)
    yield from effects(model, table, L, step, alpha >= usual or low_suffices(model))
    yield beside_published(table)
    run.draw(model, (min(15, L), min(93, L)), KEPT)


def masks(run: Run) -> Iterator[Finding]:
    """The findings on when a filter leaves the kept coefficients unchanged.

    The criterion that the kept rows are orthogonal to the removed rows is checked over Q in both
    directions, and in float64 for random and circulant unembeddings.
    """
    count = 3 if run.quick else 10
    yield no_counterexample(
        "mask/iff",
        "conditions KP = K and KRᵀ = 0 over Q, for kept rows K and the filter P that removes the "
        "rows R",
        against_criterion(run, count),
        words=f"equivalent in {2 * count} random cases; KRᵀ = 0 in half of the cases",
    )
    p, D, r = 60, 100, 10
    Q, bins = fourier_matrix(p), fourier_bins(p)
    low = (bins > 0) & (bins <= r // 2)
    random = Q @ run.rng.standard_normal((p, D))
    expected = (r / D) ** 0.5
    found = leakage(random[low], random[~low])
    yield within(
        "mask/random",
        f"relative change of the kept Fourier coefficients of logits if a filter removes {r} rows, "
        f"random {p} × {D} unembedding",
        "float",
        found,
        (expected / 2, 2 * expected),
        words=f"{found:.0%}",
        wanted=f"about √({r}/{D}) = {expected:.0%}, within a factor of 2",
    )
    kernel = np.fft.irfft(1 + run.rng.random(p // 2 + 1), p)
    circulant = Q @ kernel[(np.arange(p)[:, None] - np.arange(p)) % p]
    found = leakage(circulant[low], circulant[~low])
    name = (
        f"relative change of the kept Fourier coefficients of logits if a filter removes {r} rows, "
        "circulant unembedding"
    )
    words, wanted = f"{found:.1e}", f"at most {8 * p * EPS:.1e}, a bound on rounding"
    yield at_most("mask/circulant", name, "float", found, 8 * p * EPS, words=words, wanted=wanted)


def against_criterion(run: Run, count: int) -> Iterator[str]:
    """The random cases in which KP = K and KRᵀ = 0 are not equivalent.

    R contains the removed rows, K contains the kept rows, and P is the projection onto the null
    space of R.
    """
    for orthogonal in [True] * count + [False] * count:
        removed, kept = rational_rows(run.rng, orthogonal)
        P = projection(removed)
        unchanged, met = kept * P == kept, not any(entries(kept * removed.transpose()))
        if unchanged != met or met != orthogonal or any(entries(removed * P)):
            yield f"removed {removed.tolist()}, kept {kept.tolist()}"


def entries(matrix: fmpq_mat) -> list[fmpq]:
    """All entries of a matrix."""
    return [entry for row in matrix.tolist() for entry in row]


def rational_rows(rng: np.random.Generator, orthogonal: bool) -> tuple[fmpq_mat, fmpq_mat]:
    """Two rational rows to be removed, and three kept rows.

    The rows to be removed may be linearly dependent.

    If `orthogonal` is true, the kept rows are orthogonal to the removed rows.
    """
    removed = rng.integers(-5, 6, (2, 6))
    removed[0, 0], removed[1] = 7, removed[1] * rng.integers(0, 2) + 2 * removed[0]
    rows = fmpq_mat([[fmpq(int(x), 3) for x in row] for row in removed.tolist()])
    kept = fmpq_mat(
        [[fmpq(int(x), 2) for x in row] for row in rng.integers(-5, 6, (3, 6)).tolist()]
    )
    kept = kept + fmpq_mat([[fmpq(11 * (j == 0)) for j in range(6)] for _ in range(3)])
    return rows, kept * projection(rows) if orthogonal else kept + fmpq_mat(
        [(rows.tolist()[0])] * 3
    ) * fmpq(100)


def projection(rows: fmpq_mat) -> fmpq_mat:
    """The exact projection onto the null space of the rows, I − Rᵀ(RRᵀ)⁻¹R.

    R is a basis of the row space.
    """
    reduced, rank = rows.rref()
    R = fmpq_mat(reduced.tolist()[:rank])
    identity = fmpq_mat([[fmpq(i == j) for j in range(R.ncols())] for i in range(R.ncols())])
    return identity - R.transpose() * (R * R.transpose()).inv() * R


def spectrum_rows(model: Transformer) -> tuple[np.ndarray, np.ndarray]:
    """The matrix from residual stream to Fourier coefficients of logits, and the bin of each row.

    For p logits and a stream of D dimensions, the matrix has shape (p, D).  The matrix is the
    product of the Fourier matrix and the transposed unembedding.
    """
    W = model.unembed.W_U.numpy().T
    return fourier_matrix(len(W)) @ W, fourier_bins(len(W))


def columns(model: Transformer, registers: Sequence[str]) -> np.ndarray:
    """The coordinates of the given registers in the residual stream."""
    return np.concatenate([np.arange(model.d_model)[model.stream[name]] for name in registers])


def registers_are_bins(model: Transformer) -> Finding:
    """The finding that the Fourier filters set registers to 0, up to rounding.

    The filter of the high bins sets the registers of the comb to 0, and the filter of the low bins
    sets the registers of the bump to 0.
    """
    rows, bins = spectrum_rows(model)
    distance = dict[str, float]()
    for name, removed, registers in (
        ("high", bins > 1, HIGH),
        ("low", (bins > 0) & (bins <= 1), LOW),
    ):
        P, cleared = null_space_projection(rows[removed], rounding(model)), np.eye(model.d_model)
        cleared[columns(model, registers), columns(model, registers)] = 0
        distance[name] = float(np.linalg.norm(P - cleared))
    name = (
        "Frobenius norm of the difference between a Fourier filter and the projection that sets "
        "the registers of the removed bins to 0"
    )
    return by_rounding("registers", name, distance, leak_bound(model))


def by_rounding(id: str, name: str, found: dict[str, float], bound: float) -> Finding:
    """The finding that all numbers in `found` are 0 up to the rounding of the weights."""
    return each_at_most(
        id,
        name,
        "float",
        found,
        dict.fromkeys(found, bound),
        words=", ".join(
            f"{value:.1e} for the filter of the {what.removesuffix(' removed')} bins"
            for what, value in found.items()
        ),
        wanted=f"at most {bound:.1e}, from the rounding of the weights",
    )


def rounding(model: Transformer) -> float:
    """Twice the relative rounding error of the rows that a filter removes, see `leak_bound`."""
    off, least = errors_and_rows(model)
    return 2 * off / least


def leak_bound(model: Transformer) -> float:
    """A bound on the effect of the rounding of weights on a Fourier filter.

    The unembedding for p candidates is W₀ + E, where W₀ has unrounded weights and E contains the
    rounding errors.  With W₀, a filter sets registers to 0.  The 9 columns of E have entries of at
    most δ = 2^{−bits−1}, so ‖QE‖ ≤ δ√(9p) for the Fourier matrix Q.  Singular values of the removed
    rows are at least σ − ‖E‖, where σ = min(1, α)√(p/2) and α is the weight of the bump.  Therefore
    the sine of the angle by which the removed subspace turns is at most θ = ‖E‖/(σ − ‖E‖).
    Projections of rank at most 7 change by at most √14·θ, and kept coefficients by a fraction of at
    most 3θ.  The bound is 4θ.
    """
    off, least = errors_and_rows(model)
    return 4 * off / (least - off)


def errors_and_rows(model: Transformer) -> tuple[float, float]:
    """The numbers δ√(9p) and σ that are defined in `leak_bound`."""
    p, (bits, alpha) = model.interface.n_answers, called_with(model, "bits", "alpha")
    return 2.0 ** (-bits - 1) * (9 * p) ** 0.5, min(1.0, alpha) * (p / 2) ** 0.5


def leaks(model: Transformer) -> Finding:
    """The finding that filters leave the kept coefficients unchanged, up to rounding."""
    rows, bins = spectrum_rows(model)
    high, low = bins > 1, (bins > 0) & (bins <= 1)
    found = {
        "high removed": leakage(rows[high], rows[~high], rounding(model)),
        "low removed": leakage(rows[low], rows[~low], rounding(model)),
    }
    name = (
        "relative change of the kept Fourier coefficients of the adder's logits, if a filter "
        "removes the high bins or the low bin 1"
    )
    return by_rounding("leakage", name, found, leak_bound(model))


@dataclass
class Filtered:
    """The predictions of a filtered model on all pairs; ties are broken uniformly at random."""

    pairs: int = 0
    right: Fraction = Fraction(0)  # the expected number of right predictions
    errors: set[int] = field(default_factory=set)
    most: int = 0  # largest number of tied candidates of a pair
    least: int = 2**62  # least number of tied candidates

    @property
    def accuracy(self) -> float:
        """The expected fraction of right predictions."""
        return float(self.right / self.pairs)


def filtered(model: Transformer) -> dict[str, Filtered]:
    """The predictions on all pairs with every filter of `KEPT`.

    The logits with a filter are the sum over the registers that the filter keeps.
    """
    W, p = model.unembed.W_U.numpy(), model.unembed.W_U.shape[1]
    found = {name: Filtered() for name in KEPT}
    for pairs in rows_of_pairs(model):
        *_, H = model.streams(pairs)
        at_equals, sums = H[:, 2].numpy(), pairs.sum(1)
        for name, registers in KEPT.items():
            at = columns(model, registers)
            logits = at_equals[:, at] @ W[at]
            row, candidate = np.nonzero(logits == logits.max(1, keepdims=True))
            error = (candidate - sums[row] + p // 2) % p - p // 2
            count = np.bincount(row, minlength=len(pairs))
            each = found[name]
            each.pairs += len(pairs)
            ties, how_often = np.unique(count[row[error == 0]], return_counts=True)
            each.right += sum(
                (Fraction(int(n), int(t)) for t, n in zip(ties, how_often, strict=True)),
                Fraction(0),
            )
            each.errors |= set(np.unique(error).tolist())
            each.most, each.least = max(each.most, count.max()), min(each.least, count.min())
    return found


def low_suffices(model: Transformer) -> bool:
    """Whether rounded weights provably change no prediction if only the low bin 1 is kept.

    The gap between the two largest logits is then α(1 − cos(2π/p)) = 2α sin²(π/p).  Each logit
    changes by at most the last two terms of the bound `rounding_of_logits`.
    """
    bits, alpha = called_with(model, "bits", "alpha")
    off = 2.0 ** (-bits - 0.5)
    changed = alpha * np.expm1(2 * np.log1p(off)) + off * (1 + off) ** 2
    return bool(changed < alpha * np.sin(np.pi / model.interface.n_answers) ** 2)


def effects(
    model: Transformer, table: dict[str, Filtered], L: int, step: int, certain: bool
) -> Iterator[Finding]:
    """The findings on the predictions with each filter, compared with the theorems on errors.

    If `certain` is false, wrong predictions without the high bins are undecided, not a failure:
    the rounding of the weights may be the reason.
    """
    p = model.unembed.W_U.shape[1]
    evidence: Evidence = "exact" if rounds_nothing(model) else "float"
    off = round_to_multiple(np.arange(L + 1), step) - np.arange(L + 1)
    right_size = int((off[:, None] + off == 0).sum())
    ends = [2 * int(off.min()), 2 * int(off.max())]  # not symmetric, as halves are rounded up
    none, low, high = (table[name] for name in ("none removed", "low removed", "high removed"))
    yield same(
        "none",
        f"right predictions of the adder for {none.pairs} pairs if no bins are removed",
        str(none.right),
        str(none.pairs),
        evidence=evidence,
        words=str(none.right),
        wanted=f"all {none.pairs}",
    )
    strange = [e for e in low.errors if e % 10]
    yield same(
        "low",
        "candidates c that tie for the sum s if the low bin 1 is removed",
        {"right": str(low.right), "maximisers": [low.least, low.most], "others": len(strange)},
        {"right": str(Fraction(low.pairs * 10, p)), "maximisers": [p // 10] * 2, "others": 0},
        evidence=evidence,
        words=f"the {low.most} candidates c ≡ s mod 10, so the accuracy of a random choice is "
        f"{100 * low.accuracy:.3g} %",
        wanted=f"the p/10 = {p // 10} candidates c ≡ s mod 10",
    )
    without_high = same(
        "high",
        "accuracy and errors of the predictions if the high bins (above 1) are removed",
        {"right": str(high.right), "errors": [min(high.errors), max(high.errors)]},
        {"right": str(right_size), "errors": ends},
        evidence=evidence,
        words=f"accuracy {100 * high.accuracy:.3f} %, errors from {min(high.errors)} to "
        f"{max(high.errors)}",
        wanted=f"accuracy {100 * right_size / high.pairs:.3f} %, the fraction of pairs whose sum "
        f"of rounded sizes is the sum; errors from {ends[0]} to {ends[1]}",
    )
    if not certain and without_high.verdict is Verdict.FAILS:
        without_high.verdict = Verdict.UNDECIDED
        without_high.detail = "rounded weights may change these predictions: give a larger alpha"
    yield without_high
    for name, divisor in (("low and period 2", 2), ("low and period 5", 5)):
        each = table[name]
        yield no_counterexample(
            name.replace(" ", "-"),
            f"errors of the predictions if only the {name.replace('low', 'low bin 1')} are kept",
            (f"an error of {e}" for e in sorted(each.errors) if e % divisor),
            evidence=evidence,
            words=f"{_listed(each.errors)}; accuracy {100 * each.accuracy:.2f} %",
            wanted=f"multiples of {divisor}",
        )


def _listed(errors: set[int]) -> str:
    return ", ".join(map(str, sorted(errors))) if len(errors) < 12 else f"{len(errors)} different"


def published() -> dict[tuple[str, str], float]:
    """The accuracies of [Zhou2024] in per cent, by module and by the bins that were removed."""
    with PUBLISHED.open(encoding="utf-8") as file:
        return {
            (row["module"], row["removed"]): float(row["accuracy_percent"])
            for row in csv.DictReader(file)
        }


def of_adder(table: dict[str, Filtered]) -> dict[tuple[str, str], float]:
    """The accuracies of the built adder in per cent, with the same filters as in `published`.

    In the adder, attention writes all high bins and the MLP writes all low bins.  Therefore a
    filter of high bins on the MLP, or of low bins on attention, removes nothing.
    """
    found = {("none", "none"): 100 * table["none removed"].accuracy}
    for removed, registers in (("low", LOW), ("high", HIGH)):
        for module, written in WRITES.items():
            left = tuple(r for r in (*HIGH, *LOW) if r not in registers or r not in written)
            name = next(name for name, kept in KEPT.items() if kept == left)
            found[module, removed] = 100 * table[name].accuracy
    return found


def beside_published(table: dict[str, Filtered]) -> Finding:
    """The finding that removals order the accuracies as in the published model.

    Only pairs of removals with different accuracies in the built adder are compared.
    """
    ours, theirs = of_adder(table), published()
    costs_more = [
        (a, b)
        for a, b in product(ours, repeat=2)
        if ours[a] < ours[b] and (a[1] == b[1] or b[1] == "none")
    ]
    wrong = (
        f"{' '.join(a)} and {' '.join(b)}: {theirs[a]} and {theirs[b]}"
        for a, b in costs_more
        if not theirs[a] < theirs[b]
    )
    rows = [f"{m:14}{r:6}{ours[m, r]:8.2f}{theirs[m, r]:12.2f}" for m, r in ours]
    head = "module        removed  built   published   (accuracy in %)"
    why = (
        "In the built adder attention writes all high bins and the MLP all low bins; in the\n"
        "trained model each writes both, so that bins removed from one module remain in the other."
    )
    found = no_counterexample(
        "published",
        "order of the accuracies if bins are removed from attention or from the MLP, in the built "
        "adder and in the published model",
        wrong,
        words=f"the same in all {len(costs_more)} comparisons",
    )
    found.detail = "\n".join([*filter(None, [found.detail]), head, *rows, why])
    found.detailed = True
    return found
