"""The formula of a prediction, read from the tensors: equality for all n and inputs."""

from __future__ import annotations

from typing import Any

from flint import fmpq_poly, nmod_mat

from constructions.blocks import plural
from constructions.formulas import register_program
from theory.regression.formulas import RegisterFormula
from theory.regression.polynomial_sizes import VARIABLE, Size, Sizes
from theory.regression.register_programs import NoFormula, Polynomials, RegisterProgram, Ring
from verify.claim import Run
from verify.domains.modular import Modular, random_prime
from verify.domains.one_variable import OneByOne, OneByOneMatrices, Residues, long_prime, missed
from verify.evidence.statement import Case
from verify.finding import Finding, Verdict, equal, rounded_up

DIMENSIONS = range(1, 9)  # at which the program is read from the tensors
FEW = (1, 2, 3)  # the same in self-tests, and for models with more layers than this:
MANY_LAYERS = 50
MOST_BITS = 2**30  # of all coefficients of a polynomial that is computed
MISSED = 70  # bits of a prime beyond those of the degree: the error probability is below 2^−60


def formula(run: Run, case: Case, algorithm: str = "the algorithm") -> Finding:
    """The finding that the polynomial g of the prediction x_qᵀ g(S) b is that of the algorithm.

    The program on registers is read from the tensors at several dimensions d. The polynomials are
    equal for all numbers n of examples (unless the weights contain n), all inputs, and every
    dimension at which the tensors contain one of these programs.

    The algorithm, which `algorithm` describes in words, is defined by products of matrices, so its
    prediction is x_qᵀ g(S) b with one polynomial g for all d and n. This g is read off its
    predictions for d = n = 1, and is compared with its predictions at random inputs with d = 2 and
    n = 3.
    """
    id, sizes, wrong = "formula", "all n and inputs", None
    try:
        programs = _programs(run, case)
        if programs[0][0].n is not None:
            sizes = f"all inputs, n = {programs[0][0].n}"
        for program, dimensions in programs:
            g, difference = _compared(run, case, program)
            if difference is not None:
                wrong = f"at d = {dimensions[0]}, {difference}"
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
    read = " and ".join(f"d = {', '.join(map(str, of_d))}" for _, of_d in programs)
    return equal(
        id,
        f"polynomial g of the prediction x_qᵀ g(S) b that is read from the tensors, and that of "
        f"{algorithm}, for {sizes}, k = {case.k}",
        wrong,
        evidence="formula",
        words=f"equal: {g}; read at {read}, and valid for every d at which the tensors contain "
        "the same program",
    )


def _programs(run: Run, case: Case) -> list[tuple[RegisterProgram, list[int]]]:
    """The different programs of the tensors at several d, each with its dimensions."""
    few = case.model.n_layers > MANY_LAYERS or not run.extends
    several = FEW if few else DIMENSIONS
    dimensions = sorted({*(() if case.of.only_d else several), case.d}, reverse=True)
    found: list[tuple[RegisterProgram, list[int]]] = []
    for d in dimensions:
        model = case.model if d == case.d else case.of.at(d, case.n, case.k).model
        program = register_program(model, found[0][0].kinds if d == 1 else None)
        same = next((of_d for other, of_d in found if other == program), None)
        if same is None:
            found.append((program, [d]))
        else:
            same.insert(0, d)
    return found


def _compared(run: Run, case: Case, program: RegisterProgram) -> tuple[str, str | None]:
    """The polynomial g in words, and the difference from that of the algorithm, if any."""
    words, different = _for_one_example(run, case, program)
    if different is None and not _is_of_the_form(run, case, program):
        different = "the algorithm does not predict x_qᵀ g(S) b at inputs with d = 2"
    return words, different


def _for_one_example(run: Run, case: Case, program: RegisterProgram) -> tuple[str, str | None]:
    """The polynomial g in words, and its difference from the algorithm's for d = n = 1, if any."""

    def algorithm(ring: Ring, x: Any) -> Any:
        of: Any = OneByOneMatrices(ring)
        matrix, one = OneByOne(x), of.number(1)
        return case.of.algorithm(of, matrix, one, one, case.k).entry

    sizes = Sizes(VARIABLE * VARIABLE)
    size: Size = VARIABLE * program.prediction(sizes) - algorithm(sizes, VARIABLE)
    degree, bits = size.degree, sizes.coefficient_bits(size)
    if sizes.all_bits(size) <= MOST_BITS:
        x = fmpq_poly([0, 1])
        g = program.prediction(Polynomials())
        difference = x * _at_square(g) - algorithm(Polynomials(x * x), x)
        words = str(RegisterFormula({"x b": g}))
        different = (
            f"the prediction is {words}, and {difference} is added to x·g(x²) of the algorithm"
        )
        return words, different if difference else None
    length = MISSED + max(degree, bits).bit_length()
    residues = Residues(long_prime(run.rng, length), run.rng)
    ours, theirs = residues.x * program.prediction(residues), algorithm(residues, residues.x)
    words = (
        f"degree below 10^{len(str(degree // 2))} in S, at a random point modulo a random prime of "
        f"{length} bits, error probability ≤ {rounded_up(missed(degree, bits, length)):.1e}"
    )
    return words, None if ours == theirs else f"they differ modulo {residues.of.modulus()}"


def _at_square(g: fmpq_poly) -> fmpq_poly:
    """The polynomial g(x²)."""
    return fmpq_poly(g.numer().inflate(2)) / g.denom()


class FunctionsOf:
    """The ring of polynomials in a square matrix, as matrices."""

    def __init__(self, of: Modular, t: nmod_mat) -> None:
        self.of, self.t = of, t

    def number(self, numerator: int, denominator: int = 1) -> nmod_mat:
        size = self.t.nrows()
        c, zero = self.of.number(numerator, denominator), self.of.number(0)
        return self.of.matrix([[c if i == j else zero for j in range(size)] for i in range(size)])


def _is_of_the_form(run: Run, case: Case, program: RegisterProgram) -> bool:
    """Whether the algorithm predicts x_qᵀ g(S) b at random inputs modulo a prime."""
    domain = Modular(random_prime(run.rng))
    small = case.of.at(2, 3 if program.n is None else program.n, case.k)
    given = small.random(domain, run.rng)
    _, X, y, query = given.matrices
    g = program.prediction(FunctionsOf(domain, X.transpose() * X))
    return bool(query * g * X.transpose() * y == small.by_definition(given))


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
