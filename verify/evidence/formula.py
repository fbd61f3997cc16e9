"""The formula of a prediction, read from the tensors: equality for all n and inputs."""

from __future__ import annotations

from typing import Any

from flint import fmpq_poly

from constructions.blocks import plural
from constructions.formulas import register_program
from theory.regression.formulas import Formula
from theory.regression.polynomial_sizes import VARIABLE, Size, Sizes
from theory.regression.register_programs import NoFormula, Polynomials, RegisterProgram, Ring
from verify.claim import Run
from verify.domains.one_variable import OneByOne, OneByOneMatrices, Residues, long_prime, missed
from verify.evidence.statement import Case
from verify.finding import Finding, Verdict, equal

DIMENSIONS = range(2, 9)  # at which the program is read from the tensors
FEW = (2, 3)  # the same in self-tests, and for models with more layers than this:
MANY_LAYERS = 50
MOST_BITS = 2**30  # of all coefficients of a polynomial that is computed
MISSED = 70  # bits of a prime beyond those of the degree: the error probability is below 2^−60


def formula(run: Run, case: Case, algorithm: str = "the algorithm") -> Finding:
    """The finding that the polynomial g of the prediction x_qᵀ g(S) b is that of the algorithm.

    The tensors of several dimensions d must contain the same program on registers. The polynomials
    are then equal for all numbers n of examples (unless the weights contain n), all inputs, and
    every dimension at which the tensors contain this program. `algorithm` describes the algorithm
    in words.
    """
    id, sizes = "formula", "all n and inputs"
    try:
        programs = _programs(run, case)
        program = programs[case.d if case.d > 1 else 2]
        if program.n is not None:
            sizes = f"all inputs, n = {program.n}"
        differing = [d for d, other in programs.items() if other != program]
        g, wrong = _compared(run, case, program)
    except NoFormula as outside:
        return Finding(
            id,
            f"formula of the prediction, for {sizes}, k = {case.k}",
            "formula",
            "undecided",
            "equal",
            Verdict.UNDECIDED,
            "the model is outside the theorem on register programs",
            detail=str(outside),
        )
    if differing:
        wrong = f"the programs at d = {differing[0]} and at other d have different numbers"
    return equal(
        id,
        f"polynomial g of the prediction x_qᵀ g(S) b that is read from the tensors, and that of "
        f"{algorithm}, for {sizes}, k = {case.k}",
        wrong,
        evidence="formula",
        words=f"equal: {g}; read at d = {', '.join(map(str, programs))}, and valid for every d at "
        "which the tensors contain the same program",
    )


def _programs(run: Run, case: Case) -> dict[int, RegisterProgram]:
    """The programs of the tensors at several d."""
    few = case.model.n_layers > MANY_LAYERS or not run.extends
    dimensions = sorted({*(FEW if few else DIMENSIONS), *([case.d] if case.d > 1 else [])})
    models = {d: case.of.at(d, case.n, case.k).model for d in dimensions if d != case.d}
    return {d: register_program(models.get(d, case.model)) for d in dimensions}


def _compared(run: Run, case: Case, program: RegisterProgram) -> tuple[str, str | None]:
    """The polynomial g in words, and the difference of the two polynomials x·g(x²), if any."""

    def both(ring: Ring, x: Any) -> tuple[Any, Any]:
        of: Any = OneByOneMatrices(ring)
        matrix, one = OneByOne(x), of.number(1)
        return x * program.prediction(ring), case.of.algorithm(of, matrix, one, one, case.k).entry

    sizes = Sizes(VARIABLE * VARIABLE)
    ours, theirs = both(sizes, VARIABLE)
    difference: Size = ours - theirs
    degree, bits = difference.degree, sizes.coefficient_bits(difference)
    if sizes.all_bits(difference) <= MOST_BITS:
        x = fmpq_poly([0, 1])
        ours, theirs = both(Polynomials(x * x), x)
        g = Formula({"x b": program.prediction(Polynomials())})
        different = (
            f"the prediction is {g}, and {ours - theirs} is added to x·g(x²) of the algorithm"
        )
        return str(g), None if ours == theirs else different
    length = MISSED + max(degree, bits).bit_length()
    residues = Residues(long_prime(run.rng, length), run.rng)
    ours, theirs = both(residues, residues.x)
    words = (
        f"degree below 10^{len(str(degree // 2))} in S, at a random point modulo a random prime of "
        f"{length} bits, error probability ≤ {missed(degree, bits, length):.1e}"
    )
    return words, None if ours == theirs else f"they differ modulo {residues.of.modulus()}"


def derivation(case: Case) -> Finding:
    """The finding that the formulas of registers are the layer invariants, with all formulas.

    Raises NoFormula, before any finding, for a model outside the theorem, and InputError for
    formulas of too large a degree.
    """
    x = fmpq_poly([0, 1])
    of, one = OneByOneMatrices(Polynomials(x * x)), OneByOne(fmpq_poly([1]))
    model, formulas = case.model, case.model.formulas()
    # For n = d = 1, the example x with label 1 and the query 1, whose label is 0.
    factors: dict[str, Any] = {"x": 1, "b": x, "x b": x, "1": 1, "y": 0}
    wrong = []
    for stage in model.stages:
        parts = formulas[stage.after][stage.register].parts
        held = sum((factors[name] * p(x * x) for name, p in parts.items()), start=0 * x)
        times = of.number(*stage.times.as_integer_ratio())
        if times * OneByOne(held) != stage.holds(of, OneByOne(x), one, one):
            wrong.append(str(stage))
    sizes = "all n and inputs" if model.interface.n is None else "all inputs"
    return Finding(
        "derivation",
        "formulas of registers at queries compared with the layer invariants of the proof, for "
        f"{sizes}",
        "formula",
        len(model.stages) - len(wrong),
        len(model.stages),
        Verdict.of(not wrong) if model.stages else Verdict.UNDECIDED,
        f"register {wrong[0]} differs"
        if wrong
        else f"equal in {plural(len(model.stages), 'register')}",
        "as proved",
        detail=model.derivation(),
        detailed=True,
    )
