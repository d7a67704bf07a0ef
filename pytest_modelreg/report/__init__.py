"""Rendering of results, for people and for machines; nothing here decides anything.

What belongs here: one module a form of output (terminal text, JSON document). A new
form is a new module that reads :class:`~pytest_modelreg.domain.result.CaseResult`.
"""

from pytest_modelreg.report.document import RunFacts, case_record, report_document
from pytest_modelreg.report.environment import (
    choose_fullest,
    compare_fingerprints,
    difference_record,
    fingerprint_record,
    read_fingerprint_record,
    render_difference,
    render_fingerprint,
)
from pytest_modelreg.report.junit import PROPERTY_PREFIX, junit_properties
from pytest_modelreg.report.markdown import render_markdown
from pytest_modelreg.report.precheck import render_precheck, render_precheck_markdown
from pytest_modelreg.report.rejudgement import rejudged_document, render_rejudged
from pytest_modelreg.report.report_file import write_report
from pytest_modelreg.report.strict_json import dump_json, seal_json
from pytest_modelreg.report.text import render_case

__all__ = [
    "PROPERTY_PREFIX",
    "RunFacts",
    "case_record",
    "choose_fullest",
    "compare_fingerprints",
    "difference_record",
    "dump_json",
    "fingerprint_record",
    "junit_properties",
    "read_fingerprint_record",
    "rejudged_document",
    "render_case",
    "render_difference",
    "render_fingerprint",
    "render_markdown",
    "render_rejudged",
    "render_precheck",
    "render_precheck_markdown",
    "report_document",
    "seal_json",
    "write_report",
]
