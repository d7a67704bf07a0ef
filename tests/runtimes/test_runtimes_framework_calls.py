"""Frameworks that talk are kept quiet around our own calls, and heard by whoever records."""

from __future__ import annotations

import logging
import sys
import warnings

import pytest

from pytest_modelreg.runtimes.framework_calls import quiet_framework


def talk():
    """Print, log and warn, as exporters do."""
    sys.stdout.write("step 1 of 3\n")
    sys.stderr.write("step 2 of 3\n")
    logging.getLogger("torch.onnx").warning("skipping")
    warnings.warn("old exporter", DeprecationWarning, stacklevel=1)


def test_nothing_is_printed_logged_or_raised(capsys, caplog):
    """Under -W error, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with quiet_framework():
            talk()
    assert capsys.readouterr() == ("", "")
    assert caplog.records == []


def test_a_recorder_outside_gets_the_warnings():
    """They are facts of the observation."""
    with warnings.catch_warnings(record=True) as recorded, quiet_framework():
        talk()
    assert [str(entry.message) for entry in recorded] == ["old exporter"]


def test_everything_is_as_before_afterwards(capsys):
    """Also when the framework raised."""

    def fail():
        with quiet_framework():
            raise ValueError("no")

    before = logging.root.manager.disable
    with pytest.raises(ValueError, match="no"):
        fail()
    sys.stdout.write("heard")
    assert capsys.readouterr().out == "heard"
    assert logging.root.manager.disable == before


class Listener(logging.Handler):
    """Keeps what it hears."""

    def __init__(self):
        super().__init__()
        self.heard = []

    def emit(self, record):
        """Keep it."""
        self.heard.append(record.getMessage())


def test_traces_of_compilers_reach_only_who_asked_torch_for_them(monkeypatch):
    """Planted fault: this logger ignores logging.disable, and pytest listens to it directly."""
    trace = logging.getLogger("torch.__trace")
    for name in ("level", "propagate", "handlers"):
        monkeypatch.setattr(trace, name, {"level": logging.DEBUG, "propagate": False, "handlers": []}[name])
    monkeypatch.setattr(trace, "isEnabledFor", lambda level: True, raising=False)
    stranger, own = Listener(), type("Own", (Listener,), {"__module__": "torch._logging"})()
    trace.addHandler(stranger)
    trace.addHandler(own)
    with quiet_framework():
        trace.debug("inside")
    trace.debug("outside")
    assert stranger.heard == ["outside"]
    assert own.heard == ["inside", "outside"]
