"""Observing inputs alone: the digests of a whole case, without its model."""

from __future__ import annotations

import os
import random
import sys

import numpy as np
import pytest

from pytest_modelreg.domain.case import CheckpointRef, RuntimeSpec
from pytest_modelreg.domain.errors import ImportReferenceError, PreprocessError, SampleLoadError
from pytest_modelreg.observe import KnownProbes, observe_case, observe_inputs
from pytest_modelreg.observe.input_observation import prepare_inputs

PIPELINES = {
    "numpy": "def prepare(x):\n    return (x * 2).astype(np.float32)\n",
    "strided": "def prepare(x):\n    return np.asfortranarray(np.outer(x, x))[::-1]\n",
    "dict": "def prepare(x):\n    return {'b': x, 'a': (x + 1, int(x[0])), 'text': 'cat'}\n",
    "numbers": "def prepare(x):\n    return [float(value) / 3 for value in x]\n",
    "one number": "def prepare(x):\n    return float(x.sum()) / 3\n",
    "random": "def prepare(x):\n    return x + np.random.normal(size=3).astype(np.float32)\n",
    "stateful": "SEEN = []\ndef prepare(x):\n    SEEN.append(1)\n    return x * len(SEEN)\n",
    "buffer": "BUFFER = np.zeros(3, np.float32)\ndef prepare(x):\n    BUFFER[:] = x\n    return BUFFER\n",
    "mutating": "def prepare(x):\n    x *= 3\n    return x\n",
    "stages": "prepare = [lambda x: x * 2, lambda x: x + 1]\n",
}
TORCH_PIPELINES = {
    "tensor": "def prepare(x):\n    return torch.from_numpy(x) * 2\n",
    "channels last": "LAST = torch.ones(1, 3, 4, 4).contiguous(memory_format=torch.channels_last)\n"
    "def prepare(x):\n    return LAST[0] * float(x[0])\n",
    "gradient": "def prepare(x):\n    return torch.nn.Parameter(torch.from_numpy(x))\n",
    "bfloat16": "def prepare(x):\n    return torch.from_numpy(x).to(torch.bfloat16)\n",
    "dropout": "class Load(torch.nn.Module):\n    def forward(self, x):\n        return torch.from_numpy(x)\n"
    "prepare = torch.nn.Sequential(Load(), torch.nn.Dropout(0.5), torch.nn.Identity())\n",
    "random": "def prepare(x):\n    return torch.from_numpy(x) + torch.randn(3)\n",
    "matmul": "W = torch.arange(9.0).reshape(3, 3) / 7\n"
    "def prepare(x):\n    return torch.from_numpy(x) @ W\n",
}

PLANTED = """
def build():
    raise SystemExit("the factory was called")
"""


def digests(observation):
    """Return what the model would be fed, by sample."""
    return [(sample.id, sample.sha256, sample.input_digest) for sample in observation.samples]


def observe(case, name="inputs", *, to_tensors=False, **changes):
    """Observe the inputs alone."""
    return observe_inputs(case.spec(**changes), case.root / name, to_tensors=to_tensors)


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("is_module", [False, True], ids=["callable", "module"])
def test_digests_are_those_of_a_whole_case(case_folder, name, is_module):
    """For a callable and for a module, whatever preprocess returns, keeps or draws; stages and habits too."""
    if is_module:
        pytest.importorskip("torch")
    model = (
        "import torch\nclass Model(torch.nn.Module):\n"
        "    def forward(self, *x, **y):\n        return torch.zeros(N, 1)\n"
        if is_module
        else "Model = lambda: lambda *x, **y: [[0.0]] * N\n"
    )
    # One batch of all: the number of rows is then known without looking at the inputs.
    case_folder.write("model.py", f"N = 4\n{model}def build():\n    return Model()\n")
    case_folder.write("data.py", "import numpy as np\n" + PIPELINES[name])
    case_folder.write("other.py", "import numpy as np\n" + PIPELINES[name])
    case_folder.add_arrays(*np.arange(12, dtype=np.float32).reshape(4, 3))
    whole = case_folder.observe(preprocess="data:prepare", batch_size=4)
    # In a module of its own: state of the first pass must not reach the second.
    alone = observe(case_folder, to_tensors=is_module, preprocess="other:prepare", batch_size=4)
    assert digests(alone) == digests(whole)
    assert [stage.digests for stage in alone.stages] == [stage.digests for stage in whole.stages]
    assert [habit.habit for habit in alone.habits] == [habit.habit for habit in whole.habits]
    assert (alone.outputs, alone.weights_digest, alone.input_probes) == ({}, None, None)


@pytest.mark.parametrize("name", TORCH_PIPELINES)
@pytest.mark.parametrize(
    "changes", [{}, {"autocast": "bfloat16"}, {"dtype": "float64"}, {"deterministic": True}]
)
def test_digests_of_tensors_are_those_of_a_whole_case(case_folder, name, changes):
    """Under autocast and other settings of the model too, none of which may reach preprocessing."""
    pytest.importorskip("torch")
    case_folder.write(
        "model.py",
        """
        import torch

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.ones(1))

            def forward(self, x):
                return x.flatten(1).float() * self.weight.float()

        build = Model
        """,
    )
    case_folder.write("data.py", "import numpy as np\nimport torch\n" + TORCH_PIPELINES[name])
    case_folder.add_arrays(*np.arange(1, 10, dtype=np.float32).reshape(3, 3))
    whole = case_folder.observe(preprocess="data:prepare", **changes)
    alone = observe(case_folder, to_tensors=True, preprocess="data:prepare", **changes)
    assert digests(alone) == digests(whole)


def test_numbers_become_what_the_model_takes(case_folder):
    """Python's numbers are float32 for a module and float64 for a callable: the digests tell."""
    pytest.importorskip("torch")
    case_folder.write("data.py", "import numpy as np\n" + PIPELINES["numbers"])
    case_folder.add_arrays(np.ones(3))
    as_arrays, as_tensors = (
        observe(case_folder, to_tensors=to_tensors, preprocess="data:prepare") for to_tensors in (False, True)
    )
    assert digests(as_arrays) != digests(as_tensors)


def test_neither_factory_nor_checkpoint_nor_collate_is_touched(case_folder):
    """The module of the model is not even imported, the checkpoint never opened."""
    case_folder.write("model.py", "raise SystemExit('the module of the model was imported')\n")
    case_folder.write("data.py", "def prepare(x):\n    return x\n")
    case_folder.add_arrays(np.zeros(3))
    (case_folder.root / "weights.pt").write_bytes(b"no checkpoint at all")
    opened = []
    hook_is_on = [True]

    def watch(event, arguments):
        if hook_is_on[0] and event == "open" and str(arguments[0]).endswith("weights.pt"):
            opened.append(arguments[0])

    sys.addaudithook(watch)
    try:
        observation = observe(
            case_folder,
            preprocess="data:prepare",
            checkpoint=CheckpointRef(path=str(case_folder.root / "weights.pt")),
            collate="model:collate",
            forward="model:forward",
            runtime=RuntimeSpec(kind="onnx", transform="model:transform"),
        )
    finally:
        hook_is_on[0] = False
    assert len(observation.samples) == 1
    assert opened == []
    assert "model" not in sys.modules


def test_factory_is_not_called_where_preprocess_lives_beside_it(case_folder):
    """The usual layout: one module with both."""
    case_folder.write("model.py", PLANTED + "\ndef prepare(x):\n    return x\n")
    case_folder.add_arrays(np.zeros(3))
    assert len(observe(case_folder, preprocess="model:prepare").samples) == 1


def test_global_state_is_as_before(case_folder, monkeypatch):
    """Generators, working folder, environment and torch's defaults, although preprocess changes all."""
    torch = pytest.importorskip("torch")
    case_folder.write(
        "data.py",
        """
        import os
        import random

        import numpy as np
        import torch

        def prepare(x):
            random.random(), np.random.random(), torch.rand(1)
            os.chdir("/")
            os.environ["LEFT_BEHIND"] = "1"
            torch.set_default_dtype(torch.float64)
            return x
        """,
    )
    case_folder.add_arrays(np.zeros(3), np.ones(3))
    random.seed(5)
    np.random.seed(5)
    torch.manual_seed(5)
    expected = random.Random(5).random(), np.random.RandomState(5).random()
    first = torch.rand(1, generator=torch.Generator().manual_seed(5))
    before = os.getcwd(), list(sys.path)
    observe(case_folder, to_tensors=True, preprocess="data:prepare")
    assert (random.random(), np.random.random()) == expected
    assert torch.equal(torch.rand(1), first)
    assert (os.getcwd(), list(sys.path)) == before
    assert "LEFT_BEHIND" not in os.environ
    assert torch.get_default_dtype() is torch.float32


def test_global_state_is_as_before_after_an_error(case_folder):
    """Also where a sample in the middle fails."""
    case_folder.write("data.py", "import random\ndef prepare(x):\n    random.random()\n    return x / x[1]\n")
    case_folder.write(
        "bad.py", "import random\ndef prepare(x):\n    random.random()\n    return open('nowhere')\n"
    )
    case_folder.add_arrays(np.ones(3))
    random.seed(5)
    with pytest.raises(
        PreprocessError, match="sample 'a': preprocess 'bad:prepare' raised FileNotFoundError"
    ):
        observe(case_folder, preprocess="bad:prepare")
    assert random.random() == random.Random(5).random()


def test_mode_of_a_staged_pipeline_is_put_back(case_folder):
    """A Dropout among the stages runs in eval mode, and is in train mode again for the user's tests."""
    pytest.importorskip("torch")
    case_folder.write("data.py", "import numpy as np\nimport torch\n" + TORCH_PIPELINES["dropout"])
    case_folder.add_arrays(np.ones(3, np.float32))
    observe(case_folder, to_tensors=True, preprocess="data:prepare")
    sys.path.insert(0, str(case_folder.root))
    try:
        import data

        assert data.prepare[1].training
    finally:
        sys.path.remove(str(case_folder.root))
        sys.modules.pop("data", None)


@pytest.mark.parametrize("batch_size", [1, 2, 3, 10])
def test_progress_goes_by_batches_to_the_end(toy_case, batch_size):
    """And the last may be short."""
    seen = []
    observe_inputs(
        toy_case.spec(batch_size=batch_size),
        toy_case.root / "inputs",
        to_tensors=False,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(min(done, 5), 5) for done in range(batch_size, 5 + batch_size, batch_size)]


def test_overwritten_buffer_shows_within_a_batch_as_in_a_case(toy_case):
    """In batches of one nothing is overwritten, in batches of two every first one is."""
    toy_case.write("data.py", "import numpy as np\n" + PIPELINES["buffer"])
    for batch_size in (1, 2):
        whole = toy_case.observe(preprocess="data:prepare", batch_size=batch_size)
        alone = observe(toy_case, preprocess="data:prepare", batch_size=batch_size)
        assert digests(alone) == digests(whole)
        assert bool(alone.habits) == (batch_size == 2)
        assert len({digest for _, _, digest in digests(alone)}) == (5 if batch_size == 1 else 3)


def test_probes_are_made_where_asked(toy_case):
    """The same table as that of a whole case, in the folder that was named; otherwise no file at all."""
    whole = observe_case(toy_case.spec(), toy_case.root / "whole", known=KnownProbes())
    alone = observe_inputs(toy_case.spec(), toy_case.root / "alone", to_tensors=False, known=KnownProbes())
    assert alone.input_probes == whole.input_probes
    assert (toy_case.root / "alone" / alone.input_probes.file.file).is_file()
    observe(toy_case, "plain")
    assert list((toy_case.root / "plain").iterdir()) == []


def test_all_references_that_cannot_be_resolved_are_named(toy_case):
    """Loader and preprocess in one message; the model's are not looked at."""
    with pytest.raises(ImportReferenceError) as caught:
        observe(toy_case, preprocess="absent:prepare", loader="gone:load", model="nowhere:build")
    assert "absent" in str(caught.value)
    assert "gone" in str(caught.value)
    assert "nowhere" not in str(caught.value)


def test_all_samples_that_cannot_be_loaded_are_named(case_folder):
    """One message for all, as in a case."""
    case_folder.add_arrays(np.zeros(3))
    case_folder.add_sample("bad.npy", b"\x93NUMPY no array")
    case_folder.add_sample("worse.npy", b"")
    with pytest.raises(SampleLoadError) as caught:
        observe(case_folder)
    assert "bad" in str(caught.value)
    assert "worse" in str(caught.value)


def test_prepared_inputs_are_handed_over_or_refused(toy_case):
    """What depends on what was prepared before cannot be handed to another process."""
    kept = prepare_inputs(toy_case.spec(), toy_case.root / "handed", to_tensors=False)
    assert [sample.observed.id for sample in kept.samples] == ["a", "b", "c", "d", "e"]
    kept.remove()
    toy_case.write("data.py", PIPELINES["stateful"])
    with pytest.raises(PreprocessError, match="leave out `preprocess: here`"):
        prepare_inputs(toy_case.spec(preprocess="data:prepare"), toy_case.root / "handed", to_tensors=False)
