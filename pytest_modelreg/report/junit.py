"""A case as the properties of a JUnit test case."""

from __future__ import annotations

from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.report.table import printable

PROPERTY_PREFIX = "modelreg."


def junit_properties(result: CaseResult, *, environment: str, check: str = "") -> list[tuple[str, object]]:
    """Return the properties that JUnit readers see, all of them text.

    numpy scalars and other objects among a report's properties would break xdist.

    Parameters
    ----------
    environment : str
        Digest of the fingerprint; empty when nothing was observed.
    check : str
        Name of a Python test's check, put into the property's name.
    """
    prefix = f"{PROPERTY_PREFIX}{check}." if check else PROPERTY_PREFIX
    largest = max((measures.rel_l2 for measures in result.outputs.values()), default=None)
    found = {
        "verdict": result.verdict.value,
        "cause": result.causes[0].cause.value if result.causes else "",
        "rel_l2": "" if largest is None else repr(float(largest)),
        "environment": environment,
    }
    # A name that XML cannot hold would make the whole file unreadable.
    return [(printable(prefix + name), printable(value)) for name, value in found.items()]
