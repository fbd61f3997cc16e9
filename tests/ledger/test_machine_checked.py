"""The proofs that Rocq checks: what is rejected, what is found, and statements that are wrong."""

import shutil
import subprocess
from pathlib import Path

import pytest

from theory.proofs import check
from theory.proofs.check import Rejected, checked, missing, sources, theorems, with_imports
from verify.claim import Run, installed
from verify.finding import Verdict
from verify.ledger import machine_checked
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


def test_comments_and_strings_are_no_commands():
    text = '(* (* Axiom *) Admitted, *) Definition admitted := "Axiom". Unset Strict Implicit.'
    assert check.escapes(text) == []
    assert check.code(text) == ' Definition admitted := "". Unset Strict Implicit.'


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
    assert check.main([str(tmp_path)]) == 1
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


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A folder in which files that several tests use are compiled once."""
    return tmp_path_factory.mktemp("proofs")


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

    @pytest.mark.parametrize(
        ("name", "right", "wrong"),
        [
            ("reading", "'X * kernel h f * moved", "kernel h f * moved"),
            ("reading", "(a f s)%:P + 'X * g f s", "(a f s)%:P + g f s"),
            ("newton_direct", "if s is gram then k.+2 else k.+1", "if s is gram then k.+1 else k"),
            ("newton_direct", "half ^+ j *: (input *m", "half ^+ j.+1 *: (input *m"),
            ("newton_direct", "[:: (2%:R ^+ k, u, x)]", "[:: (2%:R ^+ k.+1, u, x)]"),
            ("newton_direct", "(- (2%:R ^+ j * half), u, u)", "(- 2%:R ^+ j, u, u)"),
            ("gradient_descent", "layers (gradient_descent k)) = k.", "layers _) = k.-1."),
            ("gradient_descent", "(- eta, e, e)", "(- (eta + eta), e, e)"),
            ("ladder_terms", "(c + c, u a, u o)", "(c, u a, u o)"),
            ("ladder_terms", "- (c *: ('X * p F (e a) ^+ 3))", "- (c *: ('X * p F (e a) ^+ 2))"),
            ("ladder_gram", "Image => 3 | Pair => 5", "Image => 1 | Pair => 5"),
            ("ladder_gram", "Image => 3 | Pair => 5", "Image => 3 | Pair => 3"),
            ("ladder_gram", "Image, 2 | Pair, 2 => Pair", "Image, 2 => Image | Pair, 2 => Pair"),
            (
                "ladder_gram",
                "(gram_ladder N)) = up_log 3 (4 * N).+1",
                "(gram_ladder N)) = up_log 3 N",
            ),
            ("ladder_gram", "gram_powers (up_log 3 (4 * N).+1)", "gram_powers (up_log 3 (4 * N))"),
            ("ladder_images", "(- alpha, f a, f low)", "(alpha, f a, f low)"),
            ("ladder", "then (3 * reach K).+1", "then (3 * reach K).+2"),
            ("ladder", "(power_ladder N)) = up_log 3 (2 * N).+1", "(power_ladder N)) = up_log 3 N"),
            ("ladder", "powers (up_log 3 (2 * N).+1)", "powers (up_log 3 (2 * N).+1).-1"),
            ("hyperpower", "M0 = inverse (p ^ k).", "M0 = inverse (p ^ k.-1)."),
            ("attention_layers", "degree_le (3 * m) (attend", "degree_le (2 * m) (attend"),
            ("attention_layers", "size p = (3 ^ L).+1.", "size p = (3 ^ L)."),
            ("prediction_degree", "(step_degree from * N + 1).+1.", "(step_degree from * N).+1."),
            ("piecewise", "piecewise (D + D') (fun", "piecewise (D + D').-1 (fun"),
            ("piecewise_layers", "pieces (3 ^ size ls * m)", "pieces ((3 ^ size ls).-1 * m)"),
            ("lower_bound", "3 ^ size (layers M))%N", "3 ^ size (layers M) - 1)%N"),
            ("polynomial_degree", "(2 * k + 1 <= 3 ^ size", "(2 * k + 2 <= 3 ^ size"),
            ("chebyshev", "8%:R * x * T x p.+1", "6%:R * x * T x p.+1"),
            ("chebyshev_ladder", "(up_log 3 (2 * k).+1) (k", "(up_log 3 (2 * k).+1).-1 (k"),
            ("induction_heads", "match_score 1 i", "match_score 2%:R i"),
            ("induction_heads", "(n + minn r 2) %/ minn r 2", "n %/ minn r 2"),
            ("pointer_doubling", "iota 0 last_layer.+1", "iota 0 last_layer"),
            ("compose_maps", "relu (4%:R * H%:R", "relu (3%:R * H%:R"),
            ("compose_maps", "relu (2%:R * H%:R", "relu (H%:R"),
            ("semiautomata", "iota 0 (up_log 2 T)]", "iota 0 (up_log 2 T).-1]"),
            ("communication", "#|A| <= 2 ^ (h * m.+1", "#|A| <= 2 ^ (h * m"),
            ("walks", "walks A w i j <= a ^+ steps w", "walks A w i j <= a ^+ (steps w).-1"),
            ("two_cliques", "(k <= 3 ^ L)%N -> (A ^+ k)", "(k < 3 ^ L)%N -> (A ^+ k)"),
        ],
    )
    def test_a_statement_that_is_changed_in_one_number_is_rejected(self, name, right, wrong, kept):
        texts = with_imports([name], sources())
        assert right in texts[name]
        texts[name] = texts[name].replace(right, wrong, 1)
        with pytest.raises(Rejected, match=f"{name}.v does not compile"):
            checked(texts, kept)
