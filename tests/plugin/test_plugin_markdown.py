"""``--modelreg-markdown``: written once, by the main process, where it may be."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_summary_of_a_drift_is_written_by_the_main_process(recorded, workers):
    """Verdict, sample and the command that accepts it; workers leave nothing."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    recorded.pytester.runpytest_subprocess("--modelreg", "--modelreg-markdown=out/pr.md", *workers)
    text = (recorded.path / "out/pr.md").read_text(encoding="utf-8")
    assert "## modelreg: 1 drift" in text
    assert "| `toy[reference]` | drift | " in text
    assert "modelreg regen 'toy[reference]' --reason" in text
    assert [path.name for path in (recorded.path / "out").iterdir()] == ["pr.md"]


def test_summary_is_written_without_json_and_beside_it(recorded):
    """E3 for Markdown."""
    assert recorded.pytest("--modelreg-markdown=pr.md", "--modelreg-json=report.json").ret == 0
    assert (recorded.path / "pr.md").read_text(encoding="utf-8").startswith("## modelreg: 1 match")
    assert (recorded.path / "report.json").is_file()


def test_run_without_a_case_says_so(project):
    """A summary that was asked for is written; it does not read as a clean one."""
    (project.path / "modelreg.yaml").unlink()
    project.pytester.makepyfile("def test_other(): pass")
    project.pytest("--modelreg-markdown=pr.md")
    text = (project.path / "pr.md").read_text(encoding="utf-8")
    assert "nothing was compared" in text
    assert "- problem: no case was run" in text


def test_unwritable_summary_fails_the_run_with_its_path(recorded):
    """A summary that was asked for and is not there is no success, also where it was possible at first."""
    recorded.write("conftest.py", "import os\n\n\ndef pytest_collection_finish():\n    os.mkdir('pr.md')\n")
    result = recorded.pytest("--modelreg-markdown=pr.md")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*error: *pr.md*"])


@pytest.mark.parametrize("target", ["golden/toy/reference/golden.json", "samples/pr.md"])
def test_summary_among_goldens_or_samples_is_refused(recorded, target):
    """A plain run never writes there."""
    before = recorded.golden_bytes() | recorded.golden_bytes("samples")
    result = recorded.pytest(f"--modelreg-markdown={target}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--modelreg-markdown*choose another path*"])
    assert recorded.golden_bytes() | recorded.golden_bytes("samples") == before


def test_one_file_for_two_reports_is_refused(recorded):
    """One would overwrite the other."""
    result = recorded.pytest("--modelreg-markdown=report", "--modelreg-json=./report")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_flag_without_comparing_is_refused(project):
    """Nothing would be written."""
    result = project.pytester.runpytest_inprocess("--modelreg-markdown=pr.md")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--modelreg-markdown*needs --modelreg*"])
