"""The claim `stock`: our models inside unmodified stock classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Annotated, Any, Literal

import numpy as np
import torch

from constructions import induction_heads
from constructions.stock import Gadgets, StockEncoder, StockGPT2, to_encoder, to_gpt2
from constructions.stock.a_priori import descent_bound, newton_bound
from constructions.stock.softened import scale_of
from constructions.stock.translated import measured
from constructions.transformer import Transformer
from theory.kinds import Positive, read
from theory.regression import chebyshev, gradient_descent, newton
from theory.retrieval import induction
from verify.claim import Run, claim, option
from verify.domains import Ball, Rational, outputs
from verify.evidence.enclosure import interval
from verify.evidence.examples import Examples
from verify.finding import (
    Finding,
    Verdict,
    as_stated,
    at_most,
    labelled,
    same,
    within,
    within_bounds,
)
from verify.regression.convergence import safe_alpha
from verify.regression.data import gaussian_examples
from verify.stock.gadgets import lemmas

Inside = Literal["encoder", "gpt2"]
SLOPE = 0.1  # the allowed difference between 2p and log₂ of the ratio of two errors, at these θ
ANGLES = 2.0**-4, 2.0**-5
SILENT = 400  # bits of e^C, for which the sink's part of an error is negligible
VOCABULARY, LENGTH = 4, 12
WIDER = 1 + 1e-9  # covers the rounding of scores, norms and eigenvalues in float64


@dataclass(frozen=True)
class Regression:
    """A construction over examples, and the function of the theory that computes its weights.

    `solves` maps inputs x (…, n, d) and labels y (…, n) to weights w (…, d); the prediction at a
    query q is ⟨w, q⟩.
    """

    name: str
    build: Callable[[], Transformer]
    solves: Callable[[np.ndarray, np.ndarray], np.ndarray]


@claim(
    faults_seen=[{"d": 2, "n": 3, "k": 2, "samples": 3}],
)
def stock(
    run: Run,
    *,
    inside: Annotated[
        Inside, option("torch's nn.TransformerEncoder, or GPT2LMHeadModel of transformers")
    ] = "encoder",
    k: Annotated[int, option("steps of the algorithms", min=1, max=1000)] = 5,
    d: Annotated[int, option("dimension of the inputs", min=1, max=500)] = 5,
    n: Annotated[int, option("examples in a prompt", min=1, max=1000)] = 10,
    error: Annotated[float, option("allowed error of answers")] = 1e-7,
    samples: Annotated[int, option("prompts", min=1, max=10**5)] = 50,
) -> Iterator[Finding]:
    """Our models run inside unmodified stock classes, with layer norms, softmax and GELU.

    The residual stream v of our model is stored as (v, K, −v, −K) with a large constant K. A layer
    norm of suitable weight multiplies this vector by a factor between 1 − ‖v‖²/(2K²) and 1. A
    linear head becomes 2p softmax heads, whose scores are ±1, …, ±p times the scaled scores δs_i of
    the linear head, and a sink token of score C. If there are n tokens with values v_i and |s_i| ≤
    B, and θ = δB, the error is at most B·Σ‖v_i‖·(κ_p θ^{2p} e^{pθ} + 2Λ_p n e^{2pθ−C}), where κ_p =
    (p!)²/(2p + 1)! and Λ_p = Σ_m 2m|c_m| for the coefficients c_m of the central difference of
    order 2p. Linear maps are computed by GELU neurons exactly, because GELU(x) − GELU(−x) = x.
    The errors of the answers are at most the requested error, and at most a bound that is computed
    from the scores and values.
    """
    read(Positive, "error", error)
    if inside == "gpt2" and not installed():
        yield absent()
        return
    examples = gaussian_examples(run, samples, n, d)
    of = regressions(run, inside, k, d, safe_alpha(examples.x, "identity"))
    # All models before the first finding: an error that cannot be guaranteed then raises
    # InputError.
    made = [translated(inside, each.build(), *examples, error=error) for each in of]
    yield from lemmas(run)
    for each, stock_model in zip(of, made, strict=True):
        yield from labelled(each.name, over_examples(inside, each, stock_model, examples, error))
    yield from labelled("causal", [a_priori(run, inside, examples, k, d)])
    if inside == "encoder":
        yield from labelled("newton", [newton_a_priori(run, examples, k, d)])
    yield from labelled("induction", over_tokens(run, inside, samples))


@cache
def installed() -> bool:
    """Whether the package transformers can be imported."""
    return find_spec("transformers") is not None


def absent() -> Finding:
    """The undecided finding if the package transformers is missing."""
    return Finding(
        "package",
        "GPT-2",
        "float",
        "none",
        "the package",
        Verdict.UNDECIDED,
        "skipped: transformers is not installed",
        "pip install 'weightwright[hf]'",
    )


def translated(inside: Inside, model: Transformer, *inputs: Any, **chosen: Any) -> Any:
    """Returns the model in the stock class `inside`."""
    make: Callable[..., StockEncoder | StockGPT2] = to_encoder if inside == "encoder" else to_gpt2
    return make(model, *inputs, **chosen)


def regressions(run: Run, inside: Inside, k: int, d: int, size: float) -> list[Regression]:
    """The constructions over examples that the stock class can express."""
    import constructions as built

    def descent(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return gradient_descent(x, y, k, size)

    def method(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return newton(x, y, k, size, "identity")

    def made(construction: Callable[..., Transformer], *args: Any, **more: Any) -> Any:
        return lambda: run.build(construction, *args, **more)

    if inside == "gpt2":
        return [
            Regression("descent", made(built.gradient_descent, d, k, size, causal=True), descent),
            Regression("newton", made(built.newton_with_pauses, d, k, size), method),
        ]
    ends = min(size, 1 / size) / 2, 2 / size
    return [
        Regression("descent", made(built.gradient_descent, d, k, size), descent),
        Regression("newton", made(built.newton, d, k, size, start="identity"), method),
        Regression("ladder", made(built.gradient_descent, d, k, size, "ladder"), descent),
        Regression(
            "chebyshev", made(built.chebyshev, d, k, *ends), lambda x, y: chebyshev(x, y, k, *ends)
        ),
    ]


def over_examples(
    inside: Inside,
    of: Regression,
    made: StockEncoder | StockGPT2,
    examples: Examples,
    error: float,
) -> Iterator[Finding]:
    """Yields the findings about answers, compared with the theory and with the error bound.

    The last finding is about the slope of the error in θ, the largest scaled score.
    """
    model = made.plan.original
    said, bound = made(*examples), made.bound(*examples)
    if model.interface.every_prefix:
        said, bound = said[..., -1], bound[..., -1]
    wanted = (of.solves(examples.x, examples.y) * examples.queries).sum(-1)
    off = np.abs(said.detach().double().numpy() - wanted)
    what = f"{len(off)} prompts, {2 * made.plan.gadgets.order} softmax heads for each linear head"
    name = f"largest error of the stock model's answers in float64 ({what})"
    yield at_most("error", name, "float", float(off.max()), error)
    share = float((off / bound.numpy()).max())
    name = (
        "largest ratio, over prompts, of the error of the stock model's answer to its first-order "
        "bound from scores and values"
    )
    yield within_bounds("bound", name, "float", share, words=f"{share:.1%}", wanted="at most 100%")
    yield slope(inside, model, examples)


def slope(inside: Inside, model: Transformer, examples: Examples) -> Finding:
    """The finding that the error is proportional to θ^{2p}, where θ is the largest scaled score.

    For softmax heads of order p = 1 and 2, log₂ of the ratio of the errors at θ and θ/2 is 2p. The
    errors are those on one prompt, in balls, without norms and rounding.
    """
    found = []
    for order in (1, 2):
        low, high = (
            method_error(inside, model, examples, heads(order, theta)) for theta in ANGLES[::-1]
        )
        found.append(float((high / low).log() / math.log(2)) / (2 * order))
    name = (
        "exponent of the largest scaled score θ in the error of softmax heads of order p, divided "
        "by 2p, for p = 1 and p = 2"
    )
    least, most = 1 - SLOPE / 2, 1 + SLOPE / 2
    wanted = f"both from {least:g} to {most:g}"
    return within("slope", name, "enclosure", found, (least, most), wanted=wanted)


def heads(order: int, theta: float) -> Gadgets:
    """The parameters of softmax heads in which the sink and the norms cause no error."""
    return Gadgets(order, theta, SILENT, 2.0**30, 1.0)


def method_error(inside: Inside, model: Transformer, examples: Examples, numbers: Gadgets) -> Any:
    """The distance of the answer with softmax heads from the original's answer, as a ball.

    The answers are those on the first prompt.
    """
    first = tuple(part[0] for part in examples)
    soft = translated(inside, model, *first, gadgets=numbers).plan.soft
    with Ball.precision(2 * SILENT):
        got = outputs(soft, soft.prompt(*first), Ball()).tolist()[-1][0]
        exact = outputs(model, model.prompt(*first), Rational()).tolist()[-1][0]
        return abs(got - exact)


def a_priori(run: Run, inside: Inside, examples: Examples, k: int, d: int) -> Finding:
    """The finding that causal gradient descent on the first prompt is within `descent_bound`."""
    from constructions import gradient_descent as built

    soft, (x, y, query, size, R, Y) = heads(2, ANGLES[1]), first_prompt(examples)
    model = run.build(built, d, k, size, causal=True)
    B = max(scale_of(each) for layer in measured(model, x, y, query)[0] for each in layer)
    eps = soft.head(1.1 * soft.theta, len(y))
    bound = descent_bound(k, size, eps, B, R, Y, len(y))
    finding = beside(inside, model, examples, soft, bound)
    if np.isnan(bound):
        return finding
    # The errors of the register in each step, and the effect of earlier errors on a prediction.
    added = 1.1 * eps * size * len(y) * B
    each = [added * Y + j * added * R * (size * len(y) * R * Y) for j in range(k)]
    return as_stated(finding, bound, sum(each))


def newton_a_priori(run: Run, examples: Examples, k: int, d: int) -> Finding:
    """The finding that Newton's method on the first prompt is within `newton_bound`."""
    from constructions import newton as built

    soft, (x, y, query, size, R, Y) = heads(2, ANGLES[1]), first_prompt(examples)
    model = run.build(built, d, k, size, start="identity")
    scores = [max(layer) * WIDER for layer in measured(model, x, y, query)[0]]
    largest = float(np.linalg.eigvalsh(x.T @ x).max()) * WIDER
    bound = newton_bound(scores, soft, size, largest, R * WIDER, Y, len(y), d)
    return beside("encoder", model, examples, soft, bound)


def first_prompt(
    examples: Examples,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float, float]:
    """The first prompt: X, y, the query, the step size, and the bounds R on ‖x‖ and Y on |y|."""
    x, y, query = (part[0] for part in examples)
    R = max(norms(x).max(), norms(query).max())
    return x, y, query, safe_alpha(examples.x, "identity"), R, float(abs(y).max())


def beside(
    inside: Inside, model: Transformer, examples: Examples, soft: Gadgets, bound: float
) -> Finding:
    """The finding that the error of softmax heads without rounding is at most `bound`.

    The error is that on the first prompt.
    """
    off = method_error(inside, model, examples, soft)
    name = (
        "error of the answer on one prompt, with softmax heads in place of linear heads and "
        "without rounding"
    )
    wanted = f"at most {bound:.3g}, the bound from the sizes of inputs, labels and scores"
    words = f"at most {interval(off)[1]:.3g}"
    return at_most("a-priori", name, "enclosure", interval(off), bound, words=words, wanted=wanted)


def norms(rows: np.ndarray) -> np.ndarray:
    """The norm of each row of `rows` (…, d)."""
    return np.asarray(np.linalg.norm(rows, axis=-1))


def over_tokens(run: Run, inside: Inside, samples: int) -> Iterator[Finding]:
    """Yields the findings about an induction head: right answers, and logits within the bound."""
    tokens = run.rng.integers(0, VOCABULARY, (samples, LENGTH))
    model = run.build(induction_heads, VOCABULARY, LENGTH)
    made = translated(inside, model)
    wrong = int((made(tokens).numpy() != induction(tokens)).sum())
    yield same(
        "answers",
        f"number of wrong answers of the stock model among {tokens.size}",
        wrong,
        0,
        evidence="float",
    )
    off = float((made.logits(tokens) - hardmax_logits(tokens)).abs().max())
    name = (
        "largest distance of the stock model's logits from the hardmax logits, compared with its "
        "bound for all prompts"
    )
    yield at_most("logits", name, "float", off, made.bound())


def hardmax_logits(tokens: np.ndarray) -> Any:
    """The hardmax logits of an induction head by definition.

    The logit of a token v is the inner product of the binary codes (r digits ±1) of the answer and
    of v. The logit of ⊥ is r/2.
    """
    r = (VOCABULARY - 1).bit_length()
    codes = 2.0 * (np.arange(VOCABULARY)[:, None] >> np.arange(r) & 1) - 1
    answers = induction(tokens)
    held = np.where(answers[..., None] >= 0, codes[answers.clip(0)], 0.0)
    bottom = np.full((*answers.shape, 1), r / 2)
    return torch.as_tensor(np.concatenate([held @ codes.T, bottom], axis=-1))
