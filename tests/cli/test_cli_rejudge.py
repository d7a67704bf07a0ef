"""``modelreg rejudge``: other limits on what a run kept, without the model."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass

import pytest

from pytest_modelreg.cli import main

VARIANTS = """
variants:
  a-bit: {preprocess: "toydata:bit"}
  own: {preprocess: "toydata:bit", golden: own}
"""

BIT = """

def bit(sample):
    return prepare(sample) * np.float32(1.001)
"""

PYTHON_TEST = """
import os

import numpy as np


def test_values(modelreg):
    modelreg.check(np.ones((3, 2), "f4") * float(os.environ.get("FACTOR", "1")), name="v")
"""


def find_run(project):
    """Return the folder of the last run."""
    return sorted((project.path / ".modelreg/runs").iterdir())[-1]


def read_tree(folder):
    """Return every file below a folder with its bytes."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@dataclass
class Answer:
    """What a command came to."""

    ret: int
    stdout: pytest.LineMatcher
    stderr: pytest.LineMatcher


@pytest.fixture
def rejudge(capsys):
    """Run the command in this process and in the project's folder, where pytester has gone."""

    def run(*words):
        capsys.readouterr()
        code = main(["rejudge", *words])
        said = capsys.readouterr()
        return Answer(
            code,
            pytest.LineMatcher(said.out.splitlines()),
            pytest.LineMatcher(said.err.splitlines()),
        )

    return run


@pytest.fixture
def varied(project):
    """A project of which one variant's inputs are a thousandth larger, so that it drifts."""
    source = (project.path / "toydata.py").read_text(encoding="utf-8")
    project.write("toydata.py", source + BIT)
    suite = (project.path / "modelreg.yaml").read_text(encoding="utf-8")
    project.write("modelreg.yaml", suite + VARIANTS)
    project.pin()
    project.pytest("--modelreg-regen=missing")
    project.pytest().assert_outcomes(passed=2, failed=1)
    return project


@pytest.fixture
def kept(varied):
    """The same, with the outputs of matches."""
    varied.pytest("--modelreg-keep-outputs").assert_outcomes(passed=2, failed=1)
    return varied


def test_wider_limit_of_the_command_turns_a_drift_into_a_match(varied, rejudge):
    """The line has the value, the limit and where it comes from."""
    result = rejudge(find_run(varied).name, "toy[a-bit]", "--checks", "rel_l2=1e-2")
    assert result.ret == 0, result.stderr.str()
    result.stdout.fnmatch_lines(
        [
            "toy?a-bit?: drift -> match: logits rel_l2 0.001 <= 0.01 (limit from --checks.rel_l2)*",
            "1 judged again: 1 match; 1 with another verdict",
        ]
    )


def test_limit_just_below_the_value_leaves_the_drift(varied, rejudge):
    """The measured value is 1.0001e-3."""
    run = find_run(varied).name
    below = rejudge(run, "toy[a-bit]", "--checks", "logits.rel_l2=1e-3")
    assert below.ret == 1
    below.stdout.fnmatch_lines(["toy?a-bit?: drift -> drift: logits rel_l2 0.00100* > 0.001 *in * samples"])
    above = rejudge(run, "toy[a-bit]", "--checks", "logits.rel_l2=1.001e-3")
    assert above.ret == 0


def test_limits_of_the_suite_file_are_those_of_now(varied, rejudge):
    """Edited after the run, which is not repeated."""
    varied.edit(
        "modelreg.yaml",
        'a-bit: {preprocess: "toydata:bit"}',
        "a-bit: {preprocess: 'toydata:bit', checks: {rel_l2: 1e-2}}",
    )
    result = rejudge(find_run(varied).name, "toy[a-bit]")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["toy?a-bit?: drift -> match: *limit from variants.a-bit.checks.rel_l2*"])


def test_matches_are_refused_unless_their_outputs_were_kept(varied, rejudge):
    """They are named, with how to get them; nothing passes for judged."""
    result = rejudge()
    assert result.ret == 3
    result.stdout.fnmatch_lines(
        [
            "toy?reference?: match -> error: not judged: the run kept no outputs*--modelreg-keep-outputs",
            "toy?a-bit?: drift -> drift: *",
            "toy?own?: match -> error: *",
            "1 judged again: 1 drift; 2 could not be judged",
        ]
    )


def test_kept_outputs_of_a_match_meet_a_tighter_limit(kept, rejudge):
    """Also one that they do not hold: the run's own verdict is not repeated."""
    assert rejudge(find_run(kept).name, "toy[reference]", "--checks", "rel_l2=0").ret == 0
    tight = rejudge("--checks", "snr_db=1000")
    assert tight.ret == 1
    tight.stdout.fnmatch_lines(["toy?reference?: match -> match: *", "toy?a-bit?: drift -> drift: *"])


def test_match_that_does_not_hold_a_tighter_limit_is_a_drift(project, rejudge):
    """The noise of one ulp, kept, against a limit of none."""
    source = (project.path / "toydata.py").read_text(encoding="utf-8")
    project.write("toydata.py", source + BIT.replace("1.001", "1.0000002"))
    suite = (project.path / "modelreg.yaml").read_text(encoding="utf-8")
    project.write("modelreg.yaml", suite + VARIANTS)
    project.pin()
    project.pytest("--modelreg-regen=missing")
    project.pytest("--modelreg-keep-outputs").assert_outcomes(passed=3)
    assert rejudge().ret == 0
    result = rejudge("--checks", "logits.rel_l2=1e-8")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["toy?a-bit?: match -> drift: logits rel_l2 *e-0* > 1e-08*"])


def test_nothing_is_run_decoded_or_written(varied):
    """Model, preprocess and loader are not even imported; goldens and the run keep every byte."""
    varied.write("toyload.py", "import json\n\n\ndef load(path):\n    return json.loads(path.read_text())\n")
    varied.edit("modelreg.yaml", "loader: json", "loader: toyload:load")
    varied.pytest("--modelreg-keep-outputs").assert_outcomes(passed=2, failed=1)
    for name in ("toymodel.py", "toydata.py", "toyload.py"):
        varied.write(name, "raise SystemExit('imported')")
    run = find_run(varied)
    before = read_tree(varied.path / "golden"), read_tree(run), read_tree(varied.path / "samples")
    code = (
        "import sys\n"
        "def hook(event, given):\n"
        "    if event == 'import' and given[0] in ('toymodel', 'toydata', 'toyload', 'torch'):\n"
        "        raise SystemExit(f'imported {given[0]}')\n"
        "    if event == 'open' and isinstance(given[1], str) and set(given[1]) & set('wax+'):\n"
        "        raise SystemExit(f'written {given[0]}')\n"
        "sys.addaudithook(hook)\n"
        "sys.dont_write_bytecode = True\n"
        "from pytest_modelreg.cli import main\n"
        "sys.exit(main(['rejudge', '--checks', 'rel_l2=1']))\n"
    )
    result = varied.pytester.run(sys.executable, "-c", code)
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    result.stdout.fnmatch_lines(["3 judged again: 3 match; 1 with another verdict"])
    assert (read_tree(varied.path / "golden"), read_tree(run), read_tree(varied.path / "samples")) == before


def test_run_of_another_machine_is_judged_by_its_path(varied, tmp_path, rejudge):
    """As an artifact of CI, unpacked anywhere, without this project's own runs."""
    target = tmp_path / "artifact"
    shutil.copytree(find_run(varied), target)
    shutil.rmtree(varied.path / ".modelreg")
    assert rejudge(str(target), "toy[a-bit]", "--checks", "rel_l2=1").ret == 0


def test_report_has_a_record_a_case_with_the_keys_of_a_run(varied, rejudge):
    """Refused ones included, as error."""
    run = find_run(varied)
    rejudge("--json", "again.json", "--checks", "rel_l2=1")
    report = json.loads((varied.path / "again.json").read_text(encoding="utf-8"))
    before = json.loads((run / "report.json").read_text(encoding="utf-8"))
    assert [case["verdict"] for case in report["cases"]] == ["error", "match", "error"]
    assert [list(case) for case in report["cases"]] == [list(case) for case in before["cases"]]
    assert (report["environment"], report["run"]) == (before["environment"], before["run"])


@pytest.mark.parametrize("place", ["golden/again.json", "run"])
def test_report_among_goldens_or_in_the_run_is_refused(varied, place, rejudge):
    """Nothing is written there."""
    run = find_run(varied)
    target = run / "again.json" if place == "run" else varied.path / place
    result = rejudge(run.name, "toy[a-bit]", "--json", str(target))
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*--json*expected a place outside of*"])
    assert not target.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--checks", "rel_l3=1"], "*rel_l3*did you mean rel_l2*"),
        (["--checks", "logit.rel_l2=1"], "*at logit (did you mean logits?), got logits (classification)*"),
        (["--checks", "rank_overlap=1"], "*expected an output that rank_overlap fits, got logits*"),
        (["toy[a-bt]"], "*toy?a-bt?: expected a case of the run*did you mean toy?a-bit?*"),
    ],
)
def test_bad_words_are_usage_errors_with_the_nearest(varied, words, said, rejudge):
    """Before anything is judged; a limit that changes nothing would be believed."""
    result = rejudge(find_run(varied).name, *words)
    assert result.ret == 2
    assert "->" not in result.stdout.str()
    result.stderr.fnmatch_lines([said])


@pytest.mark.parametrize(
    ("name", "said"), [("nope", "*nope: expected*"), ("samples", "*expected the folder of a run*")]
)
def test_what_is_no_run_is_a_usage_error(varied, name, said, rejudge):
    """Neither a name that is nothing nor a folder of something else."""
    result = rejudge(name)
    assert result.ret == 2
    result.stderr.fnmatch_lines([said])


def test_samples_golden_and_suite_that_do_not_fit_any_more_are_refused(varied, rejudge):
    """Each with its own reason, exit 3."""
    run = find_run(varied).name

    def refuse(said):
        result = rejudge(run, "toy[a-bit]")
        assert result.ret == 3, result.stdout.str()
        result.stdout.fnmatch_lines([f"toy?a-bit?: drift -> error: not judged: {said}"])

    varied.edit("modelreg.yaml", "batch_size: 4", "batch_size: 3")
    refuse("expected the suite as it was when the case ran*")
    varied.edit("modelreg.yaml", "batch_size: 3", "batch_size: 4")
    sample = (varied.path / "samples/s0.json").read_text(encoding="utf-8")
    varied.write("samples/s0.json", "[9, 9, 9]")
    refuse("*s0*")
    varied.pin()
    refuse("expected the samples that the run observed*")
    varied.write("samples/s0.json", sample)
    varied.pin()
    (array,) = (varied.path / "golden/toy/reference").glob("outputs.logits.*.npy")
    array.write_bytes(array.read_bytes() + b"x")
    refuse("*outputs.logits.*")


def test_case_that_the_suite_has_lost_is_refused(varied, rejudge):
    """The others are judged."""
    varied.edit("modelreg.yaml", "a-bit:", "b-bit:")
    result = rejudge(find_run(varied).name, "toy[a-bit]")
    assert result.ret == 3
    result.stdout.fnmatch_lines(["toy?a-bit?: drift -> error: not judged: *did you mean*"])


def test_faulty_suite_file_is_a_usage_error(varied, rejudge):
    """With file and line, as everywhere."""
    varied.edit("modelreg.yaml", "batch_size: 4", "batch_sizes: 4")
    result = rejudge(find_run(varied).name, "toy[a-bit]")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*modelreg.yaml:8: reference.batch_sizes: *"])


def test_damaged_observation_is_refused_and_the_others_judged(kept, rejudge):
    """A flipped bit, and a record that is cut off."""
    run = find_run(kept)
    (array,) = (run / "toy[a-bit]").glob("outputs.logits.*.npy")
    array.write_bytes(array.read_bytes()[:-1] + b"\x55")
    (run / "toy[own]/case.json").write_text("{", encoding="utf-8")
    result = rejudge()
    assert result.ret == 3
    result.stdout.fnmatch_lines(
        [
            "toy?reference?: match -> match: *",
            "toy?a-bit?: drift -> error: not judged: *bytes changed*",
            "toy?own?: match -> error: not judged: *case.json*",
            "1 judged again: 1 match; 2 could not be judged",
        ]
    )


def test_run_that_was_cut_off_before_its_report_is_judged(varied, rejudge):
    """By what it kept until then."""
    (find_run(varied) / "report.json").unlink()
    result = rejudge()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["toy?a-bit?: drift -> drift: *", "1 judged again: 1 drift"])


@pytest.mark.parametrize("text", ["{", "[]", '{"cases": 3}', '{"cases": [{"suite": "toy"}]}'])
def test_damaged_report_of_a_run_is_named(varied, rejudge, text):
    """With what helps: no version control has it, but the cases may be whole."""
    (find_run(varied) / "report.json").write_text(text, encoding="utf-8")
    result = rejudge()
    assert result.ret == 3
    result.stderr.fnmatch_lines(["modelreg rejudge: *report.json: *expected*; get the run again, or remove*"])
    assert "version control" not in result.stderr.str()


def test_case_that_raised_is_refused_with_what_it_said(recorded, rejudge):
    """There is nothing to judge."""
    recorded.edit("toymodel.py", "return lambda", "raise ValueError('lost')\n    return lambda")
    recorded.pytest()
    result = rejudge()
    assert result.ret == 3
    result.stdout.fnmatch_lines(["toy?reference?: error -> error: not judged: *observed nothing*lost*"])


def test_golden_that_is_gone_is_missing(varied, rejudge):
    """Somebody has to record it: exit 1."""
    shutil.rmtree(varied.path / "golden/toy/reference")
    result = rejudge(find_run(varied).name, "toy[a-bit]")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["toy?a-bit?: drift -> missing: no golden at*"])


def test_skipped_case_is_left_out_unless_it_is_named(kept, rejudge):
    """This machine cannot run it, which is nobody's fault; asked for by name it is missed."""
    suite = (kept.path / "modelreg.yaml").read_text(encoding="utf-8")
    kept.write("modelreg.yaml", suite + "  gpu: {device: 'cuda:63'}\n")
    kept.pytest("--modelreg-keep-outputs")
    every = rejudge("--checks", "rel_l2=1")
    assert every.ret == 0, every.stdout.str()
    every.stdout.fnmatch_lines(["toy?gpu?: skipped -> skipped: *"])
    assert rejudge(find_run(kept).name, "toy[gpu]").ret == 3


def test_check_of_the_suites_own_can_be_given(kept, rejudge):
    """It is imported as in a run, and nothing else is."""
    kept.write(
        "own.py", "def share(expected, actual, samples):\n    return float((actual == expected).mean())\n"
    )
    kept.write("toymodel.py", "raise SystemExit")
    strict = rejudge("--checks", "own:share={min: 0.5}")
    assert strict.ret == 1
    strict.stdout.fnmatch_lines(["toy?a-bit?: drift -> drift: *"])
    loose = rejudge("--checks", "own:share={min: 0}", "--checks", "rel_l2=off")
    assert loose.ret == 0, loose.stdout.str()


def test_values_of_a_python_test_are_judged_with_what_it_declared(project, monkeypatch, rejudge):
    """The test is not run; a limit of the command wins over the test's."""
    (project.path / "modelreg.yaml").unlink()
    project.write("test_it.py", PYTHON_TEST)
    project.pytest("--modelreg-regen=missing", "test_it.py").assert_outcomes(passed=1)
    monkeypatch.setenv("FACTOR", "1.5")
    project.pytest("test_it.py").assert_outcomes(failed=1)
    project.write("test_it.py", "raise SystemExit")
    assert rejudge().ret == 1
    wide = rejudge("--checks", "rel_l2=0.5")
    assert wide.ret == 0, wide.stdout.str()
    wide.stdout.fnmatch_lines(["py?test_it.py::test_values::v?: drift -> match: output rel_l2 0.5 <= 0.5 *"])


def test_verbose_shows_samples_and_numbers(varied, rejudge):
    """As the run did."""
    result = rejudge(find_run(varied).name, "toy[a-bit]", "-v")
    result.stdout.fnmatch_lines(["toy?a-bit?: drift -> drift: *", "*samples drift, worst first:*"])


def test_ids_may_stand_behind_options(project):
    """As the usage line shows them."""
    result = project.modelreg("rejudge", "no-such-run", "--checks", "rel_l2=1", "toy[reference]")
    assert result.ret == 2
    assert "unrecognized" not in result.stderr.str()
    assert "no-such-run" in result.stderr.str()
