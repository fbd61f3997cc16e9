"""Mutants of functions, and the reports on claims that notice mutants or do not."""

from collections.abc import Iterator

import numpy as np
import pytest
import record
from refusals import rejected, rejects

from constructions import (
    gradient_descent,
    newton,
)
from verify.claim import Run, claim
from verify.finding import Finding, Verdict, at_most, same
from verify.ledger.claims import installed
from verify.selftest import run as selftest
from verify.selftest.function_mutations import CHANGES, FunctionFault, function_faults
from verify.selftest.run import Planted, Report, random_entries, report_on


def lost(x: float) -> float:
    """For a fault to be planted in."""
    return x


def prediction(run: Run) -> float:
    """Of a model of one step, 3 if there is no fault in it."""
    return float(run.build(gradient_descent, 1, 1, 0.5)([[1.0]], [2.0], [3.0]))


def report_of(check, *faults):
    """The report on a claim that is checked so, at its defaults."""
    return report_on("it", claim(faults_seen=[{}])(check), 0, [*faults])


@claim(faults_seen=[{}])
def watchful(run: Run) -> Iterator[Finding]:
    """Looks at a prediction, at a function, and at nothing."""
    yield same("answer", "its prediction", prediction(run), 3.0)
    yield at_most("value", "a function", "float", lost(1.0), 1.5)
    yield same("nothing", "1 is 1", 1, 1)


def fault(**changed):
    given = {"claim": "it", "function": f"{__name__}:lost", "change": "double", "fails": ("value",)}
    return FunctionFault(**{**given, **changed})


def test_the_report_names_for_each_finding_what_kills_it_and_the_dead():
    report = report_on("it", watchful, 0, [fault()])
    assert report.killed["value"] == "double of lost"
    assert report.killed["answer"] == "wrong sign in embedding"
    assert report.dead == ["nothing"]
    assert not report.passed
    assert report.missed == []
    assert lost(1.0) == 1.0


def test_progress_counts_the_mutants_that_are_run():
    counted = []

    def progress(items, what):
        counted.append(len(items))
        return items

    faults = [fault(), *(fault(claim=name) for name in ("other", "*"))]
    report_on("it", watchful, 0, faults, progress=progress)
    assert counted[0] == 2


def test_a_finding_whose_only_fault_is_taken_away_is_dead():
    assert "value" in report_on("it", watchful, 0, []).dead


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"change": "half"}, "not value"),
        ({"fails": ("value", "answer")}, "not answer"),
        ({"fails": ("val",)}, "not val, which is not there"),
        ({"fails": ("nothing",)}, "also value"),
    ],
)
def test_a_function_fault_has_to_kill_exactly_what_it_names(changed, message):
    (missed,) = report_on("it", watchful, 0, [fault(**changed)]).missed
    assert message in missed


@claim(faults_seen=[{}])
def observant(run: Run) -> Iterator[Finding]:
    """Fails for the observed model."""
    yield at_most("value", "a function", "float", lost(1.0), 0.5)
    yield at_most("more", "a function", "float", lost(1.0), 0.9)
    yield at_most("less", "the function is not smaller", "float", -lost(1.0), -0.7)


def planted(value: float) -> float:
    """In the place of what is lost."""
    return value / 4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"holds": ("value", "more")}, None),
        ({"holds": ("value",)}, "makes hold also more"),
        ({"holds": ("value", "more", "less")}, "makes hold not less"),
        ({"holds": ("*",), "fails": ()}, "makes fail also less"),
        ({"change": "double", "fails": (), "holds": ("*",)}, "makes hold not *"),
    ],
)
def test_what_is_planted_has_to_have_exactly_what_is_named(changed, message):
    given = {"change": f"{__name__}:planted", "fails": ("less",), **changed}
    report = report_on("it", observant, 0, [fault(**given)])
    assert report.killed["value"] == selftest.AS_IT_IS
    assert report.seen == (message is None)
    assert message is None or message in report.missed[0]


def test_a_claim_that_does_not_look_misses_every_fault_that_changes_an_answer():
    def blind(run: Run) -> Iterator[Finding]:
        """Builds and runs a model, and has no findings."""
        prediction(run)
        yield same("nothing", "1 is 1", 1, 1)

    report = report_of(blind)
    assert report.seen == 0
    assert "its defaults: wrong sign in layer 1, head 1" in report.missed
    assert not report.passed


def test_nothing_tested_is_no_pass():
    assert not Report("it").passed


def test_a_run_that_stops_is_a_fault_noticed_but_kills_nothing():
    def stops(run: Run) -> Iterator[Finding]:
        """Raises an error where there is a fault."""
        if prediction(run) != 3:
            raise ValueError("not 3")
        yield same("nothing", "1 is 1", 1, 1)

    report = report_of(stops)
    assert report.seen > 0
    assert report.dead == ["nothing"]


def test_entries_are_repeated_by_their_own_seed():
    claims = {"it": watchful}
    three = list(random_entries(claims, 3, 5))
    assert [entry.seed for entry in three] == [5, 6, 7]
    assert list(random_entries(claims, 1, 6)) == three[1:2]
    assert {entry.outcome for entry in three} <= {
        "seen",
        "all inputs, by the products of its weights",
    }


@claim(faults_seen=[{}])
def modelless(run: Run) -> Iterator[Finding]:
    """Builds no model."""
    yield same("nothing", "1 is 1", 1, 1)


def test_claims_without_models_are_passed_over_by_name():
    claims, passed_over = {"none": modelless, "it": watchful}, set()
    entries = list(random_entries(claims, 6, 0, passed_over))
    assert [entry.claim for entry in entries] == ["it"] * 6
    assert passed_over == {"none"}
    with rejects("none"):
        next(random_entries({"none": modelless}, 1, 0))


def test_the_number_of_random_mutants_is_limited(capsys):
    for count in (0, 10**24):
        rejected(capsys, ["selftest", "--random", str(count)], "--random")


class Pair(tuple):
    """A tuple of another type."""


@pytest.mark.parametrize(
    ("change", "value", "wanted"),
    [
        ("half", [1.0, (2.0, {"a": 4.0})], [0.5, (1.0, {"a": 2.0})]),
        ("negative", 3, -3),
        ("one more", (1, True, "word", None), (2, True, "word", None)),
        ("zero", Pair((1.0, 2.0)), Pair((0.0, 0.0))),
        ("nothing", [1, 2], []),
        ("nothing", "word", ""),
        ("nothing", 7, None),
        ("opposite", True, False),
        ("drops the last", "word", "wor"),
        ("backwards", [1, 2], [2, 1]),
    ],
)
def test_changes_of_results(change, value, wanted):
    assert CHANGES[change](value) == wanted


def test_a_part_of_a_result_is_changed_alone():
    whole = Finding("id", "name", "exact", 2, 3, Verdict.HOLDS)
    assert fault(part="bound")._changed(whole).bound == 6
    assert fault(part="bound")._changed(whole).measured == 2
    assert fault(part=1)._changed((1, 2)) == (1, 4)
    assert fault(part="b")._changed({"a": 1, "b": 2}) == {"a": 1, "b": 4}


def test_properties_and_methods_can_be_faulty():
    model = newton(2, 2, 0.25)
    with fault(function="constructions.transformer:Transformer.n_layers").planted():
        assert model.n_layers == 8
    assert model.n_layers == 4


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ('function = "verify.claim:claim"\nfails = []\nchange = "third"', "third"),
        ('function = "verify.claim:claim"\nchange = "half"', "fails"),
        ('function = "verify.claim:claim"\nfails = []\nchange = "half"\nmore = 1', "more"),
    ],
)
def test_an_entry_that_cannot_be_read_is_refused(entry, named, tmp_path):
    (tmp_path / "faults.toml").write_text(f'[[fault]]\nclaim = "newton"\n{entry}\n')
    with rejects(named):
        function_faults(tmp_path)


def test_a_function_that_there_is_not_is_said_to_be_missing():
    (missed,) = report_on("it", watchful, 0, [fault(function="verify.claim:claims")]).missed
    assert "no function verify.claim:claims" in missed


def test_every_entry_names_a_function_a_claim_and_its_options():
    claims = installed()
    for entry in function_faults():
        with entry.planted():
            pass
        assert entry.claim == "*" or entry.claim in claims
        if entry.options:
            assert entry.options.keys() <= claims[entry.claim].load().defaults.keys()


def test_a_quick_claim_notices_every_fault_and_all_its_findings_can_fail():
    name = "nearest-neighbour"
    report = report_on(name, installed()[name].load(), 0, function_faults())
    assert report.missed == []
    assert report.dead == []


@pytest.mark.slow
@pytest.mark.parametrize("name", installed())
def test_every_claim_notices_every_fault_and_all_its_findings_can_fail(name):
    faults = function_faults()
    trained = any(entry.trained for entry in faults if entry.claim == name)
    first = [document for document, _ in record.recorded().get(name, [])][:1]  # with its defaults
    ids = [each["id"] for document in first for each in document["findings"]] or None
    it = installed()[name].load()
    report = report_on(name, it, 0, faults, trained=trained, by_default=ids)
    if report.absent:
        pytest.skip("an optional package of this claim is not installed")
    assert report.missed == []
    assert report.dead == []
    assert report.seen > 0


def test_what_fails_without_a_fault_can_fail():
    """As a trained model for which the finding fails; undecided is not enough."""

    def observed(run: Run) -> Iterator[Finding]:
        """One that fails, and one that holds."""
        yield same("no", "1 is 2", 1, 2)
        yield at_most("value", "a function", "float", lost(1.0), 1.5)

    report = report_of(observed, fault(fails=("value", "no")))
    assert report.killed == {"no": "what is observed", "value": "double of lost"}
    assert report.passed


def test_a_fault_that_makes_a_finding_hold_makes_nothing_fail():
    def observed(run: Run) -> Iterator[Finding]:
        """One that fails, unless the function returns less; and one that then fails."""
        yield at_most("much", "a function", "float", lost(2.0), 1.5)
        yield at_most("little", "the same", "float", -lost(2.0), -1.5)

    report = report_of(observed, fault(change="half", fails=("little",)))
    assert report.missed == []


def test_an_array_without_dimensions_stays_one():
    assert isinstance(CHANGES["one more"](np.zeros((), dtype=int)), np.ndarray)


def test_a_finding_made_only_by_default_is_dead_if_none_of_its_kind_had_faults():
    @claim(faults_seen=[{"k": 2}])
    def grows(run: Run, *, k: int = 3) -> Iterator[Finding]:
        """A finding for each step."""
        yield from (f for i in range(k) for f in [at_most(f"k={i}", "it", "float", lost(1.0), 1.5)])
        if k == 3:
            yield same("other", "1 is 1", 1, 1)

    assert report_on("it", grows, 0, [fault(fails=("k=*",))]).dead == ["other"]
    ids = ["k=0", "k=7", "more"]
    assert report_on("it", grows, 0, [fault(fails=("k=*",))], by_default=ids).dead == ["more"]


@pytest.mark.slow
def test_a_broken_check_is_found_out(monkeypatch):
    """A comparison of a thing with itself: no fault in any register is noticed any more."""
    from verify.evidence import registers

    healthy = registers.sides
    monkeypatch.setattr(
        registers,
        "sides",
        lambda *given: [registers.Side(s.stage, s.held, s.held) for s in healthy(*given)],
    )
    monkeypatch.setattr(selftest, "_healthy", {})
    options = {"layout": "direct", "domain": "all", "d": 1, "n": 2, "k": 1, "samples": 2}
    blind = claim(faults_seen=[options])(installed()["gradient-descent"].load().check)
    assert "direct/registers" in report_on("gradient-descent", blind, 0).dead


def test_a_thousandth_more_is_a_thousandth():
    assert CHANGES["a thousandth more"](2.0) == pytest.approx(2.002, rel=1e-12)


def test_a_fault_in_a_tensor_that_only_leaves_things_undecided_is_missed():
    def unsure(run: Run) -> Iterator[Finding]:
        """Explains no wrong answer."""
        verdict = Verdict.HOLDS if prediction(run) == 3 else Verdict.UNDECIDED
        yield Finding("it", "it", "float", 1, 1, verdict)

    report = report_of(unsure)
    assert report.seen == 0
    assert report.missed


def test_copies_of_models_are_as_good_as_the_models():
    """A formula is the same one in the copy of its model."""
    star_free = installed()["star-free"].load()
    options = {"formula": "c since once a", "max_length": 4, "alphabet": "abc"}
    runs = (Run(quick=True), Planted(quick=True, fault=lambda model: model))
    found, again = ([(f.id, f.verdict) for f in star_free.findings(run, **options)] for run in runs)
    assert found == again


def test_a_finding_that_fails_as_it_is_ends_no_run():
    def observed(run: Run) -> Iterator[Finding]:
        """One that fails, and one that sees faults."""
        yield same("no", "1 is 2", 1, 2)
        yield same("answer", "its prediction", prediction(run), 3.0)

    assert report_of(observed).passed


@claim(faults_seen=[{}])
def of_a_package(run: Run) -> Iterator[Finding]:
    """Its optional package is not installed."""
    yield Finding("package", "a package", "float", "none", "one", Verdict.UNDECIDED)


def test_a_claim_without_its_package_passes():
    report = report_on("it", of_a_package, 0, [])
    assert (report.absent, report.passed, report.seen) == (True, True, 0)
