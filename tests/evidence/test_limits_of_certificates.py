"""What has no certificate, or no answers to compare: one reason at a time."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import rejects
from torch import nn

from constructions import conjunction, gradient_descent, scratchpad
from constructions.blocks import LayerNorm
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from tests.evidence.test_certified_scope import largest_of_all, repeating
from tests.evidence.test_checker_files import CHECKERS, STATED
from tests.evidence.test_formula_checker import nothing
from tests.evidence.test_hostile_certificates import MADE, counter
from theory.kinds import InputError
from verify import certify, checker, formula_checker, gap_checker
from verify.claim import Run
from verify.evidence import certificates
from verify.evidence.certificates import Recursion, weights, write_certificate
from verify.evidence.function_of_tokens import Answers, lengths_up_to
from verify.evidence.statement import OverExamples
from verify.evidence.tables import by_table


class Ends(Tokens):
    """Answers at other tokens than those of the sequence, and tokens 0 behind it."""

    def __init__(self, skipped: int, behind: int, answers_behind: bool = True) -> None:
        super().__init__(2, 4, margin=1.0)
        self.skipped, self.behind, self.answers_behind = skipped, behind, answers_behind
        self.context += behind

    def ends(self, n: int) -> tuple[tuple[int, ...], slice]:
        most = None if self.answers_behind else n
        return (0,) * self.behind, slice(self.skipped, most)


def last(tokens: list[int]) -> int:
    return tokens[-1]


def test_the_last_answer_is_enough_for_a_causal_model_that_answers_at_every_token() -> None:
    assert certify(repeating(Ends(0, 0)), against=last).holds
    model = largest_of_all(3)
    assert not model.is_causal
    assert certify(model, against=lambda tokens: [max(tokens)] * len(tokens)).holds
    with rejects("against"):
        certify(model, against=max)


def test_the_last_answer_is_not_enough_for_a_causal_model_with_other_answers() -> None:
    model = repeating(Ends(0, 1))
    assert model.is_causal
    assert certify(model, against=lambda tokens: [*tokens, 0]).holds
    with rejects("against"):
        certify(model, against=last)


def table(model: Transformer, length: int) -> list[Any]:
    def answers(tokens: list[int]) -> Any:
        return model(np.array(tokens)).tolist()

    return [*by_table(model, Answers(model, answers), range(length, length + 1))]


def test_tables_are_about_all_sequences_and_the_last_tokens() -> None:
    assert table(repeating(Ends(0, 0)), 3)
    assert table(repeating(Ends(1, 0)), 3)
    assert repeating(Ends(0, 1, answers_behind=False))([1, 0, 1]).tolist() == [1, 0, 1]
    for model, length in (
        (scratchpad("parity", 2), 3),  # not all sequences
        (repeating(Ends(0, 1, answers_behind=False)), 3),  # a token behind, not answered
        (repeating(Ends(0, 1)), 3),  # the token behind is answered
        (conjunction(3, [0, 2]), 3),  # the answer is at the first token
    ):
        with rejects(model.name):
            table(model, length)


@pytest.mark.parametrize("name", ["norm", "ln1", "ln2", "ln_final", "scale"])
def test_weights_of_models_that_normalise_are_not_exact(name: str) -> None:
    model: Any = gradient_descent(2, 2, 0.125)
    assert weights(model)
    of = {"ln_final": model, "scale": model.blocks[1].attn}.get(name, model.blocks[1])
    setattr(of, name, 2.0 if name == "scale" else nn.LayerNorm(1))
    with rejects(model.name):
        weights(model)


@pytest.mark.parametrize("kind", CHECKERS)
def test_a_file_has_at_most_so_many_bytes(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, statements = tmp_path / "c.json", STATED[kind]()[:1]
    write_certificate(path, "some", statements)
    text, by = path.read_bytes(), CHECKERS[kind]
    monkeypatch.setattr(by, "MOST_BYTES", len(text))
    assert [*by.verified(text)]
    with pytest.raises(ValueError, match="bytes"):
        [*by.verified(text + b" ")]


def test_what_the_checkers_cannot_read_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, statements = tmp_path / "c.json", STATED["gaps"]()[:1]
    write_certificate(path, "some", statements)
    size = path.stat().st_size
    path.unlink()
    monkeypatch.setattr(checker, "MOST_BYTES", size - 1)
    with pytest.raises(InputError, match="bytes"):
        write_certificate(path, "some", statements)
    assert not path.exists()
    monkeypatch.setattr(checker, "MOST_BYTES", size)
    write_certificate(path, "some", statements)


@pytest.mark.parametrize(
    ("of", "longest", "fits"),
    [
        (Tokens(1, 2**18), 2**18, None),
        (Tokens(1, 2**18 + 1), 2**18, f"max_length={2**18}"),
        (Tokens(2, 17), 17, None),
        (Tokens(2, 18), 17, "max_length=17"),
        (Tokens(2, 10**6), 17, "max_length=17"),
        (Tokens(4, 9, least=9), 9, None),
        (Tokens(4, 300, least=9), 9, "max_length=9"),
        (Tokens(4, 300, least=8), 8, "max_length=8"),
        (Tokens(2, 18, length=18), 18, None),
        (Tokens(2, 19, length=19), None, "symbols"),
        (Tokens(2, 10**4, length=10**4), None, "symbols"),
        (Tokens(9, 40, slots=[range(3, 5), range(9)] + [range(1)] * 38), 40, None),
        (Tokens(9, 40, slots=[range(3, 5), range(9)] * 20), 8, "max_length=8"),
    ],
)
def test_the_sequences_of_all_lengths_are_counted(
    of: Tokens, longest: int | None, fits: str | None
) -> None:
    first = of.length or of.least
    if longest is not None:
        assert lengths_up_to(of, longest) == range(first, longest + 1)
    if fits is None:
        assert lengths_up_to(of, None) == range(first, of.max_length + 1)
    else:
        with rejects("max_length", fits):
            lengths_up_to(of, None)
    for wrong in (first - 1, of.max_length + 1):
        with rejects("max_length", f"{wrong}"):
            lengths_up_to(of, wrong)


OTHER_VALUES: dict[str, Any] = {
    "a list": [1],
    "a list of more": [1] * 9,
    "nothing": None,
    "a truth value": True,
    "an array of arrays": [[0]],
    "a float": 1.0,
}


@pytest.mark.parametrize("what", OTHER_VALUES)
@pytest.mark.parametrize("listed", [False, True])
def test_the_function_is_checked_on_the_last_sequence_too(what: str, listed: bool) -> None:
    model = repeating(Tokens(2, 8, margin=1.0))
    ones = [1] * 8

    def against(tokens: list[int]) -> Any:
        right = tokens if listed else tokens[-1]
        return OTHER_VALUES[what] if tokens == ones else right

    with rejects("against"):
        Answers(model, against)(np.array([*np.ndindex((2,) * 8)]))
    answers = Answers(model, lambda tokens: tokens if listed else tokens[-1])
    rows = np.array([*np.ndindex((2,) * 8)])
    assert (answers(rows) == rows).all()


def test_a_layer_norm_is_not_rational_and_one_logit_has_no_margin() -> None:
    def ids(model: Transformer) -> list[str]:
        found = certify(model, against=last)
        assert found.holds
        return [each.id for each in found.findings]

    assert ids(repeating(Tokens(2, 3, margin=1.0))) == ["answers", "rational", "margin"]
    assert ids(repeating(Tokens(1, 3, margin=1.0))) == ["answers", "rational"]
    model = repeating(Tokens(2, 3, margin=1.0))
    model.ln_final = LayerNorm(2)
    assert ids(model) == ["answers"]


@pytest.mark.parametrize(
    ("d", "steps", "statements"), [(1, 2, 1), (1, 10, 1), (2, 2, 2), (2, 10, 1)]
)
def test_all_inputs_of_a_size_are_left_out_beside_the_formula_only(
    d: int, steps: int, statements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2^10 powers of the residual are too many, if there is a statement on the formula."""
    stated: list[Any] = []
    monkeypatch.setattr(Run, "certify", lambda _, state: stated.append(state))
    of = OverExamples(lambda *_: gradient_descent(2, 2, 0.125), lambda *_: None, formula=True)
    certificates.certify(Run(), of.at(d, 3, 1), Recursion("Newton", steps, 0.25))
    assert len(stated) == statements


def test_numbers_over_q_have_fewer_than_14200_bits_above_and_below() -> None:
    for long in (2**14198, Fraction(1, 2**14198)):
        assert checker.Numbers().dot([long], [1]) == long
    for longer in (2**14199, Fraction(1, 2**14199)):
        with rejects("digits", error=ArithmeticError):
            checker.Numbers().dot([longer], [1])


def test_the_work_of_a_statement_is_less_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    R = checker.Numbers()
    R.spend(checker.MOST_WORK - 2, 0)
    with rejects("multiplications", error=ArithmeticError):
        R.spend(0, 0)
    said = MADE["formula"]()
    work = formula_checker.Statement(formula_checker.read(said)).work
    monkeypatch.setattr(formula_checker, "MOST_WORK", work + 1)
    assert formula_checker.computed(said)
    monkeypatch.setattr(formula_checker, "MOST_WORK", work)
    with rejects("multiplications", error=ArithmeticError):
        formula_checker.computed(said)


def test_a_cascade_has_at_most_so_many_stages_and_symbols() -> None:
    assert checker.computed(counter(1, 64, 1014)) | {"sha256": ""} == {"states": 1, "sha256": ""}
    with rejects("stages", error=ArithmeticError):
        checker.computed(counter(1, 64, 1015))


def recursion(**sizes: Any) -> dict[str, Any]:
    """The statement that a model that answers 0 makes 0 steps from 0, on 255 examples."""
    x, y = ([f"{v}{i}{end}" for i in range(1, 256)] for v, end in (("x", "_1"), ("y", "")))
    prompt = [[*x, *y, "q1"]]
    model = {"embed": [["0"]] * len(prompt[0]), "positions": [], "blocks": [], "unembed": [["0"]]}
    said = {"kind": "polynomial", "name": "", "n": 255, "d": 1, "order": 1, "examples": 0}
    said |= {
        "start": "identity",
        "alpha": "0",
        "prompt": prompt,
        "model": model | {"b_unembed": ["0"]},
    }
    return said | sizes


def test_the_size_of_a_recursion_is_less_than_the_limit() -> None:
    """2^24 = 2^16 · (255 + 1)."""
    assert checker.computed(recursion(steps=9, points=2))["degree"] == 0
    with rejects("points", error=ArithmeticError):  # it is not too large
        checker.computed(recursion(steps=2**16 - 2, points=1))
    with rejects("large", error=ArithmeticError):
        checker.computed(recursion(steps=2**16 - 1, points=1))


def test_a_polynomial_is_compared_modulo_different_primes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Constant:
        """A hash in which nothing counts, so that each prime is drawn twice."""

        value = next(k for k in range(2**10) if checker.prime(2**60 + k))

        def __init__(self, text: bytes) -> None:
            pass

        def copy(self) -> Constant:
            return self

        def update(self, text: bytes) -> None:
            pass

        def hexdigest(self) -> str:
            return f"{self.value:x}"

    said = recursion(steps=0, points=2)
    assert len(checker.computed(said)["answers"]) == 3
    monkeypatch.setattr(checker, "sha256", Constant)
    with rejects("twice", error=ArithmeticError):
        checker.computed(said)


def test_the_sequences_of_a_statement_are_at_most_so_many() -> None:
    model = {"embed": [], "positions": [], "blocks": [], "unembed": [["1", "0"]]}
    said = {"kind": "sequences", "name": "", "length": 2, "prefix": [], "examples": 0}
    said |= {"table": [[0]], "model": model | {"b_unembed": ["0", "0"]}}
    for letters, wrong in ((2**10, "table"), (2**10 + 1, "sequences")):
        with rejects(wrong, error=ArithmeticError):
            checker.computed(said | {"letters": letters})


def test_sizes_of_polynomials_have_fewer_bits_than_the_largest_prime() -> None:
    for place in range(3):
        half, less = ([0, 0, 0] for _ in range(2))
        half[place], less[place] = 2**4094, 2**4094 - 1
        one, other = formula_checker.Size(half), formula_checker.Size(less)
        assert (one * other)[place] == 2**4095 - 1
        with rejects("degree", error=ArithmeticError):
            one * one


def test_a_prime_has_at_most_so_many_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    said = nothing()
    bits = int(formula_checker.computed(said)["prime"]).bit_length()
    monkeypatch.setattr(formula_checker, "MOST_BITS", bits)
    assert formula_checker.computed(said)
    monkeypatch.setattr(formula_checker, "MOST_BITS", bits - 1)
    with rejects("degree", error=ArithmeticError):
        formula_checker.computed(said)


@pytest.mark.parametrize(
    ("sizes", "wrong"),
    [
        ((512, 2, 1), "heads"),
        ((205, 5, 1), "sizes"),
        ((2, 2, 1023), "heads"),
        ((2, 2, 1024), "sizes"),
    ],
)
def test_sizes_of_lookups_are_at_most_the_limits(sizes: tuple[int, ...], wrong: str) -> None:
    """A model without heads is wrong too, but not too large."""
    said = MADE["lookups"]() | dict(zip(("length", "letters", "hops"), sizes, strict=True))
    said["first"] = "behind"
    said["model"]["blocks"] = []
    with rejects(wrong, error=ArithmeticError):
        gap_checker.computed(said)


def test_the_contents_after_a_lookup_are_counted_before_they_are_made() -> None:
    """One token brings one content, and another brings two."""

    class Brings(gap_checker.Exact):
        def affine(self, H: Any, W: Any, b: Any) -> Any:
            return [[0]] * len(H)

        def mul(self, A: Any, *Bs: Any) -> Any:
            return [(row[0],) for row in A]

    width = 2**20
    head = {
        "rule": "hardmax",
        "mask": "causal",
        **dict.fromkeys(("Q", "K", "V", "O", "b_Q", "b_K")),
    }
    rows = [(k, *[0] * (width - 1)) for k in range(3)]
    known = {
        (gap_checker.Token(t, t, 2, 0, 0, 2), rows[t + k]) for t, k in ((0, 0), (1, 0), (1, 1))
    }
    with rejects(
        "6291456", error=ArithmeticError
    ):  # 3 tokens with 2 contents each, in 2^20 numbers
        gap_checker.looked(
            Brings(), known, head, "causal", "symbol", "symbol", {"answer": "symbol"}
        )
