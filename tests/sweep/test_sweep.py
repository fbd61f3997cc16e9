"""Sweeps without Dask: what is planned, a line for each run, going on, summaries, bad input."""

import json
import shlex
import sys
from collections.abc import Iterator
from itertools import product
from math import inf
from pathlib import Path
from typing import Annotated, Literal

import pytest
from matplotlib.figure import Figure
from points import Point

from theory.checks import InputError
from verify.claim import Run, claim, option
from verify.cli import main as cli
from verify.finding import Finding, Verdict, at_most
from verify.sweep import commands as sweep_commands
from verify.sweep import folder, plan, workers
from verify.sweep.plan import planned
from verify.sweep.results import Swept


@claim(source="")
def squares(
    run: Run,
    *,
    k: Annotated[int, option("a number", min=0)] = 3,
    most: Annotated[float | None, option("bound of the square")] = None,
    how: Annotated[Literal["exactly", "roughly"], option("how")] = "exactly",
    noise: Annotated[float, option("noise", only={"how": ["roughly"]})] = 0.5,
    loud: Annotated[bool, option("a flag", "--loud")] = False,
    file: Annotated[Path | None, option("a file")] = None,
) -> Iterator[Finding]:
    """Squares are at most as large as they are."""
    if k == 13:
        raise InputError("k is 13: take another")
    yield at_most("square", "the square", "exact", k * k, k * k if most is None else most)
    if k == 14:
        raise ZeroDivisionError("by\nnothing")
    if k == 16:
        raise InputError
    parts = {"seed": run.seed, "drawn": float(run.rng.random())}
    yield Finding("parts/all", "parts", "exact", parts, {"seed": 9}, Verdict.HOLDS)
    yield Finding("row", "row", "exact", [k, "inf"], "equal", Verdict.HOLDS)


@claim(source="")
def asks(run: Run, *, data: Annotated[Path, option("a file")]) -> Iterator[Finding]:
    """Is about a file."""
    yield at_most("length", "length", "exact", len(data.name), 3)


@pytest.fixture(autouse=True)
def claims(monkeypatch):
    points = {"squares": Point(squares), "asks": Point(asks)}
    for module in (cli, plan, workers):
        monkeypatch.setattr(module, "installed", lambda: points)
    monkeypatch.setattr(sweep_commands, "on_dask", on_dask)


def on_dask(jobs, scheduler):
    """Of Dask what it refuses before it is needed."""
    if scheduler is not None:
        workers.on_dask(jobs, scheduler)
    return here


def here(tasks, versions):
    """The engine of these tests: one run after the other, in this process."""
    assert versions.keys() == {"weightwright"}
    yield from map(workers.one_run, tasks)


def run(*words) -> int:
    return cli.main(["sweep", "squares", *map(str, words)])


def lines(out):
    return [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "runs"


# What is run


def test_all_combinations_are_run_with_all_seeds(out, capsys):
    words = ["--k", "1..3,7", "--how", "exactly,roughly", "--most", "1e3", "--loud", "no,true"]
    assert run(*words, "--seeds", 2, "--out", out) == 0
    ran = [(r["parameters"], r["seed"]) for r in lines(out)]
    assert [(p["k"], p["how"], p["loud"], seed) for p, seed in ran] == [
        (k, how, loud, seed)
        for k in (1, 2, 3, 7)
        for how in ("exactly", "roughly")
        for loud in (False, True)
        for seed in (0, 1)
    ]
    assert {(p["most"], p["noise"], p["file"]) for p, _ in ran} == {(1000.0, 0.5, None)}
    assert "squares holds: 32 of 32 runs: 32 holds" in capsys.readouterr().out


def test_a_run_is_what_the_claim_finds_by_itself(out):
    assert run("--k", "-0..2", "--file", "a b.csv", "--seeds", 3, "--out", out) == 0
    record = lines(out)[-1]
    found = [*squares.findings(Run(2), k=2)]
    assert record["parameters"]["file"] == "a b.csv"
    assert [f["measured"] for f in record["findings"]] == [
        4, {"seed": 2, "drawn": found[1].measured["drawn"]}, [2, "inf"],
    ]  # fmt: skip
    assert [f["id"] for f in record["findings"]] == ["square", "parts/all", "row"]
    assert [f["bound"] for f in record["findings"]] == [4, {"seed": 9}, "equal"]
    assert {f["verdict"] for f in record["findings"]} == {record["verdict"]} == {"holds"}
    assert record["seconds"] >= 0
    assert (
        record["version"] == json.loads((out / "plan.json").read_text())["versions"]["weightwright"]
    )


def test_an_option_that_has_to_be_given_is_given_to_each_run(out):
    assert cli.main(["sweep", "asks", "--data", "a,abc,abcd", "--out", str(out)]) == 1
    assert [record["verdict"] for record in lines(out)] == ["holds", "holds", "fails"]


def test_failures_and_errors_are_kept_and_listed(out, capsys):
    assert run("--k", "2,12..15", "--most", "150", "--out", out) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[-4:-1] == [
        "refused  k=13 most=150.0 seed=0: k is 13: take another",
        "stopped by an error  k=14 most=150.0 seed=0: ZeroDivisionError: by nothing",
        "fails  k=15 most=150.0 seed=0: square 225 (bound: 150)",
    ]
    counts = "2 holds, 1 fails, 1 refused, 1 stopped by an error"
    assert said[-1] == f"squares fails: 5 of 5 runs: {counts}"
    refused, broken = lines(out)[2:4]
    assert (refused["verdict"], refused["traceback"], refused["findings"]) == ("undecided", "", [])
    assert refused["error"] == "refused: k is 13: take another"
    assert broken["traceback"].startswith("Traceback")
    assert [f["verdict"] for f in broken["findings"]] == ["fails"] == [broken["verdict"]]


@pytest.mark.parametrize("k", [13, 14])  # before its first finding, and after one that holds
def test_a_sweep_with_errors_alone_is_undecided(k, out):
    assert run("--k", f"1,{k}", "--out", out) == 3
    assert [record["verdict"] for record in lines(out)] == ["holds", "undecided"]


# Going on


def stops_after(count):
    def engine(tasks, versions):
        for task in tasks[:count]:
            yield workers.one_run(task)
        raise KeyboardInterrupt

    return engine


def test_what_was_run_is_not_run_again(out, monkeypatch, capsys):
    words = ["--k", "1..4", "--seeds", 2, "--out", out]
    with monkeypatch.context() as patch:
        patch.setattr(sweep_commands, "on_dask", lambda jobs, scheduler: stops_after(3))
        assert run(*words) == 130
    with (out / "runs.jsonl").open("a") as file:
        file.write('{"run": 3, "torn')
    before = (out / "runs.jsonl").read_text().splitlines()
    assert cli.main(["summary", str(out), "-q"]) == 3  # of what there is
    assert "squares undecided: 3 of 8 runs: 3 holds" in capsys.readouterr().out
    assert run(*words) == 0
    assert [record["run"] for record in lines(out)] == [*range(8)]
    assert (out / "runs.jsonl").read_text().splitlines()[:3] == before[:3]
    monkeypatch.setattr(sweep_commands, "on_dask", lambda jobs, scheduler: stops_after(0))
    assert run(*words) == 0  # nothing is left


def test_refused_and_stopped_runs_are_not_run_again_unless_their_lines_are_taken_out(
    out, monkeypatch, capsys
):
    words = ["--k", "12..14", "--out", out]
    assert run(*words) == 3
    kept = lines(out)
    monkeypatch.setattr(sweep_commands, "on_dask", lambda jobs, scheduler: stops_after(0))
    assert run(*words) == 3
    assert lines(out) == kept
    assert "refused  k=13 seed=0: k is 13: take another\n" in capsys.readouterr().out
    (out / "runs.jsonl").write_text("".join(f"{json.dumps(kept[i])}\n" for i in (0, 2)))
    monkeypatch.setattr(sweep_commands, "on_dask", on_dask)
    assert run(*words) == 3
    again = lines(out)[2]
    assert again | {"seconds": 0} == kept[1] | {"seconds": 0}


def test_a_claim_that_refuses_without_a_reason_does_not_hold(out, capsys):
    assert run("--k", "16", "--out", out) == 3
    (record,) = lines(out)
    assert (record["error"], record["verdict"]) == ("refused:", "undecided")
    assert [finding["verdict"] for finding in record["findings"]] == ["holds"]
    assert "1 of 1 runs: 1 refused" in capsys.readouterr().out


def test_infinite_values_are_gone_on_with(out, monkeypatch):
    words = ["--most", "1e3,inf,-inf", "--out", out]
    assert run(*words) == 3  # a bound of infinity says nothing
    monkeypatch.setattr(sweep_commands, "on_dask", lambda jobs, scheduler: stops_after(0))
    assert run(*words) == 3
    assert [record["parameters"]["most"] for record in lines(out)] == [1e3, inf, -inf]


def test_a_run_is_in_the_file_as_soon_as_it_ended(out, monkeypatch):
    def watched(tasks, versions):
        for count, task in enumerate(tasks):
            assert len(lines(out) if count else []) == count
            yield workers.one_run(task)

    monkeypatch.setattr(sweep_commands, "on_dask", lambda jobs, scheduler: watched)
    assert run("--k", "1..3", "--out", out) == 0


def test_values_that_are_given_twice_are_run_once(out):
    assert run("--k", "2,1..3,1", "--most", "100,1e2", "--out", out) == 0
    assert [record["parameters"]["k"] for record in lines(out)] == [2, 1, 3]


def test_runs_may_end_in_any_order(out, monkeypatch):
    def backwards(tasks, versions):
        yield from map(workers.one_run, tasks[::-1])

    monkeypatch.setattr(sweep_commands, "on_dask", lambda jobs, scheduler: backwards)
    assert run("--k", "1..4", "--out", out) == 0
    assert [record["run"] for record in lines(out)] == [3, 2, 1, 0]


def test_a_plan_without_runs_is_replaced(out, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sweep_commands, "on_dask", lambda jobs, scheduler: stops_after(0))
        assert run("--k", "1..3", "--out", out) == 130
    assert run("--k", "1..4", "--out", out) == 0
    assert len(lines(out)) == 4


# What they found


@pytest.fixture
def swept(out, capsys):
    assert run("--k", "1..3", "--how", "exactly,roughly", "--seeds", 2, "--out", out) == 0
    capsys.readouterr()
    return out


def test_the_summary_has_every_number(swept, capsys):
    assert cli.main(["summary", str(swept)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["square", "12", "0", "0", "1", "4", "9"] in rows
    assert ["parts/all", "12", "0", "0"] in rows
    assert ["parts/all:seed", "0", "0.5", "1"] in rows
    assert ["row:1", "inf", "inf", "inf"] in rows


def test_any_number_by_any_parameter(swept, capsys):
    assert cli.main(["summary", str(swept), "--x", "k", "--y", "square"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[-4:]]
    assert rows == [
        ["k", "runs", "square:", "least", "median", "largest"],
        ["1", "4", "1", "1", "1"],
        ["2", "4", "4", "4", "4"],
        ["3", "4", "9", "9", "9"],
    ]
    for x, y in (("seed", "seconds"), ("how", "parts/all:seed")):
        assert cli.main(["summary", str(swept), "--x", x, "--y", y]) == 0


@pytest.mark.parametrize(("x", "y"), [("k", "square"), ("how", "row:0")])
def test_any_number_is_drawn(x, y, swept, tmp_path):
    picture = tmp_path / "p.png"
    words = ["--plot", str(picture), "--x", x, "--y", y]
    assert cli.main(["summary", str(swept), *words]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_statistics_are_of_the_runs_that_have_the_number(tmp_path, monkeypatch):
    """Of 2 × 2 × 3 runs one is stopped before its number, and one number is infinite."""
    found = {}
    for i, (k, how, seed) in enumerate(product((1, 2), "ab", range(3))):
        value = float((7 * i) % 11)
        finding = {"id": "f", "verdict": "holds", "measured": value, "bound": 20.0 + k}
        found[k, how, seed] = {
            "run": i, "parameters": {"k": k, "how": how}, "seed": seed, "verdict": "holds",
            "findings": [finding], "error": "", "seconds": 1.0,
        }  # fmt: skip
    found[1, "a", 1] |= {"findings": [], "error": "stopped", "verdict": "undecided"}
    found[2, "b", 0]["findings"][0]["measured"] = "inf"
    values = {"k": [1, 2], "how": ["a", "b"]}
    swept = Swept(tmp_path, {"claim": "c", "values": values, "seeds": 3}, [*found.values()])
    assert [line.split() for line in swept.table("k", "f")] == [
        ["k", "runs", "f:", "least", "median", "largest"],
        ["1", "5", "0", "3", "10"],  # of 0, 3 and 10, 6, 2
        ["2", "6", "0", "4.5", "inf"],  # of 9, 5, 1 and inf, 4, 0
        ["1", "of", "12", "runs", "have", "none"],
    ]
    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: figures.append(figure))
    swept.draw(tmp_path / "p.png", "k", "f")
    (panel,) = figures[0].axes
    assert panel.get_title() == "c: 10 runs, 2 without a finite number (dashed: the bound)"
    lines = [line.get_xydata().tolist() for line in panel.lines]
    assert (lines[0], lines[2]) == ([[1, 1.5], [2, 5]], [[1, 6], [2, 2]])
    assert [line.get_label() for line in panel.lines[::2]][:2] == ["how = a", "how = b"]
    assert sorted(lines[1]) == [[1, 0], [1, 3], [2, 1], [2, 5], [2, 9]]
    assert lines[-2:] == [[[1, 21], [2, 22]]] * 2
    assert swept.verdict == "undecided"
    found[1, "a", 0]["findings"][0]["measured"] = "nan"
    assert swept.table("k", "f")[1].split() == ["1", "5", "nan", "nan", "nan"]


def test_what_is_nowhere_finite_is_not_drawn(swept, tmp_path, capsys):
    picture = tmp_path / "p.png"
    words = ["--plot", str(picture), "--x", "k", "--y", "row:1"]
    assert cli.main(["summary", str(swept), *words]) == 2
    assert "row:1 is not finite in any run" in capsys.readouterr().err
    assert not picture.exists()


# What is refused


BAD = {
    # words, with OUT for a folder that may be made: what is said
    "": ("Missing option", "--out"),
    "--k 3..1 --out OUT": ("k is 3..1, an empty range", "write 1..3"),
    "--k 1,,2 --out OUT": ("k is '1,,2', with nothing", "1..12"),
    "--k '' --out OUT": ("k is ''", "write values as"),
    "--k 1..five --out OUT": ("k is '1..five'", "valid integer", "ranges of integers as 1..12"),
    "--k 1...4 --out OUT": ("k is '1...4'", "ranges of integers as 1..12"),
    "--k 1..1" + 40 * "0" + " --out OUT": ("1" + 40 * "0" + " runs", "at most 100000"),
    "--k 1 --k 2,3 --out OUT": ("k is given 2 times", "write its values as 1,2,3"),
    "--most nan --out OUT": ("most is nan", "no number"),
    "--most 1,-NaN,2 --out OUT": ("most is -NaN", "no number"),
    "--k -1..2 --out OUT": ("k is -1", "at least 0"),
    "--k 3,-1 --out OUT": ("k is -1", "at least 0"),
    "--k 1..1000000000000 --seeds 3 --out OUT": ("3000000000000 runs (k 1000000000000, seeds 3)",
        "at most 100000"),
    "--seeds 0 --out OUT": ("seeds is 0",),
    "--kk 3 --out OUT": ("--kk", "No such option"),
    "--how exactly,badly --out OUT": ("badly", "'exactly', 'roughly'"),
    "--noise 0.1,0.5 --out OUT": ("noise has no part in how 'exactly'", "leave one"),
    "--loud maybe --out OUT": ("loud is 'maybe'", "'true'"),
    "--most much --out OUT": ("--most", "valid number"),
    "--k 1 --x k --out OUT": ("--y FINDING", "together"),
    "--k 1 --plot p.png --out OUT": ("--y FINDING", "together"),
    "--k 1 --x kk --y square --out OUT": ("x is 'kk'", "'seed'"),
    "--k 1 --x k --y square --plot nowhere/p.png --out OUT": ("nowhere", "make it first"),
    "--k 1 --jobs 0 --out OUT": ("jobs is 0",),
    **{
        f"--k 1 --scheduler {address} --out OUT": ("which is no address", "tcp://HOST:8786")
        for address in ("''", "localhost", "host:port", "host:0", "host:99999", "host:-5", "tcp://",
            "'my host:8786'", "http://host:80")
    },
    "--k 1 --scheduler host:8786 --jobs 2 --out OUT": ("--jobs has no part", "leave one"),
    "--k 1 --out nowhere/runs": ("cannot write nowhere/runs", "another --out"),
    "--k 1 --out /dev/null/x": ("cannot write /dev/null/x", "another --out"),
}  # fmt: skip


def test_a_system_without_locks_is_refused_before_anything_is_made(out, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    error = refused(capsys, "sweep", "squares", "--k", "1..3", "--out", out)
    assert "a sweep needs a POSIX system" in error
    assert not out.exists()


def refused(capsys, *words) -> str:
    """What is said of words that are refused: one line, and nothing else."""
    assert cli.main([str(word) for word in words]) == 2
    said, error = capsys.readouterr()
    assert said == ""
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize("line", BAD)
def test_bad_input_is_one_line_and_nothing_is_made(line, out, capsys):
    error = refused(capsys, "sweep", "squares", *shlex.split(line.replace("OUT", str(out))))
    assert all(part in error for part in BAD[line]), error
    assert not out.exists()


def test_a_claim_that_there_is_not_or_that_is_not_named(out, capsys):
    assert "no claim 'square': did you mean 'squares'?" in refused(capsys, "sweep", "square")
    assert "name the claim first" in refused(capsys, "sweep", "--k", "1..3", "squares")
    assert "Missing argument" in refused(capsys, "sweep")
    assert "asks for --data" in refused(capsys, "sweep", "asks", "--out", out)


def test_folders_that_are_no_sweeps(tmp_path, out, capsys):
    (tmp_path / "notes.txt").write_text("mine")
    words = ["sweep", "squares", "--k", "1..2", "--out"]
    assert "no sweep's folder, it has notes.txt" in refused(capsys, *words, tmp_path)
    assert "File exists" in refused(capsys, *words, tmp_path / "notes.txt")
    assert "no sweep's folder" in refused(capsys, "summary", tmp_path)
    assert "no sweep's folder" in refused(capsys, "summary", tmp_path / "nowhere")
    out.mkdir()
    (out / "plan.json").write_text("[]")
    assert "no sweep's plan" in refused(capsys, *words, out)
    assert (out / "plan.json").read_text() == "[]"


def test_a_folder_with_another_sweep(swept, capsys):
    before = (swept / "runs.jsonl").read_bytes()
    error = refused(capsys, "sweep", "squares", "--k", "1..4", "--out", swept)
    assert 'runs of another sweep (values: {"k": [1, 2, 3], "how"' in error
    assert (swept / "runs.jsonl").read_bytes() == before


GONE = object()
DAMAGED = {
    "run": [GONE, 12, -1, 0, True, "1", [1], 10**400],
    "seed": [GONE, 0, "1", 1.0],
    "parameters": [GONE, [], {}, {"k": 2, "how": "exactly"}],
    "verdict": [GONE, "fails", "maybe", 3],
    "findings": [
        GONE,
        [],
        {},
        [3],
        [{}],
        [{"id": 1, "verdict": "holds", "measured": 1, "bound": 1}],
    ],
    "error": [GONE, "stopped", None],
    "traceback": [GONE],
    "seconds": [GONE, "long", float("nan")],
    "version": [GONE, 2, "0.1"],
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in DAMAGED.items() for value in values]
)
def test_a_line_that_no_sweep_has_written_is_named(key, value, swept, capsys):
    records = lines(swept)
    records[1][key] = value
    if value is GONE:
        del records[1][key]
    (swept / "runs.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    error = refused(capsys, "summary", swept)
    assert "runs.jsonl, line 2, is " in error
    assert error.endswith(": take that line out\n")
    words = ["--k", "1..3", "--how", "exactly,roughly", "--seeds", 2, "--out", swept]
    assert refused(capsys, "sweep", "squares", *words) == error


@pytest.mark.parametrize("line", ["", "3", "null", '"run"', "{", "\xff", "[" * 10**5])
def test_a_line_that_is_no_record_is_named(line, swept, capsys):
    file = swept / "runs.jsonl"
    file.write_bytes(f"{line}\n".encode("latin-1") + file.read_bytes())
    assert "runs.jsonl, line 1, is no run of its plan.json" in refused(capsys, "summary", swept)


def test_runs_that_are_no_file(swept, capsys):
    (swept / "runs.jsonl").unlink()
    (swept / "runs.jsonl").mkdir()
    assert "runs.jsonl: it is no file" in refused(capsys, "summary", swept)
    (swept / "plan.json").unlink()
    (swept / "plan.json").symlink_to("/dev/zero")
    assert "no plan.json that can be read" in refused(capsys, "summary", swept)


@pytest.mark.parametrize(
    "change",
    [{"values": None}, {"values": [1]}, {"values": {"k": 3}}, {"values": {"k": []}},
     {"seeds": "2"}, {"seeds": 0}, {"seeds": 2.0}, {"seeds": True}, {"claim": 3}, {"versions": 3}],
)  # fmt: skip
def test_a_plan_that_is_none(change, swept, capsys):
    plan = json.loads((swept / "plan.json").read_text())
    (swept / "plan.json").write_text(json.dumps({**plan, **change}))
    for words in (["summary", swept], ["sweep", "squares", "--k", 1, "--out", swept]):
        assert "plan.json is no sweep's plan" in refused(capsys, *words)


def test_a_file_that_grows_while_it_is_read_is_read_once(swept, monkeypatch):
    plan = folder.read_plan(swept)
    content = (swept / "runs.jsonl").read_bytes()
    contents = iter([content[: content.index(b"\n") + 5], content])
    monkeypatch.setattr(Path, "read_bytes", lambda path: next(contents))
    assert len(folder.records(swept, plan)) == 1


def test_a_plan_of_another_version_is_another_one(swept, capsys):
    plan = json.loads((swept / "plan.json").read_text())
    (swept / "plan.json").write_text(json.dumps({**plan, "quick": True}))
    words = ["--k", "1..3", "--how", "exactly,roughly", "--seeds", 2, "--out", swept]
    assert "another sweep (quick: true)" in refused(capsys, "sweep", "squares", *words)
    (swept / "plan.json").write_text(json.dumps({**plan, "versions": {"weightwright": "0.1"}}))
    older = [{**record, "version": "0.1"} for record in lines(swept)]
    (swept / "runs.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in older))
    assert "another sweep (versions: " in refused(capsys, "sweep", "squares", *words)


def test_two_sweeps_do_not_write_into_one_folder(swept, capsys):
    words = ["--k", "1..3", "--how", "exactly,roughly", "--seeds", 2, "--out", swept]
    plan = planned("squares", squares, {"k": "1..3", "how": "exactly,roughly"}, 2)
    with folder._folder(swept, plan):
        assert "another sweep is writing" in refused(capsys, "sweep", "squares", *words)
    assert run(*words) == 0


def test_a_number_that_no_run_has(swept, capsys):
    for y, hint in (("sqare", "did you mean 'square'"), ("row", "'row:0'"), ("zz", "there are")):
        error = refused(capsys, "summary", swept, "--x", "k", "--y", y)
        assert f"has measured a number '{y}': " in error
        assert hint in error


def test_a_sweep_without_runs_has_no_numbers(swept, capsys):
    (swept / "runs.jsonl").unlink()
    error = refused(capsys, "summary", swept, "--x", "k", "--y", "square")
    assert f"{swept} has no runs yet" in error


def test_help_has_the_claims_own_options(capsys):
    assert run("--help") == 0
    said = capsys.readouterr().out
    assert all(word in said for word in ("--how", "a number, at least 0", "--scheduler", "VALUES"))
    assert cli.main(["sweep", "--help"]) == 0
