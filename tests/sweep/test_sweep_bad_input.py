"""Sweeps with wrong input: one line that names it, before anything is made or changed."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from refusals import rejected, rejects
from squares import WORDS, lines, run, squares

from verify.sweep import folder, plan
from verify.sweep.plan import planned

HUGE = "1" + 40 * "0"
ADDRESSES = (
    *("''", "localhost", "host:port", "host:0", "host:99999", "host:-5", "tcp://"),
    *("'my host:8786'", "http://host:80"),
)
BAD = {
    # words, with OUT for a folder that may be made: what the line names
    "": ("--out",),
    "--k 1 --out ''": ("--out", "empty"),
    "--k 1 --out=": ("--out", "empty"),
    "--k 3..1 --out OUT": ("k", "3..1", "1..3"),
    "--k 1,,2 --out OUT": ("k", "1,,2"),
    "--k '' --out OUT": ("k",),
    "--k 1..five --out OUT": ("k", "1..five", "1..12"),
    "--k 1...4 --out OUT": ("k", "1...4", "1..12"),
    f"--k 1..{HUGE} --out OUT": (HUGE, "100000"),
    "--k 1 --k 2,3 --out OUT": ("k", "1,2,3"),
    "--most nan --out OUT": ("most", "nan"),
    "--most 1,-NaN,2 --out OUT": ("most", "-NaN"),
    "--k -1..2 --out OUT": ("k", "-1", "0"),
    "--k 3,-1 --out OUT": ("k", "-1", "0"),
    "--k 1..1000000000000 --seeds 3 --out OUT": ("3000000000000", "k", "seeds", "100000"),
    "--seeds 0 --out OUT": ("seeds", "0"),
    "--kk 3 --out OUT": ("--kk",),
    "--how exactly,badly --out OUT": ("badly", "exactly", "roughly"),
    "--how 1..3 --out OUT": ("how", "1..3", "exactly"),
    "--noise 0.1,0.5 --out OUT": ("noise", "how", "exactly"),
    "--loud maybe --out OUT": ("loud", "maybe", "true"),
    "--most much --out OUT": ("--most",),
    "--k 1 --x k --out OUT": ("--y",),
    "--k 1 --plot p.png --out OUT": ("--y",),
    "--k 1 --x kk --y square --out OUT": ("x", "kk", "seed"),
    "--k 1 --x k --y square --plot nowhere/p.png --out OUT": ("nowhere",),
    "--k 1 --jobs 0 --out OUT": ("jobs", "0"),
    **{f"--k 1 --scheduler {each} --out OUT": ("tcp://HOST:8786",) for each in ADDRESSES},
    "--k 1 --scheduler host:8786 --jobs 2 --out OUT": ("--jobs",),
    "--k 1 --out nowhere/runs": ("nowhere/runs", "--out"),
    "--k 1 --out /dev/null/x": ("/dev/null/x", "--out"),
}


@pytest.fixture
def refused(claims, capsys):
    """Requires that these words are rejected in one line that has these names."""

    def check(words, *names):
        rejected(capsys, [*map(str, words)], *names)

    return check


def again(out):
    return ["sweep", "squares", *WORDS, "--out", out]


@pytest.mark.parametrize("line", BAD)
def test_bad_input_is_one_line_and_nothing_is_made(line, out, refused):
    refused(["sweep", "squares", *shlex.split(line.replace("OUT", str(out)))], *BAD[line])
    assert not out.exists()


def test_a_system_without_locks_is_refused_before_anything_is_made(out, monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    refused(["sweep", "squares", "--k", "1..3", "--out", out], "POSIX")
    assert not out.exists()


def test_a_claim_that_there_is_not_or_that_is_not_named(out, refused):
    refused(["sweep", "square"], "square", "squares")
    refused(["sweep", "--k", "1..3", "squares"], "claim")
    refused(["sweep"])
    refused(["sweep", "asks", "--out", out], "--data")


def test_folders_that_are_no_sweeps(tmp_path, out, refused):
    (tmp_path / "notes.txt").write_text("mine")
    words = ["sweep", "squares", "--k", "1..2", "--out"]
    refused([*words, tmp_path], str(tmp_path), "notes.txt")
    refused([*words, tmp_path / "notes.txt"], str(tmp_path / "notes.txt"))
    refused(["summary", tmp_path], str(tmp_path))
    refused(["summary", tmp_path / "nowhere"], "nowhere")
    out.mkdir()
    (out / "plan.json").write_text("[]")
    refused([*words, out], "plan.json")
    assert (out / "plan.json").read_text() == "[]"


def test_a_folder_with_another_sweep(swept, refused):
    before = (swept / "runs.jsonl").read_bytes()
    refused(["sweep", "squares", "--k", "1..4", "--out", swept], 'values: {"k": [1, 2, 3], "how"')
    assert (swept / "runs.jsonl").read_bytes() == before


GONE = object()
FINDING = {"id": 1, "verdict": "holds", "measured": 1, "bound": 1}
DAMAGED = {
    "run": [GONE, 12, -1, 0, True, "1", [1], 10**400],
    "seed": [GONE, 0, "1", 1.0],
    "parameters": [GONE, [], {}, {"k": 2, "how": "exactly"}],
    "verdict": [GONE, "fails", "maybe", 3],
    "findings": [GONE, [], {}, [3], [{}], [FINDING]],
    "error": [GONE, "stopped", None],
    "traceback": [GONE],
    "seconds": [GONE, "long", float("nan"), 10**400],
    "version": [GONE, 2, "0.1"],
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in DAMAGED.items() for value in values]
)
def test_a_line_that_no_sweep_has_written_is_named(key, value, swept, refused):
    records = lines(swept)
    records[1][key] = value
    if value is GONE:
        del records[1][key]
    (swept / "runs.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    for words in (["summary", swept], again(swept)):
        refused(words, "runs.jsonl", "line 2")


@pytest.mark.parametrize("line", ["", "3", "null", '"run"', "{", "\xff", "[" * 10**5])
def test_a_line_that_is_no_record_is_named(line, swept, refused):
    file = swept / "runs.jsonl"
    file.write_bytes(f"{line}\n".encode("latin-1") + file.read_bytes())
    refused(["summary", swept], "runs.jsonl", "line 1")


def test_runs_that_are_no_file(swept, refused):
    (swept / "runs.jsonl").unlink()
    (swept / "runs.jsonl").mkdir()
    refused(["summary", swept], "runs.jsonl")
    (swept / "plan.json").unlink()
    (swept / "plan.json").symlink_to("/dev/zero")
    refused(["summary", swept], "plan.json")


@pytest.mark.parametrize(
    "change",
    [{"values": None}, {"values": [1]}, {"values": {"k": 3}}, {"values": {"k": []}},
     {"seeds": "2"}, {"seeds": 0}, {"seeds": 2.0}, {"seeds": True}, {"claim": 3}, {"versions": 3}],
)  # fmt: skip
def test_a_plan_that_is_none(change, swept, refused):
    plan = json.loads((swept / "plan.json").read_text())
    (swept / "plan.json").write_text(json.dumps({**plan, **change}))
    for words in (["summary", swept], ["sweep", "squares", "--k", 1, "--out", swept]):
        refused(words, "plan.json")


def test_a_file_that_grows_while_it_is_read_is_read_once(swept, monkeypatch):
    plan = folder.read_plan(swept)
    content = (swept / "runs.jsonl").read_bytes()
    contents = iter([content[: content.index(b"\n") + 5], content])
    monkeypatch.setattr(Path, "read_bytes", lambda path: next(contents))
    assert len(folder.records(swept, plan)) == 1


def test_a_plan_of_another_version_is_another_one(swept, refused):
    plan = json.loads((swept / "plan.json").read_text())
    (swept / "plan.json").write_text(json.dumps({**plan, "quick": True}))
    refused(again(swept), "quick: true")
    (swept / "plan.json").write_text(json.dumps({**plan, "versions": {"weightwright": "0.1"}}))
    older = [{**record, "version": "0.1"} for record in lines(swept)]
    (swept / "runs.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in older))
    refused(again(swept), "versions")


def test_two_sweeps_do_not_write_into_one_folder(swept, refused):
    plan = planned("squares", squares, {"k": "1..3", "how": "exactly,roughly"}, 2)
    with folder._folder(swept, plan):
        refused(again(swept), "another sweep")
    assert run(*WORDS, "--out", swept) == 0


def test_a_number_that_no_run_has(swept, refused):
    for y, hint in (("sqare", "square"), ("row", "row:0"), ("zz", "zz")):
        refused(["summary", swept, "--x", "k", "--y", y], y, hint)


def test_a_sweep_without_runs_has_no_numbers(swept, refused):
    (swept / "runs.jsonl").unlink()
    refused(["summary", swept, "--x", "k", "--y", "square"], str(swept))


def test_the_largest_number_of_runs(claims, monkeypatch):
    monkeypatch.setattr(plan, "MOST_RUNS", 12)
    for k, seeds, runs in (("1..6", 2, 12), ("1..4", 3, 12), ("1..11", 1, 11)):
        assert len(planned("squares", squares, {"k": k}, seeds).tasks) == runs
    for k, seeds in (("1..13", 1), ("1..7", 2)):
        with rejects("runs", "12"):
            planned("squares", squares, {"k": k}, seeds)
