"""The evidence that a model over examples computes a function that is given by its definition."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from constructions.transformer import Transformer
from theory.kinds import InputError, shown
from theory.machine import fits_in_memory
from theory.waiting import foretold
from verify.claim import Run
from verify.domains import Modular, NotPolynomial, random_prime
from verify.evidence.formula import formula
from verify.evidence.identity import modulo_primes, over_the_rationals
from verify.evidence.registers import point, registers_hold, sides
from verify.evidence.statement import Case, OverExamples
from verify.finding import Finding, Verdict

ByDefinition = Callable[[Any, Any, Any, Any], Any]
EXAMPLES = 4  # by default
ENTRY = 200  # bytes of an entry of the streams of all layers, at the peak
SCORE = 300  # bytes of a score of a token for a token, at the peak
RUNS = 14  # runs of model and function for the findings, of which some are more than a comparison
OF_REGISTERS = 5  # comparisons of all registers
ASSUMED = (
    "assumes that the function is xᵀ g(S) b with one g for all d and n, as it is for d = n = 1 and "
    "for d = 2, n = 3"
)
MEASURED = 100  # examples with which the time of many is measured


@dataclass(frozen=True)
class Predictions:
    """The predictions by a function (of, X, y, Q) of matrices over a number system `of`.

    X (n × d) are examples, y (n × 1) their labels, and Q (m × d) queries. The function returns the
    m × 1 matrix of predictions or, with `every_prefix`, the (n + 1) × 1 matrix of predictions from
    the first 0, …, n examples. Raises InputError if it raises an error or returns another value.
    """

    against: ByDefinition
    every_prefix: bool = False

    def __call__(self, of: Any, X: Any, y: Any, Q: Any, _: int) -> Any:
        rows = X.nrows() + 1 if self.every_prefix else Q.nrows()
        sizes = f"X ({X.nrows()} × {X.ncols()}), y and Q ({Q.nrows()} × {Q.ncols()})"
        remedy = (
            f"give a function (of, X, y, Q) that returns a matrix {rows} × 1, computed by "
            "+, −, *, transpose() and numbers of.number(numerator, denominator)"
        )
        try:
            found = self.against(of, X, y, Q)
        except Exception as error:
            raise InputError(
                f"against raises {type(error).__name__} ({shown(str(error))}) for {sizes} in the "
                f"number system {type(of).__name__}: {remedy}"
            ) from error
        if not hasattr(found, "nrows") or (found.nrows(), found.ncols()) != (rows, 1):
            raise InputError(f"against returns {shown(found)} for {sizes}: {remedy}")
        return found


def case_of(model: Transformer, against: ByDefinition, n: int | None) -> Case:
    """The statement that a model computes the function, for n examples.

    Raises InputError for a number n of examples for which the weights were not built.
    """
    of = model.interface
    if of.n is not None and n is not None and (n > of.n if of.at_most else n != of.n):
        raise InputError(f"n is {n}, and the weights of {model.name} are for n = {of.n}: omit n")
    has_formula = not no_formula(model)
    statement = OverExamples(
        lambda d, n, k: model,
        Predictions(against, of.every_prefix),
        polynomial=has_formula or _is_linear(model),
        formula=has_formula,
        only_d=of.d,
    )
    return statement.at(of.d, n or of.n or EXAMPLES, 0)


def _is_linear(model: Transformer) -> bool:
    """Whether all heads are linear, and the layers have neither MLPs nor normalisations."""
    parts = ((b.mlp, b.norm, b.ln1, b.ln2) for b in model.blocks)
    heads = all(attn.normalise == "linear" for attn in model.attentions)
    return heads and not any(any(part is not None for part in each) for each in parts)


def no_formula(model: Transformer) -> str:
    """Why no formula for all n can be read from the tensors of this model; empty if one can."""
    try:
        return "" if model.formula().parts else f"the prediction of {model.name} is 0"
    except InputError as error:
        return str(error)


def expected_seconds(case: Case, seed: int) -> float:
    """An estimate of the time of all findings, from comparisons with one percent of the examples.

    Raises InputError if they need more than the available memory.
    """
    model, n = case.model, case.n
    size = (n + case.d) * (model.n_layers + 1) * model.d_model
    of_pairs = {"causal", "strictly causal"}  # masks under which linear heads have all scores
    scores = any(
        attn.normalise != "linear" or of_pairs & {*attn.masks} for attn in model.attentions
    )
    fits_in_memory(
        f"{model.name} and n = {n} examples in exact arithmetic",
        ENTRY * size + SCORE * n * n * scores,
        "give a smaller n",
    )
    fixed = model.interface.n is not None
    few = case if fixed else case.of.at(case.d, max(min(n, MEASURED), n // 100), case.k)
    run, start = Run(seed=seed), time.perf_counter()
    domain = Modular(random_prime(run.rng))
    with suppress(NotPolynomial):
        few.agrees(few.random(domain, run.rng) if few.of.polynomial else few.rational(run.rng))
    compared = time.perf_counter() - start
    with suppress(NotPolynomial):
        sides(few, point(run, few))
    registers = time.perf_counter() - start - compared
    growth = (n / few.n) ** (1 + scores)
    return growth * (RUNS * compared + OF_REGISTERS * registers)


def on_examples(case: Case, seed: int) -> Iterator[Finding]:
    """Yields the findings that a model's predictions are those of the function.

    They are the formula for all n and inputs, if it can be read from the tensors; equality for all
    inputs of these sizes, for linear heads; equality over Q on some instances; and the layer
    invariants, if the model has them. One line on standard error announces a run of more than a
    minute.
    """
    foretold(f"certify, with n = {case.n} examples", expected_seconds(case, seed))
    for found in _on_examples(case, Run(seed=seed)):
        # The function contains its number of steps: the case has k = 0.
        found.name, found.detail = (
            text.replace(", k = 0", "").replace(", k=0", "") for text in (found.name, found.detail)
        )
        yield found


def _on_examples(case: Case, run: Run) -> Iterator[Finding]:
    if case.of.formula:
        found = formula(run, case, "the function")
        found.words += f"; {ASSUMED}" * (found.verdict is Verdict.HOLDS)
        yield found
    if case.of.polynomial:
        yield modulo_primes(run, case)
    yield over_the_rationals(run, case)
    if case.model.stages:
        yield registers_hold(run, case)
