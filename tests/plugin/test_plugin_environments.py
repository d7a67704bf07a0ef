"""A golden an environment: the best match is chosen, and what was chosen is said."""

from __future__ import annotations

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
    several.pytest("--modelreg-regen=missing").assert_outcomes(passed=1)
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
