"""What a failing case says: the cause first, then the evidence, then what to do."""

from __future__ import annotations

import pytest

RETURNING = """
import numpy as np

E = np.arange(1, 25, dtype=np.float32).reshape(6, 4)


def build():
    def model(x):
        return {expression}
    return model
"""


def plant(project, before: str, after: str, samples: int = 6) -> pytest.RunResult:
    """Record what one model returns, then run with another and return the result."""
    project.edit("modelreg.yaml", "batch_size: 4", f"batch_size: {samples}")
    project.edit(
        "modelreg.yaml", "  logits: {kind: classification, labels: labels.txt}", "  y: {kind: tensor}"
    )
    project.write("toymodel.py", RETURNING.replace("{expression}", before))
    project.record()
    project.write("toymodel.py", RETURNING.replace("{expression}", after))
    return project.pytest()


def test_two_moved_elements_are_shown_with_both_values(project):
    """A1: output and sample named, the count and share, errors, both places; agreeing outputs unmentioned."""
    result = plant(
        project,
        '{"y": E, "fine": E}',
        '{"y": E + np.where(E == 7, 1, np.where(E == 20, 2, 0)).astype(np.float32), "fine": E}',
    )
    out = result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "output y: float32 (6, 4)" in out
    assert "2 / 24 (8.3 %)" in out
    assert "error: max 2, mean 0.125, rms 0.456" in out
    result.stdout.fnmatch_lines(["*s4*[[]3]*20*22*", "*s1*[[]2]*7*8*"])
    assert "fine" not in out


def test_zero_expected_has_no_relative_error(project):
    """A2: dividing by zero is not attempted, and said."""
    result = plant(project, "0 * E", "0 * E + 1e-3")
    result.stdout.fnmatch_lines(["*not defined*"])
    result.stdout.no_fnmatch_line("*RuntimeWarning*")


def test_long_list_of_bad_elements_is_capped_at_the_worst(project):
    """A3: many differences show the largest ones, the totals stay whole."""
    result = plant(
        project,
        "np.ones((6, 100), np.float32)",
        "np.ones((6, 100), np.float32) + np.arange(600, dtype=np.float32).reshape(6, 100)",
    )
    result.stdout.fnmatch_lines(["*599 / 600*", "*worst elements*", "*s5*[[]99]*600*", "*more element*"])


def test_changed_shape_shows_both_and_no_table(project):
    """A4: numbers of different shapes are not lined up."""
    result = plant(project, "E", "E[:, :3]")
    result.stdout.fnmatch_lines(["*shape*(6, 4)*(6, 3)*"])
    result.stdout.no_fnmatch_line("*rms*")


def test_changed_dtype_fails(project):
    """A5: the same numbers in another dtype are another behaviour."""
    result = plant(project, "E", "E.astype(np.float64)")
    result.stdout.fnmatch_lines(["*dtype*float32*float64*"])


@pytest.mark.parametrize(
    ("before", "after"),
    [('{"y": E}', '{"y": E, "extra": E}'), ('{"y": E, "extra": E}', '{"y": E}')],
)
def test_output_that_appears_or_vanishes_fails(project, before, after):
    """A6: both ways."""
    result = plant(project, before, after)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*extra*"])


def test_new_nan_fails_with_its_count(project):
    """A7: a NaN on one side only is a drift."""
    result = plant(project, "E", "np.where(E == 7, np.nan, E).astype(np.float32)")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*NaN: expected 0, got 1*"])


def test_nan_in_the_same_place_is_equal(project):
    """A7: both sides NaN at one place agree."""
    nan = "np.where(E == 7, np.nan, E).astype(np.float32)"
    assert plant(project, nan, nan + " + np.float32(0)").ret == 0


def test_x1_2_is_a_drift(project):
    """I3: scaling keeps every cosine at 1 and every class in place, and is seen."""
    result = plant(project, "E", "E * np.float32(1.2)")
    result.stdout.fnmatch_lines(["*rel_l2*0.2*"])


def test_single_sample_is_seen_and_named(project):
    """I5 in small: one drifting row among healthy ones is named, the others are not."""
    result = plant(project, "E", "E + np.where(np.arange(6)[:, None] == 4, 0.1, 0).astype(np.float32)")
    result.stdout.fnmatch_lines(["*1 of 6 samples*", "*s4*"])
    result.stdout.no_fnmatch_line("*s3 *")


def test_classification_shows_what_a_sample_was_and_is(recorded):
    """A flipped class reads as words."""
    recorded.edit("toymodel.py", "scale * (x @ WEIGHT)", "(x @ WEIGHT)[:, ::-1]")
    result = recorded.pytest()
    result.stdout.fnmatch_lines(["*top1_agreement*", "*sample*rel_l2*expected*actual*"])
    assert any(word in result.stdout.str() for word in ("cat 0.", "fish 0."))


def test_output_without_a_batch_axis_says_how_to_declare_it(project):
    """An output that is not one row a sample is an error with the way out, not a guess."""
    project.write(
        "toymodel.py", RETURNING.replace("{expression}", '{"logits": E[:len(x)], "loss": np.float32(1)}')
    )
    project.pin()
    result = project.pytest()
    result.stdout.fnmatch_lines(["error: *loss*per: batch*"])


def test_samples_of_unequal_shapes_reach_the_model_as_a_list(project):
    """Ragged batches are not padded behind the user's back."""
    project.edit(
        "modelreg.yaml", "  logits: {kind: classification, labels: labels.txt}", "  y: {kind: tensor}"
    )
    project.write("samples/s1.json", "[1, 2, 3, 4, 5]")
    project.write(
        "toymodel.py",
        "import numpy as np\n\n\ndef build():\n    return lambda rows: [np.cumsum(r) for r in rows]\n",
    )
    project.record()
    assert project.pytest().ret == 0
    project.edit("toymodel.py", "np.cumsum(r)", "np.cumsum(r) * np.float32(1.5)")
    result = project.pytest()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*6 of 6 samples*"])


def test_drift_leads_with_the_environment_difference(recorded, monkeypatch):
    """A10, F2: a drift in another environment says so before anything else, also in the report."""
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx2")
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    (case,) = recorded.report()["cases"]
    assert case["message"].startswith("environment differs (env.ATEN_CPU_CAPABILITY")
    assert "logits rel_l2" in case["message"]


def test_match_in_another_environment_is_one_note(recorded, monkeypatch):
    """F3: same values elsewhere are green, with one line about it."""
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx2")
    result = recorded.pytest()
    assert result.ret == 0
    notes = [line for line in result.outlines if line.startswith("note: ")]
    assert len(notes) == 1
    assert "ATEN_CPU_CAPABILITY" in notes[0]


def test_exactly_one_command_would_accept_the_drift(recorded):
    """What to do next is one line, at the end of the case."""
    recorded.edit("toymodel.py", "scale=1.0", "scale=1.2")
    assert recorded.pytest().stdout.str().count("modelreg regen") == 1


def test_raising_model_shows_the_users_line(recorded):
    """An error points into the user's file, not into ours."""
    recorded.edit("toymodel.py", "scale * (x @ WEIGHT)", "x.no_such_thing")
    result = recorded.pytest()
    result.stdout.fnmatch_lines(["error: *no_such_thing*", "*toymodel.py*"])
    result.stdout.no_fnmatch_line("*pytest_modelreg/*")
