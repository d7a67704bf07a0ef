"""``modelreg precheck``, as a user types it: verdicts, exit codes, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli.watched_project import BLUNT, SHARP, change, extend, n_seen, seen, tree, watch


def test_identical_inputs_touch_neither_model_nor_checkpoint(recorded, command):
    """Both are planted to fail; exit 0, one line a pipeline, and not a byte anywhere is another."""
    recorded.write("toymodel.py", "raise RuntimeError('the module of the model was imported')\n")
    before = tree(recorded)
    code, out, err = command()
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == (
        "toy[reference]: match: inputs bit-identical for all 6 samples: no model was built"
    )
    assert out.splitlines()[1].startswith("toy: no model built, ")
    assert tree(recorded) == before


def test_in_a_process_of_its_own(recorded):
    """As installed: no torch is imported for arrays, nothing is written, not even a cache of bytecode's."""
    before = tree(recorded)
    result = recorded.modelreg("precheck", "toy")
    for name in ("stdout", "stderr"):  # pytester's own
        (recorded.path / name).unlink()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["toy[[]reference]: match: *no model was built"])
    assert result.stderr.str() == ""
    assert tree(recorded) == before


def test_other_inputs_are_run_and_named(project, command):
    """Samples, distance, behaviour and the command; exit 1; the model saw those samples alone."""
    watch(project)
    project.record()
    seen(project)
    before = tree(project)
    change(project, "x * 2 if sample[0] > 0.11 else x")
    after = {**before, "toydata.py": (project.path / "toydata.py").read_bytes()}
    code, out, err = command()
    assert code == 1
    assert err == "inputs differ: running the model\n"
    assert "toy[reference]: drift: inputs differ for 2 of 6 samples; behaviour drifts: logits rel_l2 1" in out
    assert "(rel_l2 about 1)" in out
    assert "  if this change is intended: modelreg regen 'toy[reference]' --reason \"why it changed\"" in out
    assert "toy: 1 model run, " in out
    assert n_seen(project) == 2
    assert tree(project) == after, "no golden, no run folder and no record of a run was written"


def test_inputs_within_the_limit_are_run_and_match(project, command):
    """Another CPU: 1e-7 on some samples; the model is asked for those alone, and the note says so."""
    watch(project)
    project.record()
    seen(project)
    change(project, "x * np.float32(1 + 2e-7) if sample[0] > 0.11 else x")
    code, out, _ = command()
    assert code == 0
    assert out.startswith(
        "toy[reference]: match: inputs differ for 2 of 6 samples by at most 1e-05, as another CPU makes; "
        "the model answers as pinned on these 2\n"
    )
    assert n_seen(project) == 2


def test_inputs_within_the_limit_that_change_behaviour_are_drift(project, command):
    """The same perturbation on a model that magnifies it."""
    watch(project, SHARP)
    project.record()
    change(project, "x * np.float32(1 + 2e-7)")
    code, out, _ = command()
    assert code == 1
    assert "behaviour drifts: logits rel_l2" in out
    assert all(float(part.split(")")[0]) <= 1e-5 for part in out.split("rel_l2 about ")[1:])


def test_inputs_beyond_the_limit_are_drift_though_behaviour_is_the_same(project, command):
    """Just outside; the command that is shown makes the precheck green."""
    watch(project, BLUNT)
    project.record()
    assert command()[0] == 0
    change(project, "x * np.float32(1 + 2e-5)")
    code, out, _ = command()
    assert code == 1
    assert "the model answers as pinned on these 6, within the limits" in out
    assert "modelreg regen 'toy[reference]' --mode all --reason \"why it changed\"" in out
    shown = out.split("if this change is intended: modelreg ")[1].splitlines()[0]
    accepted = subprocess.run(
        f"{sys.executable} -m pytest_modelreg {shown} --yes",
        shell=True,
        cwd=project.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr
    seen(project)
    code, out, _ = command()
    assert (code, seen(project)) == (0, [])
    assert "bit-identical for all 6 samples" in out


def test_missing_golden_is_exit_1_with_the_command(project, command):
    """Nothing is compared, which is not green."""
    project.pin()
    code, out, _ = command()
    assert code == 1
    assert "toy[reference]: missing: no golden at golden/toy/reference: nothing was compared" in out
    assert "  record it: modelreg regen 'toy[reference]'" in out


def test_stale_sample_set_is_exit_1(recorded, command):
    """Named by ids."""
    recorded.write("samples/new.json", "[1, 2, 3]")
    recorded.pin()
    code, out, _ = command()
    assert code == 1
    assert "toy[reference]: stale: the sample set differs from the golden's: 1 added (new)" in out


def test_broken_golden_is_exit_3(recorded, command):
    """Named with the file; no drift is claimed."""
    path = next((recorded.path / "golden/toy/reference").glob("trace.*"))
    path.write_bytes(path.read_bytes()[:-8])
    code, out, _ = command()
    assert code == 3
    assert "toy[reference]: error: " in out
    assert path.name in out


def test_preprocess_that_raises_is_exit_3(recorded, command):
    """Also one that exits, and one that cannot be imported."""
    original = (recorded.path / "toydata.py").read_text()
    for code_text, said in (
        ("raise ValueError('no')", "raised ValueError: no"),
        ("raise SystemExit(0)", "raised SystemExit"),
    ):
        recorded.write("toydata.py", f"{original}\n\ndef prepare(sample):\n    {code_text}\n")
        code, out, _ = command()
        assert code == 3
        assert said in out
    recorded.write("toydata.py", "import no_such_module\n")
    code, out, _ = command()
    assert code == 3
    assert "no_such_module" in out


def test_model_that_cannot_be_built_is_exit_3_only_when_needed(recorded, command):
    """Identical inputs do not ask for it; other inputs whose effect nobody knows are an error."""
    recorded.edit(
        "toymodel.py", "def build(scale=1.0):", "def build(scale=1.0):\n    raise OSError('no licence')"
    )
    assert command()[0] == 0
    change(recorded, "x * 2")
    code, out, _ = command()
    assert code == 3
    assert (
        "toy[reference]: error: inputs differ for 6 of 6 samples; the model could not be run on them: " in out
    )
    assert "no licence" in out


@pytest.mark.parametrize("word", ["toi", "toy[referenze]"])
def test_unknown_name_is_exit_2_with_the_nearest(recorded, command, word):
    """Nothing is run."""
    code, out, err = command(word)
    assert (code, out) == (2, "")
    assert "did you mean toy" in err


def test_case_that_another_environment_prepares_is_refused_by_name(recorded, command):
    """Asked for alone it would compare nothing, and exit 0."""
    extend(recorded, "variants:\n  there: {environment: {variables: {SOMETHING: '1'}}}\n")
    assert command("toy")[0] == 0
    code, out, err = command("toy[there]")
    assert (code, out) == (2, "")
    assert "toy[there]: expected a case whose inputs are prepared here" in err


def test_one_broken_suite_of_several_leaves_the_others_verdicts(recorded, command):
    """Exit 3 wins over 1: what could not run is the first thing to mend."""
    for name, data in (
        ("bad", "def bad(sample):\n    raise ValueError('no')\n"),
        (
            "moved",
            "from toydata import prepare\n\n\ndef moved(sample):\n    return prepare(sample) * FACTOR\n",
        ),
    ):
        recorded.write(f"{name}data.py", data.replace("FACTOR", "1"))
        text = (recorded.path / "modelreg.yaml").read_text().replace("suite: toy", f"suite: {name}")
        recorded.write(f"{name}.modelreg.yaml", text.replace("toydata:prepare", f"{name}data:{name}"))
    recorded.write("baddata.py", "from toydata import prepare as bad\n")
    assert recorded.pytest("--modelreg-regen=missing").ret == 0
    for name in ("baddata", "moveddata"):
        sys.modules.pop(name, None)
    recorded.write("baddata.py", "def bad(sample):\n    raise ValueError('no')\n")
    recorded.edit("moveddata.py", "* 1", "* 2")
    code, out, _ = command()
    for name in ("baddata", "moveddata"):
        sys.modules.pop(name, None)
    assert code == 3
    assert "toy[reference]: match: " in out
    assert "moved[reference]: drift: " in out
    assert "bad[reference]: error: " in out


def test_faulty_suite_file_is_exit_2(recorded, command):
    """Before anything runs."""
    recorded.edit("modelreg.yaml", "suite: toy", "suite: toy\nsuit: x")
    code, out, err = command()
    assert (code, out) == (2, "")
    assert "modelreg.yaml:4: suit: " in err


def test_markdown_is_written_and_hostile_ids_are_tame(recorded, command, tmp_path):
    """Beside the terminal's text; it may not break a comment on a merge request."""
    recorded.write("samples/@octocat `x` # <b>.json", "[1, 2, 3]")
    recorded.pin()
    assert recorded.pytest("--modelreg-regen=changed", "--modelreg-reason=more").ret == 0
    change(recorded, "x * 2")
    target = tmp_path / "summary.md"
    code, out, _ = command("--markdown", str(target))
    assert code == 1
    text = target.read_text()
    assert text.startswith("### modelreg precheck: 1 of 1 pipelines differ\n")
    head, block = text.split("```", 1)
    assert "@octocat" not in head.replace("`", "")
    assert "@octocat" in block
    assert "inputs differ for 7 of 7 samples" in out


def test_markdown_that_cannot_be_written_is_said_before_anything_runs(recorded, command):
    """Not after minutes."""
    code, out, err = command("--markdown", str(recorded.path / "samples"))
    assert (code, out) == (2, "")
    assert "samples" in err


def test_step_summary_of_github_gets_it_too(recorded, command, monkeypatch, tmp_path):
    """Where its environment says so."""
    target = tmp_path / "step.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(target))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert command()[0] == 0
    assert target.read_text().startswith("### modelreg precheck: nothing differs")


def test_verbose_lists_every_sample(recorded, command):
    """Five otherwise."""
    change(recorded, "x * 2")
    (line,) = (line for line in command()[1].splitlines() if "farthest first" in line)
    assert line.endswith(" and 1 more")
    (line,) = (line for line in command("-v")[1].splitlines() if "farthest first" in line)
    assert line.count("rel_l2 about") == 6
    assert "more" not in line


def test_suite_file_and_subfolder_are_named_as_well(recorded, command, monkeypatch):
    """A file's path, and from below the project."""
    assert command(str(recorded.path / "modelreg.yaml"))[0] == 0
    monkeypatch.chdir(recorded.path / "samples")
    assert command("toy")[0] == 0


def test_no_suite_at_all_is_exit_2(command, tmp_path, monkeypatch):
    """Green with nothing compared would be the worst answer."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert command()[0] == 2


def test_interrupted_precheck_leaves_nothing(recorded, tmp_path):
    """Exit 130, and no folder among the temporary ones."""
    change(recorded, "interrupt()")
    recorded.write(
        "toydata.py",
        "import os\nimport signal\n\n\ndef interrupt():\n"
        # A job in the background ignores the signal unless somebody listens.
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n\n\n" + (recorded.path / "toydata.py").read_text(),
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "pytest_modelreg", "precheck"],
        cwd=recorded.path,
        env={**os.environ, "TMPDIR": str(scratch)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130, done.stderr
    assert list(scratch.iterdir()) == []


def test_a_change_that_inputs_do_not_show_is_told_with_base(recorded):
    """A model's code changed: identical inputs are no word on it, and the precheck says where it shows."""
    folder = recorded.path
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run([*git, *arguments], cwd=folder, check=True, capture_output=True)
    recorded.edit("toymodel.py", "scale * (x", "2 * scale * (x")
    result = recorded.modelreg("precheck", "--base", "main")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["*model code changed*", "toy: a precheck looks at preprocessed samples alone*"]
    )
    recorded.edit("toymodel.py", "2 * scale * (x", "scale * (x")
    recorded.edit("toydata.py", "import numpy as np", "import numpy as np  # edited")
    result = recorded.modelreg("precheck", "--base", "main")
    assert result.ret == 0
    assert "preprocessed samples alone" not in result.stdout.str()
