"""Annotations and the step's summary: read back as GitHub's runner reads them, whatever the strings hold."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.report.github import (
    MAX_ANNOTATIONS,
    Annotation,
    SourceLine,
    annotate_run,
    append_step_summary,
    find_in_workspace,
    is_github_job,
    render_annotations,
)
from pytest_modelreg.report.github.annotation import escape_data, escape_property
from pytest_modelreg.report.github.job import MAX_SUMMARY_BYTES

NASTY = "a%0A::error::x\r\nline=9,file=/etc/passwd: 50 %\x1b[31m\u202e::stop-commands::t"


def read_back(line):
    """Return level, properties and message of a workflow command, as the runner parses it."""
    assert line.startswith("::")
    head, _, data = line[2:].partition("::")
    level, _, given = head.partition(" ")
    properties = dict(entry.split("=", 1) for entry in given.split(",")) if given else {}

    def unescape(text):
        for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            text = text.replace(code, char)
        return text

    return level, {key: unescape(value) for key, value in properties.items()}, unescape(data)


def make_record(name, verdict, rel_l2=0.5, message="about it"):
    """A record of the JSON report, as far as annotations look at it."""
    outputs = {"logits": {"rel_l2": rel_l2}} if verdict in ("drift", "match", "stale") else {}
    return {"id": f"toy[{name}]", "verdict": verdict, "message": message, "outputs": outputs}


@pytest.mark.parametrize(
    ("text", "escaped"),
    [("100 %", "100 %25"), ("a\nb", "a%0Ab"), ("a\r\nb", "a%0D%0Ab"), ("%0A", "%250A"), ("a:b,c", "a:b,c")],
)
def test_message_is_escaped_as_the_toolkit_does(text, escaped):
    """%, CR and LF, and % first: its own escapes must not be read as ones."""
    assert escape_data(text) == escaped


def test_property_is_escaped_further():
    """A comma would begin the next property, a colon may end them."""
    assert escape_property("a:b,c%") == "a%3Ab%2Cc%25"


@given(st.text(), st.text(), st.text())
def test_any_strings_stay_one_command(message, title, file):
    """One line without control characters, read back as one command with nothing but what was given."""
    line = Annotation(level="error", message=message, title=title, file=file, line=3).render()
    assert not [char for char in line if unicodedata.category(char)[0] == "C"]
    level, properties, _ = read_back(line)
    assert level == "error"
    assert set(properties) <= {"file", "line", "title"}
    assert properties.get("line") == ("3" if file else None)


def test_hostile_strings_are_told_not_obeyed():
    """What looks like a command stays in the message, the lines of which survive."""
    record = make_record("x,line=1::\n::error::pwned", "drift", message=NASTY)
    place = SourceLine(file="a,b:c/modelreg.yaml", line=7)
    (line,) = render_annotations(annotate_run([record], places={record["id"]: place}, commands={}))
    level, properties, message = read_back(line)
    assert level == "error"
    assert properties["file"] == "a,b:c/modelreg.yaml"
    assert properties["line"] == "7"
    assert properties["title"] == "toy[x,line=1:: ::error::pwned]: drift"
    assert message == "a%0A::error::x\nline=9,file=/etc/passwd: 50 %\\x1b[31m\\u202e::stop-commands::t"


def test_case_carries_what_accepts_it():
    """One command, on a line of its own."""
    (found,) = annotate_run([make_record("v", "drift")], places={}, commands={"toy[v]": "modelreg regen"})
    assert found.message == "about it\nif this is intended: modelreg regen"
    assert (found.file, found.line) == ("", None)


@pytest.mark.parametrize("verdict", ["match", "recorded", "skipped"])
def test_cases_that_pass_or_were_left_out_are_not_annotated(verdict):
    """They are in the summary; a note at every run is noise."""
    assert annotate_run([make_record("v", verdict)], places={}, commands={}) == []


@pytest.mark.parametrize("verdict", ["drift", "stale", "missing", "error"])
def test_case_that_does_not_pass_is_an_error(verdict):
    """Unless its test said so beforehand."""
    record = make_record("v", verdict)
    assert [each.level for each in annotate_run([record], places={}, commands={})] == ["error"]
    assert annotate_run([record], places={}, commands={}, expected=["toy[v]"]) == []


def test_problems_are_errors_and_warnings_are_warnings():
    """What is wrong with the run as a whole, and what is worth a look."""
    found = annotate_run([], places={}, commands={}, problems=["lost"], warnings=["orphan"])
    assert [(each.level, each.message) for each in found] == [("error", "lost"), ("warning", "orphan")]


def test_annotations_are_capped_a_level_and_say_so():
    """GitHub drops the eleventh without a word; the worst come first."""
    records = [make_record(f"v{index}", "drift", rel_l2=index) for index in range(MAX_ANNOTATIONS + 1)]
    found = annotate_run(records, places={}, commands={}, warnings=["w"] * MAX_ANNOTATIONS)
    lines = [read_back(line) for line in render_annotations(found)]
    errors = [line for line in lines if line[0] == "error"]
    assert len(errors) == MAX_ANNOTATIONS
    assert errors[0][1]["title"] == "toy[v10]: drift"
    assert errors[-1][2] == "2 more, in the step's summary"
    assert [line[2] for line in lines if line[0] == "warning"] == ["w"] * MAX_ANNOTATIONS


def test_long_message_is_cut():
    """A traceback belongs in the log."""
    assert len(Annotation(level="error", message="x" * 5000, title="t" * 5000).render()) < 1300


@pytest.mark.parametrize(("value", "is_one"), [("true", True), ("false", False), ("", False), (None, False)])
def test_job_is_known_by_its_variable(value, is_one):
    """As the runner sets it."""
    assert is_github_job({} if value is None else {"GITHUB_ACTIONS": value}) is is_one


@pytest.fixture
def job(tmp_path):
    """A step's environment, its summary not yet begun."""
    return {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}


@pytest.mark.parametrize(
    ("before", "after"),
    [(None, "## x\n"), ("", "## x\n"), ("old\n", "old\n\n## x\n"), ("old", "old\n\n## x\n")],
)
def test_summary_is_appended_behind_what_is_there(job, tmp_path, before, after):
    """A heading that sticks to another tool's last line would be none."""
    path = tmp_path / "summary.md"
    if before is not None:
        path.write_text(before, encoding="utf-8")
    assert append_step_summary("## x\n", job) is None
    assert path.read_text(encoding="utf-8") == after


@pytest.mark.parametrize("change", [{"GITHUB_ACTIONS": ""}, {"GITHUB_STEP_SUMMARY": ""}])
def test_nothing_is_written_outside_of_a_step(job, tmp_path, change):
    """Neither where there is no job nor where it names no file."""
    assert append_step_summary("x", job | change) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("room", "fits"), [(3, True), (2, False)])
def test_summary_stays_below_githubs_limit(job, tmp_path, room, fits):
    """One byte more, and GitHub shows nothing of the whole step."""
    path = tmp_path / "summary.md"
    path.write_bytes(b"o" * (MAX_SUMMARY_BYTES - room - 1) + b"\n")
    problem = append_step_summary("x", job)
    if fits:
        assert problem is None
        assert path.stat().st_size == MAX_SUMMARY_BYTES
    else:
        assert problem is not None
        assert "expected at most 1048576 bytes" in problem
        assert path.stat().st_size == MAX_SUMMARY_BYTES - room


def test_summary_that_cannot_be_written_is_told(job, tmp_path):
    """As text, with the variable and its value: the run must not fail by it."""
    (tmp_path / "summary.md").mkdir()
    problem = append_step_summary("x", job)
    assert problem is not None
    assert f"GITHUB_STEP_SUMMARY={tmp_path / 'summary.md'}" in problem


def test_lone_surrogate_is_written_as_its_escape(job, tmp_path):
    """A file name that has no UTF-8."""
    assert append_step_summary("s\udcff", job) is None
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == "s\\udcff\n"


def test_files_are_named_from_the_root_of_the_repository(tmp_path):
    """With forward slashes; outside of it, and without a workspace, not at all."""
    environ = {"GITHUB_WORKSPACE": str(tmp_path / "repo")}
    assert find_in_workspace(tmp_path / "repo/a/../b/m.yaml", environ) == "b/m.yaml"
    assert find_in_workspace(tmp_path / "other/m.yaml", environ) == ""
    assert find_in_workspace(tmp_path / "repo/m.yaml", {}) == ""


def test_workspace_behind_a_link_is_the_same_one(tmp_path):
    """Runners reach their folder by more than one path."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    assert (
        find_in_workspace(tmp_path / "real/m.yaml", {"GITHUB_WORKSPACE": str(tmp_path / "link")}) == "m.yaml"
    )
