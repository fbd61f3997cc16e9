"""Finished runs, for tests that look at their folders or change them."""

import shutil

import pytest


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """The folder of a run of `TINY` without interruption."""
    from short_runs import TINY, train

    folder = tmp_path_factory.mktemp("whole")
    train(TINY, folder)
    return folder


@pytest.fixture
def finished(whole, tmp_path):
    """A copy of that folder."""
    return shutil.copytree(whole, tmp_path / "finished")


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """A run of a few steps, made by the command."""
    from constructions.trained.__main__ import main

    folder = tmp_path_factory.mktemp("run")
    words = ["regression", "--steps", "40", "--model", "lstm", "--seed", "2", "--device", "cpu"]
    assert main(["train", *words, "--out", str(folder)]) == 0
    return folder
