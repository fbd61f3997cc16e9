"""The proofs that Rocq checks: what is rejected, and what is found."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from theory.proofs import check
from theory.proofs.check import FOLDER, Rejected, checked, missing, sources, theorems, with_imports
from verify.claim import Run
from verify.finding import Verdict
from verify.ledger import machine_checked
from verify.ledger.claims import installed
from verify.ledger.theorems import ledger

rocq = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=f"Rocq is not installed: {missing()}"),
]
TRUE = "Theorem easy : 1 + 1 = 2.\nProof. reflexivity. Qed.\n"
PRINTED = f"{TRUE}Print Assumptions easy.\n"
WRONG = PRINTED.replace("reflexivity", "exact wrong")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"Axiom wrong : False.\n{PRINTED}", "Axiom"),
        (f"Parameter wrong : False.\n{PRINTED}", "Parameter"),
        (f"Parameters wrong other : False.\n{PRINTED}", "Parameter"),
        (f"Axioms wrong other : False.\n{PRINTED}", "Axiom"),
        (f"Conjectures wrong other : False.\n{PRINTED}", "Conjecture"),
        (f"{PRINTED}Lemma wrong : False. Proof. Admitted.", "Admitted"),
        (f"{PRINTED}Lemma wrong : False. Proof. admit. Abort.", "admit"),
        (f"{PRINTED}Admit Obligations.", "Admit"),
        (f"Unset Guard Checking.\n{PRINTED}", "Unset"),
        (f"#[bypass_check(guard)] Definition one := 1.\n{PRINTED}", "bypass_check"),
        (f"{PRINTED}Lemma wrong : False. Proof. give_up. Abort.", "give_up"),
        (f"Local Axiom wrong : False.\n{PRINTED}", "Axiom"),
        (f"Conjecture wrong : False.\n{PRINTED}", "Conjecture"),
        (f"Declare Instance wrong : C.\n{PRINTED}", "Declare"),
        (f'Declare ML Module "plugin".\n{PRINTED}', "Declare"),
        (f"Primitive int := #int63_type.\n{PRINTED}", "Primitive"),
        (f"Module Type T. Variable wrong : False. End T.\n{PRINTED}", "Module"),
        (f'Load "other".\n{PRINTED}', "Load"),
        (f'Add LoadPath "folder" as weightwright.\n{PRINTED}', "Add LoadPath"),
        (f'{TRUE}Redirect "file" Print Assumptions easy.', "Redirect"),
        (f"Fail Print Assumptions easy.\n{TRUE}", "Fail"),
        (f"{PRINTED}Goal False. Proof. exact wrong. Save other.", "Goal"),
        (f'{PRINTED}Extraction "file" plus.', "Extraction"),
        (f"{PRINTED}Drop.", "Drop"),
        (f"{PRINTED}Fact other : 1 + 1 = 2. Proof. reflexivity. Qed.", "Fact"),
        (f"{PRINTED}Proposition other : 1 + 1 = 2. Proof. reflexivity. Qed.", "Proposition"),
        (f"{PRINTED}Example other : 1 + 1 = 2. Proof. reflexivity. Qed.", "Example"),
        ('Definition a := "(*". Axiom wrong : False. Definition b := "*)".', "Axiom"),
        (f"{PRINTED}{TRUE}", "states easy twice"),
        (f"{TRUE}Print Assumptions easy.there.", "add 'Print Assumptions easy.'"),
        (f"From weightwright Require Import other.\n{PRINTED}", "there is no file other"),
        (f"Require Import weightwright.other.\n{PRINTED}", "by 'From"),
        (f"From Other Require Import file.\n{PRINTED}", "by 'From"),
        (TRUE, "add 'Print Assumptions easy.'"),
        (f"{TRUE}(* Print Assumptions easy. *)", "add 'Print Assumptions easy.'"),
    ],
)
def test_what_a_proof_may_not_contain_is_rejected_before_anything_is_compiled(
    text, words, tmp_path
):
    with pytest.raises(Rejected, match=words.replace("'", ".").replace(".", "[.']")) as rejection:
        checked({"one": text}, tmp_path)
    assert "one.v" in str(rejection.value)
    assert not any(tmp_path.iterdir())


def test_the_folder_of_compiled_files_is_below_the_current_one_by_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Rejected, match="Axiom"):
        checked({"one": f"Axiom wrong : False.\n{PRINTED}"})
    assert (tmp_path / "build" / "proofs").is_dir()


def test_comments_and_strings_are_no_commands():
    text = '(* (* Axiom *) Admitted, *) Definition admitted := "Axiom". Unset Strict Implicit.'
    assert check.escapes(text) == []
    assert check.code(text) == ' Definition admitted := "". Unset Strict Implicit.'


def test_a_comment_that_ends_without_a_beginning_hides_nothing():
    text = "(* *) *) Axiom one : False. (* Axiom *) Theorem two : True."
    assert check.escapes(text) == ["Axiom"]
    assert theorems(text) == ["two"]


def test_the_files_of_the_folder_contain_no_escape_and_print_every_theorem():
    for name, text in sources().items():
        assert check.escapes(text) == [], name
        assert {*theorems(text)} <= {*check.printed(text)}, name


def test_a_file_is_taken_with_all_that_it_imports():
    texts = {
        "a": "From weightwright Require Import b c.",
        "b": "From weightwright Require Import d.",
        "c": "From mathcomp Require Import all_ssreflect.",
        "d": "(* From weightwright Require Import e. *)",
        "e": "",
    }
    assert [*with_imports(["a"], texts)] == ["a", "b", "c", "d"]
    assert [*with_imports(["e"], texts)] == ["e"]


def test_theorems_are_asked_for_their_axioms_from_outside_their_files(monkeypatch, tmp_path):
    found = {"a": ["one", "two"], "b": ["three"]}
    for lines, code, wrong in (
        ([check.CLOSED] * 3, 0, None),
        ([check.CLOSED] * 2, 0, "axioms"),
        ([check.CLOSED, "Axioms:", check.CLOSED], 0, "axioms"),
        ([check.CLOSED] * 3, 1, "compile"),
    ):
        run = subprocess.CompletedProcess([], code, "\n".join(lines), "")
        monkeypatch.setattr(check, "_coqc", lambda *_, run=run: run)
        if wrong:
            with pytest.raises(Rejected, match=wrong):
                check._ask_again(found, tmp_path)
        else:
            check._ask_again(found, tmp_path)
    asked = (tmp_path / f"{check.REQUESTS}.v").read_text()
    assert asked.count("Print Assumptions") == 3
    assert "Print Assumptions weightwright.a.two.\n" in asked


@pytest.mark.parametrize(
    ("printed", "wrong"),
    [
        ([], "prints 0 of 1"),
        ([check.CLOSED] * 2, "prints 2 of 1"),
        (["Axioms:"], "easy depends on axioms"),
        (["Section Variables:"], "easy depends on axioms"),
    ],
)
def test_what_is_printed_has_to_be_one_line_without_axioms(printed, wrong, monkeypatch, tmp_path):
    outputs = [("one", "\n".join(printed))]
    monkeypatch.setattr(check, "_outputs", lambda *_: iter(outputs))
    monkeypatch.setattr(check, "_ask_again", lambda *_: None)
    with pytest.raises(Rejected, match=wrong):
        checked({"one": PRINTED}, tmp_path)


def test_a_file_is_compiled_unless_its_key_and_its_products_are_kept(monkeypatch, tmp_path):
    runs = []

    def compile_file(name: str, build: Path) -> subprocess.CompletedProcess[str]:
        runs.append(name)
        (build / f"{name}.vo").touch()
        return subprocess.CompletedProcess([], 0, f"run {len(runs)}", "")

    monkeypatch.setattr(check, "_coqc", compile_file)
    for key, lost, run in (
        ("a", "", 1),
        ("a", "", 1),
        ("b", "", 2),
        ("b", "one.vo", 3),
        ("b", "one.out", 4),
        ("b", "one.key", 5),
        ("b", "", 5),
    ):
        if lost:
            (tmp_path / lost).unlink()
        assert check._compiled("one", PRINTED, key, tmp_path) == f"run {run}"


def test_files_must_be_imported_in_one_way():
    imports = "From weightwright Require Import b. From Coq Require Export c.\n(* Require d. *)"
    assert not check.imports_otherwise(imports)
    assert check.imports_otherwise(f"{imports} Require c.")


def test_without_rocq_the_claim_is_undecided(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert missing() == f"coqc not found: on Debian, install {check.PACKAGES}"
    (finding,) = installed()["machine-checked"].load().findings(Run())
    assert (finding.id, finding.verdict) == ("package", Verdict.UNDECIDED)


def test_make_proofs_says_in_one_line_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert check.main([]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "libcoq-mathcomp-algebra" in said.err


@pytest.mark.parametrize("arguments", [["--help"], ["-q", "build"], ["build", "other"]])
def test_wrong_arguments_are_rejected_before_anything_is_written(
    arguments, monkeypatch, capsys, tmp_path
):
    monkeypatch.chdir(tmp_path)
    assert check.main(arguments) == 2
    assert capsys.readouterr().err.startswith("usage: ")
    assert not any(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_to_is_named_in_one_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(check, "missing", str)
    (tmp_path / "file").touch()
    assert check.main([str(tmp_path / "file")]) == 3
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(tmp_path / "file") in said


def test_a_file_that_is_rejected_is_named_in_one_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(check, "missing", str)
    monkeypatch.setattr(check, "sources", lambda: {"one": TRUE})
    assert check.main([str(tmp_path / "new" / "folder")]) == 1
    assert capsys.readouterr().err == "one.v states easy: add 'Print Assumptions easy.'\n"


def test_a_program_coqc_that_does_not_run_is_no_rocq(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: name)
    failed = subprocess.CompletedProcess(["coqc"], 1, stdout="", stderr="broken")
    monkeypatch.setattr(subprocess, "run", lambda *command, **options: failed)
    assert missing() == f"coqc does not run: on Debian, install {check.PACKAGES}"


def test_each_part_of_mathcomp_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: name)
    where = subprocess.CompletedProcess(["coqc"], 0, stdout=f"{tmp_path}\n", stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *command, **options: where)
    (tmp_path / "user-contrib" / "mathcomp" / "ssreflect").mkdir(parents=True)
    assert missing().startswith("MathComp's algebra not found")
    (tmp_path / "user-contrib" / "mathcomp" / "algebra").mkdir()
    assert missing() == ""


@pytest.mark.skipif(os.name != "posix", reason="the program coqc is a POSIX shell script")
def test_what_a_program_coqc_prints_is_read_as_text(monkeypatch, tmp_path):
    """For a file of one theorem, and for a file that it does not compile."""
    (tmp_path / "user-contrib" / "mathcomp" / "ssreflect").mkdir(parents=True)
    (tmp_path / "user-contrib" / "mathcomp" / "algebra").mkdir()
    program = tmp_path / "coqc"
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        f"-where) echo '{tmp_path}' ;;\n"
        "--version) echo 1 ;;\n"
        "*wrong.v) echo shown; echo broken >&2; exit 1 ;;\n"
        f"*) echo '{check.CLOSED}' ;;\n"
        "esac\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert missing() == ""
    assert checked({"one": PRINTED}, tmp_path / "build") == {"one": ["easy"]}
    assert (tmp_path / "build" / "one.out").read_text() == f"{check.CLOSED}\n"
    with pytest.raises(Rejected, match=r"wrong\.v does not compile: broken"):
        checked({"wrong": PRINTED}, tmp_path / "build")


def test_the_claim_compares_what_is_derived_with_what_is_stated(monkeypatch):
    """Without Rocq: one theorem of a file, and so one of the index, is not derived."""
    derived = {name: theorems(text) for name, text in sources().items()}
    derived["reading"] = derived["reading"][1:]
    monkeypatch.setattr(machine_checked, "missing", str)
    monkeypatch.setattr(machine_checked, "checked", lambda texts, build: derived)
    found = {each.id: each for each in installed()["machine-checked"].load().findings(Run())}
    assert [id for id, each in found.items() if each.verdict is Verdict.FAILS] == [
        "reading",
        "statements",
    ]
    named = {place for entry in ledger().values() for place in entry.machine_checked}
    assert (found["statements"].measured, found["statements"].bound) == (len(named) - 1, len(named))


def test_a_claim_whose_files_are_rejected_fails(monkeypatch):
    def reject(texts, build):
        raise Rejected("reading.v does not compile")

    monkeypatch.setattr(machine_checked, "missing", str)
    monkeypatch.setattr(machine_checked, "checked", reject)
    for quick in (True, False):
        found = [*installed()["machine-checked"].load().findings(Run(quick=quick))]
        assert {each.verdict for each in found} == {Verdict.FAILS}
        assert all("reading.v does not compile" in each.detail for each in found)
        assert all(each.measured == 0 for each in found)


def test_a_quick_run_compiles_the_theorem_of_formulas_and_what_it_imports(monkeypatch):
    compiled = []

    def derive(texts, build):
        compiled.append({*texts})
        return {name: theorems(text) for name, text in texts.items()}

    monkeypatch.setattr(machine_checked, "missing", str)
    monkeypatch.setattr(machine_checked, "checked", derive)
    for quick in (True, False):
        found = [*installed()["machine-checked"].load().findings(Run(quick=quick))]
        assert {each.verdict for each in found} == {Verdict.HOLDS}
        assert {each.evidence for each in found} == {"proved"}
    assert compiled == [{"reading", "linear_heads"}, {*sources()}]


def test_the_page_of_the_proofs_names_the_theorems_of_the_statement_index():
    """And each file that it names states the theorems beside it."""
    table = re.findall(r"^\| (`.*`) \| (\[.*?)\|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert len(table) > 10
    rows: dict[str, set[str]] = {}
    for names, files in table:
        named, files = {*re.findall(r"`(\w+)`", names)}, re.findall(r"\[(\w+)\.v\]", files)
        assert named <= {each for file in files for each in theorems(sources()[file])}, files
        rows |= {file: named | rows.get(file, set()) for file in files}
    for place in {each for entry in ledger().values() for each in entry.machine_checked}:
        path, _, name = place.partition(":")
        assert name in rows[Path(path).stem], place


class TestWithRocq:
    pytestmark = rocq

    def test_what_is_proved_is_found(self, tmp_path):
        assert checked({"one": PRINTED}, tmp_path) == {"one": ["easy"]}

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (PRINTED.replace("= 2", "= 3"), "one.v does not compile"),
            (
                f"Variable wrong : 1 + 1 = 2.\n{PRINTED}".replace("reflexivity", "exact wrong"),
                "easy",
            ),
            (f"{PRINTED}Print Assumptions easy", "does not compile"),
            (f'{PRINTED}Lemma more : True. idtac "{check.CLOSED}". exact I. Qed.', "prints 2 of 1"),
            (f"Context (wrong : 1 + 1 = 2).\n{WRONG}", "easy depends on axioms"),
            (f"Hypothesis wrong : 1 + 1 = 2.\n{WRONG}", "easy depends on axioms"),
        ],
    )
    def test_what_is_not_proved_is_rejected(self, text, words, tmp_path):
        with pytest.raises(Rejected, match=words):
            checked({"one": text}, tmp_path)

    def test_an_axiom_of_an_imported_file_is_seen(self, tmp_path):
        below = "Variable wrong : False."
        above = "From weightwright Require Import below.\n" + PRINTED.replace(
            "reflexivity", "destruct below.wrong"
        )
        with pytest.raises(Rejected, match=r"above\.v: easy depends on axioms"):
            checked({"below": below, "above": above}, tmp_path)

    def test_a_file_cannot_answer_for_itself(self, tmp_path):
        """The answer in the file is about another `easy`, which the file imports."""
        above = "From weightwright Require Import below.\nPrint Assumptions easy.\n"
        above += "Variable wrong : 1 + 1 = 2.\n" + WRONG.partition("Print")[0]
        with pytest.raises(Rejected, match="not all theorems are free of axioms"):
            checked({"below": PRINTED, "above": above}, tmp_path)

    def test_a_file_is_compiled_again_if_a_file_that_it_imports_changes(self, tmp_path):
        above = "From weightwright Require Import below.\n"
        above += PRINTED.replace("easy", "hard").replace("reflexivity", "exact easy")
        checked({"below": PRINTED, "above": above}, tmp_path)
        changed = PRINTED.replace("= 2", "= 1 + 1")
        assert checked({"below": changed, "above": above}, tmp_path)["above"] == ["hard"]
        with pytest.raises(Rejected, match=r"above\.v does not compile"):
            checked({"below": PRINTED.replace("1 + 1 = 2", "3 = 3"), "above": above}, tmp_path)

    def test_a_file_whose_compiled_file_was_removed_is_compiled_again(self, tmp_path):
        checked({"one": PRINTED}, tmp_path)
        (tmp_path / "one.vo").unlink()
        assert checked({"one": PRINTED}, tmp_path) == {"one": ["easy"]}

    def test_a_file_whose_compilation_was_interrupted_is_compiled_again(
        self, tmp_path, monkeypatch
    ):
        checked({"one": PRINTED}, tmp_path)
        with monkeypatch.context() as patched:
            patched.setattr(check, "_coqc", lambda name, build: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                checked({"one": PRINTED + "\n"}, tmp_path)
        (tmp_path / "one.out").write_text("")
        assert checked({"one": PRINTED}, tmp_path) == {"one": ["easy"]}

    def test_the_program_lists_what_is_checked(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(check, "sources", lambda: {"one": PRINTED})
        assert check.main([str(tmp_path)]) == 0
        assert "has checked 1 theorems in 1 files" in capsys.readouterr().out

    def test_compiled_files_of_another_rocq_are_not_used(self, tmp_path, monkeypatch):
        checked({"one": PRINTED}, tmp_path)
        monkeypatch.setattr(check, "OPTIONS", (*check.OPTIONS, "-w", "none"))
        (tmp_path / "one.out").write_text("")
        assert checked({"one": PRINTED}, tmp_path) == {"one": ["easy"]}

    def test_a_file_is_compiled_again_only_if_it_changes(self, tmp_path):
        checked({"one": PRINTED}, tmp_path)
        (tmp_path / "one.out").write_text("")
        with pytest.raises(Rejected, match="prints 0 of 1"):
            checked({"one": PRINTED}, tmp_path)
        assert checked({"one": PRINTED + "\n"}, tmp_path) == {"one": ["easy"]}
