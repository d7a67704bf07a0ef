"""Errors of user code, and where they came from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import ModelError, OutputError
from pytest_modelreg.observe.user_code import attributed, describe_error, locate_error


def raised_by(function) -> BaseException:
    """Return what a function raises."""
    try:
        function()
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is described
        return error
    raise AssertionError("nothing was raised")


def test_the_place_is_the_users_innermost_line_not_the_librarys():
    """An error deep inside a library leads to the call that the user wrote."""
    error = raised_by(lambda: json.loads("{"))
    assert locate_error(error).startswith(f"{Path(__file__)}:")


def test_no_place_where_no_frame_is_the_users():
    """Better none than a line in the standard library."""
    error = raised_by(lambda: json.loads("{"))
    error.__traceback__ = error.__traceback__.tb_next.tb_next
    assert locate_error(error) is None
    assert describe_error(error).startswith("JSONDecodeError: ")


def test_a_long_message_is_cut_and_says_so():
    """A framework may print a whole tensor."""
    text = describe_error(raised_by(lambda: (_ for _ in ()).throw(ValueError("x" * 5000))))
    assert len(text) < 2200
    assert "(5000 characters)" in text


def test_our_own_errors_pass_through():
    """An error that is told already is not told twice."""
    error = OutputError("told")
    with pytest.raises(OutputError) as caught, attributed(ModelError, "running"):
        raise error
    assert caught.value is error


def test_the_original_is_chained_and_the_hint_follows():
    """The traceback stays available; what to do comes last."""
    with pytest.raises(ModelError) as caught, attributed(ModelError, "running m:f", "mend it"):
        raise ZeroDivisionError("zero")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert str(caught.value).startswith("running m:f raised ZeroDivisionError: zero (at ")
    assert str(caught.value).endswith("; mend it")


def test_a_keyboard_interrupt_is_the_users():
    """Ctrl-C ends the run, not the case."""
    with pytest.raises(KeyboardInterrupt), attributed(ModelError, "running"):
        raise KeyboardInterrupt
