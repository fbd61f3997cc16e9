"""A finished run, for tests that look at its folder or change it."""

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
