"""``modelreg precheck`` on pipelines of every kind: stages, images, variants, habits, words, torch."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.watched_project import APART, change, extend, n_seen, seen, watch


def test_checkpoint_is_never_opened(recorded, command):
    """A golden of a model with weights needs none of them."""
    pytest.importorskip("torch")
    import torch

    recorded.write("toymodel.py", "import torch\n\n\ndef build():\n    return torch.nn.Linear(3, 4)\n")
    torch.save(torch.nn.Linear(3, 4).state_dict(), recorded.path / "weights.pt")
    recorded.edit("modelreg.yaml", "  preprocess:", "  checkpoint: weights.pt\n  preprocess:")
    assert recorded.pytest("--modelreg-regen=all", "--modelreg-reason=torch").ret == 0
    recorded.write("weights.pt", "no checkpoint any more")
    recorded.write("toymodel.py", "raise RuntimeError('the module of the model was imported')\n")
    assert command()[0] == 0


def test_first_stage_that_differs_is_named(project, command):
    """With its settings on both sides."""
    stages = (
        "import numpy as np\n\n\nclass Scale:\n    def __init__(self, by):\n        self.by = by\n\n"
        "    def __call__(self, x):\n        return np.asarray(x, np.float32) * np.float32(self.by)\n\n\n"
        "prepare = [np.asarray, Scale(2), Scale(3)]\n"
    )
    project.write("toydata.py", stages)
    project.record()
    project.edit("toydata.py", "Scale(2)", "Scale(4)")
    code, out, _ = command()
    assert code == 1
    (line,) = [line for line in out.splitlines() if "first stage" in line]
    assert line.startswith("  first stage whose output differs: 2 (Scale), for 6 of 6 samples: ")


@pytest.mark.parametrize(
    ("expression", "forms"),
    [
        ("x.reshape(3, 1)", "(expected float32 3, got float32 3 x 1)"),
        ("x.reshape(1, 3).astype(np.float64)", "(expected float32 3, got float64 1 x 3)"),
        ("{'x': x}", "(expected float32 3, got x float32 3)"),
    ],
)
def test_other_form_is_shown_on_both_sides(recorded, command, expression, forms):
    """HWC for CHW, another dtype, a dict: no number says how far that is."""
    recorded.edit("toymodel.py", "lambda x: scale * (x @ WEIGHT)", "answer")
    recorded.write(
        "toymodel.py",
        (recorded.path / "toymodel.py").read_text()
        + "\n\ndef answer(x=None):\n    return (x.reshape(-1, 3) @ WEIGHT).astype(np.float32)\n",
    )
    change(recorded, expression)
    code, out, _ = command()
    assert code == 1
    assert f"s0 {forms}" in out


def test_another_dtype_alone_is_told_and_passes_as_in_a_run(recorded, command):
    """The numbers are the same, and the model answers as pinned: a note, as `pytest --modelreg` has it."""
    recorded.edit("toymodel.py", "(x @ WEIGHT)", "(x.astype(np.float32) @ WEIGHT)")
    change(recorded, "x.astype(np.float64)")
    code, out, _ = command()
    assert code == 0
    assert "inputs differ in dtype only (float32 -> float64) for 6 of 6 samples" in out


def test_image_of_another_layout_and_palette_alone(project, command):
    """On decoded images: a change to palette images names those alone."""
    image = pytest.importorskip("PIL.Image")
    for file in (project.path / "samples").iterdir():
        file.unlink()
    rng = np.random.default_rng(0)
    for name, mode in (("rgb", "RGB"), ("pal-a", "P"), ("pal-b", "P"), ("grey", "L")):
        shown = image.fromarray(rng.integers(0, 255, (8, 8, 3), np.uint8)).convert(mode)
        shown.save(project.path / f"samples/{name}.png")
    project.write(
        "toydata.py",
        "import numpy as np\n\n\ndef prepare(image):\n"
        "    x = np.asarray(image.convert('RGB'), np.float32)\n    return x.transpose(2, 0, 1)\n",
    )
    project.write("toymodel.py", "def build():\n    return lambda x: x.reshape(len(x), -1)[:, :4]\n")
    project.edit("modelreg.yaml", "loader: json", "loader: image")
    project.record()
    assert command()[0] == 0
    project.edit("toydata.py", "return x", "x = x + 1 if image.mode == 'P' else x\n    return x")
    code, out, _ = command()
    assert code == 1
    assert "inputs differ for 2 of 4 samples" in out
    (line,) = (line for line in out.splitlines() if "farthest first" in line)
    assert "pal-a" in line
    assert "pal-b" in line
    assert "rgb" not in line
    assert "only samples with image mode P are affected" in out
    project.edit(
        "toydata.py", "x = x + 1 if image.mode == 'P' else x\n    return x.transpose(2, 0, 1)", "return x"
    )
    code, out, _ = command()
    assert code == 1
    assert "(expected float32 3 x 8 x 8, got float32 8 x 8 x 3)" in out


def test_truncated_image_is_an_error(project, command):
    """Pinned as it is, it cannot be decoded: exit 3, named, and nothing said of behaviour."""
    image = pytest.importorskip("PIL.Image")
    project.edit("modelreg.yaml", "loader: json", "loader: image")
    for file in (project.path / "samples").iterdir():
        file.unlink()
    for name in ("a", "b"):
        image.new("RGB", (64, 64), "red" if name == "a" else "blue").save(
            project.path / f"samples/{name}.png"
        )
    project.edit("toydata.py", "sample, dtype=np.float32", "sample.resize((3, 1)), dtype=np.float32")
    project.write("toymodel.py", "def build():\n    return lambda x: x.reshape(len(x), -1)[:, :4]\n")
    project.record()
    path = project.path / "samples/a.png"
    path.write_bytes(path.read_bytes()[:-30])
    code, out, _ = command()
    assert code == 3
    assert "toy[reference]: error: " in out
    assert "a.png" in out
    project.pin()
    code, out, _ = command()
    assert code == 3
    assert "sample 'a': loader 'image'" in out


def test_variant_apart_is_run_after_its_preprocess_changed(project, command):
    """Judged by the reference's golden: quiet while it is fed what it was, its own limits after that."""
    watch(project)
    extend(project, f"variants:\n{APART}")
    project.write(
        "toydata.py",
        (project.path / "toydata.py").read_text() + "\n\nBY = 1.1\n\n\ndef other(sample):\n"
        "    return prepare(sample) * np.float32(BY)\n",
    )
    project.record()
    seen(project)
    code, out, _ = command()
    assert (code, seen(project)) == (0, [])
    assert "toy[other]: match: inputs as they were when the reference's golden was recorded" in out
    project.edit("toydata.py", "BY = 1.1", "BY = 1.3")
    code, out, _ = command()
    assert code == 0
    assert "toy[reference]: match: inputs bit-identical for all 6 samples: no model was built" in out
    assert "toy[other]: match: inputs differ for 6 of 6 samples, as this variant's preprocess may; " in out
    assert n_seen(project) == 6
    project.edit("toydata.py", "BY = 1.3", "BY = 1.7")
    code, out, _ = command()
    assert code == 1
    assert (
        "toy[other]: drift: inputs differ for 6 of 6 samples; behaviour drifts: logits rel_l2 0.7 > 0.5"
        in out
    )
    assert "  if this change is intended: give other limits of its own" in out


def test_golden_from_before_there_were_probes(recorded, command):
    """It says so and gets them by `--mode all`; a second time leaves every byte."""
    from tests.engine.test_engine_precheck import forget_probes

    forget_probes(recorded)
    assert command()[0] == 0
    change(recorded, "x * np.float32(1 + 1e-6)")
    code, out, _ = command()
    assert code == 1
    assert "how far is not on record" in out
    for _ in range(2):
        result = recorded.modelreg("regen", "--mode", "all", "--reason", "probes", "--yes")
        assert result.ret == 0
    result.stdout.fnmatch_lines(["*already holds exactly this; left as it was*"])
    assert len(list((recorded.path / "golden/toy/reference").glob("trace.inputs.*.npy"))) == 1
    recorded.edit("toydata.py", "1 + 1e-6", "1 + 2e-6")
    code, out, _ = command()
    assert code == 0
    assert "rel_l2 about " in out
    assert "not on record" not in out


def test_only_the_golden_without_probes_is_recorded_again(recorded, command):
    """Same inputs and outputs: the probes alone are a reason to write, once."""
    from tests.engine.test_engine_precheck import forget_probes

    whole = recorded.golden_bytes()
    forget_probes(recorded)
    assert recorded.pytest("--modelreg-regen=all", "--modelreg-reason=probes").ret == 0
    first = recorded.golden_bytes()
    assert {name for name in first if "trace" in name} == {name for name in whole if "trace" in name}
    assert recorded.pytest("--modelreg-regen=all", "--modelreg-reason=again").ret == 0
    assert recorded.golden_bytes() == first


def test_outputs_per_batch_are_run_whole(project, command):
    """A batch of the changed samples alone would answer something else."""
    watch(project, "{'loss': (x @ WEIGHT).mean(axis=0, keepdims=True)}")
    project.edit("modelreg.yaml", "logits: {kind: classification, labels: labels.txt}", "loss: {per: batch}")
    project.record()
    seen(project)
    change(project, "x * np.float32(1 + 1e-7) if sample[0] > 0.11 else x")
    code, out, _ = command()
    assert code == 0, out
    assert n_seen(project) == 6


def test_golden_per_environment_falls_back_and_says_so(project, command):
    """The command records this environment's own, and leaves the other alone."""
    project.edit("modelreg.yaml", "reference:", "golden_per: [device, machine]\nreference:")
    project.record()
    (folder,) = (project.path / "golden/toy/reference").iterdir()
    folder.rename(folder.with_name("device=cpu,machine=riscv"))
    code, out, _ = command()
    assert code == 0
    assert "  held against the golden of device=cpu,machine=riscv" in out


def test_random_preprocess_is_seeded_and_quiet(project, command):
    """Drawn from seeds of the samples' own: the same in a precheck as in a run, whatever ran before."""
    project.edit("toydata.py", "dtype=np.float32)", "dtype=np.float32) + np.random.random()")
    project.record()
    np.random.seed(99)
    assert command()[0] == 0
    assert command()[0] == 0


def test_preprocess_that_no_seed_reaches_is_named(project, command):
    """It differs every time: the habit says why, instead of a change that nobody made."""
    project.edit(
        "toydata.py", "dtype=np.float32)", "dtype=np.float32) + np.float32(np.random.default_rng().random())"
    )
    project.record()
    code, out, _ = command()
    assert code == 1
    (line,) = (line for line in out.splitlines() if "prepared again and again" in line)
    assert line.startswith("  cause: nondeterminism: of preprocessing, not of the model: ")
    assert out.index(line) < out.index("farthest first")


@pytest.mark.parametrize(
    "body",
    [
        "    SEEN.append(1)\n    return np.asarray(sample, np.float32) + np.float32(len(SEEN))\n",
        "    BUFFER[:] = sample\n    return BUFFER\n",
        "    sample[0] += 1\n    return np.asarray(sample, np.float32)\n",
    ],
    ids=["stateful", "buffer", "mutating"],
)
def test_bad_habits_are_no_false_alarm(project, body):
    """In a fresh process the same order gives the same inputs, in batches as recorded."""
    project.write(
        "toydata.py",
        "import numpy as np\n\nSEEN = []\nBUFFER = np.zeros(3, np.float32)\n\n\n"
        f"def prepare(sample):\n{body}",
    )
    project.pin()
    # Processes of their own: what a module keeps must not come from another run.
    assert project.modelreg("regen").ret == 0
    result = project.modelreg("precheck")
    assert result.ret == 0, result.stdout.str()


def test_preprocess_that_reads_what_the_factory_sets(project):
    """Only building the model shows that nothing changed: told, and green; a change on top is found."""
    project.write(
        "toydata.py",
        "import numpy as np\n\nSIZE = [1]\n\n\ndef prepare(sample):\n"
        "    return np.asarray(sample, np.float32) * np.float32(SIZE[0])\n",
    )
    project.edit(
        "toymodel.py", "def build(scale=1.0):", "def build(scale=1.0):\n    __import__('toydata').SIZE[0] = 2"
    )
    project.pin()
    # Processes of their own: what the factory set must not be there already.
    assert project.modelreg("regen").ret == 0
    result = project.modelreg("precheck")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "toy[[]reference]: match: inputs bit-identical for all 6 samples",
            "  preprocessing reads something that the model factory sets*",
        ]
    )
    project.edit("toydata.py", "SIZE[0])", "SIZE[0]) * np.float32(3)")
    assert project.modelreg("precheck").ret == 1


def test_python_numbers_are_inputs(project, command):
    """Lists of numbers become what the model takes, here as in a run."""
    project.write("toydata.py", "def prepare(sample):\n    return [value / 3 for value in sample]\n")
    project.record()
    assert command()[0] == 0
    change(project, "[value * 2 for value in x]")
    assert command()[0] == 1


def test_words_beside_numbers_are_compared(project, command):
    """A prompt that changed is another input, whatever the numbers beside it do."""
    project.write(
        "toydata.py",
        "import numpy as np\n\n\ndef prepare(sample):\n"
        "    return {'x': np.asarray(sample, np.float32), 'text': 'a cat'}\n",
    )
    project.write("toymodel.py", "def build():\n    return lambda x, text: x[:, [0, 1, 2, 0]]\n")
    project.record()
    assert command()[0] == 0
    project.edit("toydata.py", "'a cat'", "'a dog'")
    code, out, _ = command()
    assert code == 1
    assert "expected text str of 5 bytes (" in out


def test_torch_suite_end_to_end(project, command):
    """A module on tensors: identical, within the limit, beyond it, and a factory that is left alone."""
    pytest.importorskip("torch")
    project.write(
        "toymodel.py",
        """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 4)

    def forward(self, x):
        from pathlib import Path
        with open(Path(__file__).with_name("seen.txt"), "a") as file:
            file.write(f"saw {len(x)}\\n")
        return self.layer(x)


def build():
    torch.manual_seed(0)
    return Model()
""",
    )
    project.write(
        "toydata.py",
        "import torch\n\nNUDGE = 1.0\n\n\ndef prepare(sample):\n    x = torch.tensor(sample)\n"
        "    return x * NUDGE if sample[0] > 0.11 else x\n",
    )
    project.record()
    seen(project)
    code, out, _ = command()
    assert (code, seen(project)) == (0, [])
    project.edit("toydata.py", "NUDGE = 1.0", "NUDGE = 1.0 + 2e-7")
    code, out, _ = command()
    assert (code, n_seen(project)) == (0, 2)
    assert "as another CPU makes; the model answers as pinned on these 2" in out
    project.edit("toydata.py", "NUDGE = 1.0 + 2e-7", "NUDGE = 1.5")
    code, out, _ = command()
    assert (code, n_seen(project)) == (1, 2)
    assert "behaviour drifts: logits rel_l2" in out


def test_golden_names_what_is_needed_later(recorded):
    """The record: a table with the digest in its name, one form, and no machine's path."""
    record = json.loads((recorded.path / "golden/toy/reference/golden.json").read_text())
    probes = record["input_probes"]
    assert probes["file"] == f"trace.inputs.{probes['sha256'][:12]}.npy"
    assert (probes["n_columns"], probes["forms"]) == (258, ["float32 3"])
    assert np.load(recorded.path / "golden/toy/reference" / probes["file"]).shape == (6, 258)


def test_module_that_refuses_eval_is_fed_tensors_all_the_same(project, command):
    """An exported program has no eval(): Python's numbers are float32 for it, not float64."""
    pytest.importorskip("torch")
    project.write(
        "toymodel.py",
        """
import torch


class Exported(torch.nn.Linear):
    def eval(self):
        raise NotImplementedError("no mode")


def build():
    torch.manual_seed(0)
    return Exported(3, 4)
""",
    )
    project.write("toydata.py", "def prepare(sample):\n    return [value / 3 for value in sample]\n")
    project.record()
    project.write("toymodel.py", "raise RuntimeError('the module of the model was imported')\n")
    code, out, _ = command()
    assert code == 0, out


def test_non_finite_inputs_are_compared(project, command):
    """The same NaN at the same place is the same input; one more is infinitely far."""
    project.edit("toydata.py", "dtype=np.float32)", "dtype=np.float32) * [1, 1, np.float32('nan')]")
    project.edit("toymodel.py", "(x @ WEIGHT)", "(np.nan_to_num(x) @ WEIGHT)")
    project.record()
    assert command()[0] == 0
    project.edit("toydata.py", "[1, 1, ", "[1, np.float32('nan'), ")
    code, out, _ = command()
    assert code == 1
    assert "(rel_l2 about inf)" in out


def test_text_suite_is_told_apart_by_form(project, command):
    """No number says how far two texts are apart: both sides are shown by length and digest."""
    for file in (project.path / "samples").iterdir():
        file.unlink()
    for name in ("a", "b"):
        project.write(f"samples/{name}.txt", f"text {name}")
    project.edit("modelreg.yaml", "loader: json", "loader: text")
    project.write("toydata.py", "def prepare(text):\n    return text.strip()\n")
    project.write(
        "toymodel.py",
        "import numpy as np\n\n\ndef build():\n"
        "    return lambda texts: np.array([[len(text), 1, 2, 3] for text in texts], np.float32)\n",
    )
    project.record()
    assert command()[0] == 0
    project.edit("toydata.py", "text.strip()", "text.upper()")
    code, out, _ = command()
    assert code == 1
    assert "a (expected str of 6 bytes (" in out
    assert "the model answers as pinned on these 2, within the limits" in out
