"""Values that kinds of parameters accept and reject, and the decorator that reads them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, Literal, TypeVar, get_origin

import numpy as np
import pytest
import torch
from refusals import rejects

import theory.kinds
from constructions.seeds import TorchSeed
from theory.kinds import (
    Array,
    Bits,
    Count,
    Exact,
    FilePath,
    Finite,
    InputError,
    Inputs,
    Instance,
    Integer,
    Integers,
    Labels,
    OneSequence,
    PerPrompt,
    Positive,
    PositiveArray,
    Probability,
    Query,
    Reals,
    Seed,
    SignRows,
    Steps,
    StepSize,
    Tokens,
    Within,
    checked,
    kind_of,
    kinds_of,
    read,
)
from theory.kinds.objects import Many
from theory.memory import orthogonal_gap

DECLARED = {
    name: kind_of(alias)
    for name, alias in vars(theory.kinds).items()
    if name in theory.kinds.__all__ and get_origin(alias) is Annotated
}
DECLARED |= {
    str(hint): kind_of(hint)
    for hint in (
        bool,
        Literal["a", "b"],
        Annotated[Count, Within(least=5, most=9)],
        Annotated[Finite, Within(above=1)],
        Annotated[Integer, Within(below=-3)],
        Annotated[Any, Reals("n 3 d d", Within(least=2))],
        Annotated[Any, Integers("", Within(most=-1))],
        Positive | None,
        Count | str,
        tuple[Count, ...],
        frozenset[Exact],
        list[tuple[Exact, ...]],
        np.ufunc | dict[str, str],
        Callable[[int], int],
    )
}
TENSORS = (
    torch.ones(2, 2, device="meta"),
    torch.eye(2).to_sparse(),
    torch.ones(2, 2, dtype=torch.complex64),
)


@pytest.mark.parametrize("name", DECLARED)
@pytest.mark.filterwarnings("error")
def test_a_kind_takes_its_example_and_nothing_that_is_wrong(name):
    kind = DECLARED[name]
    assert kind is not None
    if not isinstance(kind, Instance) and name != str(np.ufunc | dict[str, str]):
        read = kind.read("it", kind.example)
        again = kind.read("it", read)  # what was read is right too
        assert type(again) is type(read)
        if isinstance(read, np.ndarray):
            assert (again == read).all()
            assert again.dtype == read.dtype
    others = TENSORS if isinstance(kind, Array) else ()
    assert len(kind.wrong) > 2
    for value in (*kind.wrong, *others):
        with rejects("it"):
            kind.read("it", value)


@pytest.mark.parametrize(
    ("hint", "given", "read"),
    [
        (Count, np.int64(3), 3),
        (Steps, np.uint8(0), 0),
        (Integer, -(10**400), -(10**400)),
        (Annotated[Count, Within(most=9)], 9, 9),
        (Annotated[Count, Within(least=5, most=9)], 5, 5),
        (Positive, 1, 1.0),
        (Positive, np.float32(0.5), 0.5),
        (Positive, np.array(0.5), 0.5),
        (StepSize, 2.3e-308, 2.3e-308),
        (Finite, torch.tensor(-2.0, requires_grad=True), -2.0),
        (Finite, Fraction(1, 4), 0.25),
        (Probability, 0, 0.0),
        (Probability, 1, 1.0),
        (Exact, np.int64(3), Fraction(3)),
        (bool, np.bool_(False), False),
        (Literal[1, "exp"], "exp", "exp"),
        (Positive | None, None, None),
        (Count | str, "a", "a"),
        (tuple[Count, ...], [1, np.int64(2)], (1, 2)),
        (list[int], (), []),
        (frozenset[Steps], range(1, 2), frozenset({1})),
    ],
    ids=str,
)
def test_what_a_kind_reads(hint, given, read):
    value = kind_of(hint).read("it", given)
    assert value == read
    assert type(value) is type(read)


@pytest.mark.parametrize("hint", [Tokens, Inputs, Labels, PerPrompt])
@pytest.mark.parametrize("mode", ["r", "rb"])
def test_an_open_file_is_no_array(hint, mode):
    """Like a tensor, it has a method `detach`."""
    with open(__file__, mode) as file, rejects("it"):
        kind_of(hint).read("it", file)


@pytest.mark.parametrize(
    ("hint", "given", "read"),
    [
        (Tokens, [[1, 0]], np.array([[1, 0]])),
        (Tokens, torch.tensor([1, 0], dtype=torch.uint8), np.array([1, 0])),
        (OneSequence, (3, 1), np.array([3, 1])),
        (Bits, np.array([0, 1], dtype=np.uint64), np.array([0, 1])),
        (SignRows, [1.0, -1.0], np.array([1, -1])),
        (Inputs, [[Fraction(1, 2), 10**30]], np.array([[0.5, 1e30]])),
        (Labels, torch.ones(2, dtype=torch.bfloat16, requires_grad=True), np.ones(2)),
        (Labels, torch.ones(2).to(torch.float8_e5m2), np.ones(2)),
        (PerPrompt, 3, np.array(3.0)),
        (Annotated[Any, Reals("n", empty=True)], [], np.zeros(0)),
        (
            Annotated[Any, Integers("n", empty=True)],
            np.zeros(0, dtype=np.uint64),
            np.zeros(0, dtype=int),
        ),
        (Annotated[Any, Reals("d d")], [[1, 2], [3, 4]], np.array([[1.0, 2], [3, 4]])),
    ],
    ids=str,
)
def test_what_a_kind_of_array_reads(hint, given, read):
    value = kind_of(hint).read("it", given)
    assert value.dtype == read.dtype
    assert value.shape == read.shape
    assert (value == read).all()


def test_a_seed_is_read_as_a_generator():
    kind = kind_of(Seed)
    given = np.random.default_rng(5)
    assert kind.read("seed", given) is given
    assert kind.read("seed", np.int64(5)).random() == given.random()


@pytest.mark.parametrize(
    ("hint", "given", "limits"),
    [
        (StepSize, 1e-320, {}),
        (Count, 5, {"most": 4}),
        (Tokens, [0, 2], {"below": 2}),
        (Tokens, [[0], [1, 1]], {"most": 2}),
    ],
)
def test_what_is_read_by_hand(hint, given, limits):
    with rejects("it"):
        read(hint, "it", given, **limits)


def test_an_integer_that_python_does_not_print():
    with rejects("n"):
        read(Count, "n", 10**5000, most=4)


def test_the_shape_of_a_tensor():
    states = torch.ones(2, 3)
    Reals("... 3").fit("states", states.shape)
    with rejects("states"):
        Reals("... 2").fit("states", states.shape)


@checked
def every(
    x: Inputs,
    y: Labels,
    query: Query,
    alpha: PerPrompt,
    k: Annotated[Steps, Within(most="n")],
    *,
    tokens: Annotated[Tokens, Within(below="V")] = 1,
    V: Count = 2,
    d: Count | None = None,
) -> Any:
    """The arguments as they are read."""
    return x, y, query, alpha, k, tokens, V, d


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"y": np.ones(3)}, ["y", "n of x"]),
        ({"y": np.ones((2, 2))}, ["y"]),
        ({"query": np.ones(4)}, ["query"]),
        ({"x": np.ones((3, 2, 3)), "y": np.ones((3, 2)), "query": np.ones((4, 3))}, ["query"]),
        ({"alpha": [1.0]}, ["alpha"]),
        ({"query": np.ones((2, 3)), "alpha": [1.0] * 3}, ["alpha", "query", "x"]),
        ({"k": 3}, ["k", "n of x is 2"]),
        ({"tokens": [0, 2], "V": 2}, ["tokens", "and V is 2"]),
        ({"d": 4}, ["x", "d"]),
    ],
)
def test_what_does_not_fit_together(changed, names):
    right = {"x": np.ones((2, 3)), "y": np.ones(2), "query": np.ones(3), "alpha": 1, "k": 2}
    with rejects(*names):
        every(**right | changed)


def test_what_fits_together():
    x, y, query, alpha, k, tokens, V, d = every(
        np.ones((4, 2, 3)), np.ones((4, 2)), np.ones((5, 1, 3)), [1] * 4, np.int8(2), d=3
    )
    shapes = x.shape, y.shape, query.shape, alpha.shape
    assert shapes == ((4, 2, 3), (4, 2), (5, 1, 3), (4,))
    assert (k, tokens, V, d) == (2, 1, 2, 3)  # a default is as it stands
    assert every(x[0], y[0], np.ones((5, 3)), [1] * 5, 0)[3].shape == (5,)
    none = np.zeros((0, 1), dtype=int)
    assert every(x[:0], y[:0], x[0, 0], 1, 0, tokens=none)[5].size == 0
    assert every(x[0], y[0], x[0, 0], 1, 0, tokens=[5], V=6)[5].tolist() == [5]


def test_the_signature_and_other_errors_are_pythons():
    assert str(inspect.signature(every)).startswith("(x: 'Inputs', y: 'Labels', query: 'Query'")
    assert every.__doc__ == "The arguments as they are read."
    with pytest.raises(TypeError, match="missing"):
        every([[1.0]])
    with pytest.raises(TypeError, match="unexpected"):
        every([[1.0]], [1.0], [1.0], 1.0, 0, other=1)


def test_methods_data_classes_generators_and_any_number():
    @checked
    @dataclass(frozen=True)
    class Pair:
        first: Count
        rest: tuple[Exact, ...] = ()

        @checked
        def plus(self, n: Count) -> int:
            return self.first + n

    assert Pair(np.int64(1), [1]) == Pair(1, (Fraction(1),))
    assert Pair(1).plus(np.int64(2)) == 3
    for call, name in ((lambda: Pair(0), "first"), (lambda: Pair(1).plus(n=0), "n")):
        with rejects(name):
            call()
    with rejects("rest"):
        Pair(1, [0.5])

    @checked
    def counted(n: Count, *others: Any) -> Iterator[int]:
        yield from range(n)
        yield from others

    assert list(counted(2, "a")) == [0, 1, "a"]
    with rejects("n"):  # before the first one is read
        counted(0)


def test_what_declares_no_kind_has_the_kind_none():
    @checked
    def several(n: Count, bare, *others: Any, other: Any = 1) -> None: ...

    kinds = kinds_of(several)
    assert [*kinds] == ["n", "bare", "other"]
    assert kinds["bare"] is kinds["other"] is None


@pytest.mark.parametrize("into", [tuple, list, frozenset])
def test_an_example_of_many_values_has_one(into):
    assert kind_of(into[Count, ...] if into is tuple else into[Count]).example == into(
        [kind_of(Count).example]
    )
    assert Many(None, into).example == into()


def test_examples_and_wrong_values_of_limits():
    """The example is within a limit whatever size it names, and the limits are just exceeded."""
    assert kind_of(Annotated[Steps, Within(most="n")]).example == 0
    assert [*Within(least=1, below=4).outside()] == [0, 4]
    assert [*Within(above=0.5, most="n").outside()] == [0.5]
    assert {*kind_of(Annotated[Steps, Within(most=9)]).wrong[-2:]} == {-1, 10}


def test_a_limit_without_a_kind_is_an_error():
    with pytest.raises(TypeError, match="limits but declares no kind"):
        kind_of(Annotated[int, Within(least=1)])
    with pytest.raises(TypeError, match="has no limits"):
        kind_of(Annotated[bool, Within(least=1)])
    with pytest.raises(TypeError, match="has no limits"):
        Many(None).narrowed(Within(least=1))
    with pytest.raises(ValueError, match="leading"):
        Reals("n ...")


def test_one_number_for_all_prompts_may_come_before_the_prompts():
    """The leading dimensions are those of the inputs, whichever is declared first."""

    @checked
    def scaled(alpha: PerPrompt, x: Inputs) -> Any:
        return alpha, x

    for alpha in (0.5, [0.5, 1.0]):
        assert scaled(alpha, np.ones((2, 3, 1)))[1].shape == (2, 3, 1)
    with rejects("alpha"):
        scaled([0.5, 1.0, 2.0], np.ones((2, 3, 1)))
    with rejects("alpha"):
        scaled([0.5, 1.0], np.ones((3, 1)))


def test_large_powers_are_written_as_such():
    assert str(Within(least=1, below=2**500)) == " ≥ 1 and < 2^500"
    assert str(Within(least=0, most=2**30)) == " from 0 to 2^30"
    assert str(Within(most=2**53 - 1)) == f" ≤ {2**53 - 1}"
    assert str(Within(most=1024)) == " ≤ 1024"
    assert str(Within(most=10**100)) == " ≤ 10^100"
    assert str(Within(above=2.0**-1022, most=2**-31)) == " > 2^-1022 and ≤ 2^-31"
    assert str(Within(least=0.5, below=2.0**-30)) == f" ≥ 0.5 and < {2.0**-30}"
    assert str(Within(least=1e-12)) == " ≥ 1e-12"


@pytest.mark.parametrize(
    ("shape", "written"),
    [("", "()"), ("n", "(n,)"), ("n d", "(n, d)"), ("...", "(…,)"), ("+... d", "(…, d)")],
)
def test_a_shape_is_written_as_a_tuple(shape, written):
    assert Reals(shape).what.endswith(f" of shape {written}")


def test_hidden_entries_of_a_masked_array_are_not_read():
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    with rejects("x"):
        Reals("n").read("x", masked)
    assert Reals("n").read("x", np.ma.masked_array([1.0, 2.0])).tolist() == [1.0, 2.0]


@checked
def scaled(
    kind: Literal["power", "ratio", "memory", "tensor", "size", "depth"], x: Finite = 1.0
) -> Any:
    match kind:
        case "power":
            return x**400
        case "ratio":
            return 1 / (x - x)
        case "memory":
            return np.empty((10**9, 10**9))
        case "tensor":
            return torch.empty(10**9, 10**9)
        case "size":
            return torch.rand(10**30)
        case "depth":
            return scaled.__wrapped__(kind, x)


@pytest.mark.parametrize("kind", ["power", "ratio", "memory", "tensor", "size", "depth"])
def test_limits_of_the_machine_are_one_line(kind):
    with rejects("scaled", "x", "1000000.0"):
        scaled(kind, 1e6)


@pytest.mark.parametrize("given", [["a", "b"], [True], [Fraction(1, 3)], [None], []])
def test_the_size_of_an_array_is_named_only_for_numbers_of_the_machine(given):
    with pytest.raises(InputError, match="exponent") as caught:
        kept(np.array(given), 3)
    assert "given" not in str(caught.value)


@checked
def kept(given: Any, exponent: Finite) -> float:
    return (1e300 * exponent) ** 2


@pytest.mark.parametrize("kind", [ValueError, TypeError, RuntimeError])
def test_an_error_for_another_reason_stays_as_it_is(kind):
    @checked
    def failing(x: Finite) -> float:
        raise kind("another reason")

    with pytest.raises(kind, match=r"^another reason$"):
        failing(1.0)


class Ratio:
    def __call__(self, x: float) -> float:
        return x / 0


@checked
def applied(function: Callable[[float], float], x: Finite) -> float:
    return function(x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x / 0,
        partial(lambda y, x: x / y, 0),
        Ratio(),
        partial(Ratio()),
        lambda x: Ratio()(x),  # in a function that it calls
    ],
)
def test_errors_of_a_given_function_are_not_changed(function):
    with pytest.raises(ZeroDivisionError):
        applied(function, 1.0)


def test_errors_of_functions_in_a_dictionary_are_not_changed():
    @checked
    def each(functions: dict[str, Any], x: float) -> list[Any]:
        return [function(x) for function in functions.values()]

    with pytest.raises(ZeroDivisionError):
        each({"mine": lambda x: x / 0}, 1.0)
    with rejects("each"):
        each({"mine": partial(pow, 0.0)}, -1.0)


def test_overflows_in_a_given_function_are_its_own():
    """Numpy warns of them, as outside."""

    @checked
    def larger(function: Callable[[float], float], x: Finite) -> float:
        return function(x)

    with pytest.warns(RuntimeWarning, match="overflow"):
        assert larger(np.exp, 1000.0) == np.inf


def test_the_type_of_what_is_no_number_is_named():
    for given, named in ((["one"], "text"), ([1j], "complex128"), ([1, None], "NoneType")):
        with rejects("x", named):
            Reals("n").read("x", given)


def test_a_long_range_is_kept_if_it_is_only_iterated():
    steps = Many(kind_of(Steps), keeps_ranges=True)
    assert steps.read("k", range(10**18)) == range(10**18)
    for given in (range(-1, 10**18), range(10**18, -2, -1)):
        with rejects("k"):
            steps.read("k", given)
    assert [*map(type, Many(kind_of(Finite), keeps_ranges=True).read("x", range(3)))] == [float] * 3


def test_a_long_value_is_shortened():
    for name in ("a" * 10**5, "\0", "b" * 256):
        with rejects("path"):
            read(FilePath, "path", name)
    assert read(FilePath, "path", "b" * 255).name == "b" * 255
    assert len(str(InputError(f"word is {'a' * 10**5}: give a shorter word"))) < 500
    assert str(InputError(f"word is {'a' * 10**5}: give a shorter word")).endswith("shorter word")


@pytest.mark.parametrize("hint", [PerPrompt, PositiveArray, StepSize])
def test_step_sizes_are_normal_numbers(hint):
    """Products with a subnormal number lose digits."""
    assert read(hint, "alpha", 2.0**-1022) == 2.0**-1022
    with rejects("alpha"):
        read(hint, "alpha", 2.0**-1023)


def test_seeds_of_torch():
    def first(seed):
        return torch.rand((), generator=read(TorchSeed, "seed", seed)).item()

    assert first(5) == first(np.uint64(5)) == first(torch.Generator().manual_seed(5))
    assert first(np.random.default_rng(5)) == first(np.random.default_rng(5)) != first(5)
    assert read(TorchSeed, "seed", 2**32 - 1).initial_seed() == 2**32 - 1
    for seed in (None, True, -1, 2**32, 1.5, [0], np.random, np.random.RandomState(0)):
        with rejects("seed"):
            read(TorchSeed, "seed", seed)


def test_the_message_on_a_seed_names_the_library_of_the_generator():
    with rejects("seed", "a Generator of numpy"):
        read(Seed, "seed", torch.Generator())


def test_only_annotations_that_declare_a_kind_are_read():
    assert kind_of(TypeVar("T")) is None
    with pytest.raises(TypeError):
        read(int, "it", 3)


def test_underflows_are_no_errors_whatever_the_caller_has_set():
    times = [0.0, 0.5, 1.0]
    wanted = orthogonal_gap(6, 1.5, times)
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(orthogonal_gap(6, 1.5, times), wanted)
