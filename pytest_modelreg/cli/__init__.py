"""The command ``modelreg``: arguments in, exit code out.

What belongs here: argv, questions on a terminal, exit codes; one module a command,
with ``add_arguments`` and ``run``. A new command is a module and a line in
:data:`~pytest_modelreg.cli.command.COMMANDS`. Nothing heavy is imported until a
command runs.
"""

from pytest_modelreg.cli.command import main

__all__ = ["main"]
