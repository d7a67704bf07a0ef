"""How far every module's answer is from the golden's, from what both sides kept of it."""

from __future__ import annotations

from pytest_modelreg.diagnose import TraceAt
from pytest_modelreg.diagnose.divergence import compare_calls
from pytest_modelreg.domain.errors import ModelRegError
from pytest_modelreg.domain.exhibit import ModuleError
from pytest_modelreg.engine.exhibits.both_sides import BothSides

_MOST = 240


def measure_module_errors(sides: BothSides) -> tuple[ModuleError, ...]:
    """Return the modules in the order in which they returned, each side on its own inputs.

    Of more than can be told apart in a plot, the worst of every few in a row. Empty where either side
    kept no trace of its modules.
    """
    then, now = sides.golden.observation.trace, sides.observation.trace
    if then is None or now is None:
        return ()
    try:
        calls = compare_calls(
            TraceAt(trace=then, folder=sides.golden_folder), TraceAt(trace=now, folder=sides.folder)
        )
    except ModelRegError:  # the verdict stands without it
        return ()
    step = -(-len(calls) // _MOST) or 1
    worst = [max(calls[at : at + step], key=lambda call: call[1]) for at in range(0, len(calls), step)]
    return tuple(ModuleError(module=module, rel_l2=error) for module, error in worst)
