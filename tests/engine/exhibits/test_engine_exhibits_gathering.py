"""What is shown of a run: of the worst first, within bounds, and never what cannot be trusted."""

from __future__ import annotations

import json

import pytest

from pytest_modelreg.domain.exhibit import ClassBars
from pytest_modelreg.engine.exhibits import gather_exhibits, gathering
from pytest_modelreg.engine.planned_case import PlannedCases

VARIANT = """
variants:
  again: {batch_size: 1}
"""


@pytest.fixture
def gather(recorded):
    """Return a function that gathers what the last run of a drift left."""

    def run(suite=""):
        if suite:
            path = recorded.path / "modelreg.yaml"
            path.write_text(path.read_text(encoding="utf-8") + suite, encoding="utf-8")
        recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
        recorded.pytest("--modelreg-diagnose=off")
        folder = sorted((recorded.path / ".modelreg/runs").iterdir())[-1]
        records = json.loads((folder / "report.json").read_text(encoding="utf-8"))["cases"]
        return lambda: gather_exhibits(records, folder, PlannedCases(recorded.path), recorded.path)

    return run


def test_drift_is_shown_with_measures_panels_values_and_command(gather):
    """Everything that there is of it."""
    found = gather()()
    case = found.cases["toy[reference]"]
    assert case.missing == ""
    assert set(case.measures.ids) == {f"s{number}" for number in range(6)}
    assert all(isinstance(panel, ClassBars) for panels in case.panels.values() for panel in panels)
    assert len(case.panels) == 6
    assert case.pairs is not None
    assert case.pairs.actual == pytest.approx([1.2 * value for value in case.pairs.expected], rel=1e-5)
    assert case.command.startswith("modelreg regen 'toy[reference]'")
    assert found.faces["toy"]["s0"].text.startswith("[")


def test_match_has_measures_alone(recorded):
    """Its outputs are not kept, and nobody misses them."""
    recorded.pytest()
    folder = sorted((recorded.path / ".modelreg/runs").iterdir())[-1]
    records = json.loads((folder / "report.json").read_text(encoding="utf-8"))["cases"]
    case = gather_exhibits(records, folder, PlannedCases(recorded.path), recorded.path).cases[
        "toy[reference]"
    ]
    assert (case.panels, case.pairs, case.missing, case.command) == ({}, None, "", "")
    assert len(case.measures.ids) == 6


def test_only_so_many_faces_are_read(gather, monkeypatch):
    """A set of 50,000 photos is not decoded for a page that shows a few; the worst come first."""
    monkeypatch.setattr(gathering, "FACES", 2)
    found = gather()()
    worst = [name for name, face in found.faces["toy"].items() if face.text]
    case = found.cases["toy[reference]"]
    errors = dict(zip(case.measures.ids, case.measures.rel_l2["logits"], strict=True))
    assert len(worst) == 2
    assert min(errors[name] for name in worst) >= max(errors[name] for name in errors if name not in worst)


def test_suite_that_is_faulty_now_leaves_the_numbers(gather, recorded):
    """And says why there is no more."""
    collect = gather()
    recorded.write("modelreg.yaml", "modelreg: 1\nsuite: [")
    found = collect()
    assert found.faces == {}
    case = found.cases["toy[reference]"]
    assert case.panels == {}
    assert "modelreg.yaml" in case.missing
    assert len(case.measures.ids) == 6


def test_samples_that_were_changed_since_are_not_shown(gather, recorded):
    """A picture of something else beside what the model said of the sample would mislead."""
    collect = gather()
    recorded.write("samples/s0.json", "[9, 9, 9]")
    found = collect()
    assert found.faces == {}
    assert "s0.json" in found.cases["toy[reference]"].missing


def test_crash_over_one_case_costs_no_other(gather, monkeypatch):
    """The per-case edge: what nobody thought of is said where the pictures would be."""
    calls = []

    def fail(sides, path, sample):
        calls.append(sample)
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(gathering, "draw_class_bars", fail)
    found = gather(VARIANT)()
    assert all("planted" in case.missing for case in found.cases.values())
    assert len(calls) == len(found.cases) == 2


def test_run_that_kept_nothing_is_shown_all_the_same(recorded):
    """No folder: what the record says is all there is, with the command."""
    record = recorded.report()["cases"][0] | {"verdict": "drift"}
    found = gather_exhibits([record], None, PlannedCases(recorded.path), recorded.path)
    case = found.cases["toy[reference]"]
    assert (case.panels, case.measures.ids, case.missing) == ({}, (), "")
    assert case.command.startswith("modelreg regen")
