"""Plain annotations of the three packages are checked while the tests run, each on one thread."""

import gc
import os
from collections.abc import Iterator

# Before anything imports numpy: the threads of two workers on two cores wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import annotations
import pytest
import torch
from hypothesis import settings

# Before anything imports the packages.
annotations.check_annotations("theory", "constructions", "verify")

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=50, print_blob=True)
settings.load_profile("ci")
torch.set_num_threads(1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Modules and tests stay until the end: the garbage collector need not go through them again
    and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Annotations are not checked, so that the packages' own errors are seen."""
    with annotations.unchecked():
        yield
