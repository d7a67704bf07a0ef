"""Observing a whole case: rows, order, batches, memory of what happened."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from pytest_modelreg.domain.case import OutputSpec, RuntimeSpec
from pytest_modelreg.domain.errors import (
    ImportReferenceError,
    ModelError,
    OutputError,
    RuntimeUnavailable,
    SampleLoadError,
)


def test_rows_are_in_sample_order_with_a_short_last_batch(toy_case):
    """Five samples in batches of two give five rows, in the order of the sample set."""
    observation = toy_case.observe()
    assert [sample.id for sample in observation.samples] == ["a", "b", "c", "d", "e"]
    record = observation.outputs["output"]
    assert (record.per, record.dtype, record.shape) == ("sample", "float32", (5, 3))
    expected = 2 * np.arange(15, dtype=np.float32).reshape(5, 3)
    np.testing.assert_array_equal(toy_case.rows(observation, "output"), expected)


def test_batch_of_one_keeps_the_batch_axis(toy_case):
    """At batch size 1 the model still sees (1, 3), not (3,)."""
    toy_case.write(
        "model.py",
        """
        def build():
            def model(x):
                assert x.shape == (1, 3), x.shape
                return x
            return model
        """,
    )
    assert toy_case.observe(batch_size=1).outputs["output"].shape == (5, 3)


def test_bare_tensor_takes_the_only_declared_name(toy_case):
    """One declared output names a result that has no key of its own."""
    observation = toy_case.observe(outputs={"logits": OutputSpec(kind="classification")})
    assert list(observation.outputs) == ["logits"]


def test_torch_model_is_recorded_with_weights_and_mode(torch_case):
    """A module is evaluated: train mode before, weights digest and eval are on record."""
    observation = torch_case.observe()
    assert observation.eval_applied
    assert observation.training_modules == ("(model)", "0", "1")
    assert observation.weights_digest is not None
    assert len(observation.weights_digest) == 64
    assert observation.outputs["output"].shape == (5, 4)


def test_plain_callable_has_no_weights_and_no_mode(toy_case):
    """For a plain callable the facts say that there was nothing to load or evaluate."""
    observation = toy_case.observe()
    assert (observation.weights_digest, observation.eval_applied) == (None, False)
    assert observation.training_modules == ()


def test_random_weights_are_the_same_in_every_run(torch_case):
    """A model without a checkpoint is built from fixed seeds, so that two runs agree."""
    first, second = torch_case.observe(), torch_case.observe()
    assert first.weights_digest == second.weights_digest
    assert first.outputs == second.outputs


def test_noise_in_the_forward_pass_does_not_depend_on_building(torch_case):
    """Seeds are set again before the passes: what the factory draws moves nothing."""
    source = """
        import torch

        def build():
            torch.rand({draws})
            return lambda x: torch.rand(len(x), 2)
        """
    torch_case.write("model.py", source.format(draws=1))
    first = torch_case.observe()
    torch_case.write("model.py", source.format(draws=100))
    assert torch_case.observe().outputs == first.outputs


def test_forward_runs_in_inference_mode(torch_case):
    """No gradient is recorded: memory stays flat, and in-place models work."""
    torch_case.write(
        "model.py",
        """
        import torch

        def build():
            def model(x):
                assert torch.is_inference_mode_enabled()
                return x
            return model
        """,
    )
    torch_case.observe()


def test_forward_that_raises_names_samples_place_and_message(toy_case):
    """The message leads to the line in the user's file and to the samples of the batch."""
    path = toy_case.write(
        "model.py", "def build():\n    def model(x):\n        raise KeyError('head')\n    return model\n"
    )
    with pytest.raises(ModelError) as caught:
        toy_case.observe()
    message = str(caught.value)
    assert "samples 'a' to 'b'" in message
    assert "KeyError: 'head'" in message
    assert f"{path}:3" in message
    assert isinstance(caught.value.__cause__, KeyError)


def test_forward_that_needs_gradients_says_inference_mode(torch_case):
    """A model that differentiates inside forward is told in which mode it ran."""
    torch_case.write(
        "model.py",
        """
        import torch

        def build():
            def model(x):
                x = x.requires_grad_()
                return torch.autograd.grad(x.sum(), x)[0]
            return model
        """,
    )
    torch_case.write("prep.py", "import torch\n\ndef prepare(x):\n    return torch.from_numpy(x)\n")
    with pytest.raises(ModelError, match="inference mode"):
        torch_case.observe(preprocess="prep:prepare")


def test_system_exit_in_user_code_is_an_error_of_the_case(toy_case):
    """exit() in a model must not end the session."""
    toy_case.write("model.py", "import sys\n\ndef build():\n    sys.exit(3)\n")
    with pytest.raises(ModelError, match="SystemExit"):
        toy_case.observe()


def test_unequal_shapes_are_named_when_the_model_cannot_take_a_list(case_folder):
    """The user is told which samples differ in shape, and what to give instead."""
    case_folder.write("model.py", "def build():\n    return lambda x: x.sum(axis=1)\n")
    case_folder.add_arrays(np.zeros((2, 3), np.float32), np.zeros((4, 3), np.float32))
    with pytest.raises(ModelError) as caught:
        case_folder.observe()
    message = str(caught.value)
    assert "'a' has [2, 3] and 'b' [4, 3]" in message
    assert "collate" in message
    assert "forward" in message


def test_unequal_shapes_reach_a_model_that_takes_a_list(case_folder):
    """Ragged input and ragged output need no configuration."""
    case_folder.write("model.py", "def build():\n    return lambda xs: [x * 2 for x in xs]\n")
    case_folder.add_arrays(np.ones((2, 3), np.float32), np.ones((4, 3), np.float32))
    observation = case_folder.observe()
    record = observation.outputs["output"]
    assert record.is_ragged
    assert record.shape == (2, -1, 3)
    assert [row.shape for row in case_folder.rows(observation, "output")] == [(2, 3), (4, 3)]


def test_output_without_batch_axis_is_an_error_that_says_how(toy_case):
    """A leading dimension that is not the batch's cannot pass unnoticed."""
    toy_case.write("model.py", "def build():\n    return lambda x: {'loss': x.sum(), 'y': x}\n")
    with pytest.raises(OutputError) as caught:
        toy_case.observe()
    assert "toy[reference]: samples 'a' to 'b': output 'loss'" in str(caught.value)
    assert "per: batch" in str(caught.value)
    assert "per: ignore" in str(caught.value)


def test_output_per_batch_has_one_row_a_batch(toy_case):
    """Declared per batch, a scalar is recorded once a forward pass."""
    toy_case.write("model.py", "def build():\n    return lambda x: {'loss': x.sum(), 'y': x}\n")
    specs = {"loss": OutputSpec(per="batch", per_is_declared=True)}
    observation = toy_case.observe(outputs=specs)
    assert observation.outputs["loss"].shape == (3,)
    assert observation.outputs["loss"].per == "batch"
    assert [float(row) for row in toy_case.rows(observation, "loss")] == [15.0, 51.0, 39.0]


def test_structure_that_changes_between_batches_is_an_error(toy_case):
    """An output that comes and goes would have rows of unknown samples."""
    toy_case.write(
        "model.py",
        "def build():\n    return lambda x: {'y': x, 'z': x} if len(x) == 2 else {'y': x}\n",
    )
    with pytest.raises(OutputError, match=r"samples 'e'.*first batch \(y, z\), got y"):
        toy_case.observe()


def test_failed_case_leaves_no_unfinished_files(toy_case):
    """An error in the last batch leaves nothing that could be taken for an observation."""
    toy_case.write(
        "model.py",
        """
        def build():
            def model(x):
                if len(x) == 1:
                    raise RuntimeError("late")
                return x
            return model
        """,
    )
    with pytest.raises(ModelError, match="late"):
        toy_case.observe()
    assert list(toy_case.folder.iterdir()) == []


def test_progress_is_told_after_each_batch(toy_case):
    """Progress counts samples, so that a bar ends at the total."""
    told = []
    toy_case.observe(progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_samples_are_loaded_batch_by_batch(toy_case):
    """Memory holds one batch: the second is not loaded before the first was run."""
    toy_case.write(
        "model.py",
        """
        events = []

        def prepare(x):
            events.append("load")
            return x

        def build():
            def model(x):
                events.append("run")
                return {"x": x, "events": [len(events)] * len(x)}
            return model
        """,
    )
    observation = toy_case.observe(preprocess="model:prepare")
    assert [int(row) for row in toy_case.rows(observation, "events")] == [3, 3, 6, 6, 8]


def test_input_digests_are_of_what_the_model_is_fed(toy_case):
    """Another preprocessing gives other digests; the same one gives the same."""
    toy_case.write("prep.py", "def same(x):\n    return x + 0\n\ndef other(x):\n    return x + 1e-3\n")
    plain = toy_case.observe().samples
    assert toy_case.observe(preprocess="prep:same").samples == plain
    other = toy_case.observe(preprocess="prep:other").samples
    assert all(one.input_digest != two.input_digest for one, two in zip(plain, other, strict=True))


def test_custom_collate_and_forward_are_used(toy_case):
    """The suite's own functions get the samples, and the model with the batch."""
    toy_case.write(
        "glue.py",
        """
        import numpy as np

        def collate(samples):
            return {"rows": np.stack(samples), "n": len(samples)}

        def forward(model, batch):
            return {"y": model(batch["rows"]), "n": np.full(batch["n"], batch["n"])}
        """,
    )
    observation = toy_case.observe(collate="glue:collate", forward="glue:forward")
    assert list(observation.outputs) == ["y", "n"]
    assert [int(row) for row in toy_case.rows(observation, "n")] == [2, 2, 2, 2, 1]


def test_stray_warnings_are_recorded_once_and_not_raised(toy_case):
    """Under -W error a deprecation inside a framework must not decide the verdict."""
    toy_case.write(
        "model.py",
        """
        import warnings

        def build():
            def model(x):
                warnings.warn("old\\nway", DeprecationWarning, stacklevel=1)
                return x
            return model
        """,
    )
    observation = toy_case.observe()
    assert observation.warnings == ("DeprecationWarning: old way",)


def test_module_that_stays_in_train_mode_is_a_warning(torch_case):
    """eval() that does not reach a BatchNorm is named, not raised."""
    torch_case.write(
        "model.py",
        """
        import torch

        class Stuck(torch.nn.BatchNorm1d):
            def eval(self):
                return self

            def train(self, mode=True):
                return self

        def build():
            return torch.nn.Sequential(torch.nn.Linear(3, 4), Stuck(4))
        """,
    )
    observation = torch_case.observe(batch_size=5)
    assert observation.eval_applied
    assert "still in train mode after eval(): 1" in observation.warnings


def test_fingerprint_carries_the_runtime(toy_case):
    """Which runtime produced the numbers is a fact of the environment."""
    assert toy_case.observe().fingerprint.facts["runtime.kind"] == "eager"


def test_unknown_runtime_is_named_before_anything_is_imported(toy_case):
    """A misspelt runtime fails with the nearest name."""
    with pytest.raises(RuntimeUnavailable, match="did you mean eager"):
        toy_case.observe(runtime=RuntimeSpec(kind="eagre"), model="nowhere:build")


def test_runtime_option_is_refused(toy_case):
    """eager has no options: one that is written must not be ignored."""
    with pytest.raises(RuntimeUnavailable, match="speed"):
        toy_case.observe(runtime=RuntimeSpec(options={"speed": 11}))


def test_unknown_loader_is_named_with_the_nearest(toy_case):
    """A misspelt loader fails with the nearest name."""
    with pytest.raises(SampleLoadError, match="did you mean image"):
        toy_case.observe(loader="imagee")


def test_all_references_that_fail_are_named_at_once(toy_case):
    """Three bad references are one message, not three runs."""
    with pytest.raises(ImportReferenceError) as caught:
        toy_case.observe(model="model:buidl", preprocess="nowhere:f", forward="model")
    message = str(caught.value)
    assert "model: 'model:buidl'" in message
    assert "preprocess: 'nowhere:f'" in message
    assert "forward: 'model'" in message


def test_duration_and_axes_are_on_record(toy_case):
    """Facts of the case itself are in the observation."""
    observation = toy_case.observe(variant="fast", axes={"preprocess": "x:y"})
    assert (observation.suite, observation.variant) == ("toy", "fast")
    assert observation.axes == {"preprocess": "x:y"}
    assert observation.batch_size == 2
    assert observation.duration_s > 0


def test_numpy_callable_is_observed_where_torch_cannot_be_imported(toy_case):
    """A suite without torch runs in an environment without torch."""
    script = f"""
        import sys
        from pathlib import Path

        class Blocker:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in {{"torch", "PIL", "torchvision", "safetensors"}}:
                    raise ModuleNotFoundError(f"blocked {{name}}", name=name)

        sys.meta_path.insert(0, Blocker())
        from pytest_modelreg.domain.case import CaseSpec
        from pytest_modelreg.domain.sample import Sample, SampleSet
        from pytest_modelreg.observe import observe_case

        samples = SampleSet(folder={str(toy_case.samples_folder)!r}, samples=(
            Sample(id="a", file="a.npy", sha256=""), Sample(id="b", file="b.npy", sha256="")))
        spec = CaseSpec(suite="toy", root={str(toy_case.root)!r}, python_path=({str(toy_case.root)!r},),
                        samples=samples, loader="array", model="model:build", threads=1, deterministic=True)
        observation = observe_case(spec, Path({str(toy_case.root / "out")!r}))
        assert observation.outputs["output"].shape == (2, 3)
        assert "torch" not in sys.modules
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)


def test_plain_callable_does_not_import_torch(toy_case):
    """Where torch is installed but not used, it is not loaded: that alone takes seconds."""
    script = f"""
        import sys
        from pathlib import Path
        from pytest_modelreg.domain.case import CaseSpec
        from pytest_modelreg.domain.sample import Sample, SampleSet
        from pytest_modelreg.observe import observe_case

        samples = SampleSet(folder={str(toy_case.samples_folder)!r}, samples=(
            Sample(id="a", file="a.npy", sha256=""),))
        spec = CaseSpec(suite="toy", root={str(toy_case.root)!r}, python_path=({str(toy_case.root)!r},),
                        samples=samples, loader="array", model="model:build", threads=1, deterministic=True)
        observe_case(spec, Path({str(toy_case.root / "out")!r}))
        assert "torch" not in sys.modules
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)


def test_importing_the_package_loads_only_the_standard_library_and_numpy():
    """The observation worker runs where nothing else is installed."""
    script = """
        import sys
        import numpy
        before = set(sys.modules)
        import pytest_modelreg.observe, pytest_modelreg.runtimes
        tops = {name.partition(".")[0] for name in set(sys.modules) - before}
        strangers = tops - set(sys.stdlib_module_names) - {"pytest_modelreg", "numpy"}
        strangers = {name for name in strangers if not name.startswith("_sysconfigdata")}
        assert not strangers, strangers
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)


def test_factory_that_imports_torch_itself_builds_the_same_weights(toy_case):
    """torch starts with a random seed: a late import is seeded before the weights are drawn."""
    pytest.importorskip("torch")
    toy_case.write(
        "late.py",
        """
        def build():
            import torch

            return torch.nn.Linear(3, 2)
        """,
    )
    script = f"""
        import sys
        from pathlib import Path
        from pytest_modelreg.domain.case import CaseSpec
        from pytest_modelreg.domain.sample import Sample, SampleSet
        from pytest_modelreg.observe import observe_case

        samples = SampleSet(folder={str(toy_case.samples_folder)!r}, samples=(
            Sample(id="a", file="a.npy", sha256=""),))
        spec = CaseSpec(suite="toy", root={str(toy_case.root)!r}, python_path=({str(toy_case.root)!r},),
                        samples=samples, loader="array", model="late:build", threads=1)
        print(observe_case(spec, Path(sys.argv[1])).weights_digest)
        import torch
        print(torch.initial_seed(), file=sys.stderr)
        """
    runs = [
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script), str(toy_case.root / f"out{index}")],
            check=True,
            capture_output=True,
            text=True,
        )
        for index in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stderr != runs[1].stderr, "torch's own random seed was not restored"
