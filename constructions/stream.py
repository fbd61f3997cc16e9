"""The residual stream, divided into named registers.

A construction never writes an index.  It names registers (`x`, `u`, `estimate`) and forms linear
combinations of them (`2 * u - x`, `u @ Map(W, "W")`), which `assembly.py` turns into weight
matrices.  The model keeps the names: it prints them, plots are labelled by them, and rows of
trained weights are compared by them.

    >>> stream = Stream(x=3, u=3, y=1)
    >>> stream.d_model
    7
    >>> stream["u"]
    slice(3, 6, None)
    >>> print(2 * stream.read("u") - stream.read("x") + one)
    2·u − x + 1
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from theory import machine
from theory.kinds import Count, InputError, Steps, checked, read, shown

LAYER, LISTED = 2**15, 2**9  # bytes of a layer without its weights, and of its entry in a list
MOST_LISTED = 10_000  # the largest number of layers of a model
CONSTANT = "1"  # the name of the number one in a linear read (a bias, not a register)


def number(value: float) -> str:
    """Returns a weight as text: a power of two as a power, an integer without a decimal point."""
    sign = "−" if value < 0 else ""
    mantissa, exponent = np.frexp(abs(value))
    if mantissa == 0.5 and not 0 <= exponent - 1 <= 3:
        return f"{sign}2^{exponent - 1}".replace("-", "−")
    whole = float(value).is_integer() and abs(value) < 1e15
    return (sign + f"{abs(value):{'.0f' if whole else 'g'}}").replace("e-", "e−")


@dataclass(frozen=True, eq=False)
class Map:
    """A linear map of a register, as in `u @ Map(W, "W")`: a matrix, and the name of this matrix in
    printed models.

    The matrix has shape (width of the register, width of the result).
    """

    matrix: np.ndarray
    name: str

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or not self.matrix.size:
            raise InputError(
                f"the array {self.name} of a map has shape {self.matrix.shape}: give a matrix"
            )


@dataclass(frozen=True)
class Term:
    """A term of a linear read: factor · register, or factor · register · map."""

    register: str
    factor: float
    map: Map | None = None

    @property
    def is_constant(self) -> bool:
        """Whether the term is the same number in every coordinate of every token."""
        return self.register == CONSTANT and self.map is None

    def __str__(self) -> str:
        if self.is_constant:
            return number(abs(self.factor))
        what = self.register if self.map is None else f"{self.register}·{self.map.name}"
        what = what.removeprefix(f"{CONSTANT}·")
        return what if abs(self.factor) == 1 else f"{number(abs(self.factor))}·{what}"


@dataclass(frozen=True)
class LinearRead:
    """A linear combination of registers, such as `2·u − x`; `one` is the constant 1.

    The constant of a combination is added to every coordinate.
    """

    terms: tuple[Term, ...]
    width: int

    def __add__(self, other: LinearRead) -> LinearRead:
        wider, narrow = (self, other) if self.width >= other.width else (other, self)
        scalar = narrow.width == 1 and all(term.is_constant for term in narrow.terms)
        if self.width != other.width and not scalar:
            raise InputError(
                f"cannot add {self} (width {self.width}) and {other} (width {other.width}): "
                "give registers of the same width"
            )
        sums: dict[tuple[str, Map | None], float] = {}
        for term in (*self.terms, *other.terms):
            key = term.register, term.map
            sums[key] = sums.get(key, 0.0) + term.factor
        terms = (Term(name, value, by) for (name, by), value in sums.items() if value != 0)
        return LinearRead(tuple(terms), wider.width)

    def __rmul__(self, factor: float) -> LinearRead:
        scaled = [Term(term.register, factor * term.factor, term.map) for term in self.terms]
        return LinearRead(tuple([term for term in scaled if term.factor != 0]), self.width)

    def __matmul__(self, by: Map) -> LinearRead:
        if len(by.matrix) != self.width or any(term.map is not None for term in self.terms):
            raise InputError(
                f"cannot apply the map {by.name} of shape {by.matrix.shape} to '{self}' of "
                f"width {self.width}: give a matrix with one row for each coordinate, and "
                "apply at most one map to a linear read"
            )
        terms = (Term(term.register, term.factor, by) for term in self.terms)
        return LinearRead(tuple(terms), by.matrix.shape[1])

    def __neg__(self) -> LinearRead:
        return -1.0 * self

    def __sub__(self, other: LinearRead) -> LinearRead:
        return self + (-other)

    @property
    def constant(self) -> np.ndarray:
        """The constant term, (width,)."""
        parts = (
            term.factor * (np.ones(self.width) if term.map is None else term.map.matrix[0])
            for term in self.terms
            if term.register == CONSTANT
        )
        return sum(parts, start=np.zeros(self.width))

    @property
    def without_constant(self) -> LinearRead:
        """The linear read without its constant term."""
        terms = tuple(term for term in self.terms if term.register != CONSTANT)
        return LinearRead(terms, self.width)

    def __str__(self) -> str:
        text = ""
        for term in self.terms:
            minus = term.factor < 0
            text += ((" − " if minus else " + ") if text else "−" * minus) + str(term)
        return text or "0"


one = LinearRead((Term(CONSTANT, 1.0),), 1)


class Stream:
    """The residual stream, divided into registers: named groups of coordinates with given widths.

    `Stream(x=d, u=d, y=1)` has the registers x, u and y, in this order.

    Raises ValueError for an empty stream, for a width below 1, and for the register name "1",
    which is reserved for constants. The methods raise ValueError for a name that is not a register,
    and for a linear read that was taken from another stream.
    """

    def __init__(self, **widths: int) -> None:
        if not widths:
            raise InputError("the stream has no registers: give at least one register")
        widths = {name: read(Count, name, width) for name, width in widths.items()}
        if CONSTANT in widths:
            raise InputError(
                f"the register name {CONSTANT!r} is reserved for the constant: rename this "
                f"register in {widths}"
            )
        self.widths = widths
        stops = [*accumulate(widths.values())]
        self._slices = {
            name: slice(stop - width, stop)
            for (name, width), stop in zip(widths.items(), stops, strict=True)
        }
        self.d_model: int = stops[-1]
        self._reads = {
            name: LinearRead((Term(name, 1.0),), width) for name, width in widths.items()
        }
        self.fits(1)

    @checked
    def fits(
        self, layers: Steps, heads: Steps = 1, *, neurons: Steps = 0, shared: bool = False
    ) -> None:
        """Raises ValueError if the weights of `layers` layers do not fit in memory.

        Each layer has `heads` heads that read the widest register, and an MLP of `neurons` neurons.
        If `shared` is true, all layers have the same weights, which are stored once. Also raises
        ValueError for so many layers that building them would take more than a few minutes.
        """
        layers = min(layers, 10**300)  # which a float can show
        each = 4 * heads * max(self.widths.values()) + 2 * neurons
        listed = min(layers, MOST_LISTED) if shared else layers
        count, width = min(layers, 10**300), min(self.d_model, 10**300)  # which a float can show
        machine.fits_in_memory(
            f"the weights of {count:.4g} layers of width {width:.4g}",
            8 * each * self.d_model * (1 if shared else layers)
            + (LISTED if shared else LAYER) * listed,
            "build a smaller model",
        )
        if layers > MOST_LISTED:  # each takes a while to build, and to list
            raise InputError(
                f"the model has {count:.4g} layers, more than {MOST_LISTED}: give fewer layers"
            )

    def __getitem__(self, name: str) -> slice:
        if not isinstance(name, str) or name not in self._slices:
            raise InputError(
                f"the stream has no register {shown(name)}: give one of the registers "
                f"{', '.join(self.widths)}"
            )
        return self._slices[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.widths)

    @checked
    def read(self, name: str) -> LinearRead:
        """The linear read of a register: the function from the residual stream to the register.

        `name` is the name of the register, a group of coordinates of the residual stream.
        """
        self[name]
        return self._reads[name]

    @checked
    def matrix(self, reading: LinearRead) -> tuple[np.ndarray, np.ndarray]:
        """The weights (D, width) and bias (width,) of a linear read, for a stream of width D.

        A linear read is an affine function of the residual stream. For the stream H (…, D), its
        value is `H @ weights + bias`. Raises ValueError for a linear read that was taken from
        another stream.
        """
        weights, bias = np.zeros((self.d_model, reading.width)), np.zeros(reading.width)
        self.write(reading, weights, bias)
        return weights, bias

    def write(self, reading: LinearRead, weights: np.ndarray, bias: np.ndarray) -> None:
        """Adds the weights and the bias of a linear read to arrays, as in `matrix`.

        The arrays `weights` (D, width) and `bias` (width,) may be parts of larger arrays. Raises
        ValueError for a linear read that was taken from another stream.
        """
        for term in read(LinearRead, "reading", reading).terms:
            if term.register == CONSTANT:
                bias += term.factor * (1.0 if term.map is None else term.map.matrix[0])
                continue
            block = weights[self[term.register]]
            height = reading.width if term.map is None else len(term.map.matrix)
            if len(block) != height:
                raise InputError(
                    f"'{reading}' has width {reading.width}, but register {term.register!r} of "
                    f"this stream has width {self.widths[term.register]}: take the linear read "
                    "from this stream"
                )
            if term.map is None:
                block.flat[:: height + 1] += term.factor
            else:
                block += term.factor * term.map.matrix

    def placement(self, name: str) -> np.ndarray:
        """The matrix (width, D) that writes a vector to one register, and 0 to all others.

        `width` is the width of the register `name`, and D is the width of the residual stream.
        """
        block = self[name]
        placed = np.zeros((self.widths[name], self.d_model))
        placed[:, block].flat[:: self.widths[name] + 1] = 1.0
        return placed

    def __str__(self) -> str:
        return " ".join(f"{name}({width})" for name, width in self.widths.items())
