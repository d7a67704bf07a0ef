"""Every planted fault is caught and every benign change stays green, each on exactly its samples."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

CATALOGUE = Path(__file__).with_name("catalogue.csv")
SLOW_REPORT = "full.json"


def read_catalogue() -> list[dict[str, str]]:
    """Return the rows of the catalogue."""
    with CATALOGUE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


VALUES_AGREE = "fixed-view[traced]"  # the graph is what drifts
FAST = [entry for entry in read_catalogue() if entry["report"] != SLOW_REPORT]


def parameters(**wanted: str):
    """Return rows with these cells as parameters, named after their case."""
    rows = [entry for entry in FAST if all(entry[key] == value for key, value in wanted.items())]
    return [pytest.param(entry, id=f"{entry['report'].split('.')[0]}-{entry['case']}") for entry in rows]


def list_affected(rule: str, ids: set[str]) -> set[str]:
    """Return the samples that a catalogue's rule names: all, none, ``all but A B``, or ``A B``."""
    if rule in ("all", "none"):
        return ids if rule == "all" else set()
    names = set(rule.removeprefix("all but ").split())
    assert names <= ids, f"no such samples: {names - ids}"
    return ids - names if rule.startswith("all but ") else names


def list_ids(rehearsal, case: dict) -> set[str]:
    """Return the sample ids of a case's suite, from its sample set."""
    suite = yaml.safe_load((rehearsal.folder / f"{case['suite']}.modelreg.yaml").read_text(encoding="utf-8"))
    with (rehearsal.folder / suite["samples"]["folder"] / "samples.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        return {row["id"] for row in csv.DictReader(file)}


@pytest.mark.parametrize("entry", parameters())
def test_verdict_and_affected_samples(rehearsal, entry):
    """The verdict is the one in the catalogue, and the samples that drift are exactly those named there."""
    case = rehearsal.case(entry["case"], entry["report"])
    assert case["verdict"] == entry["verdict"], case["message"]
    assert set(case["drifted_samples"]) == list_affected(entry["affected"], list_ids(rehearsal, case))


@pytest.mark.parametrize("entry", parameters(list="benign"))
def test_benign_change_stays_within_default_limits(rehearsal, entry):
    """Nobody wrote a limit for it, and every measure keeps its default one."""
    case = rehearsal.case(entry["case"], entry["report"])
    assert case["checks"]
    for check in case["checks"]:
        assert "default" in check["source"]
        assert check["ok"]
        if check["name"] == "rel_l2":
            assert check["value"] <= check["limit"] <= 1e-5


@pytest.mark.parametrize("entry", [row for row in parameters(verdict="drift") if VALUES_AGREE not in row.id])
def test_drift_is_beyond_a_limit(rehearsal, entry):
    """A check failed by its own number; where that is no number, by an infinity."""
    failed = [check for check in rehearsal.case(entry["case"])["checks"] if not check["ok"]]
    assert {check["name"] for check in failed} & {"rel_l2", "exact"}
    for check in failed:
        if check["name"] in ("rel_l2", "exact"):
            assert (
                check["value_reason"] == "inf" if check["value"] is None else check["value"] > check["limit"]
            )


@pytest.mark.parametrize("entry", [row for row in parameters(verdict="drift") if "-photos[" in row.id])
def test_photos_of_other_kinds_are_as_before(rehearsal, entry):
    """Preprocessing that goes wrong for one kind of photo leaves the others bit-identical."""
    held = [sample for sample in rehearsal.case(entry["case"])["samples"] if sample["ok"]]
    assert all(sample["rel_l2"] == 0 for sample in held)


def test_catalogue_is_complete(rehearsal):
    """No case is judged whose outcome nobody wrote down."""
    for report in ("report.json", "portable.json"):
        listed = {entry["case"] for entry in FAST if entry["report"] == report}
        assert set(rehearsal.records(report)) == listed


@pytest.mark.full
def test_compiled_network_stays_within_default_limits(rehearsal):
    """torch.compile of the whole photo network: a minute and a half, and a match."""
    rehearsal.run("full")
    (entry,) = [entry for entry in read_catalogue() if entry["report"] == SLOW_REPORT]
    case = rehearsal.case(entry["case"], SLOW_REPORT)
    assert case["verdict"] == entry["verdict"] == "match", case["message"]
    assert 0 < case["outputs"]["logits"]["rel_l2"] <= 1e-5
