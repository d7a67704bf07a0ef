"""From no golden over recording and drift to a replaced golden, as pytest shows it."""

from __future__ import annotations

import json
import subprocess

import pytest


def test_missing_golden_fails_and_shows_the_command(project):
    """B1: nothing to compare with is never green, writes nothing and says how to record."""
    project.pin()
    result = project.pytest()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["missing: *", "*modelreg regen 'toy*reference*'*"])
    assert not (project.path / "golden").exists()


def test_recording_passes_and_says_that_nothing_was_compared(project):
    """B2: a recording run passes, listed apart from comparisons."""
    project.pin()
    result = project.pytest("--modelreg-regen=missing")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*1 recorded (regenerated, nothing compared)*"])
    assert (project.path / "golden/toy/reference/golden.json").is_file()


def test_unchanged_model_matches(recorded):
    """B3: the same model on the same samples is green."""
    result = recorded.pytest()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*1 match*"])


def test_changed_model_drifts_and_keeps_the_golden(recorded):
    """B4: a plain run never writes below golden/, whatever it finds."""
    before = recorded.golden_bytes()
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    result = recorded.pytest()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["drift: *", "*--reason*"])
    assert recorded.golden_bytes() == before


def test_missing_mode_leaves_changed_goldens_failing(recorded):
    """B6: recording what is missing does not paper over a drift."""
    before = recorded.golden_bytes()
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    assert recorded.pytest("--modelreg-regen=missing").ret == pytest.ExitCode.TESTS_FAILED
    assert recorded.golden_bytes() == before


def test_changed_mode_rewrites_only_what_changed(project):
    """B5: a suite that agrees keeps every byte while its neighbour is replaced."""
    suite = (project.path / "modelreg.yaml").read_text(encoding="utf-8")
    project.write(
        "other.modelreg.yaml",
        suite.replace("suite: toy", "suite: other").replace(
            "model: toymodel:build", "model: toymodel:build\n  model_args: {scale: 3.0}"
        ),
    )
    project.record()
    before = project.golden_bytes()
    project.edit("other.modelreg.yaml", "scale: 3.0", "scale: 4.0")
    result = project.pytest("--modelreg-regen=changed", "--modelreg-reason=rescaled")
    assert result.ret == 0
    after = project.golden_bytes()
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert changed
    assert all(name.startswith("golden/other/") for name in changed)
    assert project.pytest().ret == 0


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_replacing_without_a_reason_is_a_usage_error_before_anything_runs(recorded, workers):
    """A golden is replaced for a reason, which stays with it."""
    before = recorded.golden_bytes()
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    result = recorded.pytester.runpytest_subprocess("--modelreg", "--modelreg-regen=changed", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--modelreg-reason*"])
    assert recorded.golden_bytes() == before


def test_replaced_golden_knows_its_reason_and_what_it_superseded(recorded):
    """Provenance: who replaced what, and why, can be read from golden.json."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    recorded.pytest("--modelreg-regen=changed", "--modelreg-reason=new scale on purpose")
    golden = json.loads((recorded.path / "golden/toy/reference/golden.json").read_text(encoding="utf-8"))
    assert golden["accepted"]["reason"] == "new scale on purpose"
    assert len(golden["accepted"]["supersedes"]) == 64


@pytest.mark.parametrize("mode", ["changed", "all"])
def test_regenerating_twice_leaves_a_clean_git_diff(recorded, mode):
    """B7: a second regeneration of the same behaviour changes no byte."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
            cwd=recorded.path,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    git("init", "-q")
    git("add", "golden", "samples", "modelreg.yaml")
    git("commit", "-qm", "golden")
    assert recorded.pytest(f"--modelreg-regen={mode}", "--modelreg-reason=again").ret == 0
    assert git("diff") == ""
    assert git("status", "--porcelain", "golden") == ""


def test_errored_case_keeps_its_golden_while_regenerating(recorded):
    """A model that raises is an error, also in a regeneration, and nothing is lost."""
    before = recorded.golden_bytes()
    recorded.edit("toymodel.py", "scale * (x @ WEIGHT)", "1 / 0")
    result = recorded.pytest("--modelreg-regen=all", "--modelreg-reason=whatever")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["error: *"])
    assert recorded.golden_bytes() == before


class TestCiLock:
    """C: goldens are locked where nobody looks at a diff."""

    @pytest.mark.parametrize(("variable", "value"), [("CI", "true"), ("BUILD_NUMBER", "7")])
    def test_regeneration_is_refused(self, project, monkeypatch, variable, value):
        """C1, C4: exit 4, the variable named, nothing written."""
        project.pin()
        monkeypatch.setenv(variable, value)
        result = project.pytest("--modelreg-regen=missing")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*{variable}={value}*--modelreg-allow-ci*"])
        assert not (project.path / "golden").exists()

    def test_empty_variable_is_not_ci(self, project, monkeypatch):
        """C3: `CI= pytest` switches the lock off."""
        project.pin()
        monkeypatch.setenv("CI", "")
        assert project.pytest("--modelreg-regen=missing").ret == 0

    def test_override_is_stamped_into_the_golden(self, project, monkeypatch):
        """C2: a golden recorded in CI says so for ever."""
        project.pin()
        monkeypatch.setenv("CI", "true")
        assert project.pytest("--modelreg-regen=missing", "--modelreg-allow-ci").ret == 0
        golden = json.loads((project.path / "golden/toy/reference/golden.json").read_text(encoding="utf-8"))
        assert golden["accepted"]["ci"] == "CI"

    def test_checking_in_ci_works(self, recorded, monkeypatch):
        """C5: comparing needs no permission."""
        monkeypatch.setenv("CI", "true")
        assert recorded.pytest().ret == 0


class TestBrokenGolden:
    """A8: a golden that cannot be trusted is one line with its path."""

    def test_truncated_array(self, recorded):
        """A cut file is named; nothing is compared."""
        path = next((recorded.path / "golden/toy/reference").glob("outputs.*.npy"))
        path.write_bytes(path.read_bytes()[:-4])
        result = recorded.pytest()
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines([f"*{path.name}*"])
        result.stdout.no_fnmatch_line("*Traceback*")

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"modelreg_golden": 1}', "\x00\x01"])
    def test_foreign_or_truncated_json(self, recorded, text):
        """Whatever stands in golden.json, the user sees its path and no traceback."""
        recorded.write("golden/toy/reference/golden.json", text)
        result = recorded.pytest()
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines(["error: *golden.json*"])
        result.stdout.no_fnmatch_line("*Traceback*")

    def test_newer_format_says_to_upgrade(self, recorded):
        """A golden from a later release is not guessed at."""
        recorded.edit("golden/toy/reference/golden.json", '"modelreg_golden": 2', '"modelreg_golden": 99')
        result = recorded.pytest()
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines(["*99*upgrade*"])

    def test_all_mode_replaces_a_broken_golden(self, recorded):
        """There is a way out that does not need version control."""
        recorded.write("golden/toy/reference/golden.json", "{")
        assert recorded.pytest("--modelreg-regen=all", "--modelreg-reason=file was damaged").ret == 0
        assert recorded.pytest().ret == 0


class TestSampleSet:
    """The sample set comes first."""

    def test_changed_bytes_are_named_before_the_model_is_built(self, recorded):
        """A sample that is not the pinned one is an error that names it; no forward pass runs."""
        recorded.write("samples/s2.json", "[9, 9, 9]")
        recorded.edit(
            "toymodel.py", "return lambda", "raise SystemExit('the model was built')\n    return lambda"
        )
        result = recorded.pytest()
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines(["error: *samples.csv*s2*"])
        result.stdout.no_fnmatch_line("*the model was built*")

    def test_repinned_set_is_stale_while_the_common_samples_agree(self, recorded):
        """A grown set is no drift: the common samples are judged, the rest waits for a recording."""
        recorded.write("samples/s9.json", "[0.5, 0.25, -1]")
        recorded.pin()
        result = recorded.pytest()
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines(["stale: *s9*"])

    def test_drift_among_the_common_samples_is_not_hidden_by_a_new_sample(self, recorded):
        """Stale must not be a way to let a drift pass as bookkeeping."""
        recorded.write("samples/s9.json", "[0.5, 0.25, -1]")
        recorded.pin()
        recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
        result = recorded.pytest()
        result.stdout.fnmatch_lines(["drift: *"])

    def test_undecodable_sample_is_named(self, project):
        """A sample that the loader cannot read is an error with its id."""
        project.write("samples/s3.json", "[1, 2")
        project.pin()
        result = project.pytest()
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines(["error: *s3*"])


def test_exception_outside_the_usual_tree_is_an_error_of_its_case(recorded):
    """Whatever user code raises, the record exists and the run goes on."""
    recorded.edit(
        "toymodel.py",
        "return lambda x: scale * (x @ WEIGHT)",
        "return stop\n\n\nclass Odd(BaseException):\n    pass\n\n\ndef stop(x):\n    raise Odd('odd')",
    )
    (case,) = recorded.report()["cases"]
    assert case["verdict"] == "error"
    assert "odd" in case["message"]


def test_interrupt_is_not_a_verdict(recorded):
    """Ctrl-C ends the run; the golden is untouched and the report says that it is partial."""
    before = recorded.golden_bytes()
    recorded.edit("toymodel.py", "return lambda x: scale * (x @ WEIGHT)", "raise KeyboardInterrupt")
    result = recorded.pytester.runpytest_subprocess("--modelreg", "--modelreg-json=r.json")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert json.loads((recorded.path / "r.json").read_text(encoding="utf-8"))["run"]["partial"] is True
    result.stdout.no_fnmatch_line("*no case was run*")
    assert recorded.golden_bytes() == before


@pytest.mark.parametrize(
    ("outputs", "expression", "message"),
    [
        ("{kind: classification}", "x[:, :1]", "classes"),
        ("{kind: tensor}", "x[:, :0]", "nothing was compared"),
        ("{kind: tensor}", "x * np.float32('nan')", "nothing was compared"),
        ("{kind: classification, labels: labels.txt}", "x", "names"),
    ],
)
def test_golden_that_could_never_be_green_is_not_recorded(project, outputs, expression, message):
    """What no later run could be judged against comes up while recording."""
    project.edit("modelreg.yaml", "{kind: classification, labels: labels.txt}", outputs)
    project.edit("toymodel.py", "scale * (x @ WEIGHT)", expression)
    project.pin()
    result = project.pytest("--modelreg-regen=missing")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"error: *{message}*"])
    assert not (project.path / "golden/toy/reference/golden.json").exists()


def test_regenerating_all_brings_a_summary_up_to_date(recorded):
    """The readable summary follows what the suite says the numbers mean."""
    summary = recorded.path / "golden/toy/reference/summary.csv"
    recorded.edit("labels.txt", "cat", "lion")
    before = summary.read_bytes()
    assert recorded.pytest("--modelreg-regen=all", "--modelreg-reason=renamed a class").ret == 0
    assert summary.read_bytes() != before
    assert recorded.pytest().ret == 0
