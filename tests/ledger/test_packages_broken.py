"""Claims of another package that cannot be imported, stop, or have a name of ours: ours go on."""

import json
from importlib.metadata import EntryPoint, entry_points

import pytest

from verify.cli import main as cli
from verify.ledger import claims, plugins
from verify.ledger.theorems import ledger
from verify.selftest import commands as selftesting
from verify.sweep.workers import Task, one_run

STOPS = '''from verify.claim import claim

@claim(faults_seen=[{}])
def it(run):
    """Divides."""
    yield 1 / 0
'''
BROKEN = {
    # a module of theirs: the line that is named, if any, and a part of the message
    "import no_such_module\n": (1, "ModuleNotFoundError: No module named 'no_such_module'"),
    "x = 1\ndef it(:\n": (2, "SyntaxError: invalid syntax\n"),
    "from theory.kinds import Count, read\nread(Count, 'k', 0)\n": (2, "InputError: k is 0"),
    "def it():\n    1 / 0\n\n\nit()\n": (2, "ZeroDivisionError: division by zero"),
    "exec('1 / 0')\n": (1, "ZeroDivisionError: division by zero"),
    "\n\nraise RuntimeError('out of\\norder')\n": (3, "RuntimeError: out of order"),
    "import sys\nsys.exit()\n": (2, "SystemExit"),
    "it = 3\n": (None, "theirs.claims:it is not a claim: write @claim() above it"),
    "": (None, "AttributeError: module 'theirs.claims' has no attribute 'it'"),
}


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """A package of others in the place of one that is installed, with these claims."""

    def install(module: str, *names: str, ledger_of: str = "") -> str:
        folder, told = tmp_path / "theirs", tmp_path / "theirs-1.dist-info"
        folder.mkdir()
        told.mkdir()
        (folder / "__init__.py").touch()
        (folder / "claims.py").write_text(module)
        (folder / "theorems.toml").write_text(ledger_of)
        (told / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
        points = [f"{name} = theirs.claims:it" for name in names]
        groups = ["[verify.claims]", *points, "[verify.ledgers]", "theirs = theirs"]
        (told / "entry_points.txt").write_text("\n".join(groups))
        return str(folder / "claims.py")

    monkeypatch.syspath_prepend(tmp_path)
    for name in ("theirs", "theirs.claims"):
        monkeypatch.delitem(cli.sys.modules, name, raising=False)
    for cached in (ledger, plugins.warn):
        cached.cache_clear()
    yield install
    for cached in (ledger, plugins.warn):
        cached.cache_clear()
    for name in ("theirs", "theirs.claims"):
        cli.sys.modules.pop(name, None)


@pytest.fixture
def few(monkeypatch):
    """Theirs and two of ours alone."""

    def only(*names: str) -> None:
        points = claims.installed()
        for module in (cli, selftesting):
            monkeypatch.setattr(module, "installed", lambda: {name: points[name] for name in names})

    return only


@pytest.mark.parametrize("module", BROKEN, ids=lambda text: repr(text[:12]))
def test_what_cannot_be_imported_is_one_line_with_its_place(module, theirs, capsys):
    line, what = BROKEN[module]
    file = theirs(module, "foreign")
    place = "" if line is None else f"{file}, line {line}: "
    for words in (["foreign"], ["foreign", "--k", "3"], ["sweep", "foreign", "--out", "no"],
                  ["selftest", "foreign"]):  # fmt: skip
        assert cli.main(words) == 2
        said = capsys.readouterr()
        begin = f"error: the claim foreign of theirs (theirs.claims) cannot be imported: {place}"
        assert said.err.startswith(begin), words
        assert what in said.err
        assert said.err.count("\n") == 1
        assert said.out == ""


def test_listing_does_not_import_it(theirs, capsys):
    theirs("1 / 0", "foreign")
    assert cli.main(["list"]) == 0
    said = capsys.readouterr()
    assert "foreign" in said.out
    assert said.err == ""
    assert "theirs.claims" not in cli.sys.modules


@pytest.mark.parametrize(
    ("module", "line", "what"),
    [("import no_such_module", 1, "cannot be imported"), (STOPS, 6, "was stopped")],
)
def test_ours_go_on_beside_it_and_all_is_undecided(
    module, line, what, theirs, few, capsys, tmp_path
):
    file = theirs(module, "foreign")
    few("foreign", "fourier-matrix")
    out = tmp_path / "all.json"
    assert cli.main(["all", "--quick", "-q", "--json", str(out)]) == 3
    said = capsys.readouterr().out
    assert "fourier-matrix holds" in said
    expected = f"differs: foreign, the claim foreign of theirs (theirs.claims) {what}: {file}, "
    assert f"{expected}line {line}: " in said
    runs = json.loads(out.read_text())["claims"]
    verdicts = {run["claim"]: run["verdict"] for run in runs}
    assert verdicts == {"foreign": "undecided", "fourier-matrix": "holds"}


@pytest.mark.parametrize(
    ("last", "what"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("__import__('sys').exit(0)", "SystemExit: 0"),
        ("yield 5", "yields 5"),
        ("from theory.kinds import Count, read; read(Count, 'k', 0)", "k is 0"),
    ],
)
def test_a_claim_that_stops_after_a_finding_is_one_line(last, what, theirs, capsys, tmp_path):
    finding = "from verify.finding import same; yield same('a', 'a', 1, 1)"
    file = theirs(STOPS.replace("yield 1 / 0", f"{finding}\n    {last}"), "foreign")
    assert cli.main(["foreign", "--json", str(tmp_path / "run.json")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert what in said
    assert (f"was stopped: {file}, line 7: " in said) == ("Error: " in what or "Exit" in what)
    findings = json.loads((tmp_path / "run.json").read_text())["findings"]
    assert [finding["verdict"] for finding in findings] == ["holds", "undecided"]
    record = one_run(Task(0, "foreign", {}, 0))
    assert what in record["error"]
    assert record["error"].startswith("refused:") == ("k is 0" in what or "yields" in what)


def test_the_self_test_does_not_pass_it(theirs, few, capsys):
    file = theirs("import no_such_module", "foreign")
    few("foreign")
    wrong = f"cannot be imported: {file}, line 1: ModuleNotFoundError"
    assert cli.main(["selftest"]) == 1
    said = capsys.readouterr().out
    assert "MISSED  foreign" in said
    assert wrong in said
    assert cli.main(["selftest", "--random", "1"]) == 2
    assert wrong in capsys.readouterr().err


ENTRY = """[of-theirs]
topic = "regression"
kind = "theorem"
status = "new"
hypotheses = "none"
statement = "A statement."
source = "nowhere"
scope = "sample"
claim = "CLAIM"
"""


def test_a_claim_with_a_name_of_ours_is_left_out_and_so_is_its_statement(theirs, capsys):
    theirs(STOPS, "newton", "list", "fine", ledger_of=ENTRY.replace("CLAIM", "newton"))
    assert cli.main(["list", "regression"]) == 0
    said, warned = capsys.readouterr()
    assert "of-theirs" not in said
    ledgers, *left_out = sorted(warned.splitlines(), key=lambda line: "theorems.toml" not in line)
    assert "of-theirs has a claim 'newton' that is left out: another has its name" in ledgers
    assert left_out == [
        "warning: the claim list of theirs (theirs.claims) is left out: a command has this name; "
        "rename it",
        "warning: the claim newton of theirs (theirs.claims) is left out: a claim of weightwright "
        "(verify.regression.newton) has this name; rename it",
    ]
    assert claims.installed()["newton"].module == "verify.regression.newton"
    assert "list" not in claims.installed()
    assert "list" in {point.name for point in entry_points(group="verify.claims")}


def test_a_ledger_with_a_claim_that_has_no_entry_point_is_left_out(theirs, capsys):
    theirs(STOPS, "fine", ledger_of=ENTRY.replace("CLAIM", "not-there"))
    assert cli.main(["list", "regression"]) == 0
    assert "a claim 'not-there' that is not installed" in capsys.readouterr().err


def test_of_two_packages_with_one_name_the_first_stays(monkeypatch, capsys):
    points = [claims.EntryPoint("it", f"{name}:it", "verify.claims") for name in ("b", "a")]
    monkeypatch.setattr(claims, "entry_points", lambda group: points)
    plugins.warn.cache_clear()
    assert [point.value for point in claims.installed().values()] == ["a:it"]
    assert "the claim it of b (b) is left out: a claim of a (a)" in capsys.readouterr().err


def test_a_syntax_error_without_a_line_is_in_the_first():
    error = SyntaxError("no text", (__file__, None, None, None))
    point = EntryPoint("it", "theirs.claims:it", "verify.claims")
    assert f": {__file__}, line 1: SyntaxError" in str(plugins.broken(point, "breaks", error))
