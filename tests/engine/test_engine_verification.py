"""What there is to verify, and what does not hold, without a model."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.errors import SuiteFileError, UsageFault
from pytest_modelreg.domain.golden import Acceptance, Golden, OutputProfile
from pytest_modelreg.domain.observation import Observation, ObservedSample
from pytest_modelreg.engine.verification import verify_goldens
from pytest_modelreg.store import OutputWriter, pin, write_golden

REPOSITORY = Path(__file__).parents[2]


def _write(folder: Path, scratch: Path, *, suite: str = "toy", variant: str = "reference") -> Golden:
    scratch.mkdir(exist_ok=True)
    with OutputWriter(scratch, "logits", per="sample", n_rows=2) as writer:
        writer.append(np.ones((2, 3), np.float32), dtype="float32")
        record = writer.close()
    golden = Golden(
        observation=Observation(
            suite=suite,
            variant=variant,
            axes={},
            batch_size=2,
            samples=tuple(ObservedSample(id=name, sha256="0" * 64, input_digest=None) for name in "ab"),
            outputs={"logits": record},
            weights_digest=None,
            fingerprint=Fingerprint(facts={}),
        ),
        accepted=Acceptance(date="2026-01-31T00:00:00Z", reason="first"),
        profiles={"logits": OutputProfile(rms_row_norm=1.0, n_nan=0, n_inf=0)},
    )
    write_golden(folder, golden, scratch, [["sample"], ["a"], ["b"]])
    return golden


@pytest.fixture
def project(suites, tmp_path: Path) -> Path:
    """A project with one suite, pinned samples and the golden of its reference."""
    suites.write(suites.suite)
    suites.write("[pytest]", "pytest.ini")
    for name in ("a", "b"):
        (tmp_path / "samples" / f"{name}.json").write_text("[1]")
    pin(tmp_path / "samples")
    _write(tmp_path / "golden/toy/reference", tmp_path / ".scratch")
    return tmp_path


@pytest.fixture
def add(project: Path) -> Callable[[str], Path]:
    """Write one more golden, at a place below the golden root."""

    def add_golden(place: str) -> Path:
        folder = project / "golden" / place
        _write(folder, project / ".scratch")
        return folder

    return add_golden


def test_counts_of_a_whole_project(project: Path, add: Callable[[str], Path]) -> None:
    """Goldens of suites, of Python tests and of cases that are gone, each once."""
    for place in ("py/test_x/test_it/output", "toy/gone", "removed-suite/reference"):
        add(place)
    found = verify_goldens([], project)
    assert (found.n_goldens, found.n_sample_sets, found.n_samples) == (4, 1, 2)
    assert found.faults == found.unrecorded == ()


def test_a_suite_is_verified_alone(project: Path, add: Callable[[str], Path]) -> None:
    """A neighbour's damage is not asked about, the suite's own orphans are."""
    (add("other/reference") / "summary.csv").unlink()
    add("toy/gone")
    found = verify_goldens(["toy"], project)
    assert found.n_goldens == 2
    assert found.faults == ()
    assert len(verify_goldens([], project).faults) == 1


def test_project_is_found_from_below(project: Path) -> None:
    """Without a word the project is meant, wherever the command is typed."""
    assert verify_goldens([], project / "code").n_goldens == 1


def test_all_faults_at_once(project: Path, add: Callable[[str], Path]) -> None:
    """Every golden and sample set with a fault is counted, every fault is a line with its path."""
    (project / "golden/toy/reference/golden.json").write_text("{")
    for path in add("toy/v2").glob("[os]*"):
        path.unlink()
    (project / "samples/a.json").unlink()
    (project / "samples/c.json").write_text("")
    found = verify_goldens([], project)
    assert found.n_faulty == 3
    assert len(found.faults) == 5
    assert not [fault for fault in found.faults if "\n" in fault]
    for name in ("golden.json", "outputs.logits.", "summary.csv", "a.json", "c.json"):
        assert sum(name in fault for fault in found.faults) >= 1


def test_record_that_does_not_fit_its_file(project: Path) -> None:
    """Digests hold and the shape is another one: a golden of an earlier release, merged by hand."""
    shutil.rmtree(project / "golden")
    shutil.copytree(REPOSITORY / "tests/store/formats/2026-11-30-format-1", project / "golden")
    assert verify_goldens(["golden"], project).faults == ()
    path = project / "golden/photos/reference/golden.json"
    path.write_text(path.read_text().replace('"shape": [2, 3]', '"shape": [2, 4]'))
    (fault,) = verify_goldens(["golden"], project).faults
    assert "outputs.logits" in fault
    assert "shape" in fault


def test_links_that_leave_the_golden_root(project: Path, tmp_path: Path, add: Callable[[str], Path]) -> None:
    """A golden outside its root is refused, a linked root is followed."""
    add("toy/v2")
    outside = tmp_path / "code" / "elsewhere"
    shutil.move(project / "golden", outside)
    (project / "golden").symlink_to(outside)
    assert verify_goldens([], project).faults == ()
    shutil.move(outside / "toy" / "reference", tmp_path / "code" / "reference")
    (outside / "toy" / "reference").symlink_to(tmp_path / "code" / "reference")
    for targets in ([], ["toy"], ["golden"]):
        assert any("got a link that leaves it" in fault for fault in verify_goldens(targets, project).faults)


def test_links_elsewhere_are_nobodys_business(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Just inside: a project may link its data from anywhere."""
    (project / "data").symlink_to(tmp_path_factory.mktemp("data"))
    assert verify_goldens(["."], project).faults == ()


def test_names_that_clash(project: Path, add: Callable[[str], Path]) -> None:
    """Goldens that another system cannot keep apart are named, both."""
    shutil.copytree(add("toy/v2"), project / "golden/toy/V2")
    (fault,) = verify_goldens([], project).faults
    assert "'V2' and 'v2'" in fault


def test_cases_without_a_golden(project: Path, suites) -> None:
    """Only cases that keep a golden; one in a folder below its place counts as there."""
    suites.write(suites.suite + "variants:\n  own: {batch_size: 1, golden: own}\n  same: {batch_size: 2}\n")
    assert verify_goldens([], project).unrecorded == ("toy[own]",)
    _write(project / "golden/toy/own/cpu", project / ".scratch")
    assert verify_goldens([], project).unrecorded == ()


def test_nothing_to_verify(project: Path) -> None:
    """No golden at all is never green; a sample set that was named is."""
    shutil.rmtree(project / "golden")
    for targets, said in (([], "found none; record them"), (["code"], "name a suite, a golden folder")):
        with pytest.raises(UsageFault, match=said):
            verify_goldens(targets, project)
    assert verify_goldens(["samples"], project).n_samples == 2


def test_faulty_suite_files_are_all_named(project: Path, suites) -> None:
    """As for every other command."""
    suites.write("modelreg: 1\nsuit: x\n", "a/modelreg.yaml")
    suites.write("modelreg: 1\nsuit: y\n", "b/modelreg.yaml")
    with pytest.raises(SuiteFileError) as caught:
        verify_goldens([], project)
    assert {fault.where.split("/")[0] for fault in caught.value.faults} == {"a", "b"}


def test_goldens_of_this_repository() -> None:
    """What earlier states of this project recorded is still whole, also of examples that cannot run here."""
    folders = [REPOSITORY / "golden", *REPOSITORY.glob("examples/*/golden")]
    found = verify_goldens([str(folder) for folder in folders], REPOSITORY)
    assert found.faults == ()
    assert found.n_goldens >= len(folders)


@pytest.mark.full
def test_suites_of_this_repository_have_all_their_goldens() -> None:
    """With the examples' packages installed, nothing is left to record."""
    found = verify_goldens([], REPOSITORY)
    assert (found.faults, found.unrecorded) == ((), ())


def test_two_hundred_goldens_take_seconds(project: Path) -> None:
    """Verifying is for every commit: 200 goldens within two seconds."""
    golden = _write(project / "golden/toy/reference", project / ".scratch")
    for number in range(200):
        observation = replace(golden.observation, variant=f"v{number}")
        place = project / f"golden/toy/v{number}"
        shutil.copytree(project / "golden/toy/reference", place)
        write_golden(place, replace(golden, observation=observation), place, [["sample"], ["a"], ["b"]])
    started = time.process_time()  # where others work too, the clock on the wall tells of them
    found = verify_goldens([], project)
    assert time.process_time() - started < 2.0
    assert found.n_goldens == 201
    assert found.faults == ()


def test_goldens_that_dvc_did_not_fetch_are_a_fault(project: Path) -> None:
    """A clone without `dvc pull`: nothing to verify is not the same as nothing recorded."""
    shutil.rmtree(project / "golden/toy")
    (project / "golden/toy.dvc").touch()
    found = verify_goldens([], project)
    assert [fault.partition(": ")[2] for fault in found.faults] == [
        "expected the golden, got nothing but toy.dvc; run `dvc pull`"
    ]
    assert found.unrecorded == ()
