"""The claim `register-programs`: what layers of linear heads compute, for all d, n and inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from flint import fmpq, fmpq_mat

from constructions.formulas import register_program
from constructions.transformer import Transformer
from theory.regression.register_programs import Content, NoFormula, Polynomials, RegisterProgram
from verify.claim import Run, claim, option
from verify.domains import Rational, outputs, streams
from verify.evidence.random_programs import (
    KINDS,
    model_of,
    random_entry,
    random_program,
    with_entry,
    with_number,
)
from verify.evidence.statement import prompt_of, rational_instance
from verify.finding import Finding, Verdict, equal, same

LAYERS = 3
SIZES = [(2, 1), (2, 4), (3, 2), (5, 3)]  # the dimension d and the number n of examples
FAULTS = 10  # for each program
OUTSIDE = {  # what is outside the theorem, and the place that the error names
    "a causal mask": "layer 2, head 1: its mask is causal",
    "softmax": "layer 2, softmax",
    "a ReLU without its opposite": "layer 2, head 1: a ReLU without its opposite",
}


@dataclass(frozen=True)
class Built:
    """A program that was drawn, and the model with its weights for n examples in d dimensions."""

    program: RegisterProgram
    model: Transformer
    n: int

    def __str__(self) -> str:
        return f"program {self.program.layers}, d={self.model.interface.d}, n={self.n}"


@claim(faults_seen=[{"programs": 1}])
def register_programs(
    run: Run,
    *,
    programs: Annotated[
        int, option("number of random programs with linear and with ReLU heads", min=1, max=10**4)
    ] = 8,
) -> Iterator[Finding]:
    """Let the residual stream consist of vector registers of width d and scalar registers of width
    1. Let the embedding, the products W_Q W_Kᵀ and W_V W_O of linear heads that attend to n
    examples, and linear maps of the token itself consist of blocks c·I between registers of the
    same kind. If no layer adds an excluded moment, then after every layer, for all d, n, examples X
    and labels y, at every token with input x and label z, each vector register contains p(S) x +
    q(S) b, and each scalar register contains a·z + xᵀ g(S) b + c. Here S = XᵀX and b = Xᵀy, and the
    numbers a and c and the polynomials p, q and g depend only on the numbers c of the blocks, and
    on n if a layer adds a multiple of n.

    The excluded moments are Σ x_i, Σ y_i, Σ y_i², bᵀ q(S) b and products of two factors that depend
    on the token. The proof is in the package theory. The claim runs the theorem on random programs,
    whose weights are in a random basis of each head. The numbers are read from the tensors, all
    registers of all tokens are compared with their formulas over Q, and changes of single entries
    of blocks are named. ReLU heads in pairs with opposite queries and outputs are linear heads.
    """
    programs, sizes = (min(programs, 4), SIZES[1:3]) if run.quick else (programs, SIZES)
    sizes = sizes if run.extends else sizes[:1]
    drawn = [
        (random_program(run.rng, LAYERS, None if linear else n), d, n)
        for linear in (True, False)
        for _ in range(programs)
        for d, n in sizes
    ]
    built = [Built(of, run.build(model_of, of, d, run.rng), n) for of, d, n in drawn]
    yield _numbers(built)
    yield _registers(run, built)
    yield _predictions(run, built)
    yield from _faults(run, [(of, d) for of, d, _ in drawn if of.n is None])
    yield _outside(run)


def _numbers(built: list[Built]) -> Finding:
    """The finding that the numbers of blocks that are read are those that were drawn."""

    def difference(each: Built) -> str | None:
        try:
            found = register_program(each.model)
        except NoFormula as outside:
            return str(outside)
        return None if found == each.program else f"{each}: read is {found.layers}"

    wrong = (words for each in built if (words := difference(each)) is not None)
    return equal(
        "numbers",
        f"numbers of the blocks of {len(built)} random models of {LAYERS} layers that are read "
        "from the tensors, and those of the programs that were drawn",
        next(wrong, None),
        words=f"equal for {_sizes(built)}",
    )


def _registers(run: Run, built: list[Built]) -> Finding:
    """The finding that all registers of all tokens contain their formulas, over Q."""
    counts = Counter[str]()

    def differences() -> Iterator[str]:
        for each in built:
            given = rational_instance(run.rng, each.model.interface.d, each.n)
            _, X, y, Q = given.matrices
            tokens = [(X, i, y[i, 0]) for i in range(each.n)] + [(Q, 0, fmpq(0))]
            contents = [*register_program(each.model).contents(Polynomials())]
            passed = streams(each.model, prompt_of(each.model, given), Rational())
            for layer, (H, now) in enumerate(zip(passed, contents, strict=True)):
                for token, (rows, i, label) in enumerate(tokens):
                    for name, content in now.items():
                        span = each.model.stream[name]
                        held = [H[token, j] for j in range(span.start, span.stop)]
                        counts[KINDS[name]] += 1
                        counts.update(part for part, p in content.items() if p != 0)
                        if held != contained(name, content, X, y, row(rows, i), label):
                            yield f"{each}: register {name} of token {token + 1}, layer {layer}"

    return _compared(
        "registers",
        "registers of all tokens after each layer of the model, and their formulas in S = XᵀX and "
        f"b = Xᵀy, on random fractions, for {_sizes(built)}",
        differences(),
        lambda: (
            f"equal in {counts['vector']} vectors, of which {counts['b']} contain some q(S) b, and "
            f"in {counts['scalar']} scalars, of which {counts['x b']} contain some xᵀ g(S) b"
        ),
    )


def _predictions(run: Run, built: list[Built]) -> Finding:
    """The finding that predictions are x_qᵀ g(S) b for the polynomial g that is read."""

    def differences() -> Iterator[str]:
        for each in built:
            given = rational_instance(run.rng, each.model.interface.d, each.n)
            _, X, y, Q = given.matrices
            g = each.model.formula().parts["x b"]
            answer = outputs(each.model, prompt_of(each.model, given), Rational())[0, 0]
            if [answer] != contained("s", {"x b": g}, X, y, Q, fmpq(0)):
                yield f"{each}: the prediction is {answer}"

    return _compared(
        "prediction",
        f"predictions of the models, and x_qᵀ g(S) b, on random fractions, for {_sizes(built)}",
        differences(),
        lambda: f"equal in {len(built)} models",
    )


def _compared(id: str, name: str, differences: Iterator[str], words: Callable[[], str]) -> Finding:
    """The finding that there are no differences, undecided for a model outside the theorem."""
    try:
        wrong = next(differences, None)
    except NoFormula as outside:
        return Finding(
            id, name, "exact", "undecided", "equal", Verdict.UNDECIDED, detail=str(outside)
        )
    return equal(id, name, wrong, words=words())


def contained(
    name: str, content: Content, X: fmpq_mat, y: fmpq_mat, x: fmpq_mat, label: fmpq
) -> list[fmpq]:
    """The content of a register at a token with input x (1 × d), as a list of numbers."""
    S, b, total = X.transpose() * X, y.transpose() * X, fmpq_mat(1, X.ncols())
    if KINDS[name] == "vector":
        for part, p in content.items():
            total = total + applied(p, S, x if part == "x" else b)
        return [total[0, j] for j in range(X.ncols())]
    g = content.get("x b", 0 * Polynomials().t)
    number = (applied(g, S, x) * b.transpose())[0, 0]
    for part, factor in (("y", label), ("1", fmpq(1))):
        number += content[part][0] * factor if part in content else 0
    return [number]


def applied(p: Any, S: fmpq_mat, row: fmpq_mat) -> fmpq_mat:
    """The row p(S) row, by Horner's rule."""
    result = 0 * row
    for c in reversed(p.coeffs()):
        result = result * S + c * row
    return result


def row(matrix: fmpq_mat, i: int) -> fmpq_mat:
    """Row i of a matrix, as a matrix."""
    return fmpq_mat([matrix.tolist()[i]])


def _faults(run: Run, drawn: list[tuple[RegisterProgram, int]]) -> Iterator[Finding]:
    """The findings that changes of single entries of blocks are named, or read as other numbers."""
    named, numbers, wrong = Counter[bool](), Counter[bool](), list[str]()
    for program, d in drawn:
        model = model_of(program, d, run.rng)
        for entry in (random_entry(run.rng, program, d) for _ in range(FAULTS)):
            wanted = with_number(program, entry)
            try:
                found = register_program(with_entry(model, entry))
                words, right = f"read: {found.layers}", wanted is not None and found == wanted
            except NoFormula as outside:
                words, right = str(outside), wanted is None and entry.place in str(outside)
            (named if wanted is None else numbers)[right] += 1
            wrong += [] if right else [f"{entry}: {words}"]
    for id, counts, what, outcome in (
        ("faults/blocks", named, "blocks of vectors, or between kinds", "an error names the block"),
        ("faults/numbers", numbers, "blocks of scalars", "the number is read as the changed one"),
    ):
        yield same(
            id,
            f"random changes of one entry of W_Q W_Kᵀ, W_V W_O or W_in W_out, in {what}, for which "
            f"{outcome}",
            counts[True],
            counts.total() or float("nan"),
            words=f"{counts[True]} of {counts.total()}",
            wanted="all",
            detail="\n".join(wrong[:3]),
        )


def _outside(run: Run) -> Finding:
    """The finding that other attention than that of the theorem is named by its place."""
    program, wrong = random_program(run.rng, LAYERS), list[str]()
    for what, place in OUTSIDE.items():
        model = model_of(program, 3, run.rng)
        attn = model.attentions[1]
        if what == "softmax":
            attn.normalise = "softmax"
        elif what == "a ReLU without its opposite":
            attn.normalise, model.interface.n = "relu", 3
        else:
            attn.masks = ("causal", *attn.masks[1:])
        try:
            wrong.append(f"{what}: read as {register_program(model).layers}")
        except NoFormula as outside:
            wrong += [] if place in str(outside) else [f"{what}: {outside}"]
    return equal(
        "outside",
        f"{', '.join(OUTSIDE)}, each in layer 2 of a random model",
        next(iter(wrong), None),
        words="an error names the layer, and the head if only one is outside",
    )


def _sizes(built: list[Built]) -> str:
    dimensions = sorted({each.model.interface.d for each in built})
    return f"d = {', '.join(map(str, dimensions))} and n = {_numbers_of(built)}"


def _numbers_of(built: list[Built]) -> str:
    return ", ".join(map(str, sorted({each.n for each in built})))
