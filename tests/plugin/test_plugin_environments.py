"""A golden an environment: the best match is chosen, and what was chosen is said."""

from __future__ import annotations

import json
import platform

import pytest


@pytest.fixture
def several(project, monkeypatch):
    """A project that keeps a golden per machine and system, with one recorded on x86_64 Linux."""
    project.edit("modelreg.yaml", "reference:", "golden_per: [machine, os]\nreference:")
    project.pin()
    stand_on(monkeypatch, "x86_64")
    project.pytest("--modelreg-regen=missing").assert_outcomes(passed=1)
    return project


def stand_on(monkeypatch, machine, system="Linux"):
    """Let the machine be another one."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(platform, "system", lambda: system)


def test_golden_is_kept_under_its_environment(several):
    """Where it belongs can be read off its folder."""
    assert (several.path / "golden/toy/reference/machine=x86_64,os=Linux/golden.json").exists()
    several.pytest().assert_outcomes(passed=1)


def test_best_match_is_used_and_explained(several, monkeypatch):
    """The first fact weighs most; a match is one note that says whose golden it was."""
    stand_on(monkeypatch, "x86_64", "Darwin")
    result = several.pytest()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*held against the golden of machine=x86_64,os=Linux: there is none for machine=x86_64,os=Darwin*"]
    )


def test_environment_without_anything_in_common_has_its_own_message(several, monkeypatch):
    """It is not the same as no golden at all, and nothing was compared."""
    stand_on(monkeypatch, "arm64", "Darwin")
    result = several.pytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*no golden for this environment (machine=arm64,os=Darwin)*"
            "there are goldens for machine=x86_64,os=Linux*"
        ]
    )


def test_regenerating_elsewhere_replaces_nothing(several, monkeypatch):
    """What differs there becomes that environment's golden; the one here keeps every byte."""
    before = several.golden_bytes()
    several.edit("toydata.py", "dtype=np.float32)", "dtype=np.float32) * np.float32(2)")
    stand_on(monkeypatch, "x86_64", "Darwin")
    several.pytest("--modelreg-regen=changed", "--modelreg-reason=as here").assert_outcomes(passed=1)
    after = several.golden_bytes()
    assert {name: after[name] for name in before} == before
    assert any("os=Darwin" in name for name in after)
    several.pytest().assert_outcomes(passed=1)
    stand_on(monkeypatch, "x86_64")
    several.pytest().assert_outcomes(failed=1)


def test_unknown_fact_is_a_usage_error(project):
    """With the nearest one."""
    project.edit("modelreg.yaml", "reference:", "golden_per: [machin]\nreference:")
    project.pin()
    result = project.pytest()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*golden_per?0?: expected one of device, machine*did you mean machine?*"])


def test_review_accepts_for_the_environment_that_observed(several, monkeypatch):
    """The golden of the machine that reviews keeps every byte."""
    before = several.golden_bytes()
    several.edit("toydata.py", "dtype=np.float32)", "dtype=np.float32) * np.float32(2)")
    stand_on(monkeypatch, "x86_64", "Darwin")
    several.pytest().assert_outcomes(failed=1)
    stand_on(monkeypatch, platform.machine(), "Linux")
    assert several.modelreg("review", "--accept-all", "--reason", "seen on the other one").ret == 0
    after = several.golden_bytes()
    assert {name: after[name] for name in before} == before
    assert any("os=Darwin" in name for name in after)


@pytest.fixture
def drifted_elsewhere(several, monkeypatch):
    """The same project on another machine, where it answers otherwise."""
    several.edit("toydata.py", "dtype=np.float32)", "dtype=np.float32) * np.float32(2)")
    stand_on(monkeypatch, "x86_64", "Darwin")
    return several


def test_drift_from_another_environment_is_not_missing(drifted_elsewhere):
    """It would become the truth here without a word."""
    before = drifted_elsewhere.golden_bytes()
    result = drifted_elsewhere.pytest("--modelreg-regen=missing")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*rel_l2*", "*held against the golden of machine=x86_64,os=Linux*"])
    assert drifted_elsewhere.golden_bytes() == before


@pytest.mark.parametrize("mode", ["changed", "all"])
def test_drift_from_another_environment_takes_a_reason(drifted_elsewhere, mode):
    """As a replacement does, and the reason is on record."""
    before = drifted_elsewhere.golden_bytes()
    assert drifted_elsewhere.pytest(f"--modelreg-regen={mode}").ret == 4
    assert drifted_elsewhere.golden_bytes() == before
    drifted_elsewhere.pytest(f"--modelreg-regen={mode}", "--modelreg-reason=twice as wide").assert_outcomes(
        passed=1
    )
    path = "golden/toy/reference/machine=x86_64,os=Darwin/golden.json"
    accepted = json.loads((drifted_elsewhere.path / path).read_text(encoding="utf-8"))["accepted"]
    assert accepted["reason"] == "twice as wide"


def test_match_with_another_environment_is_recorded_by_all_alone(several, monkeypatch):
    """Nothing changes, so that no reason is asked for where none is given."""
    stand_on(monkeypatch, "x86_64", "Darwin")
    before = several.golden_bytes()
    for mode in ("missing", "changed"):
        several.pytest(f"--modelreg-regen={mode}", "--modelreg-reason=x").assert_outcomes(passed=1)
        assert several.golden_bytes() == before
    several.pytest("--modelreg-regen=all", "--modelreg-reason=x").assert_outcomes(passed=1)
    assert any("os=Darwin" in name for name in several.golden_bytes())


def move_to_cuda(project):
    """Let the one golden be of another device than the command will run on."""
    text = (project.path / "modelreg.yaml").read_text(encoding="utf-8")
    project.write("modelreg.yaml", text.replace("[machine, os]", "[device, machine]"))
    case = project.path / "golden/toy/reference"
    (case / "machine=x86_64,os=Linux").rename(case / f"device=cuda,machine={platform.machine()}")


def test_command_asks_before_a_drift_becomes_this_environments_golden(several):
    """Without --yes and a reason nothing is written, and review asks the same."""
    move_to_cuda(several)
    several.edit("toydata.py", "dtype=np.float32)", "dtype=np.float32) * np.float32(2)")
    before = several.golden_bytes()
    bare = several.modelreg("regen", stdin=b"")
    assert bare.ret == 2
    bare.stderr.fnmatch_lines(["*recording what differs from device=cuda,machine=* needs a reason*"])
    unasked = several.modelreg("regen", "--reason", "why", stdin=b"")
    assert unasked.ret == 1
    unasked.stdout.fnmatch_lines(["1 drift would become this environment's golden; nothing was: *add --yes"])
    several.pytest().assert_outcomes(failed=1)
    assert several.modelreg("review", "--accept-all").ret == 2
    assert several.golden_bytes() == before
    assert several.modelreg("regen", "--reason", "why", "--yes").ret == 0
    assert several.modelreg("log").stdout.str().count("why") == 1


def test_command_and_run_say_the_same_of_a_golden_that_is_missing(several, monkeypatch):
    """There are goldens, only not for here."""
    case = several.path / "golden/toy/reference"
    (case / "machine=x86_64,os=Linux").rename(case / "machine=mips,os=Plan9")
    result = several.modelreg("regen", "--dry-run")
    result.stdout.fnmatch_lines(
        ["*: no golden for this environment (*), will be recorded; there are goldens for machine=mips*"]
    )
