"""Named pipes: they are written and never replaced, and their readers are waited for."""

import json
import os
import stat
import threading

import pytest
from toys import good, run, stopped

from verify.output import files as output


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_pipe_is_written_and_not_replaced(pipe, tmp_path, claims):
    claims(it=good)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert run("it", "-q", "--json", str(pipe)) == 0
    reader.join(timeout=10)
    assert json.loads(read[0])["verdict"] == "holds"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_pipe_without_a_reader_is_announced(pipe, claims, monkeypatch):
    claims(it=good)
    read, told = [], []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))

    def tell(line):
        told.append(line)
        reader.start()

    monkeypatch.setattr(output, "tell", tell)
    late = threading.Timer(30, reader.start)  # without a notice, the test fails and does not hang
    late.start()
    assert run("it", "-q", "--json", str(pipe)) == 0
    late.cancel()
    reader.join(timeout=10)
    assert json.loads(read[0])["verdict"] == "holds"
    [line] = told
    assert str(pipe) in line


@pytest.mark.parametrize("words", [("it",), ("all",)], ids=" ".join)
def test_no_reader_is_waited_for_after_an_interruption(words, pipe, claims, monkeypatch, capsys):
    def waiting(line):
        raise AssertionError(line)

    claims(it=stopped)
    monkeypatch.setattr(output, "tell", waiting)
    assert run(*words, "--json", str(pipe)) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_an_interrupted_run_is_written_to_a_pipe_that_is_read(pipe, claims):
    claims(it=stopped)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run("it", "--json", str(pipe)) == 130
        document = json.loads(os.read(reading, 2**16))
    finally:
        os.close(reading)
    assert [each["verdict"] for each in document["findings"]] == ["holds", "undecided"]


def test_a_pipe_that_is_gone_is_not_waited_for(tmp_path):
    with pytest.raises(FileNotFoundError):
        output._pipe(tmp_path / "gone")
    assert not list(tmp_path.iterdir())
