"""Checks that a suite asks for by name or as a function of its own, from the suite file to the verdict."""

from __future__ import annotations

import pytest

METRICS = '''
import numpy as np

from metric_parts import share


def alarms(expected, actual, samples):
    """Share of samples called bird."""
    assert [sample.id for sample in samples] == [f"s{index}" for index in range(6)]
    return share(actual.argmax(axis=1) == 2)


def broken(expected, actual, samples):
    raise ZeroDivisionError("no positives")
'''

TILTED = """

def tilted(sample):
    return prepare(sample) + np.float32(0.4)
"""


@pytest.fixture
def measured(project):
    """A project with functions to check by, and a variant that decides otherwise."""
    project.write("metrics.py", METRICS)
    project.write("metric_parts.py", "def share(mask):\n    return float(mask.mean())\n")
    source = (project.path / "toydata.py").read_text(encoding="utf-8")
    project.write("toydata.py", source + TILTED)
    project.pin()
    return project


def extend(project, text):
    """Put lines behind the project's suite."""
    suite = (project.path / "modelreg.yaml").read_text(encoding="utf-8")
    project.write("modelreg.yaml", suite + text)


def checks_of(report, variant):
    """Return the checks of a case by name."""
    (case,) = [case for case in report["cases"] if case["variant"] == variant]
    return case["verdict"], {check["name"]: check for check in case["checks"]}


def test_function_of_the_suite_judges_the_set(measured):
    """A false-alarm rate is the user's to define; it is imported like the suite's other modules."""
    extend(
        measured,
        "variants:\n"
        "  loose: {preprocess: 'toydata:tilted', checks: {rel_l2: off, top1_agreement: off, "
        "'metrics:alarms': {max_change: 1.0}}}\n"
        "  tight: {preprocess: 'toydata:tilted', checks: {rel_l2: off, top1_agreement: off, "
        "'metrics:alarms': {max: 0.0}}}\n",
    )
    measured.pytest("--modelreg-regen=missing")
    report = measured.report()
    verdict, checks = checks_of(report, "loose")
    assert verdict == "match"
    assert checks["metrics:alarms"]["limit"] == 1.0
    verdict, checks = checks_of(report, "tight")
    value = checks["metrics:alarms"]["value"]
    assert verdict == ("drift" if value > 0 else "match")


def test_function_that_raises_is_an_error_of_its_case(measured):
    """With its name and the user's own place in the code, and nothing is green."""
    extend(measured, "variants: {v: {batch_size: 1, checks: {'metrics:broken': {max: 1}}}}\n")
    result = measured.pytest("--modelreg-regen=missing")
    result.stdout.fnmatch_lines(["*error:*metrics:broken*ZeroDivisionError*no positives*", "*metrics.py*"])
    assert result.ret == 1


def test_function_that_is_not_there_is_an_error_when_recording_too(measured):
    """A golden that could never be green is not recorded."""
    extend(measured, "checks: {'metrics:alarm': {max: 1}}\n")
    result = measured.pytest("--modelreg-regen=missing")
    result.stdout.fnmatch_lines(["*error:*metrics:alarm*"])
    assert not (measured.path / "golden").exists()


def label(project, *labels):
    """Write labels into samples.csv."""
    path = project.path / "samples/samples.csv"
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    cells = [row.split(",") for row in rows]
    for row, name in zip(cells, labels, strict=True):
        row[3] = name
    path.write_text("\n".join([header, *(",".join(row) for row in cells)]) + "\n", encoding="utf-8")


def test_labels_tell_flips_that_hurt(measured):
    """Of a sample that was right and is wrong now; a wrong one that turned right harms nobody."""
    extend(
        measured,
        "variants: {v: {preprocess: 'toydata:tilted', checks: {rel_l2: off, top1_agreement: off, "
        "negative_flips: 0.0, accuracy_drop: 0.0}}}\n",
    )
    measured.pytest("--modelreg-regen=missing")
    summary = (measured.path / "golden/toy/reference/summary.csv").read_text(encoding="utf-8").splitlines()
    answered = [row.split(",")[1] for row in summary[1:]]
    label(measured, *answered)
    measured.pytest("--modelreg-regen=all", "--modelreg-reason=labels")
    _, flips = checks_of(measured.report(), "v")
    assert flips["negative_flips"]["value"] == flips["accuracy_drop"]["value"] > 0
    label(measured, *["fish" if name != "fish" else "cat" for name in answered])
    _, flips = checks_of(measured.report(), "v")
    assert flips["negative_flips"]["value"] == 0


def test_labels_are_missed_where_they_are_needed(measured):
    """A check that compares nothing is never green."""
    extend(measured, "checks: {negative_flips: 0.0}\n")
    result = measured.pytest("--modelreg-regen=missing")
    result.stdout.fnmatch_lines(["*error:*negative_flips*label*"])


def test_embedding_is_held_by_its_neighbours(measured):
    """Its default checks: values, direction, and who is near whom."""
    measured.edit(
        "modelreg.yaml", "logits: {kind: classification, labels: labels.txt}", "e: {kind: embedding}"
    )
    measured.pytest("--modelreg-regen=missing")
    verdict, checks = checks_of(measured.report(), "reference")
    assert verdict == "match"
    assert {"rel_l2", "cosine", "rank_overlap"} <= checks.keys()


def test_limit_for_a_tag_alone_leaves_the_default_for_the_others(measured):
    """Four samples that moved are a drift, whatever the limit of the other two is."""
    path = measured.path / "samples/samples.csv"
    rows = path.read_text(encoding="utf-8").splitlines()
    rows[1] = f"{rows[1]}rare"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    extend(
        measured,
        "checks: {rel_l2: {tags: {rare: 100}}, top1_agreement: off}\n"
        "variants: {v: {preprocess: 'toydata:tilted'}}\n",
    )
    measured.pytest("--modelreg-regen=missing")
    (case,) = [case for case in measured.report()["cases"] if case["variant"] == "v"]
    assert case["verdict"] == "drift"
    assert len(case["drifted_samples"]) == 6
