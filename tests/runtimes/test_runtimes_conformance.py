"""Every built-in runtime holds what third parties must hold, and the rules find what does not."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_modelreg.domain.errors import RuntimeUnavailable
from pytest_modelreg.runtimes import find_runtime
from pytest_modelreg.runtimes.conformance import RuntimeConformance

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("default")


class TestEager(RuntimeConformance):
    """The model itself."""

    tolerance = 0.0

    def make_runtime(self):
        """Built in."""
        return find_runtime("eager")


class TestCompile(RuntimeConformance):
    """Traced, without generating code."""

    def make_runtime(self):
        """Built in."""
        return find_runtime("compile")

    def options(self):
        """Compiling for real takes long."""
        return {"backend": "aot_eager"}


@pytest.mark.full
class TestCompileInductor(RuntimeConformance):
    """The default backend."""

    def make_runtime(self):
        """Built in."""
        return find_runtime("compile")


class TestExport(RuntimeConformance):
    """A program of torch.export."""

    def make_runtime(self):
        """Built in."""
        return find_runtime("export")


class TestExportStrict(TestExport):
    """Traced by its bytecode."""

    def options(self):
        """As a suite file has them."""
        return {"strict": True}


class TestOnnxTorchScript(RuntimeConformance):
    """The exporter that traces with TorchScript."""

    def make_runtime(self):
        """Built in."""
        pytest.importorskip("onnxruntime")
        return find_runtime("onnx")

    def options(self):
        """As a suite file has them."""
        return {"exporter": "torchscript"}


class TestOnnxDynamo(TestOnnxTorchScript):
    """The exporter built on torch.export."""

    def options(self):
        """The default."""
        return {}


class TestOnnxFile(RuntimeConformance):
    """A file that is made of the model beforehand."""

    restores_structure = False

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make_runtime(self):
        """Built in."""
        pytest.importorskip("onnxruntime")
        return find_runtime("onnx-file")

    def make_options(self, model: Any, batch: Any) -> Mapping[str, Any]:
        """Write the file."""
        from pytest_modelreg.runtimes import Artefacts, RunRequest

        with torch.inference_mode():
            exporting = RunRequest(
                case="c",
                options={"exporter": "torchscript"},
                identity="model",
                artefacts=Artefacts(self.folder / "exports"),
            )
            runner = find_runtime("onnx").open(model, exporting)
            runner(batch)
            runner.close()
        (file,) = (self.folder / "exports").glob("*/model.onnx")
        return {"path": str(file)}


class Forgetful:
    """A runtime that ignores forward, prints and takes any option."""

    name = "forgetful"

    def open(self, model, request):
        """Return a runner."""
        return ForgetfulRunner(model)


class ForgetfulRunner:
    """Its runner."""

    def __init__(self, model):
        self.model = model

    def __call__(self, batch):
        """Call the model in one way only."""
        sys.stdout.write("running")
        return self.model(batch)

    def facts(self):
        """Tell something that is no scalar."""
        return {"devices": ["cpu"]}

    def close(self):
        """Do nothing."""


class _Planted(RuntimeConformance):
    def make_runtime(self):
        return Forgetful()


@pytest.mark.parametrize(
    "rule",
    [
        "test_a_mapping_becomes_keyword_arguments",
        "test_a_tuple_becomes_positional_arguments",
        "test_the_suites_forward_is_used",
        "test_no_gradients_are_recorded",
        "test_nothing_is_printed",
        "test_facts_are_scalars",
        "test_an_unknown_option_is_refused",
    ],
)
def test_a_rule_finds_a_runtime_that_breaks_it(rule):
    """Planted faults: a rule that nothing can break protects nothing."""
    with pytest.raises((AssertionError, TypeError, AttributeError)):
        getattr(_Planted(), rule)()


class _PlantedOwn(_Planted):
    """Brings a model of its own, here the one of the test, and takes any dtype."""

    def make_runtime(self):
        class Own(Forgetful):
            needs_model = False

            def open(self, model, request):
                return ForgetfulRunner(request.options["model"])

        return Own()

    def make_options(self, model, batch):
        return {"model": model}


def test_a_rule_finds_a_runtime_that_forgets_the_dtype():
    """Planted fault: float16 is declared and float32 computed, within limits of float16."""
    with pytest.raises(AssertionError):
        _PlantedOwn().test_a_dtype_is_computed_in_or_refused()


def test_a_rule_that_is_kept_passes():
    """Just inside."""
    _Planted().test_batches_may_be_of_another_size()
    with pytest.raises(RuntimeUnavailable):
        find_runtime("forgetful")
