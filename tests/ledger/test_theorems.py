"""The statement index: every path exists, every field is filled, every size is the model's."""

import re
from itertools import product
from pathlib import Path

import pytest
from refusals import rejects
from small_models import PUBLIC

import constructions
from theory.proofs.check import theorems
from verify.finding import Verdict
from verify.ledger.build import built
from verify.ledger.claims import installed
from verify.ledger.theorems import (
    KINDS,
    OUTCOMES,
    SCOPES,
    STATUS,
    Formula,
    Theorem,
    ceil_log,
    entries_of,
    ledger,
    must_hold,
    option_sets,
    sources_of,
    theorem,
)
from verify.ledger.written import bibliography, described, in_bibtex, in_latex, in_markdown, listing

ROOT = Path(__file__).parents[2]
BUILT = [entry for entry in ledger().values() if entry.build]


@pytest.mark.parametrize("entry", ledger().values(), ids=lambda entry: entry.name)
def test_every_path_exists(entry: Theorem):
    assert entry.test, "a statement without a test"
    for place in (entry.theory, entry.proof, entry.weights):
        path, _, name = place.partition(":")
        assert not path or (ROOT / path).exists(), path
        assert not path or name or place == entry.proof, "a file, and what to look at in it"
        defined = rf"(def|class) {re.escape(name)}\b|^#+ {re.escape(name)}$"
        assert not name or re.search(defined, (ROOT / path).read_text(), re.MULTILINE), place
    assert (ROOT / entry.test).exists()
    assert entry.claim in installed()


def test_machine_checked_theorems_are_stated_in_their_files():
    """And a statement says so in the list, on its page and in the file of all statements."""
    for place in {each for entry in ledger().values() for each in entry.machine_checked}:
        path, _, name = place.partition(":")
        assert name in theorems((ROOT / path).read_text()), place
    shown, listed = "\n".join(described(theorem("newton-direct"))), [*listing("regression")]
    assert "machine-checked: theory/proofs/newton_direct.v:newton_direct_predicts" in shown
    assert any("newton-direct " in line and "machine-checked: " in line for line in listed)
    assert not any("newton-causal " in line and "machine-checked: " in line for line in listed)
    assert any("chebyshev " in line and "machine-checked in part: " in line for line in listed)
    assert not any("chebyshev " in line and "machine-checked: " in line for line in listed)
    parts = "\n".join(described(theorem("automata-robust")))
    assert "machine-checked in part: theory/proofs/compose_maps.v:robust_composes" in parts
    assert theorem("automata-robust").machine_checked_part in parts
    assert theorem("automata-robust").machine_checked_part in in_markdown()
    assert "[`newton_direct_predicts`](../theory/proofs/newton_direct.v)" in in_markdown()


@pytest.mark.parametrize("entry", ledger().values(), ids=lambda entry: entry.name)
def test_every_statement_has_hypotheses_a_scope_a_status_and_a_source(entry: Theorem):
    assert entry.kind in KINDS
    assert entry.status in STATUS
    assert entry.scope.partition(":")[0] in SCOPES
    for text in (entry.statement, entry.hypotheses):
        assert text.endswith((".", "?")) or text == "none", text
    cited = {*re.findall(r"\w+", entry.source)} & {*bibliography()}
    assert cited or entry.status == "new", "known, but without a key of the bibliography"
    assert entry.proof or entry.kind in ("replication", "open", "erratum"), "no proof"


@pytest.mark.parametrize("entry", ledger().values(), ids=lambda entry: entry.name)
def test_what_is_not_proved_has_its_own_field(entry: Theorem):
    for text in (entry.statement, entry.hypotheses):
        assert not re.search(r"not proved|unproved|is the theorem of|an argument", text), text


NO_PART = {"layers-improve": "/layer-1"}  # findings that are no part of the published observation


@pytest.mark.parametrize("entry", ledger().values(), ids=lambda entry: entry.name)
def test_replications_have_an_outcome_and_it_is_that_of_their_findings(entry: Theorem):
    assert bool(entry.outcome) == (entry.kind == "replication")
    if entry.outcome:
        outcome, _, seeds = entry.outcome.partition(":")
        assert outcome in OUTCOMES
        assert seeds, "of how many seeds"
        compared = {
            id: v for id, v in entry.found.items() if not id.endswith(NO_PART.get(entry.name, " "))
        }
        assert (outcome == "replicated") == (not compared)


def test_a_claim_is_run_with_the_options_of_each_of_its_statements():
    assert option_sets("shortcut") == [
        {},
        {"automaton": "mod-6"},
        {"automaton": "gridworld-6"},
        {"automaton": "dyck-4"},
    ]
    for entry in ledger().values():
        assert dict(entry.options) in option_sets(entry.claim)


def test_only_claims_of_replications_alone_need_not_hold():
    assert {entry.kind for entry in entries_of("layouts")} == {"theorem", "bound", "replication"}
    assert must_hold("layouts")
    assert must_hold("newton")
    assert not must_hold("learned-search")


def test_the_standing_of_a_replication_is_its_outcome():
    assert theorem("learned-sphere").standing == "not replicated"
    assert theorem("newton").standing == "our proof"


@pytest.mark.parametrize("entry", BUILT, ids=lambda entry: entry.name)
def test_sizes_are_those_of_the_built_model(entry: Theorem):
    assert set(entry.sizes) == {"layers", "heads", "width"}
    for values in product(*entry.over.values()):
        parameters = dict(zip(entry.over, values, strict=True))
        model = built(entry, **parameters)
        sizes = {"layers": model.n_layers, "heads": model.n_heads, "width": model.d_model}
        for what, formula in entry.sizes.items():
            assert formula.admits(sizes[what], **parameters), (parameters, what, str(formula))


def test_every_construction_is_in_the_ledger():
    calls = {entry.build.split("(")[0] for entry in BUILT}
    functions = {name for name in (*constructions.__all__, *PUBLIC) if name.islower()}
    no_transformers = {"retrieve", "to_circuit", "predictions", "sample"}
    no_transformers |= {
        "circuit",
        "decoded_answers",
        "log_probabilities",
        "string_probabilities",
        "load",
        "save",
    }
    assert functions - calls == no_transformers


def test_only_replications_have_an_outcome_on_record():
    for entry in ledger().values():
        assert entry.kind == "replication" or not entry.found, entry.name
        assert {*entry.found.values()} <= {str(Verdict.FAILS), str(Verdict.UNDECIDED)}


@pytest.mark.parametrize(
    ("text", "shown", "value"),
    [
        ("2*d + 2", "2d + 2", 12),
        ("k + 8", "k + 8", 11),
        ("ceil_log(3, 2**k) + 2", "⌈log₃(2^k)⌉ + 2", 4),
        ("3*bits(V) + 6", "3⌈log₂V⌉ + 6", 15),
        ("floor_log2(k) + 2", "⌊log₂k⌋ + 2", 3),
    ],
)
def test_formulas(text, shown, value):
    formula = Formula(text)
    assert str(formula) == shown
    assert formula(d=5, k=3, V=8) == value
    assert formula.admits(value, d=5, k=3, V=8)
    assert not formula.admits(value - 1, d=5, k=3, V=8)


def test_a_bound_admits_less_and_not_more():
    assert [Formula("≤ 4").admits(size) for size in (3, 4, 5)] == [True, True, False]


@pytest.mark.parametrize("base", [2, 3, 7])
def test_logarithms_are_rounded_up_exactly(base):
    for value in (*range(1, 400), 3**40 - 1, 3**40, 3**40 + 1):
        power = ceil_log(base, value)
        assert base**power >= value
        assert power == 0 or base ** (power - 1) < value


def test_an_unknown_theorem_is_refused_with_the_nearest():
    with rejects("newton-direct"):
        theorem("newton-direkt")


def test_formulas_and_statements_in_latex():
    assert Formula("ceil_log(3, 2**k) + 2").latex() == (
        r"\left\lceil{\operatorname{log}_{3}{\left(2^{k} \right)}}\right\rceil + 2"
    )
    assert Formula("≤ 4").latex() == r"\le 4"
    first, *_, last = in_latex(theorem("newton-direct"))
    assert first.startswith(r"\begin{theorem}[{[Fu2024, Theorem 5.1]")
    assert last == r"\end{theorem}"


@pytest.mark.parametrize("entry", ledger().values(), ids=lambda entry: entry.name)
def test_every_entry_has_a_latex_form(entry: Theorem):
    text = "\n".join(in_latex(entry))
    assert entry.statement in text
    assert entry.unproved in text
    assert entry.hypotheses == "none" or entry.hypotheses in text


def test_the_sources_of_a_statement_as_bibtex():
    first, *_ = in_bibtex([theorem("newton")])
    assert first.startswith("@inproceedings{Fu2024,")
    with rejects("source"):
        list(in_bibtex([Theorem("a", "b", "theorem", "new", "none", "c", "ours", "sample", "d")]))


def test_the_list_begins_with_what_is_new_not_replicated_used_without_proof_and_open():
    head = in_markdown().partition("\n## ")[0]
    linked = re.findall(r"\[([a-z0-9-]+)\]\(#\1\)", head)
    new = [entry for entry in ledger().values() if entry.status == "new"]
    wanted = sorted(new, key=lambda entry: KINDS.index(entry.kind))
    wanted += [
        entry for entry in ledger().values() if entry.outcome and entry.standing != "replicated"
    ]
    checked = [entry for entry in ledger().values() if entry.machine_checked]
    wanted += sorted(checked, key=lambda entry: bool(entry.machine_checked_part))
    wanted += [entry for entry in ledger().values() if entry.unproved]
    wanted += [entry for entry in ledger().values() if entry.open]
    assert linked == [entry.name for entry in wanted]
    assert "TC⁰ ≠ NC¹" in head
    assert any("TC⁰ ≠ NC¹" in line for line in described(theorem("shortcut")))


def test_a_claim_prints_each_reference_of_its_statements_once():
    assert sources_of("gridworld") == "[Liu2023, Theorem 3]"
    references = sources_of("newton")
    assert references.startswith("[Fu2024, Theorem 5.1], [Schulz1933]")
    assert references.count("[Fu2024, Theorem 5.1]") == references.count("weightwright") == 1
