"""Tasks of retrieval and their models at long sequences, large vocabularies and high orders, and
bounds at sizes far beyond the defaults, each against the definition written out here."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from refusals import rejects

import constructions as c
from theory import retrieval as r
from theory.retrieval.ranks import ranks


def words(T, V, count=3):
    """Random sequences, a period, a constant sequence and one with another token inside."""
    rng = np.random.default_rng(T + V)
    rows = rng.integers(V, size=(count, T))
    return np.vstack(
        [rows, np.arange(T) % min(V, 7), np.full(T, V - 1), (np.arange(T) == T // 2) * (V - 1)]
    )


SIZES = [(1, 1), (2, 2), (17, 3), (33, 2), (65, 40), (130, 300), (300, 5)]


def finds(row):
    """The position after the latest earlier occurrence of each token, −1 if there is none."""
    seen, result = {}, []
    for i, token in enumerate(row):
        result.append(seen.get(token, -1))
        seen[token] = i + 1
    return result


def hops(row, k):
    once, result = finds(row), []
    for i in range(len(row)):
        place, left = i, k
        while left and place >= 0:
            following = once[place]
            if following == place:  # fixed from here on
                break
            place, left = following, left - 1
        result.append(place)
    return result


def followers(row):
    """For each position, the tokens after the earlier occurrences of its token, in order."""
    after, result = {}, []
    for i, token in enumerate(row):
        if i:
            after.setdefault(row[i - 1], []).append(token)
        result.append([*after.get(token, [])])
    return result


def induced(row, match, no_match):
    answers = []
    for token, seen in zip(row, followers(row), strict=True):
        if not seen:
            answers.append(-1 if no_match == "bottom" else token)
        elif match == "mean":
            counted = Counter(seen)
            answers.append(min(counted, key=lambda v: (-counted[v], v)))
        else:
            answers.append(seen[-1] if match == "latest" else seen[0])
    return answers


@pytest.mark.parametrize(("T", "V"), [*SIZES, (1000, 33)])
def test_tasks(T, V):
    tokens = words(T, V)
    rows = tokens.tolist()
    shifted = [[-1, *row[:-1]] for row in rows]
    assert r.previous_token(tokens).tolist() == shifted
    assert r.previous_token_by_definition(tokens[0]) == shifted[0]
    assert r.find(tokens).tolist() == [finds(row) for row in rows]
    assert ranks(tokens).tolist() == [[sorted({*row}).index(v) for v in row] for row in rows]
    for match in ("latest", "first", "mean"):
        for no_match in ("bottom", "self"):
            wanted = [induced(row, match, no_match) for row in rows]
            assert r.induction(tokens, match, no_match).tolist() == wanted
            if T <= 300:
                found = r.induction_by_definition(tokens[1], match, no_match)
                assert found == wanted[1]
    for k in (1, 2, 3, 5, 7, 17, 33, 64, 130, 300):
        places = [hops(row, k) for row in rows]
        assert r.hop_positions(tokens, k).tolist() == places
        wanted = [
            [row[p] if p >= 0 else -1 for p in at] for row, at in zip(rows, places, strict=True)
        ]
        assert r.hop(tokens, k).tolist() == wanted
        if T <= 65:
            assert r.hop_positions_by_definition(tokens[1], k) == places[1]
            assert r.hop_by_definition(tokens[1], k) == wanted[1]


@pytest.mark.parametrize(("T", "V"), SIZES)
def test_frequencies(T, V):
    tokens = words(T, V)
    rng = np.random.default_rng(T)
    found = r.token_frequencies(tokens, V)
    for table in (rng.integers(3, size=(V, V)), rng.normal(size=(V, V))):
        attended = r.skip_gram(tokens, table)
        model = c.skip_gram(table.astype(float), T).logits(tokens).numpy()
        for i, row in enumerate(tokens.tolist()):
            counted = Counter()
            for t, token in enumerate(row):
                counted[token] += 1
                assert found[i, t, token] == counted[token] / (t + 1)
                best = max(table[token, w] for w in counted)
                chosen = {w: n for w, n in counted.items() if table[token, w] == best}
                wanted = np.zeros(V)
                wanted[[*chosen]] = np.array([*chosen.values()]) / sum(chosen.values())
                assert np.allclose(attended[i, t], wanted, rtol=1e-15, atol=0)
                assert np.allclose(model[i, t], wanted, rtol=1e-12, atol=1e-12)
            assert np.allclose(found[i].sum(-1), 1, rtol=1e-13)
    assert np.allclose(c.broad_average(V, T).logits(tokens).numpy(), found, rtol=1e-12, atol=1e-12)


def counted(row, V, order):
    seen, result = {}, []
    for i, token in enumerate(row):
        if i >= order - 1:
            seen.setdefault(tuple(row[i - order + 1 : i]), Counter())[token] += 1
        whole = i >= order - 2
        here = seen.get(tuple(row[i - order + 2 : i + 1]), Counter()) if whole else Counter()
        result.append([here[v] for v in range(V)])
    return result


@pytest.mark.parametrize(
    ("T", "V", "order"),
    [
        (1, 1, 1),
        (2, 2, 5),
        (33, 2, 2),
        (65, 2, 7),
        (130, 2, 13),
        (20, 65, 2),
        (70, 3, 1),
        (40, 2, 33),
        (64, 1, 65),
        *(
            pytest.param(*size, marks=pytest.mark.slow)
            for size in [(130, 65, 2), (300, 3, 4), (130, 2, 65), (64, 1, 64), (64, 1, 66)]
        ),
    ],
)
def test_ngrams(T, V, order):
    tokens = np.vstack([words(T, V, 1), np.tile(words(-(-T // 2), V, 1)[:1], 2)[:, :T]])
    rows = [counted(row, V, order) for row in tokens.tolist()]
    assert r.ngram_counts(tokens, V, order).tolist() == rows
    assert r.ngram_counts_by_definition(tokens[0], V, order) == rows[0]
    for alpha in (0, 1, 3, Fraction(1, 2)):
        wanted = [
            [
                [Fraction(n + Fraction(alpha)) / (sum(here) + Fraction(alpha) * V) for n in here]
                if sum(here) or alpha
                else [Fraction(0)] * V
                for here in row
            ]
            for row in rows
        ]
        found = r.ngram(tokens, V, order, float(alpha))
        assert np.allclose(found, np.array(wanted, dtype=float), rtol=1e-14, atol=0)
        assert r.ngram_by_definition(tokens[0], V, order, alpha) == wanted[0]
        if alpha in (0, 1, 3) and order <= 33:
            model = c.in_context_ngram(V, T, order, int(alpha))
            logits = model.logits(tokens)
            assert np.allclose(logits.numpy()[..., :V], found, rtol=1e-9, atol=1e-12)
            if order <= 7:
                error = min(1e-3, 0.4 * model.interface.margin)
                soft = model.sharpened(model.least_sharpness(error))
                assert abs(soft.logits(tokens) - logits).max() <= error
    if T * V * order <= 1000:
        for alpha in (Fraction(1, 2), Fraction(3)):
            by_likelihood = r.dirichlet_predictor_by_definition(tokens[0], V, order, alpha)
            assert by_likelihood == r.ngram_by_definition(tokens[0], V, order, alpha)


@pytest.mark.parametrize("s", [2, 3, 5, 17, 33, 64, 130, 300])
def test_composition(s):
    rng = np.random.default_rng(s)
    f, g = rng.integers(s, size=(2, 4, s))
    x = np.array([0, s - 1, s // 2, 1])
    prompts = r.composition_prompt(f, g, x)
    assert prompts.tolist() == [[*a, *b, v] for a, b, v in zip(f, g, x, strict=True)]
    wanted = [int(b[a[v]]) for a, b, v in zip(f, g, x, strict=True)]
    assert r.composition(f, g, x).tolist() == wanted
    assert r.composition_by_definition(f[0], g[0], int(x[0])) == wanted[0]
    model = c.composition(s)
    for each in (model, model.sharpened(model.least_sharpness())):
        assert each(prompts)[:, -1].tolist() == wanted
    with rejects():
        r.composition(f, g, x + s)


def test_numbers_of_layers_and_bounds():
    for m in [0, 1, 2, 6, 33, 64, 130, 1000]:
        for k in {2**m, 2**m + 1, 2 ** (m + 1) - 1}:
            assert r.hop_layers(k) == (m if k < 2 ** (m + 1) else m + 1) + 2
            assert r.doubling_layers(k) == (m if k == 2**m else m + 1) + 2
    for n in (1, 2, 37, 1001, 10**9, 2**1000):
        assert r.one_layer_bound(n) == float(Fraction(n - 1, 2))
    for n, H, d, p in [(2, 1, 1, 1), (33, 2, 3, 4), (1000, 8, 64, 16), (10**6, 8, 64, 16)]:
        R = n * math.log2(n) - H * (d + 1) * p
        found = r.composition_bound(n, H, d, p)
        assert found == pytest.approx((R, max(0, R / (3 * n * math.log2(n)))), rel=1e-12)
    r.composition_bound(2**300, 2**300, 2**300, 2**300)
    for at in range(4):
        sizes = [2**10] * 4
        sizes[at] = 2**300 + 1
        with rejects(("n_points", "n_heads", "d_value", "bits")[at]):
            r.composition_bound(*sizes)
    with rejects("n_tokens"):
        r.one_layer_bound(2**1000 + 1)
    with rejects("k"):
        r.hop_by_definition([0], 100_001)
    assert r.hop_by_definition([0, 0, 0], 100_000) == [-1, 0, 0]
    assert r.hop([0, 0, 0, 1], 2**70).tolist() == [-1, 0, 0, -1]
    with rejects("vocabulary_size"):
        r.ngram_counts_by_definition([0], 10_001, 2)
    assert len(r.token_frequencies_by_definition([0], 10_000)[0]) == 10_000


@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 3), (33, 5), (300, 2), (1000, 1), (5, 300)])
def test_nearest_neighbours(n, d):
    rng = np.random.default_rng(n)
    x, y = rng.integers(-2, 3, size=(n, d)).astype(float), rng.normal(size=n)
    queries = rng.integers(-2, 3, size=(3, d)).astype(float)
    model = c.nearest_neighbour(d)(x, y, queries)
    for query, said in zip(queries, model.tolist(), strict=True):
        distances = ((x - query) ** 2).sum(-1).tolist()
        nearest = [i for i, each in enumerate(distances) if each == min(distances)]
        wanted = math.fsum(y[nearest]) / len(nearest)
        assert r.nearest_neighbour(x, y, query) == pytest.approx(wanted, rel=1e-12)
        assert said == pytest.approx(wanted, rel=1e-9)
        assert float(r.nearest_neighbour_by_definition(x, y, query)) == pytest.approx(wanted)
        for beta in (0.01, 40.0):
            weights = [math.exp(-beta * (each - min(distances))) for each in distances]
            wanted = math.fsum(w * v for w, v in zip(weights, y, strict=True)) / math.fsum(weights)
            assert r.kernel_smoother(x, y, query, beta) == pytest.approx(
                wanted, rel=1e-9, abs=1e-12
            )
            soft = c.nearest_neighbour(d, sharpness=beta)(x, y, query).item()
            assert soft == pytest.approx(wanted, rel=1e-9, abs=1e-12)
        if n <= 33:
            for digits in (1, 50):
                found = r.kernel_smoother_by_definition(x, y, query, 1.0, digits)
                assert digits == 1 or found == pytest.approx(r.kernel_smoother(x, y, query, 1.0))
    with rejects("digits"):
        r.kernel_smoother_by_definition(x[:1], y[:1], queries[0], 1.0, 1001)


# name → (model of V and n, answers of one sequence)
MODELS = {
    "previous": (c.previous_token, lambda row: [-1, *row[:-1]]),
    **{
        f"induction {match} {none}": (
            lambda V, n, m=match, o=none: c.induction_heads(V, n, m, o),
            lambda row, m=match, o=none: induced(row, m, o),
        )
        for match in ("latest", "first", "mean")
        for none in ("bottom", "self")
    },
    **{
        f"hop {k}": (
            lambda V, n, k=k: c.hop(k, V, n),
            lambda row, k=k: [row[p] if p >= 0 else -1 for p in hops(row, k)],
        )
        for k in (1, 2, 3, 7, 8, 13, 33, 64, 127)
    },
}


@pytest.mark.parametrize(("n", "V"), SIZES)
def test_models(n, V):
    tokens = words(n, V)
    for name, (build, answers) in MODELS.items():
        model = build(V, n)
        assert model(tokens).tolist() == [answers(row) for row in tokens.tolist()], name
        if name.startswith("hop"):
            assert len(model.blocks) == r.hop_layers(int(name[4:]))
        with rejects("max_length"):
            model(np.zeros((1, n + 1), dtype=int))
        with rejects():
            model([V])


@pytest.mark.parametrize("n", [pytest.param(4, marks=pytest.mark.slow), 130])
def test_softened_models(n):
    """At the smallest inverse temperature that is accepted, and at one below it."""
    tokens = words(n, 5)
    for name, (build, answers) in MODELS.items():
        hard = build(5, n)
        least = hard.least_sharpness()
        model = hard.sharpened(least)
        assert model(tokens).tolist() == [answers(row) for row in tokens.tolist()], name
        with rejects("sharpness"):
            hard.sharpened(least * 0.5)


@pytest.mark.parametrize("k", [29, 31, 40, 99, 100])
def test_many_hops_back(k):
    """In alternating tokens a hop goes one position back, from position 0 to no position."""
    tokens = np.arange(100) % 2
    back = [i - k if i - k > 0 else -1 for i in range(100)]
    wanted = [tokens[i] if i >= 0 else -1 for i in back]
    assert r.hop_positions(tokens, k).tolist() == back
    assert r.hop_positions_by_definition(tokens, k) == back
    assert r.hop(tokens, k).tolist() == wanted
    assert r.hop_by_definition(tokens, k) == wanted


def test_the_sharpness_of_hops_does_not_grow_with_their_number():
    least = c.hop(1, 4, 64).least_sharpness()
    assert c.hop(2**60, 4, 64).least_sharpness() == least
    with rejects("k"):
        c.hop(2**500, 4, 4)


@pytest.mark.parametrize(
    ("names", "relations"), [pytest.param(17, 3, marks=pytest.mark.slow), (300, 33)]
)
def test_facts(names, relations):
    """Long texts in lexicons of other sizes, answered by a dictionary."""
    rng = np.random.default_rng(names)
    lexicon = r.Lexicon(
        tuple(f"Name{i}" for i in range(names)),
        tuple(f"relation{i}" for i in range(relations)),
        ("teacher",),
    )
    model = c.fact_lookup(1024, lexicon)
    soft = model.sharpened(model.least_sharpness())
    for count in (1, 120):
        for _ in range(2):
            known, text = {}, []
            for _ in range(count):
                who, whom = (lexicon.names[i] for i in rng.integers(names, size=2))
                relation = lexicon.relations[rng.integers(relations)]
                whom = "teacher" if rng.random() < 0.2 else whom
                known[who, relation] = whom
                text.append(
                    f"{who}'s {relation} is {whom}."
                    if rng.random() < 0.5
                    else f"The {relation} of {who} is {whom}."
                )
            (who, first), middle = list(known.items())[rng.integers(len(known))]
            second = lexicon.relations[rng.integers(relations)]
            for question, wanted in [
                (f"What is the {first} of {who}?", middle),
                (f"What is the {second} of {who}'s {first}?", known.get((middle, second))),
                (f"Who is the {second} of the {first} of {who}?", known.get((middle, second))),
            ]:
                whole = " ".join([*text, question])
                assert r.answer(whole, lexicon) == wanted
                assert model(whole) == soft(whole) == wanted
                assert lexicon.text(lexicon.tokens(whole)) == whole
    with rejects("tokens"):
        lexicon.text([len(lexicon.words)])
    assert lexicon.text([len(lexicon.words) - 1]) == "teacher"


def test_ranks_of_many_distinct_entries():
    values = np.random.default_rng(0).permutation(70_000)
    assert (ranks(3 * values) == values).all()
