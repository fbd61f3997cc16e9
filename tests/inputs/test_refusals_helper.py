"""The helpers that look at error messages fail where they should."""

import pytest
from refusals import check_line, rejects

from theory.kinds import InputError


def test_a_line_that_names_the_parameter_is_enough():
    with rejects("alpha", "−1"):
        raise InputError("alpha is −1: give a number greater than 0")


@pytest.mark.parametrize("message", ["", "alpha is\nwrong", "alphabet is wrong"])
def test_other_messages_are_not(message):
    with pytest.raises(AssertionError):
        check_line(message, "alpha")


def test_another_class_or_no_error_is_not():
    with pytest.raises(ValueError, match="alpha"), rejects("alpha"):
        raise ValueError("alpha is −1")
    with pytest.raises(pytest.fail.Exception), rejects("alpha"):
        pass
