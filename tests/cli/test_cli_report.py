"""``modelreg report``: a run that is over as a page; nothing is run."""

from __future__ import annotations

import json
import shutil

import pytest

from pytest_modelreg.cli import main
from tests.report.html_page import read_page


@pytest.fixture
def drifted(recorded):
    """A project whose last run found a drift."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    recorded.pytest("--modelreg-diagnose=off")
    return recorded


def find_run(project):
    """Return the folder of the last run."""
    return sorted((project.path / ".modelreg/runs").iterdir())[-1]


def read(path):
    """Return the page of a file."""
    return read_page(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("words", [(), ("last",)])
def test_page_is_written_beside_the_run(drifted, capsys, words):
    """Without a run, and by the word for it; the path is printed."""
    before = drifted.golden_bytes()
    assert main(["report", *words]) == 0
    target = find_run(drifted) / "report.html"
    assert capsys.readouterr().out.strip() == target.relative_to(drifted.path).as_posix()
    page = read(target)
    assert page.find("h1").text == "1 of 1 case drifts"
    assert len(page.find_all("table", of="bars")) == 6
    assert drifted.golden_bytes() == before


@pytest.mark.parametrize("is_id", [True, False])
def test_run_is_named_by_its_id_or_folder(drifted, is_id, tmp_path):
    """Also one that was downloaded from CI to somewhere else."""
    folder = find_run(drifted)
    name = folder.name
    if not is_id:
        name = str(shutil.copytree(folder, tmp_path / "downloaded"))
    assert main(["report", name, "--html", "page.html"]) == 0
    assert len(read(drifted.path / "page.html").find_all("table", of="bars")) == 6


def test_outputs_of_a_golden_that_was_replaced_since_are_not_shown(drifted):
    """What the run saw is not what is there: expected would be another golden's."""
    run = find_run(drifted)
    assert drifted.pytest("--modelreg-regen=changed", "--modelreg-reason=meant").ret == 0
    assert main(["report", str(run), "--html", "page.html"]) == 0
    page = read(drifted.path / "page.html")
    assert page.find_all("table", of="bars") == []
    assert "the golden was replaced after this run" in page.find("article").text
    assert page.find_all("li", of="card")[0].find("dl").text.startswith("expected")


def test_run_of_another_project_is_shown_without_its_outputs(drifted, tmp_path, monkeypatch):
    """Where there is no suite there are numbers still, and why there is no more."""
    folder = find_run(drifted)
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(folder), "--html", "page.html"]) == 0
    page = read(tmp_path / "page.html")
    assert page.find("h1").text == "1 of 1 case drifts"
    assert "Outputs are not drawn" in page.find("article").text


def test_damaged_output_is_not_drawn(drifted):
    """A bar of flipped bits would be believed."""
    (output,) = find_run(drifted).glob("*/outputs.logits.*.npy")
    data = bytearray(output.read_bytes())
    data[-3] ^= 64
    output.write_bytes(data)
    assert main(["report", "--html", "page.html"]) == 0
    page = read(drifted.path / "page.html")
    assert page.find_all("table", of="bars") == []
    told = page.find("article").text
    assert "bytes changed" in told
    assert str(drifted.path) not in told, "a page is passed on: it names no folder of this machine"


def test_damaged_report_is_refused(drifted, capsys):
    """A verdict of flipped bits would be believed."""
    path = find_run(drifted) / "report.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"drift"', '"match"'), encoding="utf-8")
    assert main(["report"]) == 3
    assert "bytes changed" in capsys.readouterr().err


def test_run_that_was_cut_off_has_no_page(drifted, capsys):
    """There are observations, and nobody judged the whole."""
    (find_run(drifted) / "report.json").unlink()
    assert main(["report"]) == 2
    assert "expected a run with a report.json" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["golden/toy/page.html", "golden/page.html"])
def test_page_among_goldens_is_refused(drifted, capsys, target):
    """Only a regeneration writes there."""
    assert main(["report", "--html", target]) == 2
    assert "outside of the goldens" in capsys.readouterr().err


def test_page_in_the_place_of_the_runs_own_report_is_refused(drifted, capsys):
    """The run could not be read again."""
    target = find_run(drifted) / "report.json"
    assert main(["report", "--html", str(target)]) == 2
    assert json.loads(target.read_text(encoding="utf-8"))["modelreg_report"] == 1


def test_place_where_nothing_can_be_written_is_named(drifted, capsys):
    """With what to do."""
    drifted.write("taken", "a file")
    assert main(["report", "--html", "taken/page.html"]) == 2
    assert "taken/page.html" in capsys.readouterr().err


def test_unknown_run_is_named(drifted, capsys):
    """Not taken for the last one."""
    assert main(["report", "nowhere"]) == 2
    assert "nowhere: expected the folder or the id of a run" in capsys.readouterr().err
