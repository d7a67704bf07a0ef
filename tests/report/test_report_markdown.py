"""The summary for a pull request: worst first, bounded, and safe whatever the strings hold."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pytest_modelreg.report import RunFacts, render_markdown, report_document
from pytest_modelreg.report.markdown import MAX_BYTES
from pytest_modelreg.report.markdown.text import code, code_block, html_code, prose, table

NASTY = "a|b `c` <script>x</script> @octocat #12 [l](http://x) ![i](y) \\\\| \x1b[31m\u202e*b* __c__ $x$"
NASTY += "\r\n# h\n---"


def make_record(name="reference", verdict="drift", rel_l2=0.5, **fields):
    """A record of the JSON report."""
    ran = verdict in ("drift", "stale", "match")
    return {
        "id": f"toy[{name}]",
        "suite": "toy",
        "variant": name,
        "axes": {},
        "verdict": verdict,
        "message": f"about {name}",
        "outputs": {"logits": {"rel_l2": rel_l2}} if ran else {},
        "checks": [
            {
                "name": "rel_l2",
                "output": "logits",
                "tag": None,
                "value": rel_l2,
                "limit": 1e-5,
                "ok": verdict == "match",
                "source": "dtype default",
            }
        ]
        if ran
        else [],
        "n_samples": 3,
        "drifted_samples": ["s1"] if verdict == "drift" else [],
        "samples": [
            {
                "id": "s1",
                "ok": verdict == "match",
                "rel_l2": rel_l2,
                "expected": "cat 0.9",
                "actual": "dog 0.8",
                "near_tie": False,
            }
        ]
        if ran
        else [],
        "inputs_identical": True,
        "causes": [],
        "environment_changes": [],
        "duration_s": 0.1,
        **fields,
    }


def render(*records, partial=False, commands=None, notes=None, problems=(), expected=()):
    """The summary of a run with these records."""
    run = RunFacts(id="1", started="2026", duration_s=1.0, git_commit="abc", git_dirty=False, partial=partial)
    document = report_document(run, {}, records)
    return render_markdown(
        document, commands=commands or {}, notes=notes or {}, problems=problems, expected=expected
    )


def rows_of(text):
    """Cells of the first table, without its header; escaped pipes do not part cells."""
    lines = [line for line in text.split("\n\n")[2].splitlines() if line.startswith("|")]
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[2:]]


def test_matches_are_only_counted():
    """A reviewer is not sent through what agrees."""
    text = render(make_record("a", "match"), make_record("b", "drift"))
    assert "## modelreg: 1 match, 1 drift" in text
    assert "toy[a]" not in text
    assert "`toy[b]`" in text


def test_cases_are_listed_worst_first():
    """What could not run, then drifts by size, then what waits; a non-finite drift is the largest."""
    infinite = make_record("nan", "drift", rel_l2=None)
    infinite["outputs"]["logits"]["rel_l2_reason"] = "inf"
    infinite["samples"][0]["rel_l2_reason"] = infinite["checks"][0]["value_reason"] = "inf"
    text = render(
        make_record("missing", "missing"),
        make_record("small", "drift", 0.1),
        make_record("stale", "stale"),
        infinite,
        make_record("error", "error"),
        make_record("big", "drift", 0.9),
    )
    cases = [row[0].strip(" `") for row in rows_of(text)]
    assert cases == [f"toy[{name}]" for name in ("error", "nan", "big", "small", "stale", "missing")]


def test_row_shows_the_worst_sample_both_ways():
    """Which sample, what it was, what it is."""
    (row,) = rows_of(render(make_record()))
    assert [cell.strip() for cell in row[3:]] == ["0.5", "`s1`", "`cat 0.9` → `dog 0.8`"]


def test_recorded_is_listed_apart():
    """Nothing was compared, so it is neither among the matches nor among what differs."""
    text = render(
        make_record("new", "recorded", message="recorded from 6 samples"), make_record("a", "match")
    )
    assert "## modelreg: 1 match; 1 recorded, not compared" in text
    assert "- `toy[new]`: recorded from 6 samples" in text
    assert "| `toy[new]`" not in text


def test_environment_change_of_several_cases_is_shown_once():
    """Each fact once, with the number of cases it concerns."""
    change = [{"key": "torch.version", "expected": "2.13.0", "actual": None}]
    text = render(make_record("a", environment_changes=change), make_record("b", environment_changes=change))
    assert text.count("torch.version") == 1
    assert "| `torch.version` | `2.13.0` | `none` | 2 |" in text


def test_command_is_there_as_typed():
    """What accepts the change can be copied."""
    command = "modelreg regen 'toy[reference]' --reason \"why it changed\""
    assert f"\n{command}\n" in render(make_record(), commands={"toy[reference]": command})


def test_details_are_folded():
    """Checks, samples and notes open on demand."""
    text = render(make_record(), notes={"toy[reference]": ["weights differ"]})
    folded = text[text.index("<details>") : text.index("</details>")]
    for what in ("`rel_l2`", "1 of 3 samples drift", "note: weights differ"):
        assert what in folded


def test_partial_run_and_problems_of_the_whole_are_said():
    """A summary of some cases, or of none, must not read as a clean one."""
    text = render(partial=True, problems=["no case was run"])
    assert "nothing was compared" in text
    assert "partial run" in text
    assert "- problem: no case was run" in text


@pytest.mark.parametrize("n_cases", [1, 400])
def test_size_is_capped_and_what_is_left_out_is_said(n_cases):
    """GitHub refuses longer comments; a cut that is not said would read as whole."""
    records = [make_record(f"v{index}", message="@é|" * 300) for index in range(n_cases)]
    commands = {record["id"]: f"modelreg regen '{record['id']}'" for record in records}
    text = render(*records, commands=commands)
    assert len(text.encode()) <= MAX_BYTES
    assert ("Left out to stay below 60 KB" in text) == (n_cases > 1)
    if n_cases > 1:
        shown = len(rows_of(text))
        assert f"{n_cases - shown} x row" in text
        assert f"{n_cases - text.count('<details>')} x details of a case" in text


def test_every_string_of_a_record_is_made_safe():
    """A label or an exception must neither break the table, nor notify, nor run, nor steer a terminal."""
    record = make_record(
        NASTY,
        message=NASTY,
        drifted_samples=[NASTY],
        environment_changes=[{"key": NASTY, "expected": NASTY, "actual": NASTY}],
        causes=[{"cause": "unknown", "confidence": 1.0, "summary": NASTY, "evidence": {}}],
    )
    record["samples"][0].update(id=NASTY, expected=NASTY, actual=NASTY)
    record["checks"][0].update(name=NASTY, output=NASTY, source=NASTY, tag=NASTY)
    text = render(record, notes={record["id"]: [NASTY]}, problems=[NASTY])
    (row,) = rows_of(text)
    assert len(row) == 6
    assert "\x1b" not in text
    assert "\u202e" not in text
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", re.sub(r"```\n.*?\n```", "", text, flags=re.DOTALL))
    outside = re.sub(r"<code>.*?</code>", "", outside)
    assert "<script" not in outside
    assert "@octocat" not in outside
    assert "#12" not in outside
    assert "http://" not in outside
    assert not re.search(r"^(# h|---)", outside, flags=re.MULTILINE)


def test_command_with_a_fence_does_not_end_its_block():
    """A fence is longer than any in what it holds."""
    assert code_block(["a", "````", "b"])[0] == "`````"
    assert code_block(["a\nb"])[1] == "a\\nb"


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab1 |`\\<>&@#*_[]()!~$:/.\n\r\t-+=é\u202e"), max_size=40))
def test_table_keeps_its_cells_whatever_they_hold(text):
    """Read by an independent parser: one row, two cells, no element but text and code, the code unchanged."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    lines = table(["a", "b"], [["x " + prose(text), "y" + code(text, in_table=True)]])
    tokens = parser.parse("\n".join(lines))
    cells = [tokens[index + 1] for index, token in enumerate(tokens) if token.type == "td_open"]
    assert len(cells) == 2
    assert [token.type for token in tokens].count("tr_open") == 2
    assert {child.type for child in cells[0].children} <= {"text", "text_special"}
    shown = "".join(child.content for child in cells[0].children).replace("\u200b", "")
    flat = " ".join(text.split()).replace("\u202e", "\\u202e")
    assert shown == f"x {flat}".rstrip()
    assert [child.content for child in cells[1].children if child.type == "code_inline"] == [flat] * bool(
        flat
    )


def test_html_code_is_escaped():
    """A summary's title is a block of HTML, where backticks mean nothing."""
    assert html_code("<b>&\n") == "<code>&lt;b&gt;&amp;</code>"


def test_note_of_several_cases_is_one_line():
    """Nine variants on another machine are one difference."""
    names = "abcde"
    note = "environment differs from the golden's: numpy.version 1 -> 2"
    text = render(
        *(make_record(name, "match") for name in names),
        make_record("f", "drift"),
        notes={f"toy[{name}]": [note] for name in names} | {"toy[f]": [note, "weights differ"]},
    )
    assert text.count("environment differs from") == 1
    assert r"- 6 cases (toy\[a\], toy\[b\], toy\[c\], ...): environment differs" in text
    assert text.count("weights differ") == 1
    assert text.index("weights differ") > text.index("<details>")


def test_expected_failures_are_apart():
    """Neither among the failures, nor with a command, nor counted with them."""
    text = render(
        make_record("a", "match"),
        make_record("known"),
        commands={"toy[known]": "modelreg regen known"},
        expected=["toy[known]"],
    )
    assert "## modelreg: 1 match; 1 expected to fail" in text
    assert "- `toy[known]`: drift: about known" in text
    for what in ("| `toy[known]`", "<details>", "regen known"):
        assert what not in text


def test_error_is_not_said_twice():
    """Details that say what the row says are none; longer ones stay."""
    assert "<details>" not in render(make_record("a", "error", message="it raised"))
    for message in ("it raised\nat line 4", "it raised " + "x" * 300):
        assert "<details>" in render(make_record("a", "error", message=message))


def test_other_inputs_are_seen_in_the_row():
    """A case that saw other inputs is no story of the model."""
    for identical, lead in ((False, "inputs differ; about"), (True, "about"), (None, "about")):
        (row,) = rows_of(render(make_record(inputs_identical=identical)))
        assert row[2].strip() == f"{lead} reference"
