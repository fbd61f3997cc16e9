"""Files that tests of data write."""

import pytest


@pytest.fixture
def write(tmp_path):
    def file(text, encoding="utf-8"):
        path = tmp_path / "my.csv"
        path.write_bytes(text.encode(encoding))
        return path

    return file
