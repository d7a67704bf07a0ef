"""Large outputs: written while the case runs, whatever the number of samples."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

N_SAMPLES = 20_000
N_CLASSES = 1_000
BUDGET_MIB = 300

SCRIPT = """
    import hashlib, json, resource, sys
    from pathlib import Path

    import torch

    from pytest_modelreg.domain.case import CaseSpec
    from pytest_modelreg.domain.sample import Sample, SampleSet
    from pytest_modelreg.observe import SharedWork, observe_case

    root, n_samples, n_classes = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    (root / "samples").mkdir()
    (root / "model.py").write_text(
        "import torch\\n\\n"
        "def prepare(x):\\n    return torch.tensor(x)\\n\\n"
        f"def build():\\n    return torch.nn.Linear(4, {n_classes})\\n"
    )
    samples = []
    for index in range(n_samples):
        text = json.dumps([index, 1.0, -1.0, index / 7]).encode()
        (root / "samples" / f"{index}.json").write_bytes(text)
        digest = hashlib.sha256(text).hexdigest()
        samples.append(Sample(id=f"sample-{index}", file=f"{index}.json", sha256=digest))
    fields = dict(
        suite="large", root=str(root), python_path=(str(root),), loader="json", model="model:build",
        preprocess="model:prepare", batch_size=64,
        samples=SampleSet(folder=str(root / "samples"), samples=tuple(samples)),
    )
    specs = [CaseSpec(variant=name, **fields) for name in ("one", "two")]
    shared = SharedWork(root / "work")
    shared.expect(specs)
    with torch.inference_mode():
        torch.nn.Linear(4, n_classes)(torch.rand(64, 4))
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    before = peak()
    for spec in specs:
        observation = observe_case(spec, root / spec.variant, shared=shared)
        assert observation.outputs["output"].shape == (n_samples, n_classes)
        assert len(observation.samples) == n_samples
    print(peak() - before)
    """


@pytest.mark.full
def test_many_large_outputs_stay_in_little_memory(tmp_path):
    """20,000 samples of 1,000 float32 take less than 300 MiB above the model, prepared and replayed."""
    pytest.importorskip("torch")
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path), str(N_SAMPLES), str(N_CLASSES)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert float(done.stdout) < BUDGET_MIB
