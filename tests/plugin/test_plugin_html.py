"""``--modelreg-html``: one file, written by the main process, whole in itself."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from PIL import Image

from tests.report.html_page import read_page

IMAGE_SUITE = """
modelreg: 1
suite: toy
samples: {folder: samples, loader: image}
reference:
  model: toymodel:build
  preprocess: toydata:prepare
outputs:
  logits: {kind: classification, labels: labels.txt}
variants:
  again: {batch_size: 1}
  third: {batch_size: 2}
"""

IMAGE_DATA = """
import numpy as np


def prepare(image):
    return np.asarray(image.convert("RGB"), dtype=np.float32)[::40, ::40].mean(axis=(0, 1)) / 255
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_page_of_a_drift_is_written_alone_by_the_main_process(recorded, workers):
    """E3: without JSON; workers leave nothing, and the bars of the worst sample are there."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    recorded.pytester.runpytest_subprocess("--modelreg", "--modelreg-html=out/report.html", *workers)
    page = read_page((recorded.path / "out/report.html").read_text(encoding="utf-8"))
    assert page.find("h1").text == "1 of 1 case drifts"
    cards = page.find_all("li", of="card")
    assert len(cards) == 6
    assert all(len(card.find_all("table", of="bars")) == 1 for card in cards)
    assert "cat" in page.find("article").text
    assert "modelreg regen 'toy[reference]' --reason" in page.find("p", of="command").text
    assert [path.name for path in (recorded.path / "out").iterdir()] == ["report.html"]


def test_json_is_written_without_a_page_and_beside_one(recorded):
    """E3, the other way round."""
    assert recorded.pytest("--modelreg-json=report.json").ret == 0
    assert not list(recorded.path.glob("*.html"))
    assert recorded.pytest("--modelreg-json=report.json", "--modelreg-html=report.html").ret == 0
    page = read_page((recorded.path / "report.html").read_text(encoding="utf-8"))
    assert page.find("h1").text == "The case behaves as recorded"


def test_case_that_could_not_run_is_on_the_page(recorded):
    """An exception before any output: the record exists, and so does the entry."""
    recorded.edit("toymodel.py", "return lambda", "raise OSError('weights are gone')\n    return lambda")
    recorded.pytest("--modelreg-html=report.html")
    page = read_page((recorded.path / "report.html").read_text(encoding="utf-8"))
    assert page.find("h1").text == "1 error of 1 case"
    assert "weights are gone" in page.find("article").text


def test_check_of_a_python_test_is_on_the_page(module):
    """Values have no samples on disk; what they were and are is drawn all the same."""
    module.write("def test_a(modelreg):\n    modelreg.check(embed(), name='x', kind='classification')\n")
    module.record()
    module.scale(1.5)
    module.run("--modelreg-html=report.html")
    page = read_page((module.path / "report.html").read_text(encoding="utf-8"))
    assert page.find("h1").text == "1 of 1 case drifts"
    assert page.find("article").find_all("table", of="bars")
    assert "--modelreg-regen changed" in page.find("p", of="command").text


def test_run_without_a_case_has_a_page_that_says_so(project):
    """It was asked for, and does not read as a clean one."""
    (project.path / "modelreg.yaml").unlink()
    project.pytester.makepyfile("def test_other(): pass")
    project.pytest("--modelreg-html=report.html")
    page = read_page((project.path / "report.html").read_text(encoding="utf-8"))
    assert page.find("h1").text == "Nothing was compared"
    assert "no case was run" in page.find("section", of="problems").text


@pytest.mark.parametrize("target", ["golden/toy/reference/golden.json", "samples/report.html"])
def test_page_among_goldens_or_samples_is_refused(recorded, target):
    """A plain run never writes there."""
    before = recorded.golden_bytes() | recorded.golden_bytes("samples")
    result = recorded.pytest(f"--modelreg-html={target}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--modelreg-html*choose another path*"])
    assert recorded.golden_bytes() | recorded.golden_bytes("samples") == before


def test_place_where_nothing_can_be_written_is_told_before_anything_runs(recorded):
    """Not after an hour."""
    recorded.write("taken", "a file")
    result = recorded.pytest("--modelreg-html=taken/report.html")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--modelreg-html*taken/report.html*name another file*"])


def test_page_that_cannot_be_written_at_last_fails_the_run(recorded):
    """A page that was asked for and is not there is no success."""
    recorded.write(
        "conftest.py", "import os\n\n\ndef pytest_collection_finish():\n    os.mkdir('report.html')\n"
    )
    result = recorded.pytest("--modelreg-html=report.html")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*error: *report.html*"])


def test_absent_jinja2_is_told_before_anything_runs(recorded, monkeypatch):
    """With the command that installs it; runs without a page need none."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = recorded.pytest("--modelreg-html=report.html")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--modelreg-html*pip install 'pytest-modelreg[[]html[]]'*"])
    assert recorded.pytest("--modelreg-json=report.json").ret == 0


def test_page_of_a_hundred_photos_stays_below_three_megabytes(project):
    """Photos of noise compress worst; three cases share each thumbnail, which is embedded once."""
    for name in list((project.path / "samples").iterdir()):
        name.unlink()
    rng = np.random.default_rng(0)
    for number in range(100):
        levels = rng.integers(0, 256, (480, 640, 3), dtype=np.uint8)
        Image.fromarray(levels).save(project.path / f"samples/photo{number:03}.jpg", quality=90)
    project.write("modelreg.yaml", IMAGE_SUITE)
    project.write("toydata.py", IMAGE_DATA)
    project.record()
    project.edit("toymodel.py", "scale=1.0", "scale=1.2")
    project.pytest("--modelreg-html=report.html", "--modelreg-diagnose=off")
    text = (project.path / "report.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 3_000_000
    page = read_page(text)
    assert page.find("h1").text == "3 of 3 cases drift"
    assert text.count("data:image/jpeg;base64,") == 100
    assert len(page.find_all("li", of="sample")) == 300
    assert len(page.find_all("li", of="card")) == 60
