import numpy as np
import pytest
import torch
from exact import (
    close_to_exact,
    newton_inverse,
    power_inverse,
    predict,
    prompt,
    read,
    registers,
)
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_layers import TABLE
from refusals import rejects

from constructions import newton
from theory.regression import newton as solve
from verify.domains import Rational

Q = Rational()
VARIANTS = {
    "direct": {},
    "direct αI": {"start": "identity"},
    "interleaved": {"interleaved": True},
    "interleaved αI": {"start": "identity", "interleaved": True},
    "ladder": {"layout": "ladder"},
    "ladder αI": {"layout": "ladder", "start": "identity"},
    "paper": {"layout": "paper"},
}
every = pytest.mark.parametrize("variant", VARIANTS)
sizes = {
    "d": st.integers(1, 3),
    "n": st.integers(1, 4),
    "k": st.integers(0, 4),
    "alpha": st.sampled_from([2.0**-6, 0.1, 3.0, 1e-300, 1 / 3]),
    "seed": st.integers(0, 99),
}


def build(variant, d, n, k, alpha):
    options = VARIANTS[variant]
    return newton(d, k, alpha, **options, **({"n": n} if variant == "paper" else {}))


def start_of(variant):
    return VARIANTS[variant].get("start", "gram")


@every
@settings(max_examples=20)
@given(**sizes)
def test_equal_to_the_recursion_over_q(variant, d, n, k, alpha, seed):
    model = build(variant, d, n, k, alpha)
    m = 1 if "interleaved" in variant else 3
    x, y, q = prompt(np.random.default_rng(seed), n, d, m)
    M = newton_inverse(x, k, fmpq(*alpha.as_integer_ratio()), start_of(variant))
    assert predict(model, Q, x, y, q) == (q @ M @ (x.T @ y)).tolist()


@every
@settings(max_examples=12)
@given(d=sizes["d"], n=sizes["n"], k=sizes["k"], seed=sizes["seed"])
def test_every_register_satisfies_its_layer_invariant(variant, d, n, k, seed):
    model, alpha = build(variant, d, n, k, 0.25), fmpq(1, 4)
    x, y, q = prompt(np.random.default_rng(seed), n, d)
    held = registers(model, Q, x, y, q)
    powers = {stage.holds.power for stage in model.stages}
    assert 2**k in powers
    assert {stage.after for stage in model.stages} | {0, 1} >= {model.n_layers}
    for stage in model.stages:
        register = fmpq(*stage.times.as_integer_ratio()) * held[stage.after][stage.register]
        # G with S G = I − E^p, by p steps of the linear recursion.
        G, b = power_inverse(x, stage.holds.power, alpha, start_of(variant)), x.T @ y
        residual = np.eye(d, dtype=int) - G @ (x.T @ x)
        kind = type(stage.holds).__name__
        if kind in ("Prediction", "Correlation"):
            wanted = q @ (G if kind == "Prediction" else residual) @ b
            assert register[-1].tolist() == wanted.tolist()
            continue
        G = {"Inverse": G, "Residual": residual, "Image": residual @ (x.T @ x)}[kind]
        assert register[-1].tolist() == (q @ G)[0].tolist()
        examples = register[1:-1:2] if "interleaved" in variant else register[:n]
        assert examples.tolist() == (x @ G).tolist()


# The bound takes absolute values, which a hardmax does not survive.
@pytest.mark.parametrize("variant", [name for name in VARIANTS if "interleaved" not in name])
@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_float64_is_within_its_rounding_bound(variant, k, batch):
    rng = np.random.default_rng(k)
    model = build(variant, 2, 3, k, 0.25)
    # Few digits, so that a float32 model reads the same numbers.
    shapes = ((*batch, 3, 2), (*batch, 3), (*batch, 2))
    x, y, q = (rng.integers(-9, 10, shape) / 16 for shape in shapes)

    def exact():
        for place in np.ndindex(*batch):
            rows = (read(Q, x[place]), read(Q, y[place]), read(Q, q[place])[None])
            yield from predict(model, Q, *rows)

    close_to_exact(model, x, y, q, exact)
    if k == 0:
        close_to_exact(model.float(), x, y, q, exact, unit=2.0**-24, widest=0.05)


@pytest.mark.parametrize("start", ["gram", "identity"])
def test_interleaved_prompts_give_the_direct_prediction(start):
    """One copy in the first layer; everything after it is the same arithmetic."""
    rng = np.random.default_rng(0)
    x, y, q = rng.normal(size=(2, 30, 3)), rng.normal(size=(2, 30)), rng.normal(size=(2, 3))
    direct, interleaved = (
        newton(3, 4, 2.0**-12, start=start, interleaved=i)(x, y, q) for i in (False, True)
    )
    # Both sum the same 30 products, the interleaved one with zeros between them.
    assert torch.allclose(direct, interleaved, rtol=1e-12, atol=0)


def test_the_copying_head_reads_the_token_before():
    n = 7
    model = newton(2, 1, 0.5, interleaved=True)
    prompt = model.prompt(np.ones((n, 2)), np.ones(n), np.ones(2))
    A = model.blocks[0].attn.pattern(model.embed(prompt.tokens), prompt.n_examples)[0]
    assert A.argmax(-1).tolist() == [1, *range(2 * n)]
    assert torch.equal(A.sum(-1), torch.ones(2 * n + 1, dtype=torch.float64))
    assert set(A.unique().tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("k", TABLE)
def test_layers_are_those_of_the_table(k):
    models = (
        newton(2, k, 0.5, "paper", n=3),
        newton(2, k, 0.5),
        newton(2, k, 0.5, "ladder"),
        newton(2, k, 0.5, "ladder", start="identity"),
    )
    assert tuple(model.n_layers for model in models) == TABLE[k]


def test_attention_alone_where_that_is_enough():
    for start in ("gram", "identity"):
        assert all(block.mlp is None for block in newton(3, 4, 0.5, start=start).blocks)
    heads = (block.attn for block in newton(3, 4, 0.5, "paper", n=3).blocks if block.attn)
    assert all(attn.normalise == "relu" for attn in heads)


@pytest.mark.parametrize("start", [pytest.param("gram", marks=pytest.mark.slow), "identity"])
def test_direct_stays_right_for_the_largest_k(start):
    """S = 1, M₀ = ½: after the fixed point is reached nothing may under- or overflow."""
    assert newton(1, 1000, 0.5, start=start)([[1.0]], [3.0], [2.0]).item() == 6.0


def test_ladder_takes_any_k():
    model = newton(1, 120, 0.5, "ladder")
    assert model.n_layers == next(L for L in range(120) if 3**L >= 2**122 + 1)
    assert model([[1.0]], [3.0], [2.0]).item() == 6.0


def test_a_hundred_thousand_examples():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100_000, 3))
    w = np.array([1.0, -2.0, 3.0])
    alpha = float(np.ldexp(1.0, -34))  # λmax is close to n, and 1/n² > 2^−34
    for layout in ("direct", "ladder"):
        # κ is close to 1, so after 8 steps the residual (1 − α λ²)^256 is below 10^−80.
        prediction = newton(3, 8, alpha, layout)(x, x @ w, w)
        # Sums of 10⁵ terms of about the prediction's size, rounded to 10^−16 of it.
        assert abs(prediction.item() - w @ w) < 1e-9


@pytest.mark.parametrize("layout", ["direct", "ladder", "paper"])
@pytest.mark.parametrize("exponents", [(27, 0), (-27, 0), (0, 60), (0, -60)], ids=str)
def test_other_units_give_the_same_predictions(layout, exponents):
    """Inputs times 2^a and labels times 2^b: M₀ x scales, so nothing may be added to x or to y.

    The order of sums is the same, and powers of two are not rounded.
    """
    a, b = exponents
    rng = np.random.default_rng(0)
    x, y, query = rng.standard_normal((6, 3)), rng.standard_normal(6), rng.standard_normal(3)
    n = 6 if layout == "paper" else None
    here = newton(3, 8, 2.0**-9, layout, n=n)(x, y, query)
    there = newton(3, 8, 2.0 ** (-9 - 4 * a), layout, n=n)(2.0**a * x, 2.0**b * y, query)
    assert there.item() == 2.0 ** (b - a) * here.item() != 0


# At κ(S) = 30, d = 5: the relative error of a prediction in float32, as `newton` documents.
@pytest.mark.parametrize(
    ("layout", "k", "lost"),
    [
        ("direct", 40, (0, 2e-5)),
        ("paper", 14, (0, 1e-3)),
        ("ladder", 60, (0, 2e-6)),
        ("ladder", 100, (0, 2e-6)),
        ("paper", 24, (0.05, np.inf)),
    ],
)
def test_what_float32_stands(layout, k, lost):
    rng = np.random.default_rng(0)
    left, _ = np.linalg.qr(rng.standard_normal((10, 5)))
    right, _ = np.linalg.qr(rng.standard_normal((5, 5)))
    x = (left * np.sqrt(np.geomspace(1, 30, 5))) @ right
    y, queries = rng.standard_normal(10), rng.standard_normal((20, 5))
    x, y, queries = (array.astype(np.float32).astype(np.float64) for array in (x, y, queries))
    model = newton(5, k, 2.0**-10, layout, n=10 if layout == "paper" else None).float()
    wanted = queries @ solve(x, y, k, 2.0**-10)
    error = np.abs(model(x, y, queries).double().numpy() - wanted).max() / np.abs(wanted).max()
    assert lost[0] <= error <= lost[1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 1001},
        *({"layout": layout, "n": 5} for layout in ("direct", "ladder")),
        {"layout": "paper", "n": None},
    ],
    ids=str,
)
def test_sizes_that_a_layout_does_not_have_are_rejected(wrong):
    with rejects(list(wrong)[-1]):
        newton(**{"d": 2, "k": 1, "alpha": 0.5, **wrong})


@pytest.mark.parametrize(
    ("layout", "more"),
    [
        ("ladder", {"interleaved": True}),
        ("paper", {"n": 3, "interleaved": True}),
        ("paper", {"n": 3, "start": "identity"}),
    ],
)
def test_what_a_layout_cannot_do_is_rejected(layout, more):
    with rejects(layout):
        newton(2, 1, 0.5, layout, **more)


@settings(max_examples=15)
@given(
    d=st.integers(1, 3),
    n=st.integers(1, 5),
    k=st.integers(0, 3),
    start=st.sampled_from(["gram", "identity"]),
    seed=st.integers(0, 99),
)
def test_causal_newton_is_the_recursion_on_every_prefix(d, n, k, start, seed):
    """Over Q: the prediction at token t from the first t examples, and S and M of that prefix."""
    x, y, q = prompt(np.random.default_rng(seed), n, d)
    model, alpha = newton(d, k, 0.25, start=start, causal=True), fmpq(1, 4)
    assert (model.n_layers, model.d_model) == (k + 2, 2 * d * d + 3 * d + 2)
    inputs, predictions = np.concatenate([x, q]), predict(model, Q, x, y, q)
    held = registers(model, Q, x, y, q)
    for t in range(n + 1):
        S, b = x[:t].T @ x[:t], x[:t].T @ y[:t]
        # No examples are as good as one that is all 0.
        M = newton_inverse(x[:t] if t else x[:1] * 0, k, alpha, start)
        if t:
            assert predictions[t] == inputs[t] @ M @ b
            rows = [held[1][f"S{a + 1}"][t].tolist() for a in range(d)]
            assert rows == S.tolist()
        rows = [[2**k * e for e in held[k + 1][f"V{a + 1}"][t]] for a in range(d)]
        assert rows == M.tolist()
    assert predictions[0] == 0


@pytest.mark.parametrize(
    ("dtype", "most"), [(torch.float32, 2047), (torch.float16, 22), (torch.bfloat16, 7)]
)
def test_a_dtype_that_rounds_the_places_of_interleaved_examples_is_refused(dtype, most):
    def both(n):
        x = np.random.default_rng(n).choice([-0.125, 0.125], size=(n, 2))
        models = (newton(2, 0, 1 / n, interleaved=i).to(dtype) for i in (False, True))
        return [float(model(x, x @ [1.0, 2.0], [1.0, 0.0])) for model in models]

    direct, interleaved = both(most)
    assert direct == pytest.approx(interleaved, rel=16 * most * torch.finfo(dtype).eps)
    with rejects("position", str(2 * most + 2)):
        both(most + 1)
