"""A package of others beside ours: found, shown, checked; and what is wrong with its ledger."""

import shutil
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest
from fresh import TEMPLATE, called, environment
from refusals import rejects

from verify.cli import main as cli
from verify.ledger import claims, plugins
from verify.ledger.theorems import ledger

ENTRY = (TEMPLATE / "mean_label" / "theorems.toml").read_text(encoding="utf-8")


def beside(monkeypatch, *words: str) -> None:
    """Claims of other packages, NAME = VALUE, beside those that are installed."""
    own = [*entry_points(group="verify.claims")]
    pairs = [word.split(" = ") for word in words]
    others = [EntryPoint(name, value, "verify.claims") for name, value in pairs]
    monkeypatch.setattr(claims, "entry_points", lambda group: [*others, *own])


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """A package `theirs` with this text as its ledger, and with a claim."""

    def write(text: str) -> Path:
        folder = tmp_path / "theirs"
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").write_text("raise ImportError('to list is not to import')")
        file = folder / "theorems.toml"
        file.write_text(text)
        return file

    point = EntryPoint("theirs", "theirs", "verify.ledgers")
    groups = {
        "verify.ledgers": [point],
        "verify.claims": [EntryPoint("mean-label", "theirs:mean_label", "verify.claims")],
    }

    def points(group: str, name: str | None = None) -> list[EntryPoint]:
        return [each for each in groups[group] if name in (None, each.name)]

    monkeypatch.setattr(plugins, "entry_points", points)
    beside(monkeypatch, "mean-label = theirs:mean_label")
    monkeypatch.syspath_prepend(tmp_path)
    ledger.cache_clear()
    plugins.warn.cache_clear()
    yield write
    ledger.cache_clear()


def test_their_statements_stand_beside_ours(theirs, capsys):
    theirs(ENTRY)
    assert cli.main(["list", "regression"]) == 0
    assert any(line.startswith("  mean-label ") for line in capsys.readouterr().out.splitlines())
    assert cli.main(["show", "mean-label"]) == 0
    said = capsys.readouterr()
    assert "theirs" in said.out.split()
    assert "width d + 2" in said.out
    assert said.err == ""


BROKEN = {
    # a replacement in the index: the line that is named, and a part of the message
    ('kind = "theorem"', 'kind = "theorem'): (3, "Illegal character"),
    ('"d + 2" }', '"d + 2"'): (16, "Unclosed inline table"),
    ("[mean-label]\n", 'x = 1\n"mean-label" = 3\n[y]\n'): (1, "x is in no entry"),
    ("[mean-label]\n", "# ours\n[newton-ladder]\n"): (2, "a statement newton-ladder already"),
    ("topic", "topics"): (1, "has a field 'topics': choose one of"),
    ('source = "this package"', ""): (1, 'mean-label has no source: write source = "…"'),
    ('"theorem"', '"lemma"'): (1, "the kind 'lemma'"),
    ('"new"', '"unknown"'): (1, "the status 'unknown'"),
    ('"instances"', '"some"'): (1, "the scope 'some'"),
    ('hypotheses = "none"', ""): (1, "no hypotheses"),
    ('"theorem"', '"replication"'): (1, "the outcome ''"),
    ('claim = "mean-label"', 'claim = "mean-label"\nfindings = "size"'): (1, "findings"),
    ('claim = "mean-label"', 'claim = "none"'): (1, "claim 'none' that is not installed"),
    ('"d + 2"', '"d +"'): (1, "a size 'd +' that is not a formula"),
    ("{ d = [1, 3] }", "3"): (1, "has over that is not a table"),
    ("[1, 3]", "3"): (1, "is over d = 3: write d = [1, 2, 5]"),
    ("[1, 3]", "[]"): (1, "is over d = []"),
    ('"mean_of_labels(d)"', "3"): (1, "has build that is not text"),
    ('claim = "mean-label"', 'claim = "ols"'): (
        1,
        "a claim 'ols' of this library: name one of",
    ),
    ("[mean-label]\n", '["../mean"]\n'): (1, "'../mean' is not a name: use"),
    ("[mean-label]\n", "[index]\n"): (1, "'index' is not a name"),
    ("[mean-label]\n", "[topic-a]\n"): (1, "'topic-a' is not a name"),
    ('"regression"', '"my topic"'): (1, "'my topic' is not a name"),
    ('"mean_label/theory.py:mean_of"', "3"): (1, "has theory that is not text"),
    ("sizes = {", "sizes = 3\noptions = {"): (1, "has sizes that is not a table"),
    ("topic", "options = 3\ntopic"): (1, "has options that is not a table"),
    ("topic", "found = 3\ntopic"): (1, "has found that is not a table"),
}


@pytest.mark.parametrize("change", BROKEN, ids=lambda change: repr(change[1]))
def test_a_ledger_that_cannot_be_read_is_left_out_with_one_line(change, theirs, capsys):
    line, what = BROKEN[change]
    file = theirs(ENTRY.replace(*change))
    assert cli.main(["list"]) == 0
    said, warned = capsys.readouterr()
    assert warned.startswith(f"warning: {file}, line {line}: ")
    assert what in warned
    assert warned.count("\n") == 1
    assert "newton-ladder" in said
    assert "One head whose scores are all 0" not in said


def test_a_line_is_named_also_at_the_end_and_of_odd_names(theirs, capsys):
    file = theirs('x = """\n\n\n')
    with rejects("it", "line 3"):
        plugins.check(Path("it"), file.read_text(), lambda name, entry: "")
    text = '["axb"]\n["a.b"]\n["a("]\n'
    for line, odd in ((2, "a.b"), (3, "a(")):
        with rejects("it", f"line {line}", "wrong"):
            plugins.check(Path("it"), text, lambda name, entry: "wrong" * (name == odd))  # noqa: B023
    file.write_bytes(b"\xff")
    assert cli.main(["list", "stock"]) == 0
    warned = capsys.readouterr().err
    assert warned.startswith(f"warning: {file}: 'utf-8' codec can't decode")


def test_ledgers_are_read_by_name_and_told_of_by_the_first_process(theirs, monkeypatch, capsys):
    theirs("")
    points = [EntryPoint(name, f"no_{name}", "verify.ledgers") for name in ("b", "a")]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)
    cli.main(["list", "stock"])
    warned = capsys.readouterr().err.splitlines()
    assert [line.split()[4] for line in warned] == [
        "a", "b"
    ]  # fmt: skip
    for cached in (ledger, plugins.warn):
        cached.cache_clear()
    monkeypatch.setattr(plugins, "parent_process", lambda: "another")
    cli.main(["list", "stock"])
    assert capsys.readouterr().err == ""


def test_a_module_whose_name_begins_as_ours_is_not_ours():
    ours, other = (EntryPoint("it", f"{of}.claims:it", "") for of in ("verify", "verifying"))
    assert (plugins.is_ours(ours), plugins.is_ours(other)) == (True, False)


def test_of_two_claims_of_one_name_ours_is_meant_and_the_other_one_named(monkeypatch, capsys):
    ours = claims.installed()["ols"]
    beside(
        monkeypatch,
        "ols = a_package:ols",
        "mean-label = b:mean",
        "mean-label = a:mean",
    )
    for _ in range(2):
        found = claims.installed()
        assert (found["ols"].value, found["mean-label"].value) == (
            ours.value,
            "a:mean",
        )
    warned = capsys.readouterr().err.splitlines()
    end = "has this name; rename it"
    assert warned == [
        f"warning: the claim mean-label of b (b) is left out: a claim of a (a) {end}",
        "warning: the claim ols of a_package (a_package) is left out: "
        f"a claim of {plugins.package(ours)} {end}",
    ]


def test_a_package_without_a_ledger_is_named(theirs, tmp_path, monkeypatch, capsys):
    theirs("").unlink()
    cli.main(["list", "stock"])
    assert "theorems.toml: [Errno 2]" in capsys.readouterr().err
    ledger.cache_clear()
    shutil.rmtree(Path(theirs("").parent))
    cli.main(["list", "stock"])
    assert "the statement index theirs" in capsys.readouterr().err
    theirs("").with_name("__init__.py").unlink()  # a folder is found, and has no file
    for cached in (ledger, plugins.warn):
        cached.cache_clear()
    cli.main(["list", "stock"])
    assert "the statement index theirs" in capsys.readouterr().err
    within = EntryPoint("theirs", "theirs.within", "verify.ledgers")  # imports what is broken
    monkeypatch.setattr(plugins, "entry_points", lambda group: [within])
    (tmp_path / "theirs" / "__init__.py").write_text("1 / 0")
    ledger.cache_clear()
    assert cli.main(["list", "stock"]) == 0
    assert "the statement index theirs" in capsys.readouterr().err


@pytest.mark.slow
def test_the_template_is_installed_beside_ours_in_a_fresh_environment(tmp_path):
    python = environment(tmp_path)
    place = called(python, "-c", "import verify; print(verify.__file__)", folder=tmp_path)
    assert Path(place.strip()).is_relative_to(tmp_path)
    verify = (python, "-m", "verify")
    assert "  mean-label " in called(*verify, "list", "regression", folder=tmp_path)
    shown = called(*verify, "show", "mean-label", folder=tmp_path).splitlines()
    assert ["package", "mean_label"] in [line.split() for line in shown]
    assert "mean_of_labels(d=2)" in called(
        *verify, "build", "mean-label", "--at", "d=2", folder=tmp_path
    )
    assert "holds: 3 findings" in called(*verify, "mean-label", folder=tmp_path)
    assert "0 MISSED; 3 of 3" in called(*verify, "selftest", "mean-label", folder=tmp_path)
    few = (
        "from verify.cli import main as cli; points = cli.installed(); "
        "cli.installed = lambda: {name: points[name] for name in ('mean-label', 'ols')}; "
        "cli.main(['all', '--quick'])"
    )
    said = called(python, "-c", few, folder=tmp_path)
    assert "all: holds, 2 claims" in said
    assert "mean-label holds" in said
    called(python, "-m", "pytest", "-q", TEMPLATE / "tests", "-p", "no:cacheprovider",
           "-c", TEMPLATE / "pyproject.toml", folder=tmp_path)  # fmt: skip
