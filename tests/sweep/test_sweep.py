"""Sweeps without Dask: what is planned, a line for each run, going on, summaries."""

import inspect
import json
from itertools import product
from math import inf
from typing import Annotated

import pytest
from matplotlib.figure import Figure
from squares import lines, on_dask, run, squares

from verify.claim import Run, option
from verify.cli import main as cli
from verify.sweep import commands as sweep_commands
from verify.sweep import workers
from verify.sweep.results import Swept, _medians
from verify.sweep.values import parts_of

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


@pytest.mark.parametrize(
    ("kind", "found"), [(int, (1, 3)), (int | None, (1, 3)), (float | None, "1..3"), (str, "1..3")]
)
def test_integers_have_ranges_also_where_they_are_optional(kind, found):
    noted = Annotated[kind, option("a number")]
    parameter = inspect.Parameter("k", inspect.Parameter.KEYWORD_ONLY, annotation=noted)
    assert parts_of(parameter, "1..3, 7") == [found, "7"]


def test_medians_are_at_their_abscissas_in_any_order_of_points():
    points = [(5.0, 1.0), (1.0, 2.0), (3.0, 9.0), (1.0, 4.0), (5.0, 7.0), (5.0, 8.0)]
    assert _medians(points) == ([1.0, 3.0, 5.0], [3.0, 9.0, 7.0])


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
        "fails  k=15 most=150.0 seed=0: square 225 > 150",
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
    capsys.readouterr()
    assert cli.main(["summary", str(out), "-q"]) == 3  # of what there is
    assert capsys.readouterr().out == "squares undecided: 3 of 8 runs: 3 holds\n"
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
    assert run(*words) == 3  # a bound of infinity is vacuous
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


def test_integers_beyond_the_range_of_floats_are_infinite(swept, tmp_path, capsys):
    records = lines(swept)
    for sign, record in zip((1, -1), records, strict=False):
        record["findings"][0]["measured"] = sign * 10**400
    (swept / "runs.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    picture = ("--plot", str(tmp_path / "p.png"))
    assert cli.main(["summary", str(swept), "--x", "k", "--y", "square", *picture]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["square", "12", "0", "0", "-inf", "4", "inf"] in rows


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
        ["1", "of", "12", "runs", "have", "no", "such", "number"],
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


def test_help_has_the_claims_own_options(claims, capsys):
    assert run("--help") == 0
    said = capsys.readouterr().out
    assert all(word in said for word in ("--how", "a number, at least 0", "--scheduler", "VALUES"))
    assert cli.main(["sweep", "--help"]) == 0
