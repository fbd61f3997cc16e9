"""Kinds of parameters: declared in annotations, read by one decorator, tested in one place.

    from theory.kinds import Count, Positive, Reals, Tokens, Within, checked

    Inputs: TypeAlias = Annotated[Any, Reals("... n d")]
    Labels: TypeAlias = Annotated[Any, Reals("... n")]

    @checked
    def newton(x: Inputs, y: Labels, k: Steps, alpha: Positive, start: Start = "gram"): ...

*To declare*: annotate each parameter of a public function with one of the names below, a `Literal`,
`bool`, `str`, a class, or `tuple[Count, ...]`, `Sequence[Count]`, `Iterable[Count]` of them, and
put `@checked` on the function, or over `@dataclass`.  The function gets the converted values (numpy
arrays, a Generator for a seed), and its body checks only what kinds cannot express.  The module has
`from __future__ import annotations`, so that `help` shows the names of kinds.  It imports the names
at run time, not only `if TYPE_CHECKING`, since the first call looks them up.

*To refine*: `Positive | None`; `Annotated[Count, Within(most=20)]`; `Annotated[Tokens,
Within(below="vocabulary_size")]`, where `below` and `most` may name an integer parameter or a
dimension.  The dimensions of an array have names: `Reals("... n d")`, `Integers("T")`; `arrays.py`
defines their meaning.

*To add a kind*: write a frozen dataclass, derived from `Kind`, that defines `what`, `example`,
`wrong` and `read`.  Put it into the module of the algorithm that needs it, or here if two topics
need it; `tests/kinds/test_public_functions.py` tries its wrong values on every function that
declares it.

*By hand*: `read(Count, "jobs", jobs)` reads a value that is not a parameter, such as an option of a
command line; `read(Tokens, "words", words, below=3)` adds limits that no annotation can name;
`Reals(f"... {d}").fit("states", states.shape)` checks the shape of a tensor without conversion.

A message is one line, `<name> is <value>: give <what>`.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from theory.kinds.arrays import Array, Integers, Numbers, Reals, Signs, array_of, real
from theory.kinds.checked import checked, kind_of, kinds_of, read
from theory.kinds.errors import InputError, OutsideHypotheses, shown
from theory.kinds.kind import Kind, Within, is_integer
from theory.kinds.numbers import Random, RationalNumber, RealNumber, Whole
from theory.kinds.objects import Choice, Either, File, Function, Instance, Many, Maybe, Truth

Count: TypeAlias = Annotated[int, Whole(Within(least=1))]
"""An integer ≥ 1."""
CountFrom2: TypeAlias = Annotated[int, Whole(Within(least=2))]
"""An integer ≥ 2."""
Steps: TypeAlias = Annotated[int, Whole(Within(least=0))]
"""An integer ≥ 0."""
Integer: TypeAlias = Annotated[int, Whole()]
"""An integer."""

Finite: TypeAlias = Annotated[float, RealNumber()]
"""A finite number."""
Positive: TypeAlias = Annotated[float, RealNumber(Within(above=0))]
"""A finite number > 0."""
NonNegative: TypeAlias = Annotated[float, RealNumber(Within(least=0))]
"""A finite number ≥ 0."""
Probability: TypeAlias = Annotated[float, RealNumber(Within(least=0, most=1))]
"""A number from 0 to 1."""
SignedUnit: TypeAlias = Annotated[float, RealNumber(Within(least=-1, most=1))]
"""A number from −1 to 1."""
OpenUnit: TypeAlias = Annotated[float, RealNumber(Within(above=0, below=1))]
"""A number strictly between 0 and 1."""
StepSize: TypeAlias = Annotated[float, RealNumber(Within(least=2.0**-1022))]
"""A normal number of float64, > 0, so that products keep their digits."""

# The function gets another type than the caller may give, so these are Any for mypy.
Exact: TypeAlias = Annotated[Any, RationalNumber()]
"""An integer or a Fraction; the function gets a Fraction."""
ExactProbability: TypeAlias = Annotated[Any, RationalNumber(Within(least=0, most=1))]
"""An integer or a Fraction from 0 to 1; the function gets a Fraction."""
Seed: TypeAlias = Annotated[Any, Random()]
"""A seed ≥ 0, or a Generator; the function gets a Generator."""
FilePath: TypeAlias = Annotated[Any, File()]
"""The path of a file; the function gets a `pathlib.Path`."""

# The function gets numpy arrays, float64 or int64.
Tokens: TypeAlias = Annotated[Any, Integers("... T", Within(least=0))]
"""Integers ≥ 0, at least one in each sequence, shape (…, T)."""
OneSequence: TypeAlias = Annotated[Any, Integers("T", Within(least=0))]
"""One sequence of integers ≥ 0, of length at least 1, shape (T,)."""
VocabularyTokens: TypeAlias = Annotated[Tokens, Within(below="vocabulary_size")]
"""`Tokens` below the call's `vocabulary_size`."""
VocabularySequence: TypeAlias = Annotated[OneSequence, Within(below="vocabulary_size")]
"""`OneSequence` below the call's `vocabulary_size`."""
Bits: TypeAlias = Annotated[Any, Integers("... T", Within(least=0, most=1))]
"""0 and 1, shape (…, T)."""
Positions: TypeAlias = Annotated[Any, Integers("k", Within(least=0, below="d"))]
"""Positions below the call's d, at least one, shape (k,)."""
SignRows: TypeAlias = Annotated[Any, Signs("... d")]
"""−1 and +1, shape (…, d)."""
Vector: TypeAlias = Annotated[Any, Reals("d")]
"""Finite numbers, shape (d,)."""
Vectors: TypeAlias = Annotated[Any, Reals("... d")]
"""Finite numbers, shape (…, d)."""
Matrix: TypeAlias = Annotated[Any, Reals("m n")]
"""Finite numbers, shape (m, n)."""
SquareMatrix: TypeAlias = Annotated[Any, Reals("d d")]
"""Finite numbers, shape (d, d)."""
SquareMatrices: TypeAlias = Annotated[Any, Reals("... d d")]
"""Finite numbers, shape (…, d, d)."""
Inputs: TypeAlias = Annotated[Any, Reals("... n d")]
"""The x of examples, shape (…, n, d)."""
Labels: TypeAlias = Annotated[Any, Reals("... n")]
"""The y of examples, shape (…, n)."""
Query: TypeAlias = Annotated[Any, Reals("+... d")]
"""One query per prompt, shape (…, d); its leading dimensions broadcast with those of x."""
PerPrompt: TypeAlias = Annotated[Any, Reals("#...", Within(least=2.0**-1022))]
"""A normal number of float64, > 0, or one for each prompt."""
RealArray: TypeAlias = Annotated[Any, Reals("+...")]
"""Finite numbers, of any shape that broadcasts with the shapes of the other arrays."""
PositiveArray: TypeAlias = Annotated[Any, Reals("+...", Within(least=2.0**-1022))]
"""Normal numbers of float64, > 0, of any such shape."""
NonNegativeArray: TypeAlias = Annotated[Any, Reals("+...", Within(least=0))]
"""Finite numbers ≥ 0, of any such shape."""
StepsArray: TypeAlias = Annotated[Any, Integers("+...", Within(least=0))]
"""Integers ≥ 0, of any such shape."""

__all__ = [
    "Array",
    "Bits",
    "Choice",
    "Count",
    "CountFrom2",
    "Either",
    "Exact",
    "ExactProbability",
    "File",
    "FilePath",
    "Finite",
    "Function",
    "InputError",
    "Inputs",
    "Instance",
    "Integer",
    "Integers",
    "Kind",
    "Labels",
    "Many",
    "Matrix",
    "Maybe",
    "NonNegative",
    "NonNegativeArray",
    "Numbers",
    "OneSequence",
    "OpenUnit",
    "OutsideHypotheses",
    "PerPrompt",
    "Positions",
    "Positive",
    "PositiveArray",
    "Probability",
    "Query",
    "Random",
    "RationalNumber",
    "RealArray",
    "RealNumber",
    "Reals",
    "Seed",
    "SignRows",
    "SignedUnit",
    "Signs",
    "SquareMatrices",
    "SquareMatrix",
    "StepSize",
    "Steps",
    "StepsArray",
    "Tokens",
    "Truth",
    "Vector",
    "Vectors",
    "VocabularySequence",
    "VocabularyTokens",
    "Whole",
    "Within",
    "array_of",
    "checked",
    "is_integer",
    "kind_of",
    "kinds_of",
    "read",
    "real",
    "shown",
]
