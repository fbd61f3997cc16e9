"""Statements that are nearly right: each checker rejects them for the reason in its message."""

import json
from copy import deepcopy
from fractions import Fraction

import pytest
from refusals import rejects

from constructions import gradient_descent, hop
from tests.evidence.test_certificates import states, steps_of_newton
from tests.evidence.test_hostile_certificates import CHECKERS, MADE
from theory.computation.benchmark_automata import cyclic
from theory.computation.cascade import cascade
from verify import checker, formula_checker, gap_checker, program_checker
from verify.evidence.certificates import for_every_length, on_all_sequences, weights
from verify.evidence.statement import OverTokens
from verify.evidence.tables import by_coefficients

FILES = {  # a statement, by the field of the file
    "certificates": "polynomial",
    "gaps": "lookups",
    "formulas": "formula",
    "programs": "program",
}


def wrong(by, statement, *words):
    with rejects(*words, error=ArithmeticError):
        by.computed(statement)


def without_output(head, **changes):
    """The head with other fields, whose output is 0."""
    silent = deepcopy(head) | changes
    return silent | {"O": [["0"] * len(row) for row in head["O"]]}


def test_heads_that_compare_are_no_part_of_a_polynomial_even_without_output():
    said = steps_of_newton()
    heads = said["model"]["blocks"][-1]["heads"]
    heads.append(without_output(heads[0], rule="hardmax"))
    wrong(checker, said, "polynomial")


@pytest.mark.parametrize("name", FILES.values())
def test_weights_are_multiples_of_powers_of_two(name):
    by = next(CHECKERS[field] for field, each in FILES.items() if each == name)
    said = MADE[name]()
    said["model"]["unembed"][-1][-1] = "1/3"
    wrong(by, said, "1/3", "power of two")


@pytest.mark.parametrize("symbol", [0, 9, 10, 11])
def test_a_wrong_state_after_any_symbol_is_noticed(symbol):
    said = for_every_length(cascade(cyclic(12)))
    said["automaton"] += [list(said["automaton"][0]) for _ in range(12 - len(said["automaton"]))]
    for table in (said["answer"], *said["stages"]):
        if 0 in table["reads"]:
            at = table["reads"].index(0)
            for key, value in dict(table["rows"]).items():
                read = key.split()
                for other in range(2, 12):
                    if read[at] == "0":
                        row = [*read[:at], str(other), *read[at + 1 :]]
                        table["rows"][" ".join(row)] = value
    assert checker.computed(said)["states"] == 12
    said["automaton"][symbol] = said["automaton"][symbol][::-1]
    wrong(checker, said, "state")


def test_as_many_hops_are_made_as_stated():
    of = OverTokens("", lambda V, n: hop(4, V, n), lambda rows: rows, dict)
    said = on_all_sequences(of, 2, {"hops": 4}, "hops")
    short = {"length": 7}
    assert checker.computed(said | short)
    for hops in (3, 5, 6):
        wrong(checker, said | short | {"hops": hops}, "differs")


@pytest.mark.slow
def test_more_than_eight_hops_are_made_as_stated():
    model = hop(8, 2, 10)
    said = {"kind": "sequences", "name": "x", "letters": 2, "length": 10, "examples": 0}
    said |= {"prefix": [*model.interface.prefix], "model": weights(model)}
    wrong(checker, said | {"hops": 9}, "answer 10 of 10 differs")


@pytest.mark.parametrize("field", FILES)
def test_evidence_is_equal_to_the_last_type(field):
    said = MADE[FILES[field]]()
    evidence = CHECKERS[field].computed(said)

    def verified(evidence):
        text = json.dumps({field: [{"statement": said, "evidence": evidence}]})
        return [*CHECKERS[field].verified(text.encode())]

    assert len(verified(evidence)) == 1
    for key, value in evidence.items():
        others = [str(value), [value], None]
        if isinstance(value, str):
            others[0] = value + " "
        for other in others:
            with pytest.raises(ArithmeticError):
                verified(evidence | {key: other})
        with pytest.raises(ArithmeticError):
            verified({each: evidence[each] for each in evidence if each != key})
    with pytest.raises(ArithmeticError):
        verified(evidence | {"more": 1})


@pytest.mark.parametrize("field", FILES)
@pytest.mark.parametrize("listed", [[], {}, None, 0])
def test_a_file_without_statements_verifies_nothing(field, listed):
    with pytest.raises((ArithmeticError, ValueError, TypeError)):
        list(CHECKERS[field].verified(json.dumps({field: listed}).encode()))


@pytest.mark.parametrize("field", FILES)
def test_a_file_of_other_statements_is_refused(field):
    with pytest.raises(ValueError, match=field):
        next(CHECKERS[field].verified(b'{"others": []}'))


def test_lookups_need_two_positions():
    wrong(gap_checker, MADE["lookups"]() | {"length": 1}, "sizes")


def test_two_equal_logits_of_lookups_are_no_answer():
    said = MADE["lookups"]()
    said["model"]["unembed"] = [["0"] * len(row) for row in said["model"]["unembed"]]
    said["model"]["b_unembed"] = ["0"] * len(said["model"]["b_unembed"])
    wrong(gap_checker, said, "answer")


def test_a_prediction_with_a_bias_is_another():
    said = MADE["formula"]()
    for bias in ("1", "-1/4"):
        wrong(formula_checker, said | {"model": said["model"] | {"b_unembed": [bias]}}, "bias")


@pytest.mark.parametrize("where", ["unembed", "embed"])
def test_blocks_of_formulas_are_multiples_of_the_identity(where):
    said = MADE["formula"]()
    d = len(said["model"]["embed"]) - 1
    place = sum(said["registers"][: said["registers"].index(d)])
    if where == "embed":
        said["model"]["embed"][0][place + 1] = "1"
    else:
        said["model"]["unembed"][place][0] = "1"
    wrong(formula_checker, said, where, "multiple")


def test_scalars_are_no_multiples_of_vectors():
    """A head of the examples writes their label into the first coordinate of a vector."""
    places = ["1", "0", "0", "0"], ["0", "1", "0", "0"], ["0", "0", "1", "0"], ["0", "0", "0", "1"]
    x = [row[:2] for row in places]
    head = {"rule": "linear", "mask": "context-only", "Q": x, "K": x, "b_Q": ["0", "0"]}
    head |= {"b_K": ["0", "0"], "V": [row[2:3] for row in places], "O": [["1", "0", "0", "1"]]}
    blocks = [{"heads": [head], "mlp": []}]
    model = {"embed": [*places[:3]], "positions": [], "blocks": blocks}
    model |= {"unembed": [row[3:] for row in places], "b_unembed": ["0"]}
    said = {"kind": "formula", "name": "x", "registers": [2, 1, 1], "coefficients": ["1"]}
    wrong(formula_checker, said | {"model": model}, "registers 2 and 1", "multiple")
    head["O"] = [["0", "0", "0", "1"]]
    assert formula_checker.computed(said | {"model": model})["degree"] == 1


def test_automata_of_states_are_those_of_the_statement():
    said = states(cyclic(2))
    assert checker.computed(said)
    wrong(checker, said | {"automaton": said["automaton"][::-1]}, "differs")


def test_scores_of_heads_that_read_examples_are_of_vectors():
    """A product of two labels is no part of the theorem, even in a head without output."""
    said = MADE["formula"]()
    d, widths = len(said["model"]["embed"]) - 1, said["registers"]
    scalar, heads = sum(widths[: widths.index(1)]), said["model"]["blocks"][0]["heads"]
    head = next(each for each in heads if each["mask"] == "context-only")
    assert d > 1
    for by in ("Q", "K"):
        silent = without_output(head)
        zero = {each: [["0"] * len(row) for row in silent[each]] for each in "QK"}
        zero["Q"][scalar][0] = zero["K"][scalar][0] = "1"
        changed = deepcopy(said)
        changed["model"]["blocks"][0]["heads"].append(silent | zero)
        wrong(formula_checker, changed, "scores")
        zero[by] = [["0"] * len(row) for row in silent[by]]
        changed["model"]["blocks"][0]["heads"][-1] = silent | zero
        assert formula_checker.computed(changed)


@pytest.mark.parametrize("weights", ["embed", "unembed", "O", "V", "Q", "K"])
def test_matrices_of_formulas_have_the_widths_of_the_registers(weights):
    said = MADE["formula"]()
    model = said["model"]
    of = model if weights in model else model["blocks"][0]["heads"][0]
    longer = deepcopy(said)
    wider = deepcopy(said)
    for changed, rows in ((longer, True), (wider, False)):
        inside = changed["model"] if of is model else changed["model"]["blocks"][0]["heads"][0]
        if rows:
            inside[weights].append(["0"] * len(inside[weights][0]))
        else:
            inside[weights] = [[*row, "0"] for row in inside[weights]]
        with rejects(*[weights] * (weights == "unembed"), error=ArithmeticError):
            formula_checker.computed(changed)


@pytest.mark.parametrize("place", [0, 63, 64, 69])
def test_every_coefficient_counts(place):
    model = gradient_descent(2, 70, 1 / 16)
    said = by_coefficients(model, model.formula().parts["x b"])
    assert len(said["coefficients"]) == 70
    assert formula_checker.computed(said)
    said["coefficients"][place] = said["coefficients"][place - 1]
    wrong(formula_checker, said, "differ")


@pytest.mark.parametrize("exact", [gap_checker.Exact(), program_checker.Exact(10**9)])
def test_numbers_have_fewer_than_2048_bits_with_their_denominators(exact):
    assert exact.dot([2**1023], [2**1022]) == 2**2045
    with rejects("digits", error=ArithmeticError):
        exact.dot([2**1023], [2**1023])
    with rejects("digits", error=ArithmeticError):
        exact.dot([Fraction(2**1000, 3**200)], [Fraction(2**800 - 1, 5)])


def test_the_margin_is_the_smallest_distance_to_any_other_logit():
    """Of two sequences, and of three logits."""
    model = {"embed": [["1"], ["2"]], "positions": [], "blocks": [], "unembed": [["3", "1", "0"]]}
    said = {"kind": "sequences", "name": "", "letters": 2, "length": 1, "prefix": [], "examples": 0}
    said |= {"table": [[0], [0]], "model": model | {"b_unembed": ["0"] * 3}}
    assert checker.computed(said)["margin"] == "2"
    said["model"]["b_unembed"][1] = "3/2"
    assert checker.computed(said)["margin"] == "1/2"
    said["model"]["b_unembed"][1] = "2"
    wrong(checker, said, "differs")


def lookups_with(answer, raised):
    """Lookups of which one answer has a larger logit."""
    said = MADE["lookups"]()
    bias = said["model"]["b_unembed"]
    bias[answer] = str(Fraction(bias[answer]) + raised)
    return said


@pytest.mark.parametrize("answer", [0, 1, 2])
def test_the_margin_of_lookups_is_that_of_the_worst_answer(answer):
    margin = Fraction(gap_checker.computed(MADE["lookups"]())["margin"])
    for share in (Fraction(1, 4), 1 - Fraction(1, 2**20)):
        found = gap_checker.computed(lookups_with(answer, share * margin))
        assert Fraction(found["margin"]) == (1 - share) * margin
    wrong(gap_checker, lookups_with(answer, margin), "answer")


def test_the_answer_at_bos_is_no_part_of_lookups():
    """A coordinate that only BOS has raises a logit there."""
    said = MADE["lookups"]()
    found, model = gap_checker.computed(said), said["model"]
    for rows in (model["embed"], model["positions"]):
        for row in rows:
            row.append("0")
    model["embed"][-1][-1] = "1"
    for head in (block["heads"][0] for block in model["blocks"]):
        for part in "QKV":
            head[part].append(["0"] * len(head[part][0]))
        head["O"] = [[*row, "0"] for row in head["O"]]
    assert not any(block["mlp"] for block in model["blocks"])
    model["unembed"].append(["1000"] + ["0"] * (len(model["b_unembed"]) - 1))
    assert {**gap_checker.computed(said), "sha256": ""} == {**found, "sha256": ""}


def counters(carries, copied=1):
    """Two counters of 1s modulo 2, the second by `carries`, and a copy of stage `copied`."""
    first = {"kind": "counter", "size": 2, "first": 0, "reads": [0], "rows": {"0": 0, "1": 1}}
    rows = {
        f"{symbol} {low}": int(symbol and low in carries) for symbol in (0, 1) for low in (0, 1)
    }
    second = first | {"reads": [0, 1], "rows": rows}
    copy = {"kind": "table", "size": 2, "first": 0, "reads": [copied], "rows": {"0": 0, "1": 1}}
    values = [(symbol, low, high) for symbol in (0, 1) for low in (0, 1) for high in (0, 1)]
    states = {f"{s} {low} {high}": (s + low + 2 * high) % 4 for s, low, high in values}
    answer = {"reads": [0, 3, 2], "rows": states}
    automaton = {"automaton": [[0, 1, 2, 3], [1, 2, 3, 0]], "start": 0, "answer": answer}
    return {"kind": "cascade", "name": "", **automaton, "stages": [first, second, copy]}


@pytest.mark.parametrize("value", [-1, 1])
def test_a_stage_of_a_cascade_has_values_below_its_size(value: int) -> None:
    stage = {"kind": "table", "size": 1, "first": 0, "reads": [0], "rows": {"0": value}}
    answer = {"reads": [1], "rows": {"0": 0, f"{value}": 0}}
    automaton = {"automaton": [[0, 0]], "start": 0, "answer": answer}
    said = {"kind": "cascade", "name": "", **automaton, "stages": [stage]}
    with rejects("value", error=ArithmeticError):
        checker.computed(said)
    assert checker.computed(said | {"stages": [stage | {"rows": {"0": 0}}]})["states"] == 1


def test_counters_read_earlier_values_of_other_stages_and_tables_those_of_now():
    """The second counter is carried to where the first was 1; the answer reads a copy of that."""
    assert checker.computed(counters([1]))["states"] == 4
    for said in (counters([0]), counters([]), counters([1], copied=2), counters([1], copied=0)):
        wrong(checker, said, "state")
