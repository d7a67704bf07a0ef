"""Dispatch: which command there is, and what its errors mean as exit codes."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from enum import IntEnum

from pytest_modelreg import __version__
from pytest_modelreg.domain.errors import FaultsError, ModelRegError, UsageFault
from pytest_modelreg.domain.nearest import suggest


class Exit(IntEnum):
    """Exit codes of every command."""

    OK = 0
    DIFFERS = 1
    USAGE = 2
    COULD_NOT_RUN = 3


COMMANDS = {
    "bisect": "find the first commit, or the first version of a package, with which a case drifts",
    "calibrate": "measure the noise floor of a suite's model, and propose limits",
    "env": "print what is recorded of the environment, or what two records of it differ in",
    "explain": "show why cases of a run drifted, with all evidence",
    "init": "write a suite for a model, pin its samples and record its golden",
    "pin": "write samples.csv for a folder, or verify it",
    "log": "show when and why goldens were accepted",
    "merge": "make one run of the runs of all shards, complete or not at all",
    "precheck": "compare preprocessed samples with the goldens, before a change to the pipeline is merged",
    "prune": "list goldens that no case has any more, and remove them",
    "regen": "record goldens, or replace those whose behaviour changed",
    "rejudge": "judge what a run observed with other limits, without running the model",
    "report": "write a run as one HTML file that opens on what is wrong, with samples and plots",
    "review": "accept or reject what a run observed, case by case, without running the model",
    "schema": "print the JSON Schema of modelreg.yaml, for editors",
    "verify": "check that goldens and sample sets are whole, without running a model",
}
"""Command name to what it does; the module of that name holds it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; ``sys.argv`` when None.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_overview())
        return Exit.OK if arguments else Exit.USAGE
    if arguments[0] == "--version":
        print(f"modelreg {__version__}")
        return Exit.OK
    name = arguments[0]
    if name not in COMMANDS:
        got = f"got {name}{suggest(name, COMMANDS)}"
        print(f"modelreg: expected a command of {', '.join(COMMANDS)}, {got}", file=sys.stderr)
        return Exit.USAGE
    module = importlib.import_module(f"pytest_modelreg.cli.{name}")
    parser = argparse.ArgumentParser(prog=f"modelreg {name}", description=COMMANDS[name], allow_abbrev=False)
    module.add_arguments(parser)
    namespace = parser.parse_intermixed_args(arguments[1:])
    try:
        return int(module.run(namespace))
    except (UsageFault, FaultsError) as error:
        print(f"modelreg {name}: {error}", file=sys.stderr)
        return Exit.USAGE
    except ModelRegError as error:
        print(f"modelreg {name}: {error}", file=sys.stderr)
        return Exit.COULD_NOT_RUN
    except KeyboardInterrupt:
        print(f"modelreg {name}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has left (`| head`); the interpreter must not complain at exit.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - lives until the process ends
        return Exit.OK


def _overview() -> str:
    width = max(map(len, COMMANDS))
    listing = "\n".join(f"  {name.ljust(width)}  {what}" for name, what in COMMANDS.items())
    return (
        "usage: modelreg COMMAND [...]\n\n"
        "Model-behaviour regression testing: pin samples, record goldens, find drift.\n\n"
        f"{listing}\n\n"
        "`modelreg COMMAND --help` explains one. Compare with `pytest --modelreg`.\n"
        "exit: 0 nothing differs or recorded, 1 behaviour differs or waits for review,\n"
        "2 bad usage or configuration, 3 a case could not run"
    )
