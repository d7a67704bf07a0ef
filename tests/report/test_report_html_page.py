"""The page as a whole: worst first, whole in itself, safe whatever the strings hold, and small."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pytest_modelreg
from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.domain.exhibit import CaseExhibit, Exhibits, SampleFace
from pytest_modelreg.domain.result import SampleMeasures
from pytest_modelreg.report.html import MAX_BYTES
from tests.report.html_page import make_cause, make_record, make_sample, read_page, render

PACKAGE = Path(pytest_modelreg.__file__).parent
HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)> {{ 7*7 }} &amp;"


def make_hostile(text):
    """A run in which every string is this one."""
    record = make_record(
        message=text,
        causes=[make_cause("unknown", text, why=text, more={text: [text]})],
        axes={"runtime": {"kind": text}, "checkpoint": text},
        environment_changes=[{"key": text, "expected": text, "actual": text}],
        structure=[{"output": text, "what": text, "expected": text, "actual": text}],
        notes=[text],
        samples=[make_sample(text, expected=text, actual=text)],
        drifted_samples=[text],
        outputs={text: {"dtype": text, "shape": [1], "rel_l2": 0.1}},
        checks=[
            {
                "name": text,
                "output": text,
                "tag": text,
                "value": 0.1,
                "limit": 0.2,
                "ok": False,
                "source": text,
            }
        ],
    )
    record |= {"id": f"{text}[{text}]", "suite": text, "variant": text}
    face = SampleFace(text=text, label=text, tags=(text,))
    exhibits = Exhibits(
        faces={text: {text: face}},
        cases={
            record["id"]: CaseExhibit(
                command=text,
                missing=text,
                measures=SampleMeasures(
                    ids=(text, f"{text}2"), failed=(True, False), rel_l2={text: (0.1, 0.0)}
                ),
            )
        },
    )
    return render(record, exhibits=exhibits, environment={text: text}, problems=[text])


def list_shape(element):
    """Tags and attribute names of a page, without any string of the run."""
    return [
        (each.tag, sorted(each.attributes))
        for each in element.find_all()
        if each.tag not in ("style", "script")
    ]


def test_page_opens_on_what_is_wrong_worst_first():
    """Errors, then drifts by size, then what waits; a match is last and folded."""
    page = read_page(
        render(
            make_record("fine", "match", 1e-7),
            make_record("small", "drift", 0.1),
            make_record("new", "missing"),
            make_record("large", "drift", 0.7),
            make_record("broken", "error"),
        )
    )
    wanted = [f"toy[{name}]" for name in ("broken", "large", "small", "new", "fine")]
    assert [row.find("th").text for row in page.find_all("tr", of="row")] == wanted
    assert [case.attributes["data-name"] for case in page.find_all("article")] == wanted
    folded = [case.find_all("details")[0] for case in page.find_all("article")]
    assert ["open" in case.attributes for case in folded] == [True, True, True, True, False]
    assert page.find("h1").text == "2 drift, 1 missing, 1 error of 5 cases"


def test_case_tells_cause_checks_and_environment():
    """What a reader wants to know first stands in the table, the evidence in the case."""
    record = make_record(
        causes=[make_cause(residual_before=0.25)],
        environment_changes=[{"key": "torch.version", "expected": "2.13.0", "actual": None}],
        inputs_identical=False,
    )
    page = read_page(render(record))
    assert page.find("h1").text == "1 of 1 case drifts"
    assert "preprocess.interpolation nearest instead of bicubic" in page.find("tr", of="row").text
    assert "preprocess.interpolation in 1 case" in page.find("p", of="lede").text
    assert "torch.version 2.13.0 none 1" in " ".join(
        cell.text
        for row in page.find_all("table")[1].find_all("tr")
        for cell in row.children
        if not isinstance(cell, str)
    )
    case = page.find("article").text
    for told in (
        "98 % sure",
        "residual_before: 0.25",
        "fed other inputs",
        "1e-05",
        "dtype default",
        "cat 0.9",
    ):
        assert told in case


def test_samples_are_listed_worst_first_and_the_rest_as_tiles():
    """The record details the worst; measures of the run folder know all others."""
    measures = SampleMeasures(
        ids=("s0", "s1", "s2"),
        failed=(False, True, True),
        rel_l2={"a": (0.0, 0.5, 0.2), "b": (0.1, 0.1, 0.3)},
    )
    page = read_page(
        render(make_record(), exhibits=Exhibits(cases={"toy[reference]": CaseExhibit(measures=measures)}))
    )
    assert [card.find("h5").text for card in page.find_all("li", of="card")] == ["s1"]
    assert [tile.text for tile in page.find_all("li", of="tile")] == ["s2 0.3", "s0 0.1"]


def test_what_is_expected_to_fail_alarms_nobody():
    """It stands behind and says so."""
    page = read_page(render(make_record("known"), make_record("fine", "match", 0.0), expected=["toy[known]"]))
    assert page.find("h1").text == "The case behaves as recorded, 1 expected to fail"
    assert "calm" in page.find("header").attributes["class"]
    assert [row.find("th").text for row in page.find_all("tr", of="row")] == ["toy[fine]", "toy[known]"]


@pytest.mark.parametrize(
    ("records", "headline"),
    [
        ((), "Nothing was compared"),
        ((make_record(verdict="recorded"),), "Nothing was compared"),
        ((make_record(verdict="match"), make_record("b", "match")), "All 2 cases behave as recorded"),
    ],
)
def test_headline_says_what_was_compared(records, headline):
    """A run that compared nothing does not read as a clean one."""
    assert read_page(render(*records)).find("h1").text == headline


def test_partial_run_and_problems_are_told():
    """An absent case proves nothing."""
    section = (
        read_page(render(partial=True, problems=["no case was run"])).find("section", of="problems").text
    )
    assert "no case was run" in section
    assert "partial run" in section


def test_hostile_strings_are_text_wherever_they_stand():
    """One script, ours; no handler; and the string itself is there to be read."""
    text = make_hostile(HOSTILE)
    page = read_page(text)
    assert len(page.find_all("script")) == 1
    assert page.find_all("img") == []
    assert not [name for each in page.find_all() for name in each.attributes if name.startswith("on")]
    assert page.find_all("h5")[0].text == " ".join(HOSTILE.split())
    assert list_shape(page) == list_shape(read_page(make_hostile("plain")))
    assert "49" not in page.find("h3").text


@settings(deadline=None, max_examples=25)
@given(st.text(st.characters(exclude_categories=(), exclude_characters="\n"), min_size=1, max_size=30))
def test_no_string_changes_the_page_around_it(text):
    """Whatever it is: markup, quotes, control characters, halves of characters."""
    page = make_hostile(text)
    page.encode("utf-8", errors="backslashreplace")
    assert list_shape(read_page(page)) == list_shape(read_page(make_hostile("plain")))


def test_characters_that_reorder_text_are_written_as_escapes():
    """A name must not make what stands beside it read otherwise."""
    text = render(make_record(message="a\u202eb\x1b[31m"))
    assert "a\\u202eb\\x1b[31m" in text
    assert "\u202e" not in text


def test_nothing_is_loaded_from_anywhere():
    """E6 and E2: what the page names is inside of it."""
    page = read_page(render(make_record(), make_record("b", "match")))
    ids = {each.attributes["id"] for each in page.find_all() if "id" in each.attributes}
    for element in page.find_all():
        for name, value in element.attributes.items():
            assert "http:" not in value
            assert "https:" not in value
            assert not re.search(r"(^|[^-])\burl\(", value)
            if name in ("src", "href", "action", "data", "poster", "srcset"):
                assert value.startswith("data:") or value[1:] in ids
    assert "@import" not in page.find("style").text
    assert "url(" not in page.find("style").text


def test_policy_allows_exactly_this_style_and_script():
    """What somebody got into the page all the same is neither run nor loaded."""
    page = read_page(render(make_record()))
    policy = page.find("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    assert policy.startswith("default-src 'none'; img-src data:; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        text = "".join(page.find(tag).children)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not [each for each in page.find_all() if "style" in each.attributes]


def test_whole_page_is_reached_by_keyboard_and_told_to_a_screen_reader():
    """Landmarks, headings without a gap, buttons that say their state, a count that is announced."""
    page = read_page(render(make_record(), make_record("b", "match")))
    assert page.find("html").attributes["lang"] == "en"
    for landmark in ("header", "main", "footer"):
        page.find(landmark)
    levels = [int(each.tag[1]) for each in page.find_all() if re.fullmatch(r"h[1-6]", each.tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert all(
        chip.tag == "button" and "aria-pressed" in chip.attributes for chip in page.find_all(of="chip")
    )
    assert page.find(id="filter-count").attributes["aria-live"] == "polite"
    for drawing in page.find_all("svg"):
        assert (
            drawing.attributes.get("role") == "img"
            or "aria-hidden" in drawing.attributes
            or drawing.attributes.get("preserveaspectratio")
        )
    ids = [each.attributes["id"] for each in page.find_all() if "id" in each.attributes]
    assert len(ids) == len(set(ids))


def test_page_of_very_many_cases_stays_small_and_says_what_is_left_out():
    """Ten thousand cases with long messages: the worst are there."""
    records = [
        make_record(f"v{number}", "drift", number + 1.0, message="m" * 5000) for number in range(10_000)
    ]
    text = render(*records)
    assert len(text.encode()) <= MAX_BYTES
    page = read_page(text)
    assert page.find_all("tr", of="row")[0].find("th").text == "toy[v9999]"
    assert "more cases; the JSON report has them all" in page.find("main").text


def test_of_many_cases_the_first_are_unfolded():
    """A reader picks the others from the table."""
    page = read_page(render(*(make_record(f"v{number}") for number in range(12))))
    folded = [case.find_all("details")[0] for case in page.find_all("article")]
    assert ["open" in case.attributes for case in folded] == [True] * 8 + [False] * 4


def test_templates_are_packaged():
    """They are no modules: what pyproject.toml does not name is in no wheel."""
    settings = (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8")
    (line,) = (line for line in settings.splitlines() if line.startswith("pytest_modelreg = ["))
    packaged = {file for pattern in re.findall(r'"(.+?)"', line) for file in PACKAGE.glob(pattern)}
    beside = {file for file in PACKAGE.rglob("*") if file.is_file() and "__pycache__" not in file.parts}
    assert {file for file in beside if file.suffix not in (".py", ".pyc")} <= packaged


def test_absent_jinja2_is_named_with_the_command_that_installs_it(monkeypatch):
    """It is an extra: a run that writes no page needs none."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(UsageFault, match=r"pip install 'pytest-modelreg\[html\]'"):
        render(make_record())
