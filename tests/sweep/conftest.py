"""Sweeps over the claims of `squares.py`, without Dask."""

import pytest
from points import Point
from squares import WORDS, asks, on_dask, run, squares

from verify.cli import main as cli
from verify.sweep import commands, plan, workers


@pytest.fixture
def claims(monkeypatch):
    points = {"squares": Point(squares), "asks": Point(asks)}
    for module in (cli, plan, workers):
        monkeypatch.setattr(module, "installed", lambda: points)
    monkeypatch.setattr(commands, "on_dask", on_dask)


@pytest.fixture
def out(claims, tmp_path):
    return tmp_path / "runs"


@pytest.fixture
def swept(out, capsys):
    assert run(*WORDS, "--out", out) == 0
    capsys.readouterr()
    return out
