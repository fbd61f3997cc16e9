"""Facts, calibration and log-linear families at many sizes, compared with definitions."""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from language_by_definition import law, rng
from refusals import rejects

from theory import language as L


@pytest.mark.parametrize(("base", "count"), [(2, 1), (2, 12), (33, 2), (10, 4), (1000, 1)])
def test_facts(base, count):
    found = L.fact_strings(base, count, 1)
    powers = base ** np.arange(count)[::-1]
    assert (found[:, :count] @ powers == np.arange(base**count)).all()
    assert found.min() >= 0
    assert found.max() <= base - 1
    values = found[:, count:] @ powers
    assert abs(values.mean() / base**count - 0.5) < 0.3 if base**count > 30 else True


@pytest.mark.parametrize("strings", [(4097, 2), (2, 25), (257, 3), (2**24 + 1, 1)])
def test_too_many_facts(strings):
    with rejects("facts", error=ValueError):
        L.fact_strings(*strings, 0)


@pytest.mark.parametrize("m", [1, 5, 130])
def test_probabilities_of_facts(m):
    p, counts = law(m), rng(m).integers(4, size=m).tolist()
    counts[0] += 1
    n = sum(counts)
    once = F(sum(c == 1 for c in counts), n)
    seen = [i for i in range(m) if counts[i]]
    assert L.probabilities_of_seen(p, counts, "calibrated") == [p[i] for i in seen]
    assert L.probabilities_of_seen(p, counts, "memoriser") == [F(counts[i], n) for i in seen]
    left = [(1 - once) * F(counts[i], n) for i in seen]
    assert L.probabilities_of_seen(p, counts, "good-turing") == left


@pytest.mark.parametrize(("m", "n"), [(1, 2), (2, 3), (5, 33), (9, 130), (33, 65)])
def test_good_turing(m, n):
    """The moments by the probabilities that one or two facts occur once or never."""
    p = law(m)
    once, never = [x * (1 - x) ** (n - 1) for x in p], [x * (1 - x) ** n for x in p]
    assert L.mean_difference(p, n) == sum(once) - sum(never)
    square = sum(x / n for x in once) + sum(x * y for x, y in zip(p, never, strict=True))
    for i, j in product(range(m), repeat=2):
        if i != j:
            a, b, rest = p[i], p[j], 1 - p[i] - p[j]
            square += a * b * rest ** (n - 2) * F(n - 1, n) + a * b * rest**n
            square -= 2 * a * b * rest ** (n - 1)
    assert L.mean_square(p, n) == square
    assert L.most_mean_difference(n) == F((n - 1) ** (n - 1), n**n)
    assert square <= L.most_mean_square(n)
    uniform = float(L.mean_square([F(1, m)] * m, n))
    assert L.uniform_mean_square(m, n) == pytest.approx(uniform, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3, 33, 300, 2000])
def test_bounds_of_good_turing(n):
    for gamma in (1e-9, 0.05, 0.7):
        wanted = 1 / n + 2.42 * math.sqrt(math.log(4 / gamma) / n)
        assert L.deviation_bound(n, gamma) == pytest.approx(wanted, rel=1e-12, abs=0)
    assert L.most_mean_difference(n) == F(1, n) * F(n - 1, n) ** (n - 1)
    if n > 1:
        wanted = F(1, n) + F(n**n, (n + 1) ** (n + 1)) + F(4 * (n - 2) ** (n - 2), n**n)
        assert L.most_mean_square(n) == wanted


@pytest.mark.parametrize(("facts", "n"), [(1, 1), (1, 50), (2, 5), (33, 17), (65, 30), (10**15, 3)])
def test_seen_and_once(facts, n):
    found = L.seen_and_once(facts, n)
    assert sum(found.values()) == 1
    missed = F(facts - 1, facts)
    assert sum(x * s for (s, _), x in found.items()) == facts * (1 - missed**n)
    assert sum(x * o for (_, o), x in found.items()) == n * missed ** (n - 1)
    both = n * (n - 1) * F(facts - 1, facts) * F(facts - 2, facts) ** (n - 2) if n > 1 else F(0)
    assert sum(x * o * (o - 1) for (_, o), x in found.items()) == both
    if facts**n < 1000:
        counted = Counter[tuple[int, int]]()
        for corpus in product(range(facts), repeat=n):
            counts = Counter(corpus)
            counted[len(counts), [*counts.values()].count(1)] += 1
        assert found == {key: F(x, facts**n) for key, x in counted.items()}


@pytest.mark.parametrize("m", [2, 5, 33, 130])
def test_levels(m):
    p, g = law(m, zeros=True), law(m, 1)
    facts = {y for y in range(m) if p[y]} | {m // 2}
    unseen = set(rng(m).permutation(m)[: m // 2].tolist())
    found = L.levels(p, g, facts, unseen)
    assert found.hallucination == sum(g[y] for y in range(m) if y not in facts)
    assert found.unseen_mass == sum(p[y] for y in unseen)
    assert found.valid == len(facts)
    for tau in (F(0), *sorted(set(g)), F(1, 2 * m)):
        A = {y for y in range(m) if g[y] > tau}
        over = max(F(0), sum(g[y] - p[y] for y in A))
        assert found.over_confidence(tau) == over
        bound = found.unseen_mass - over - tau * len(facts) + tau * len(A)
        assert found.deterministic_bound(tau) == bound - sum(p[y] for y in A & unseen)
    values = sorted(set(g))
    apart = {v: sum(g[y] - p[y] for y in range(m) if g[y] == v) for v in values}
    assert found.miscalibration == sum(map(abs, apart.values())) / 2
    mass = {v: v * g.count(v) for v in values}
    for bins in (1, 2, 3, 17, 1000):
        parts, before = Counter[int](), F(0)
        for v in values:
            parts[math.floor(bins * before)] += apart[v]
            before += mass[v]
        if all((bins * sum(list(mass.values())[:i])).denominator > 1 for i in range(1, len(mass))):
            wanted = float(sum(map(abs, parts.values())) / 2)
            assert found.miscalibration_in(bins) == pytest.approx(wanted, abs=1e-12)
    with rejects("p"):
        L.levels(p, g, facts - {0}, unseen)
    for a, b in ((p, [*g, F(0)]), ([*p, F(0)], g)):
        with rejects("p", "g"):
            L.levels(a, b, facts, unseen)


@pytest.mark.parametrize(
    ("a", "over", "facts", "others", "n", "delta"),
    [
        (F(1, 3), F(1, 7), 1, 1, 1, 0.5),
        (F(1), F(0), 10**6, 10**9, 33, 1e-3),
        (F(0), F(1), 7, 130, 10**15, 0.9),
    ],
)
def test_bounds_on_hallucination(a, over, facts, others, n, delta):
    assert L.expected_bound(a, over, facts, others, n) == a - over - F(facts, others) - F(1, n)
    assert L.expected_prompted_bound(a, over, facts, n) == a - over - F(2, facts) - F(1, n)
    wanted = float(a - over) - facts / others / delta
    assert L.bound_given_corpus(a, over, facts, others, delta) == pytest.approx(
        wanted, rel=1e-12, abs=0
    )
    for squares in (0.0, 1e-6, 0.3):
        wanted = float(a - over - F(2, facts)) - math.sqrt(math.log(1 / delta) * squares / 2)
        found = L.prompted_bound_given_data(a, over, facts, delta, squares)
        assert found == pytest.approx(wanted, rel=1e-12, abs=0)
    slack = 3 * facts / (delta * others) + math.sqrt(6 * math.log(6 / delta) / n)
    assert L.printed_slack(facts, others, n, delta) == pytest.approx(slack, rel=1e-12, abs=0)
    found = L.printed_bound(a, over, facts, others, n, delta)
    assert found == pytest.approx(float(a - over) - slack, rel=1e-12, abs=0)
    wanted = float(a - over) - 2 / others - (35 + 6 * math.log(n)) / math.sqrt(n)
    assert L.printed_prompted_bound(a, over, others, n) == pytest.approx(wanted, rel=1e-12, abs=0)
    for value in (1 + 2e-9, -2e-9, F(1001, 1000)):
        with rejects("over"):
            L.expected_bound(a, value, facts, others, n)
    L.expected_bound(a, 1 + 0.9e-9, facts, others, n)


@pytest.mark.parametrize(("prompts", "C"), [(1, 2), (3, 3), (9, 17), (33, 5)])
@pytest.mark.parametrize("valid", [1, 2])
def test_validity(prompts, C, valid):
    if valid >= C:
        valid = 1
    sets = [set(rng(c).permutation(C)[:valid].tolist()) for c in range(prompts)]
    mu, p, g = law(prompts), [], [law(C, c, zeros=True, most=5) for c in range(prompts)]
    for c, true in enumerate(sets):
        inside = dict(zip(true, law(valid, c), strict=True))
        p.append([inside.get(r, F(0)) for r in range(C)])
    found, cells = L.is_it_valid(mu, p, g, sets), list(product(range(prompts), range(C)))
    assert found.errors == sum(mu[c] * g[c][r] for c, r in cells if r not in sets[c])
    assert found.wrong == C - valid

    def misclassified(t):
        lost = sum(mu[c] * p[c][r] for c, r in cells if g[c][r] <= t)
        wrong = sum(mu[c] for c, r in cells if r not in sets[c] and g[c][r] > t)
        return lost / 2 + wrong / (C - valid) / 2

    ts = sorted({F(0), F(1), *(x for row in g for x in row)})
    assert found.thresholds == ts
    several = {ts[0], ts[len(ts) // 2], ts[-1], F(1, 3), F(-1), F(1, C - valid)}
    for t in several:
        assert found.misclassified(t) == misclassified(t)
        over = sum(mu[c] * (g[c][r] - p[c][r]) for c, r in cells if g[c][r] > t)
        assert found.over_confidence(t) == max(F(0), over)
    t = F(1, C - valid)
    bound = 2 * misclassified(t) - F(valid, C - valid) - found.over_confidence(t)
    assert found.bound == bound <= found.errors
    least = min(map(found.misclassified, [F(-1), *ts]))
    assert found.least_misclassified == least
    assert found.mean_misclassified == found.errors * C / (C - 1) / 2 or valid > 1
    if valid == 1:
        assert found.choice_bound == 2 * (1 - F(1, C)) * least <= found.errors
    else:
        with rejects("prompts"):
            assert found.choice_bound


@pytest.mark.parametrize(("d", "k"), [(1, 1), (9, 8), (65, 33), (130, 17)])
def test_solved_coefficients(d, k):
    positions = rng(d).permutation(d)[:k].tolist()
    words = rng(k).integers(2, size=(d + 30, d))
    tokens = L.linear_tokens(words, positions)
    assert L.coefficients_by_solving(words, tokens) == [F(int(i in positions)) for i in range(d)]
    few = d // 2
    if few:
        assert L.coefficients_by_solving(words[:few], tokens[:few]) is None


@pytest.mark.parametrize(("d", "k"), [(9, 3), (17, 8)])
def test_regressions(d, k):
    positions = rng(d).permutation(d)[:k]
    words, asked = rng(1).integers(2, size=(900, d)), rng(2).integers(2, size=(100, d))
    found = L.tokens_by_regression(words, L.linear_tokens(words, positions), asked)
    assert (found == L.linear_tokens(asked, positions)).mean() > 0.98


@pytest.mark.parametrize(("m", "k"), [(2, 1), (5, 3), (33, 5), (130, 2)])
def test_families(m, k):
    base, features = law(m), rng(m).integers(-2, 3, size=(m, k))
    family = L.log_linear(base, features)
    x = [F(int(a), int(b)) for a, b in rng(k).integers(1, 4, size=(k, 2))]
    scores = features @ np.log(np.array(x, dtype=float))
    weights = np.array(base, dtype=float) * np.exp(scores)
    assert family.k == k
    assert np.allclose(np.array(family.weights(x), dtype=float), weights)
    member = np.array(family.at(x), dtype=float)
    assert np.allclose(member, weights / weights.sum())
    p = law(m, 7)
    y = np.array(p, dtype=float)
    mean = y @ features
    assert np.allclose(np.array(family.mean(p), dtype=float), mean)
    centred = features - mean
    assert np.allclose(np.array(family.covariance(p), dtype=float), (centred.T * y) @ centred)
    assert np.allclose(np.array(family.gradient(x, p), dtype=float), member @ features - mean)
    if m < 6:
        assert float(family.log_partition(x)) == pytest.approx(math.log(weights.sum()))
    assert L.separating_direction(family, p) is None
    theta, found = L.projection(family, p)
    by_theta = np.array(base, dtype=float) * np.exp(features @ theta)
    assert np.allclose(found, by_theta / by_theta.sum())
    assert np.allclose(found @ features, mean, atol=1e-8)
    corner = [F(int(i == features[:, 0].argmax())) for i in range(m)]
    w = L.separating_direction(family, corner)
    values = [sum(a * int(b) for a, b in zip(w, row, strict=True)) for row in features]
    assert min(values) == values[corner.index(1)] < max(values)


@pytest.mark.parametrize(("d", "terms", "width"), [(3, 1, 1), (33, 9, 5), (130, 33, 3)])
def test_terms(d, terms, width):
    draw = rng(d)
    formula = {
        frozenset((int(v), int(draw.integers(2))) for v in draw.permutation(d)[:width])
        for _ in range(terms)
    }
    rows = L.restrictions(d, 0.7, 300, 1)
    samples = [L.restricted_terms(formula, row) for row in rows]
    for row, sample_ in zip(rows[:40], samples, strict=False):
        wanted = set()
        for term in formula:
            if all(row[v] in (-1, b) for v, b in term):
                wanted.add(frozenset((v, b) for v, b in term if row[v] == -1))
        assert sample_ == wanted
    assert L.terms_by_restriction(samples) == formula


@pytest.mark.parametrize("distribution", ["zipf", "uniform"])
@pytest.mark.parametrize(("facts", "others", "n"), [(1, 1, 1), (33, 33, 130), (1000, 10**9, 300)])
def test_worlds(distribution, facts, others, n):
    of = L.world(facts, others, n, distribution, 1)
    p = np.array([1 / (i if distribution == "zipf" else 1) for i in range(1, facts + 1)])
    p /= p.sum()
    assert np.allclose(of.p, p)
    assert (of.documents, of.facts, len(of.counts)) == (n, facts, facts)
    seen = of.counts > 0
    once, mass = (of.counts == 1).sum() / n, p[~seen].sum()
    assert of.unseen == others + int((~seen).sum())
    assert of.seen_once == pytest.approx(once)
    assert of.unseen_mass == pytest.approx(mass)
    assert of.mean_seen_once == pytest.approx((p * (1 - p) ** (n - 1)).sum())
    models = {
        "calibrated": (p[seen], mass),
        "good-turing": ((1 - once) * of.counts[seen] / n, once),
        "memoriser": (of.counts[seen] / n, 0.0),
    }
    for name, (known, rest) in models.items():
        model = of.model(name)
        assert np.allclose(model.mass, [*known, rest])
        assert model.hallucination == pytest.approx(rest * others / of.unseen)
        assert model.unseen_mass == pytest.approx(mass)
        assert model.valid == facts
    for weight in (0.0, 0.3, 1.0):
        mixed = of.mixture(weight)
        calibrated, memory = of.model("calibrated"), of.model("memoriser")
        assert np.allclose(mixed.g, (1 - weight) * calibrated.g + weight * memory.g)
    known = of.known()
    assert known.hallucination == 0
    assert np.allclose(known.mass, [*p, 0])
    assert known.strings.sum() == facts + others
    if facts > 1:
        with rejects("others", "facts"):
            L.world(facts, facts - 1, n, distribution, 1)


@pytest.mark.parametrize(
    ("C", "m", "N", "alpha"),
    [(1, 1, 1, 1.0), (33, 3, 130, 0.75), (33, 3, 40, 0.74), (1000, 130, 300, 0.01), (9, 1, 5, 0.5)],
)
def test_prompts(C, m, N, alpha):
    of = L.prompted(C, m, N, alpha, 2)
    never = sum(x == 0 for x in of.answered) / C
    assert (of.prompts, of.documents, of.answers) == (C, N, m)
    assert of.answered.sum() <= N
    assert of.once == pytest.approx(sum(x == 1 for x in of.answered) / N)
    assert of.mean_once == pytest.approx(alpha * (1 - alpha / C) ** (N - 1))
    assert of.never == pytest.approx(never)
    assert of.missing == pytest.approx(alpha * never)
    assert of.squares == pytest.approx(never * C * (alpha / C) ** 2)
    sampled, likeliest = of.errors()
    assert sampled == pytest.approx(alpha * never * (1 - 1 / m))
    silent = 1 - alpha > alpha / m
    assert likeliest == pytest.approx(0 if silent else never * (1 - 1 / m))
    model = of.calibrated()
    assert model.hallucination == pytest.approx(sampled)
    assert model.mass.sum() == pytest.approx(1)
    assert np.allclose(model.mass, model.p)
    assert model.unseen_mass == pytest.approx(alpha * never)
    assert model.valid == pytest.approx(2)
