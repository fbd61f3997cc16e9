"""Sweeps on Dask: workers and whole sweeps that are killed, schedulers that are not there.

They run a claim of a package of its own, so that each worker starts quickly.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from readme import ROOT, fences
from refusals import rejects

from verify.sweep.workers import on_dask

dask = pytest.mark.skipif(find_spec("distributed") is None, reason="needs the extra [sweep]")

CLAIM = '''
import os, signal, time
from typing import Annotated
from verify.claim import claim, option
from verify.finding import at_most

@claim()
def slow(run, *, k: Annotated[int, option("a number")] = 1):
    """Takes its time, and takes its worker along if k is 13."""
    time.sleep(0.5)
    if k == 13:
        os.kill(os.getpid(), signal.SIGKILL)
    yield at_most("square", "the square", "exact", k * k, 100)
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with the claim `slow`, which other processes import."""
    folder = tmp_path / "package"
    (folder / "slow-1.dist-info").mkdir(parents=True)
    (folder / "slow.py").write_text(CLAIM)
    (folder / "slow-1.dist-info" / "METADATA").write_text("Name: slow\nVersion: 1\n")
    points = "[verify.claims]\nslow = slow:slow\n"
    (folder / "slow-1.dist-info" / "entry_points.txt").write_text(points)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *sys.path[1:]]))
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")
    return tmp_path


def sweep(*words, **more) -> subprocess.Popen:
    command = [sys.executable, "-m", "verify", "sweep", "slow", *map(str, words)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    )


def whole_lines(out: Path) -> list[dict]:
    file = out / "runs.jsonl"
    text = file.read_text() if file.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def wait_for(count: int, out: Path, process: subprocess.Popen) -> None:
    while len(whole_lines(out)) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


@pytest.fixture
def cluster(package):
    """A scheduler with two workers, in processes of their own."""
    code = (
        "from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    made = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)\n"
        "    print(made.scheduler_address, *(w.pid for w in made.workers.values()), flush=True)\n"
        "    input()\n"
    )
    (package / "cluster.py").write_text(code)
    process = subprocess.Popen(
        [sys.executable, package / "cluster.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    address, *pids = process.stdout.readline().split()
    yield address, [*map(int, pids)], process
    process.kill()
    process.communicate()


@dask
@pytest.mark.slow
def test_the_runs_of_a_worker_that_is_killed_are_run_by_another(cluster, package):
    (address, (one, _), _), out = cluster, package / "runs"
    process = sweep("--k", "1..4", "--seeds", 4, "--scheduler", address, "--out", out)
    wait_for(3, out, process)
    os.kill(one, signal.SIGKILL)
    said, errors = process.communicate()
    assert process.returncode == 0, errors
    assert sorted(record["run"] for record in whole_lines(out)) == [*range(16)]
    assert said.splitlines()[-1] == "slow holds: 16 of 16 runs: 16 holds"


@dask
@pytest.mark.slow
def test_a_run_that_loses_every_worker_is_recorded_and_the_others_end(package):
    out = package / "runs"
    process = sweep("--k", "1,13,3", "--jobs", 2, "--out", out)
    said, errors = process.communicate()
    assert (process.returncode, errors) == (3, "")
    found = {record["parameters"]["k"]: record["error"] for record in whole_lines(out)}
    assert found == {1: "", 13: "every worker that ran it was lost", 3: ""}
    assert "stopped by an error  k=13 seed=0: every worker that ran it was lost" in said


@dask
@pytest.mark.slow
def test_a_sweep_that_is_killed_goes_on_where_it_stopped(package):
    out, words = package / "runs", ["--k", "1..3", "--seeds", 4, "--jobs", 2]
    process = sweep(*words, "--out", out)
    wait_for(2, out, process)
    process.kill()
    process.communicate()
    before = whole_lines(out)
    assert 2 <= len(before) < 12
    again = sweep(*words, "--out", out)
    _, errors = again.communicate()
    assert (again.returncode, errors) == (0, "")
    assert whole_lines(out)[: len(before)] == before
    assert sorted(record["run"] for record in whole_lines(out)) == [*range(12)]


@dask
@pytest.mark.slow
def test_a_scheduler_that_goes_away_leaves_what_was_run(cluster, package):
    (address, workers, scheduler), out = cluster, package / "runs"
    process = sweep("--k", "1..8", "--seeds", 4, "--scheduler", address, "--out", out)
    wait_for(2, out, process)
    for pid in (scheduler.pid, *workers):
        os.kill(pid, signal.SIGKILL)
    _, errors = process.communicate()
    assert process.returncode == 2
    assert "error: the connection to the scheduler is lost: repeat the command" in errors
    assert all(record["verdict"] == "holds" for record in whole_lines(out))


@dask
@pytest.mark.slow
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nobody.invalid:8786"])
def test_a_scheduler_that_cannot_be_reached_is_one_line(address, package):
    process = sweep("--k", "1..3", "--scheduler", address, "--out", package / "runs")
    _, errors = process.communicate()
    assert process.returncode == 2
    *waiting, line = errors.splitlines()  # a name that is not resolved is refused at once
    assert len(waiting) <= 1
    assert all("waiting for a scheduler" in each for each in waiting)
    assert address in line
    assert "dask scheduler" in line


@dask
@pytest.mark.slow
def test_a_worker_without_the_package_is_named(cluster, package):
    address, _, _ = cluster
    (package / "package" / "slow-1.dist-info" / "METADATA").write_text("Name: slow\nVersion: 2\n")
    # The workers look up the version on request, so another one is returned here.
    newer = package / "newer"
    (package / "package").rename(newer)
    more = os.pathsep.join([str(newer), os.environ["PYTHONPATH"]])
    process = sweep(
        "--scheduler", address, "--out", package / "runs", env={**os.environ, "PYTHONPATH": more}
    )
    _, errors = process.communicate()
    assert process.returncode == 2
    assert "install slow 2" in errors


@dask
@pytest.mark.slow
@pytest.mark.parametrize("other", ["slow", "weightwright"])
def test_a_worker_of_another_version_that_joins_later_keeps_no_run(other, cluster, package):
    (address, _, _), out = cluster, package / "runs"
    words = ["--k", "1..4", "--seeds", 99, "--scheduler", address, "--out", out]
    process = sweep(*words)
    wait_for(1, out, process)
    told = package / "other" / f"{other}-0.0.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text(f"Name: {other}\nVersion: 0.0\n")
    path = os.pathsep.join([str(told.parent), os.environ["PYTHONPATH"]])
    joined = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "4"],
        cwd=package,  # and not where `-m` would find ours first
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.DEVNULL,
    )
    try:
        _, errors = process.communicate()
        assert process.returncode == 2
        assert f" has {other} 0.0" in errors
        assert f"install {other} " in errors
        assert "repeat the command" in errors
        assert errors.count("\n") == 1
        kept = whole_lines(out)
        assert 1 <= len(kept) < 396
    finally:
        joined.kill()
        joined.wait()
    again = sweep(*words)
    wait_for(len(kept) + 1, out, again)
    again.kill()
    again.communicate()
    assert whole_lines(out)[: len(kept)] == kept


@dask
@pytest.mark.slow
def test_the_commands_of_the_page_run(tmp_path, monkeypatch):
    lines = fences(ROOT / "docs" / "sweep.md", "sh")[0].splitlines()
    monkeypatch.chdir(tmp_path)
    for line in lines:
        done = subprocess.run([sys.executable, *shlex.split(line)[1:]], capture_output=True)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs.png").exists()
    assert len(whole_lines(tmp_path / "runs")) == 36
    assert len(lines) == 2


def test_without_dask_one_line_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with rejects("weightwright[sweep]"):
        on_dask(None, None)
