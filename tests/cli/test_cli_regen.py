"""The command that records and replaces goldens."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time

import pytest

from pytest_modelreg.store import read_golden, verify_files
from pytest_modelreg.store.golden_store import recorded_files
from pytest_modelreg.store.sealed_record import seal_record
from tests.conftest import MODEL


def test_records_what_is_missing_without_a_question(project):
    """A first recording replaces nothing, so it needs neither a reason nor a yes."""
    project.pin()
    result = project.modelreg("regen")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["toy[[]reference]: recorded from 6 samples: first recording"])
    assert project.pytest().ret == 0


def test_replacing_needs_a_reason(recorded):
    """Exit 2, nothing written."""
    before = recorded.golden_bytes()
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    result = recorded.modelreg("regen", "--yes")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*reason*"])
    assert recorded.golden_bytes() == before


def test_script_without_yes_replaces_nothing(recorded):
    """Off a terminal nobody can answer, so nothing is replaced and the exit says so."""
    before = recorded.golden_bytes()
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    result = recorded.modelreg("regen", "--reason", "scaled")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*drift*", "*add --yes*"])
    assert recorded.golden_bytes() == before


def test_script_with_yes_replaces(recorded):
    """What will change is shown first, then done."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    result = recorded.modelreg("regen", "toy[reference]", "--reason", "scaled", "--yes")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["*drift*", "toy[[]reference]: replaced from 6 samples: scaled; it was drift*"]
    )
    assert recorded.pytest().ret == 0


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1)])
def test_terminal_is_asked(recorded, answer, code):
    """On a terminal the user decides after seeing the change."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    before = recorded.golden_bytes()
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest_modelreg", "regen", "--reason", "scaled"],
        cwd=recorded.path,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    os.write(leader, f"{answer}\n".encode())
    out, _ = process.communicate(timeout=60)
    assert process.returncode == code, out
    assert "Replace 1 golden?" in out
    assert (recorded.golden_bytes() == before) is (answer == "n")


def test_match_leaves_every_byte(recorded):
    """Nothing to change is exit 0 and no write."""
    before = recorded.golden_bytes()
    result = recorded.modelreg("regen", "--reason", "nothing", "--yes")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*match*left as it is*"])
    assert recorded.golden_bytes() == before


def test_ci_is_refused_with_exit_2(project):
    """C1 for the command: the variable named, nothing written."""
    project.pin()
    done = subprocess.run(
        [sys.executable, "-m", "pytest_modelreg", "regen"],
        cwd=project.path,
        env={**os.environ, "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "CI=true" in done.stderr
    assert "--allow-ci" in done.stderr
    assert not (project.path / "golden").exists()


def test_unknown_target_names_the_nearest(recorded):
    """A misspelt id is a usage error, not an empty run."""
    result = recorded.modelreg("regen", "toy[referense]")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*did you mean toy[[]reference]*"])


def test_case_that_cannot_run_is_exit_3(recorded):
    """The other cases are carried out; the exit code says that one was not."""
    recorded.edit("toymodel.py", "scale * (x @ WEIGHT)", "1 / 0")
    assert recorded.modelreg("regen", "--reason", "x", "--yes").ret == 3


def test_killed_regeneration_leaves_old_or_new(recorded):
    """SIGKILL around the moment of writing: the golden is one of the two, whole, and the next run works."""
    folder = recorded.path / "golden/toy/reference"
    seen = set()
    for attempt, delay_s in enumerate([0.0, 0.001, 0.002, 0.004, 0.006, 0.01, 0.02, 0.5]):
        recorded.write("toymodel.py", MODEL.replace("scale=1.0", f"scale={attempt + 2}.0"))
        old = read_golden(folder)
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "pytest_modelreg", "regen", "--reason", f"try {attempt}", "--yes"],
            cwd=recorded.path,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        # The drift is printed right before anything is written.
        while "if this" not in (line := process.stdout.readline()) and "drift:" not in line:
            assert line, "the command ended before it had anything to write"
        time.sleep(delay_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        golden = read_golden(folder)
        verify_files(folder, golden)
        seen.add("old" if golden == old else "new")
    assert seen == {"old", "new"}
    recorded.pytest("--modelreg-regen=changed", "--modelreg-reason=at last")
    assert recorded.pytest().ret == 0
    named = {record.file for record in recorded_files(read_golden(folder))}
    left = {path.name for path in folder.iterdir()} - named
    assert left == {".gitattributes", "golden.json", "summary.csv"}


@pytest.mark.parametrize("damage", ["golden.json", "outputs.*.npy"])
def test_all_mode_replaces_a_broken_golden(recorded, damage):
    """The command that the message of a broken golden names does repair it."""
    path = next((recorded.path / "golden/toy/reference").glob(damage))
    path.write_bytes(path.read_bytes()[:-4])
    assert recorded.modelreg("regen", "--reason", "file was damaged", "--yes").ret == 3
    result = recorded.modelreg("regen", "--mode", "all", "--reason", "file was damaged", "--yes")
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"*{path.name}*will be replaced", "*replaced from 6 samples*"])
    assert recorded.pytest().ret == 0


def test_last_bits_are_no_change(recorded):
    """B5: a match with other bits keeps every byte of its golden under `changed`."""
    before = recorded.golden_bytes()
    recorded.edit("toymodel.py", "scale * (x @ WEIGHT)", "np.float32(1 + 2e-7) * (x @ WEIGHT)")
    result = recorded.modelreg("regen", "--reason", "nothing", "--yes")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*match: 6 samples, largest rel_l2*left as it is*"])
    assert recorded.golden_bytes() == before


def test_reason_is_asked_for_before_anything_is_recorded(project):
    """All or nothing: a golden that needs a reason keeps its missing neighbour waiting too."""
    project.record()
    project.edit("toymodel.py", "scale=1.0", "scale=1.2")
    suite = (project.path / "modelreg.yaml").read_text(encoding="utf-8")
    project.write("second.modelreg.yaml", suite.replace("suite: toy", "suite: second"))
    assert project.modelreg("regen", "--yes").ret == 2
    assert not (project.path / "golden/second").exists()


def test_faulty_neighbour_does_not_block_a_named_case(recorded):
    """Naming a case needs that case's suite only; naming nothing needs all."""
    recorded.write("other.modelreg.yaml", "modelreg: 1\nsuit: x\n")
    assert recorded.modelreg("regen", "toy[reference]").ret == 0
    result = recorded.modelreg("regen")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*other.modelreg.yaml:2: suit*"])


def test_printed_command_works_from_a_sub_folder(recorded):
    """The project around the current folder is searched, with the plugin's root folder."""
    recorded.write("pytest.ini", "[pytest]\n")
    folder = recorded.path / "deep/er"
    folder.mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest_modelreg", "regen", "toy[reference]"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (folder / ".modelreg").exists()


def test_golden_above_its_budget_is_a_warning(project):
    """With the ways out: whoever clones the repository downloads it."""
    project.edit("modelreg.yaml", "reference:", "golden_budget_mb: 0.0001\nreference:")
    project.pin()
    result = project.modelreg("regen", "--yes")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["warning: *toy*budget*"])


@pytest.mark.parametrize("is_sealed", [True, False])
def test_golden_of_a_newer_release_is_never_replaced(recorded, is_sealed):
    """What that release knows would be lost; damage that looks like one is removed by hand."""
    path = recorded.path / "golden/toy/reference/golden.json"
    fields = json.loads(path.read_text(encoding="utf-8"))
    sealed = seal_record(fields, key="modelreg_golden", version=3)
    path.write_bytes(sealed if is_sealed else sealed.replace(b"first recording", b"first_recording"))
    before = recorded.golden_bytes()
    result = recorded.modelreg("regen", "--mode", "all", "--reason", "z", "--yes")
    assert result.ret == 3
    text = result.stdout.str()
    assert "expected format 2 at most" in text
    assert "upgrade pytest-modelreg" in text
    assert ("remove the file and record the golden again" in text) is not is_sealed
    assert recorded.golden_bytes() == before


def test_suite_called_like_a_folder_is_found(recorded):
    """A folder of samples often is; one without suites is not what was meant."""
    recorded.edit("modelreg.yaml", "suite: toy", "suite: samples")
    result = recorded.modelreg("regen", "samples")
    assert result.ret == 0, result.stderr.str()
    result.stdout.fnmatch_lines(["samples?reference?: recorded from 6 samples*"])
    assert recorded.modelreg("log", "samples").ret == 0
    verified = recorded.modelreg("verify", "samples")
    verified.stdout.fnmatch_lines(["verified 1 golden, 1 sample set, 6 samples: all whole"])
    unknown = recorded.modelreg("regen", "golden")
    assert unknown.ret == 2
    unknown.stderr.fnmatch_lines(
        ["*golden: expected a suite file, *found a folder without suite files, and no suite or case*"]
    )


def test_advice_names_only_flags_of_the_command(recorded):
    """--modelreg-run-dir is pytest's: a command would refuse it."""
    shutil.rmtree(recorded.path / ".modelreg")
    (recorded.path / ".modelreg").touch()
    result = recorded.modelreg("regen", "--dry-run")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*the run folder cannot be made: *got a file; move it away"])
    for arguments in ((), ("-n2",)):
        run = recorded.pytester.runpytest("--modelreg", *arguments)
        assert run.ret == 4
        run.stderr.fnmatch_lines(["*move it away, or choose another place with --modelreg-run-dir"])


@pytest.mark.parametrize("by", ["command", "pytest"])
def test_attributes_beside_a_golden_are_restored(recorded, by):
    """Without them git may convert line ends; nothing else of a match is touched."""
    before = recorded.golden_bytes()
    path = recorded.path / "golden/toy/reference/.gitattributes"
    for damage in (b"*.npy binarx\n", None):
        path.unlink()
        if damage is not None:
            path.write_bytes(damage)
        assert recorded.pytest().ret == 0
        verified = recorded.modelreg("verify")
        assert verified.ret == 3
        verified.stdout.fnmatch_lines(["*.gitattributes: expected the *`modelreg regen` writes it again*"])
        if by == "command":
            assert recorded.modelreg("regen").ret == 0
        else:
            assert recorded.pytest("--modelreg-regen=missing").ret == 0
        assert recorded.golden_bytes() == before
