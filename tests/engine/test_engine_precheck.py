"""Prechecking a suite: the model is asked where inputs differ, on what differs, and only then."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace

import pytest

from pytest_modelreg.domain.result import CaseResult
from pytest_modelreg.domain.verdict import Verdict
from pytest_modelreg.engine.outcome import Outcome, accepting_advice, accepting_command, place_of
from pytest_modelreg.engine.precheck import Precheck
from pytest_modelreg.engine.suite_loading import load_suite

LOADER = """

COUNTED = []


def load(path):
    import json
    from pathlib import Path
    with open(Path(__file__).with_name("loads.txt"), "a") as file:
        file.write(path.name + "\\n")
    return json.loads(path.read_text())
"""


@dataclass
class FakeModel:
    """Answers as told, and notes what it was asked."""

    verdict: Verdict = Verdict.MATCH
    fields: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)

    def __call__(self, suite, case, only):
        """Return an outcome of the verdict that was told."""
        self.asked.append((case.variant, only))
        result = CaseResult(
            suite=suite.name,
            variant=case.variant,
            verdict=self.verdict,
            message="as told",
            n_samples=6 if only is None else len(only),
            # As a session offers it where somebody has to decide.
            command=accepting_command(case) if self.verdict is Verdict.DRIFT else "",
            advice=accepting_advice(case) if self.verdict is Verdict.DRIFT else "",
            **{"inputs_identical": False, **self.fields},
        )
        return Outcome(place=place_of(suite, case), result=result, case=case)


@pytest.fixture
def precheck(project, tmp_path):
    """Return a function that prechecks the project's suite with a fake model."""

    def run(model=None, asked=None):
        for name in ("toydata", "toymodel"):
            sys.modules.pop(name, None)
        suite = load_suite(project.path / "modelreg.yaml", rootdir=project.path)
        chosen = None if asked is None else [case for case in suite.cases if case.variant in asked]
        return Precheck(suite, folder=tmp_path / "work", run_model=model or FakeModel()).run(chosen)

    yield run
    for name in ("toydata", "toymodel"):
        sys.modules.pop(name, None)


def disturb(project, expression="prepare_first(sample)"):
    """Make preprocess return something else."""
    project.edit("toydata.py", "def prepare(", "def prepare_first(")
    text = (project.path / "toydata.py").read_text()
    project.write(
        "toydata.py",
        f"{text}\n\ndef prepare(sample):\n    x = prepare_first(sample)\n    return {expression}\n",
    )


def add_variants(project, text):
    """Add variants to the suite file."""
    project.write("modelreg.yaml", f"{(project.path / 'modelreg.yaml').read_text()}variants:\n{text}")


def test_identical_inputs_ask_no_model(recorded, precheck):
    """The whole point."""
    model = FakeModel()
    (found,) = precheck(model)
    assert (found.verdict, model.asked) == (Verdict.MATCH, [])
    assert found.message == "inputs bit-identical for all 6 samples: no model was built"
    assert (found.command, found.behaviour) == ("", None)


def test_model_is_asked_for_the_samples_that_differ(recorded, precheck):
    """No more than those."""
    disturb(recorded, "x * 2 if sample[0] > 0.5 else x")
    model = FakeModel(Verdict.DRIFT)
    (found,) = precheck(model)
    ((variant, only),) = model.asked
    assert variant == "reference"
    assert only == {distance.sample for distance in found.inputs.distances}
    assert 0 < len(only) < 6


def test_outputs_per_batch_need_all_samples(project, precheck):
    """A batch of other samples gives another row."""
    project.write(
        "toymodel.py", "def build():\n    return lambda x: {'loss': x.mean(axis=0, keepdims=True)}\n"
    )
    project.edit("modelreg.yaml", "logits: {kind: classification, labels: labels.txt}", "loss: {per: batch}")
    project.record()
    disturb(project, "x * 2 if sample[0] > 0.5 else x")
    model = FakeModel()
    precheck(model)
    assert model.asked == [("reference", None)]


@pytest.mark.parametrize(("factor", "verdict"), [("1e-6", Verdict.MATCH), ("1e-4", Verdict.DRIFT)])
def test_limit_decides_where_behaviour_is_the_same(recorded, precheck, factor, verdict):
    """Another CPU is excused, another pipeline is not; the command that accepts it is `--mode all`."""
    disturb(recorded, f"x * np.float32(1 + {factor})")
    (found,) = precheck()
    assert found.verdict is verdict
    assert bool(found.command) is (verdict is Verdict.DRIFT)
    if found.command:
        assert found.command == "modelreg regen 'toy[reference]' --mode all --reason \"why it changed\""
        assert (
            found.message
            == "inputs differ for 6 of 6 samples; the model answers as pinned on these 6, within the limits"
        )
    else:
        assert "by at most 1e-05, as another CPU makes" in found.message


def test_other_behaviour_is_a_drift_however_small_the_inputs_moved(recorded, precheck):
    """Within the limit or not: what the model answers counts."""
    disturb(recorded, "x * np.float32(1 + 1e-6)")
    (found,) = precheck(FakeModel(Verdict.DRIFT))
    assert found.verdict is Verdict.DRIFT
    assert found.message == "inputs differ for 6 of 6 samples; behaviour drifts: as told"
    assert found.command == "modelreg regen 'toy[reference]' --reason \"why it changed\""


@pytest.mark.parametrize("verdict", [Verdict.ERROR, Verdict.SKIPPED])
def test_model_that_cannot_answer_is_an_error(recorded, precheck, verdict):
    """Not a drift and not a match: nobody knows."""
    disturb(recorded, "x * 2")
    (found,) = precheck(FakeModel(verdict, {"details": "line\nline"}))
    assert found.verdict is Verdict.ERROR
    assert found.message == "inputs differ for 6 of 6 samples; the model could not be run on them: as told"
    assert (found.command, found.details) == ("", "line\nline")


def test_inputs_that_are_identical_once_the_model_is_built(recorded, precheck):
    """A preprocess that reads what the factory sets: told, and no false alarm."""
    disturb(recorded, "x * 2")
    (found,) = precheck(FakeModel(fields={"inputs_identical": True}))
    assert found.verdict is Verdict.MATCH
    assert found.message == "inputs bit-identical for all 6 samples"
    assert "something that the model factory sets" in found.notes[0]


@pytest.mark.parametrize("form", ["x[None]", "(x, x)", "{'x': x}", "x[None].astype(np.float64)"])
def test_other_form_is_never_within_the_limit(recorded, precheck, form):
    """Axes, structure: the numbers are all the same, and it is still another input."""
    disturb(recorded, form)
    (found,) = precheck()
    assert found.verdict is Verdict.DRIFT
    assert all(distance.has_other_form for distance in found.inputs.distances)
    assert found.inputs.distances[0].expected_form == "float32 3"


def test_another_dtype_of_the_same_numbers_matches_where_the_model_answers_as_pinned(recorded, precheck):
    """As in a run, which compares answers: told in the message, with both dtypes."""
    disturb(recorded, "x.astype(np.float64)")
    (found,) = precheck()
    assert found.verdict is Verdict.MATCH
    assert found.message.startswith("inputs differ in dtype only (float32 -> float64) for 6 of 6 samples; ")
    assert found.command == ""


def test_another_dtype_of_other_numbers_is_no_change_of_dtype_alone(recorded, precheck):
    """Just inside: numbers that moved by more than another CPU moves them."""
    disturb(recorded, "(x * 1.001).astype(np.float64)")
    (found,) = precheck()
    assert found.verdict is Verdict.DRIFT
    assert "dtype only" not in found.message


def test_missing_golden_decodes_nothing(project, precheck):
    """There is nothing to compare with; the command that records it."""
    project.pin()
    project.edit("toydata.py", "return", "raise ValueError('must not be called')\n    return")
    (found,) = precheck()
    assert found.verdict is Verdict.MISSING
    assert found.message == "no golden at golden/toy/reference: nothing was compared"
    assert found.command == "modelreg regen 'toy[reference]'"


def test_sample_set_that_differs_is_stale_and_asks_no_model(recorded, precheck):
    """Added, removed and changed are named; the others are still compared."""
    recorded.write("samples/s0.json", "[9, 9, 9]")
    recorded.write("samples/new.json", "[1, 2, 3]")
    (recorded.path / "samples/s1.json").unlink()
    recorded.pin()
    model = FakeModel()
    (found,) = precheck(model)
    assert (found.verdict, model.asked) == (Verdict.STALE, [])
    assert found.message == (
        "the sample set differs from the golden's: 1 added (new), 1 removed (s1), 1 changed (s0)"
    )
    assert found.command == "modelreg regen 'toy[reference]' --reason \"why it changed\""


@pytest.mark.parametrize("verdict", [Verdict.MATCH, Verdict.DRIFT])
def test_stale_and_changed_says_both(recorded, precheck, verdict):
    """The common samples are run; neither finding hides the other."""
    (recorded.path / "samples/s1.json").unlink()
    recorded.pin()
    disturb(recorded, "x * 2")
    model = FakeModel(verdict)
    (found,) = precheck(model)
    assert found.verdict is (Verdict.STALE if verdict is Verdict.MATCH else Verdict.DRIFT)
    assert found.message.startswith(
        "the sample set differs from the golden's: 1 removed (s1); inputs differ for 5 of 5 samples; "
    )
    assert model.asked[0][1] == {"s0", "s2", "s3", "s4", "s5"}


def test_sample_whose_bytes_are_not_as_pinned_is_an_error(recorded, precheck):
    """Every pipeline of the suite says so; nothing is decoded."""
    recorded.write("samples/s0.json", "[9, 9, 9]")
    (found,) = precheck()
    assert found.verdict is Verdict.ERROR
    assert "s0" in f"{found.message}{found.details}"


def test_damaged_golden_is_an_error_that_names_the_file(recorded, precheck):
    """Also where only its trace is damaged."""
    (trace,) = (recorded.path / "golden/toy/reference").glob("trace.inputs.*.npy")
    content = trace.read_bytes()
    trace.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    (found,) = precheck()
    assert found.verdict is Verdict.ERROR
    assert trace.name in found.message


def test_preprocess_that_raises_is_an_error_with_the_place(recorded, precheck):
    """Sample, function, file and line."""
    disturb(recorded, "x / None")
    (found,) = precheck()
    assert found.verdict is Verdict.ERROR
    assert "sample 's0': preprocess 'toydata:prepare' raised TypeError" in found.message
    assert "toydata.py:" in found.message


def test_crash_of_ours_ends_one_pipeline_alone(recorded, precheck, monkeypatch):
    """Exit 1 means that behaviour differs: a traceback must not look like it."""
    add_variants(recorded, "  own: {golden: own, preprocess: 'toydata:other'}\n")

    def crash(*arguments, **fields):
        raise RuntimeError("out of order")

    monkeypatch.setattr("pytest_modelreg.engine.precheck.judge_inputs", crash)
    first, second = precheck()
    assert first.verdict is Verdict.ERROR
    assert "out of order" in f"{first.message}{first.details}"
    assert second.verdict is Verdict.MISSING


def test_golden_without_probes_says_that_the_distance_is_unknown(recorded, precheck):
    """A golden from before: no distance, no match by the limit; recorded again it has one."""
    forget_probes(recorded)
    disturb(recorded, "x * np.float32(1 + 1e-6)")
    (found,) = precheck()
    assert found.verdict is Verdict.DRIFT
    assert {distance.rel_l2 for distance in found.inputs.distances} == {None}


def test_what_changed_in_the_pipeline_is_named(recorded, precheck):
    """The golden keeps inputs: reversed columns turn today's into them."""
    disturb(recorded, "x[::-1].copy()")
    (found,) = precheck()
    assert found.verdict is Verdict.DRIFT
    assert found.causes
    assert found.causes[0].cause.value.startswith("preprocess.")
    assert found.causes[0].evidence["residual_after"] < 1e-6


def test_equal_inputs_have_no_cause(recorded, precheck):
    """Nothing is prepared a second time where nothing differs."""
    (found,) = precheck()
    assert found.causes == ()


def forget_probes(project):
    """Make the golden one from before there were probes."""
    from pytest_modelreg.store import read_golden
    from pytest_modelreg.store.codec import encode_golden

    folder = project.path / "golden/toy/reference"
    golden = read_golden(folder)
    observation = replace(golden.observation, input_probes=None)
    (folder / "golden.json").write_bytes(encode_golden(replace(golden, observation=observation)))
    for trace in folder.glob("trace.inputs.*"):
        trace.unlink()


def count_loads(project):
    """Return how often one of the samples was loaded since last asked; some are, again, to find habits."""
    path = project.path / "loads.txt"
    loads = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return loads.count("s3.json")


@pytest.fixture
def counted(project):
    """A project whose loader counts."""
    project.write("toydata.py", (project.path / "toydata.py").read_text() + LOADER)
    project.edit("modelreg.yaml", "loader: json", "loader: 'toydata:load'")
    return project


def test_cases_that_are_fed_the_same_are_prepared_once(counted, precheck):
    """Whether they have goldens of their own or not."""
    add_variants(counted, "  small: {batch_size: 1}\n  own: {golden: own, batch_size: 2}\n")
    counted.record()
    count_loads(counted)
    results = precheck()
    assert [(found.variant, found.verdict, found.sharing) for found in results] == [
        ("reference", Verdict.MATCH, ("small",)),
        ("own", Verdict.MATCH, ()),
    ]
    assert count_loads(counted) == 1


def test_other_preprocess_is_prepared_apart(counted, precheck):
    """Just outside: another function is another pipeline."""
    add_variants(counted, "  grey: {preprocess: 'toydata:grey', checks: {rel_l2: off, top1_agreement: 0}}\n")
    counted.write(
        "toydata.py", (counted.path / "toydata.py").read_text() + "\n\ngrey = lambda x: prepare(x) * 2\n"
    )
    counted.record()
    count_loads(counted)
    assert [found.verdict for found in precheck()] == [Verdict.MATCH, Verdict.MATCH]
    assert count_loads(counted) == 2


def test_buffer_that_is_used_again_is_looked_at_in_batches_of_each_case(project, precheck):
    """What is overwritten depends on the batch size: a golden of batches of one is no other pipeline's."""
    project.write(
        "toydata.py",
        "import numpy as np\n\nBUFFER = np.zeros(3, np.float32)\n\n\n"
        "def prepare(sample):\n    BUFFER[:] = sample\n    return BUFFER\n",
    )
    add_variants(project, "  own: {golden: own, batch_size: 1}\n")
    project.record()
    model = FakeModel()
    assert [found.verdict for found in precheck(model)] == [Verdict.MATCH, Verdict.MATCH]
    assert model.asked == []


def test_variant_apart_is_judged_by_what_its_golden_knows(recorded, precheck):
    """As when the reference's golden was recorded: no model. Otherwise its own limits decide."""
    add_variants(recorded, "  grey: {preprocess: 'toydata:grey', checks: {rel_l2: off}}\n")
    recorded.write(
        "toydata.py", (recorded.path / "toydata.py").read_text() + "\n\ngrey = lambda x: prepare(x) * 2\n"
    )
    assert recorded.pytest("--modelreg-regen=all", "--modelreg-reason=grey", "-k", "reference").ret == 0
    model = FakeModel()
    reference, grey = precheck(model)
    assert (reference.verdict, grey.verdict, model.asked) == (Verdict.MATCH, Verdict.MATCH, [])
    assert grey.message == (
        "inputs as they were when the reference's golden was recorded for all 6 samples: no model was built"
    )
    recorded.edit("toydata.py", "prepare(x) * 2", "prepare(x) * 3")
    reference, grey = precheck(model)
    assert (reference.verdict, grey.verdict) == (Verdict.MATCH, Verdict.MATCH)
    assert [variant for variant, _ in model.asked] == ["grey"]
    assert (
        "as this variant's preprocess may; the model answers as pinned on these 6, within its limits"
        in grey.message
    )
    _, grey = precheck(FakeModel(Verdict.DRIFT))
    assert grey.verdict is Verdict.DRIFT
    assert grey.advice.startswith("give grey limits of its own")


def test_variant_apart_that_its_golden_does_not_know_asks_the_model(recorded, precheck):
    """A golden from before the variant: no silent match."""
    add_variants(recorded, "  grey: {preprocess: 'toydata:grey', checks: {rel_l2: off}}\n")
    recorded.write(
        "toydata.py", (recorded.path / "toydata.py").read_text() + "\n\ngrey = lambda x: prepare(x) * 2\n"
    )
    model = FakeModel()
    _, grey = precheck(model)
    assert grey.verdict is Verdict.MATCH
    assert [variant for variant, _ in model.asked] == ["grey"]


def test_golden_of_another_environment_is_said(project, precheck):
    """Held against the best there is, and named."""
    project.edit("modelreg.yaml", "reference:", "golden_per: [device, machine]\nreference:")
    project.record()
    (folder,) = (project.path / "golden/toy/reference").iterdir()
    folder.rename(folder.with_name("device=cpu,machine=riscv"))
    (found,) = precheck()
    assert found.verdict is Verdict.MATCH
    assert "held against the golden of device=cpu,machine=riscv" in found.notes[0]


def test_only_what_is_asked_is_looked_at(recorded, precheck):
    """A word for one case chooses its pipeline."""
    add_variants(recorded, "  small: {batch_size: 1}\n  own: {golden: own, batch_size: 2}\n")
    assert [found.variant for found in precheck(asked=["own"])] == ["own"]
    assert [(found.variant, found.sharing) for found in precheck(asked=["small"])] == [
        ("reference", ("small",))
    ]
