"""Rendering of results, for people and for machines; nothing here decides anything.

What belongs here: one module a form of output (terminal text, JSON document). A new
form is a new module that reads :class:`~pytest_modelreg.domain.result.CaseResult`.
"""

from pytest_modelreg.report.document import RunFacts, case_record, fingerprint_record, report_document
from pytest_modelreg.report.junit import junit_properties
from pytest_modelreg.report.strict_json import dump_json
from pytest_modelreg.report.text import render_case

__all__ = [
    "RunFacts",
    "case_record",
    "dump_json",
    "fingerprint_record",
    "junit_properties",
    "render_case",
    "report_document",
]
