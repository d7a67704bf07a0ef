"""The page in a real browser: it opens from disk, asks for nothing, and is used by hand and by key."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from pytest_modelreg.domain.exhibit import Bar, CaseExhibit, ClassBars, Exhibits, Picture, SampleFace
from pytest_modelreg.domain.result import SampleMeasures
from tests.report.chromium import Chromium
from tests.report.html_page import make_cause, make_record, make_sample, render

pytestmark = pytest.mark.full

HOSTILE = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 2'>"

LEAST_CONTRAST = """
(() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = (rgb) => {
    const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = rgb.map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  let least = [99, ""];
  for (const element of document.querySelectorAll("body *")) {
    const has = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.data.trim());
    if (!has || element.closest("svg") || !element.getClientRects().length) continue;
    const [ink, sheet] = [parse(getComputedStyle(element).color).slice(0, 3), ground(element)].map(light);
    const contrast = (Math.max(ink, sheet) + 0.05) / (Math.min(ink, sheet) + 0.05);
    if (contrast < least[0]) least = [contrast, element.className + ": " + element.textContent.slice(0, 40)];
  }
  return least;
})()
"""
"""Smallest contrast between a text and what it stands on, by the formula of WCAG 2, and where it is."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """One browser for all tests; every test opens its page anew."""
    chromium = Chromium(tmp_path_factory.mktemp("profile"))
    yield chromium
    chromium.close()


@pytest.fixture
def page(browser, tmp_path):
    """A page of four cases with photos, tags and hostile names, open from disk."""
    levels = np.random.default_rng(0).integers(0, 255, (60, 80, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(levels).save(stream, "JPEG")
    photo = Picture(data=stream.getvalue(), media_type="image/jpeg", width=80, height=60)
    faces = {
        "s1": SampleFace(picture=photo, tags=("night",)),
        "s2": SampleFace(picture=photo, tags=("night", "small")),
        HOSTILE: SampleFace(text=HOSTILE, label=HOSTILE),
    }
    samples = [make_sample("s1"), make_sample(HOSTILE, rel_l2=0.3), make_sample("s2", rel_l2=0.2)]
    bars = ClassBars(output="logits", bars=(Bar(label="cat", expected=0.8, actual=0.2),))
    shown = CaseExhibit(
        panels={"s1": (bars,)},
        measures=SampleMeasures(
            ids=("s1", "s2", "s3"), failed=(True, True, False), rel_l2={"y": (0.5, 0.2, 0.0)}
        ),
        command="modelreg regen 'toy[reference]' --reason \"why it changed\"",
    )
    text = render(
        make_record(
            "reference",
            samples=samples,
            causes=[make_cause(why=HOSTILE)],
            environment_changes=[{"key": "torch.version", "expected": "2.13", "actual": HOSTILE}],
        ),
        make_record("onnx", rel_l2=0.01, samples=[make_sample("s2", rel_l2=0.01)], notes=["a note"]),
        make_record("fine", "match", 1e-7),
        make_record("broken", "error", message=HOSTILE),
        exhibits=Exhibits(faces={"toy": faces}, cases={"toy[reference]": shown}),
        environment={"torch.version": "2.14"},
        partial=True,
    )
    target = tmp_path / "report.html"
    target.write_text(text, encoding="utf-8")
    browser.requested.clear()
    browser.complaints.clear()
    browser.ask("Emulation.setEmulatedMedia", media="screen", features=[])
    browser.ask(
        "Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False
    )
    browser.open(target)
    browser.wait("!document.querySelector('.filters').hidden")
    return target


def shown_cases(browser):
    """Return the ids of the cases that are seen."""
    return browser.run(
        "Array.from(document.querySelectorAll('.case')).filter((each) => each.getClientRects().length)"
        ".map((each) => each.dataset.name)"
    )


def count(browser):
    """Return what is announced of the filters."""
    return browser.run("document.getElementById('filter-count').textContent")


def test_it_opens_from_disk_without_complaint_and_asks_for_nothing(browser, page):
    """E6: only the file itself is read; pictures that are inside are decoded."""
    assert [each for each in browser.requested if not each.startswith("data:")] == [page.absolute().as_uri()]
    assert browser.complaints == []
    assert browser.run("document.querySelector('svg.face use').getBoundingClientRect().width") > 20
    assert shown_cases(browser)[0] == "toy[broken]"


def test_hostile_names_run_nothing(browser, page):
    """Not even after everything was unfolded."""
    browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert browser.run("typeof window.hurt") == "undefined"
    assert browser.run("document.scripts.length") == 1
    assert browser.run("document.images.length") == 0


def test_script_that_got_in_all_the_same_is_not_run(browser, page):
    """Planted fault: the policy refuses what is not ours, and says so on the console."""
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("</main>", "<script>window.hurt = 3</script></main>"), encoding="utf-8")
    browser.open(page)
    assert browser.run("typeof window.hurt") == "undefined"
    assert any("Content Security Policy" in each for each in browser.complaints)


def test_verdicts_are_chosen_by_click(browser, page):
    """What is chosen is shown, pressed twice all is; the count says it."""
    assert count(browser) == "Showing 4 of 4 cases, 5 of 5 samples."
    browser.click(".chip[data-verdict=drift]")
    assert shown_cases(browser) == ["toy[reference]", "toy[onnx]"]
    assert count(browser) == "Showing 2 of 4 cases, 5 of 5 samples."
    assert (
        browser.run("document.querySelector('.chip[data-verdict=drift]').getAttribute('aria-pressed')")
        == "true"
    )
    browser.click(".chip[data-verdict=match]")
    assert len(shown_cases(browser)) == 3
    browser.click(".chip[data-verdict=drift]")
    browser.click(".chip[data-verdict=match]")
    assert len(shown_cases(browser)) == 4


def test_filters_are_reached_and_used_by_keyboard(browser, page):
    """Tab to the first verdict, space; tab on to the case, type; tab to the tag, choose."""
    browser.press("Tab", 9)
    assert browser.run("document.activeElement.className") == "skip"
    browser.press("Tab", 9)
    assert browser.run("document.activeElement.dataset.verdict") == "error"
    assert browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press(" ", 32, " ")
    assert shown_cases(browser) == ["toy[broken]"]
    browser.press(" ", 32, " ")
    for _ in range(3):
        browser.press("Tab", 9)
    assert browser.run("document.activeElement.id") == "filter-case"
    browser.type("ONNX")
    assert shown_cases(browser) == ["toy[onnx]"]
    browser.run("document.getElementById('filter-case').value = ''")
    browser.press("Tab", 9)
    assert browser.run("document.activeElement.id") == "filter-tag"
    browser.press("ArrowDown", 40)
    browser.press("ArrowDown", 40)
    assert browser.run("document.activeElement.selectedOptions[0].text") == "small"
    assert count(browser) == "Showing 2 of 4 cases, 2 of 5 samples."
    browser.press("Tab", 9)
    browser.press("Enter", 13, "\r")
    browser.wait(
        "document.getElementById('filter-count').textContent === 'Showing 4 of 4 cases, 5 of 5 samples.'"
    )


def test_nothing_that_fits_is_said(browser, page):
    """An empty page would look broken."""
    browser.run("document.getElementById('filter-case').focus()")
    browser.type("no such case")
    assert shown_cases(browser) == []
    assert browser.run("document.querySelector('.nothing').getClientRects().length") == 1


def test_link_to_a_case_unfolds_it(browser, page):
    """A match is folded until somebody asks for it."""
    is_open = "document.querySelector('.case[data-verdict=match] .case-body').open"
    assert not browser.run(is_open)
    browser.click("tr.row[data-verdict=match] a")
    browser.wait(is_open)


def test_everything_is_unfolded_on_paper(browser, page):
    """And nothing is there that only a screen has a use for."""
    folded = (
        "Array.from(document.querySelectorAll('details > :not(summary)'))"
        ".filter((each) => !each.checkVisibility() && !each.closest('[hidden]')).length"
    )
    assert browser.run(folded) > 0
    browser.ask("Emulation.setEmulatedMedia", media="print")
    assert browser.run(folded) == 0
    assert browser.run("document.querySelector('.filters').getClientRects().length") == 0
    assert len(browser.ask("Page.printToPDF")["data"]) > 10_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(browser, page, scheme):
    """Contrast of 4.5 at least, by day and by night."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.ask("Emulation.setEmulatedMedia", media="screen", features=[feature])
    browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    contrast, where = browser.run(LEAST_CONTRAST)
    assert contrast >= 4.5, where
    ground = browser.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
    assert (int(ground) < 60) == (scheme == "dark")


@pytest.mark.parametrize("width", [320, 768, 1920])
def test_no_width_makes_the_page_scroll_sideways(browser, page, width):
    """Tables scroll by themselves."""
    browser.ask(
        "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False
    )
    browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_without_javascript_everything_is_there(browser, page):
    """Only the filters are not: they would do nothing."""
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
        assert len(shown_cases(browser)) == 4
        assert browser.run("document.querySelector('.filters').getClientRects().length") == 0
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
