"""The workers that a sweep rejects, without Dask."""

import sys
from importlib.metadata import PackageNotFoundError, version
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from refusals import rejects

from theory.kinds import InputError
from verify.sweep import workers

TASK = workers.Task(0, "squares", {}, 0)


def test_a_run_by_another_version_is_refused(monkeypatch):
    monkeypatch.setattr(workers, "one_run", lambda task: {"run": task.run})
    right = {"weightwright": version("weightwright")}
    assert workers.run_of(right, TASK) == {"run": 0}
    for versions, named in (
        ({"weightwright": "0.0"}, f"weightwright {right['weightwright']}"),
        ({**right, "no-such": "1"}, "no-such 1"),
    ):
        with rejects("worker", named):
            workers.run_of(versions, TASK)


@pytest.fixture
def cluster(monkeypatch):
    """A fake scheduler: the results of its runs, and the versions of its workers."""

    def ends(error, *said, cancelled=False):
        client, future = MagicMock(), MagicMock()
        client.__enter__.return_value = client

        def submitted(run, tasks, pure):
            with rejects("worker", "slow"):
                run(tasks[0])  # as a worker does; here is no such package
            return [future]

        client.map = submitted
        future.cancelled.return_value = cancelled
        future.exception.return_value = error
        killed = type("KilledWorker", (Exception,), {})
        dask = SimpleNamespace(KilledWorker=killed, LocalCluster=None, as_completed=list)
        dask.Client = lambda *address, timeout: client
        monkeypatch.setitem(sys.modules, "distributed", dask)
        engine = workers.on_dask(None, "host:8786")
        # Versions are compared before the first run, and once more if a run has not begun.
        answers = [{"a": "1", "b": "1", "c": "1"}, dict(zip("abc", said, strict=False))]
        client.run.side_effect = lambda *_, on_error: answers.pop(0)
        return list(engine([TASK], {"slow": "1"}))

    return ends


def test_a_run_that_did_not_begin_is_a_workers_or_its_own(cluster):
    gone, odd = PackageNotFoundError("slow"), AttributeError("no run_of")
    for said, found in ((gone, "lacks slow"), ("2", "has slow 2")):
        with rejects("worker c", found, "slow 1"):
            cluster(odd, "1", OSError("lost"), said)
    with rejects("a worker that joined has it"):
        cluster(InputError("a worker that joined has it"), "1")
    with rejects("scheduler"):  # a run that is cancelled has no result
        cluster(None, cancelled=True)
    (record,) = cluster(odd, "1", OSError("lost"))
    assert (record["error"], record["verdict"]) == ("AttributeError: no run_of", "undecided")
