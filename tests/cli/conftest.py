"""The claims that the command line finds."""

import pytest
from points import Point

from verify.cli import main as cli
from verify.selftest import commands as selftesting


@pytest.fixture
def claims(monkeypatch):
    def install(**made):
        points = {name: Point(c) for name, c in made.items()}
        for module in (cli, selftesting):
            monkeypatch.setattr(module, "installed", lambda: points)

    return install
