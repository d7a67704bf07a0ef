"""A sound suite file becomes a suite whose cases can be observed."""

from __future__ import annotations

import dataclasses
import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pytest_modelreg.domain.case import CaseSpec, CheckpointRef, OutputSpec, RuntimeSpec
from pytest_modelreg.domain.errors import SuiteFileError
from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.engine.suite_loading import find_shared_names, load_suite, load_suites
from pytest_modelreg.observe import LOADERS
from pytest_modelreg.runtimes import table

FULL = """\
modelreg: 1                               # format version
suite: photo-classifier
python_path: [code]
samples: {folder: samples, loader: image}
golden: accepted
deterministic: true

reference:
  model: shop.models:build
  model_args: {num_classes: 1000, layers: [1, 2.5, null, {deep: "off"}]}
  checkpoint: {path: weights/v1.safetensors, key: model}
  preprocess: shop.data:Transforms.evaluate
  collate: shop.data:collate
  forward: shop.models:forward
  runtime: {kind: eager}
  batch_size: 16
  threads: 2

outputs:
  logits: {kind: classification, labels: labels.txt, top_k: 2}
  heads.0: {per: batch}
  aux: {per: ignore}

checks: {rel_l2: 1e-5, top1_agreement: 1.0}
"""

SAMPLES = SampleSet(folder="/data", samples=(Sample(id="a", file="a.json", sha256="0" * 64),))


def test_five_lines_are_a_suite(suites):
    """What is not written has the defaults of the documentation."""
    suite = suites.extend("")
    (case,) = suite.cases
    assert (suite.name, suite.model, case.id) == ("toy", "toymodel:build", "toy[reference]")
    assert suite.golden_root == suites.path / "golden"
    assert suite.samples.place == suites.path / "samples"
    assert (case.template.batch_size, case.template.threads, case.template.deterministic) == (8, None, False)
    assert (case.template.runtime, case.template.checkpoint, case.template.preprocess) == (
        RuntimeSpec(kind="eager"),
        None,
        None,
    )
    assert case.outputs == {}


def test_every_key_reaches_the_case(suites):
    """Nothing that is written is lost on the way to the observation."""
    suite = suites.load(FULL)
    root = str(suites.path)
    assert suite.golden_root == suites.path / "accepted"
    assert suite.where == "modelreg.yaml:2"
    assert suite.cases[0].spec(SAMPLES) == CaseSpec(
        suite="photo-classifier",
        root=root,
        python_path=(f"{root}/code",),
        samples=SAMPLES,
        loader="image",
        model="shop.models:build",
        model_args={"num_classes": 1000, "layers": [1, 2.5, None, {"deep": "off"}]},
        checkpoint=CheckpointRef(path=f"{root}/weights/v1.safetensors", key="model"),
        preprocess="shop.data:Transforms.evaluate",
        collate="shop.data:collate",
        forward="shop.models:forward",
        batch_size=16,
        threads=2,
        deterministic=True,
        outputs={
            "logits": OutputSpec(kind="classification", labels=("cat", "dog"), top_k=2),
            "heads.0": OutputSpec(per="batch", per_is_declared=True),
            "aux": OutputSpec(per="ignore", per_is_declared=True),
        },
    )


def test_case_can_cross_to_another_process(suites):
    """A spec is builtin scalars, lists and mappings: it can be written as JSON and read back."""
    spec = dataclasses.asdict(suites.load(FULL).cases[0].spec(SAMPLES))
    assert json.loads(json.dumps(spec, allow_nan=False))["model_args"] == spec["model_args"]


def test_output_path_may_look_like_a_number(suites):
    """The outputs of a tuple are 0, 1, and so on."""
    assert list(suites.extend("outputs: {0: {kind: regression}, 1.5: {}}\n").cases[0].outputs) == ["0", "1.5"]


def test_modules_are_looked_for_beside_the_suite_and_in_the_root_folder(suites):
    """Without python_path: the suite's folder, the rootdir, and src below either if it is there."""
    (suites.path / "src").mkdir()
    (suites.path / "deep" / "samples").mkdir(parents=True)
    file = suites.write(suites.suite, "deep/modelreg.yaml")
    root = str(suites.path)
    assert load_suite(file, rootdir=suites.path).cases[0].template.python_path == (
        f"{root}/deep",
        root,
        f"{root}/src",
    )


def test_paths_are_the_suite_files_whatever_the_working_directory(suites, monkeypatch, tmp_path_factory):
    """A suite means the same files from everywhere."""
    file = suites.write(suites.suite)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert load_suite(file, rootdir=suites.path).samples.place == suites.path / "samples"


def test_relative_suite_file_gives_absolute_paths(suites, monkeypatch):
    """A case is observed wherever the process went in between."""
    suites.write(suites.suite)
    monkeypatch.chdir(suites.path)
    suite = load_suite(Path("modelreg.yaml"), rootdir=Path("."))
    assert suite.file == suites.path / "modelreg.yaml"
    assert suite.samples.place.is_absolute()
    assert suite.cases[0].template.python_path == (str(suites.path),)


@pytest.mark.parametrize("loader", [*LOADERS, "shop.io:read"])
def test_every_loader_is_known(suites, loader):
    """By name, or as a reference."""
    suite = suites.load(suites.suite.replace("loader: json", f"loader: {loader}"))
    assert suite.cases[0].template.loader == loader


@pytest.mark.parametrize("name", ["a", "photo classifier v2", "größe", "a:b", "pytorch", "1e-5x", "x" * 100])
def test_reasonable_names_are_accepted(suites, name):
    """A name may hold spaces and letters of any language."""
    assert suites.load(suites.suite.replace("toy", name, 1)).name == name


def test_runtime_of_another_distribution_is_accepted_with_its_options(suites, monkeypatch):
    """A runtime that is not built in is looked up among entry points; its options are its own."""
    offered = [EntryPoint(name="tvm", value="x:y", group=table.ENTRY_POINT_GROUP)]
    monkeypatch.setattr(table, "entry_points", lambda group: offered)
    case = suites.extend("  runtime: {kind: tvm, target: llvm, fast: ~}\n").cases[0]
    assert case.template.runtime == RuntimeSpec(kind="tvm", options={"target": "llvm", "fast": None})
    (fault,) = suites.faults_of_extension("  runtime: tvn\n")
    assert fault.endswith(
        "expected one of eager, compile, export, torchscript, onnx, onnx-file, callable, tvm, got 'tvn' "
        "(did you mean tvm?)"
    )


def test_built_in_runtime_costs_no_walk_over_distributions(suites, monkeypatch):
    """Entry points are read only for a name that is not built in."""

    def refuse(group: str) -> None:
        raise AssertionError(f"looked up {group}")

    monkeypatch.setattr(table, "entry_points", refuse)
    assert suites.extend("  runtime: eager\n").cases


def test_faults_of_several_files_are_one_error(suites):
    """A colleague mends all files in one go."""
    good = suites.write(suites.suite, "a.modelreg.yaml")
    one = suites.write("modelreg: 2\n", "b.modelreg.yaml")
    two = suites.write(suites.suite + "nope: 1\n", "c.modelreg.yaml")
    with pytest.raises(SuiteFileError) as caught:
        load_suites([good, one, two], rootdir=suites.path)
    assert [fault.where for fault in caught.value.faults] == ["b.modelreg.yaml:1", "c.modelreg.yaml:6"]


def test_suites_come_in_order_each_file_once(suites):
    """A file named twice is one suite."""
    one = suites.write(suites.suite, "a.modelreg.yaml")
    two = suites.write(suites.suite.replace("toy", "other", 1), "b.modelreg.yaml")
    assert [suite.name for suite in load_suites([two, one, two], rootdir=suites.path)] == ["other", "toy"]


@pytest.mark.parametrize("other", ["toy", "Toy"])
@pytest.mark.parametrize("golden", ["", "golden: other\n"])
def test_two_suites_of_one_name_are_a_fault_naming_both(suites, other, golden):
    """Their cases would share ids, and on some file systems their goldens also if only case differs."""
    one = suites.write(suites.suite, "a.modelreg.yaml")
    two = suites.write(suites.suite.replace("toy", other, 1) + golden, "b.modelreg.yaml")
    with pytest.raises(SuiteFileError) as caught:
        load_suites([one, two], rootdir=suites.path)
    assert str(caught.value) == (
        f"b.modelreg.yaml:2: suite: expected a name of its own, got '{other}', "
        "which a.modelreg.yaml:2 has too, so that their cases could not be told apart (rename one of them)"
    )


def test_suite_file_reached_by_two_paths_is_one_suite(suites):
    """A link does not make two suites of one."""
    one = suites.write(suites.suite, "a.modelreg.yaml")
    (suites.path / "b.modelreg.yaml").symlink_to(one)
    loaded = [load_suite(file, rootdir=suites.path) for file in (one, suites.path / "b.modelreg.yaml")]
    assert find_shared_names(loaded) == []
