"""Every example is green as it is; after an accident it is red, and says why and for which samples."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.full

N_MATCHES = {
    "face_detection": 2,
    "file_types": 3,
    "int8_classifier": 3,
    "sentence_embeddings": 3,
    "shape_segmentation": 3,
    "tabular_callable": 2,
    "voice_activity": 3,
}
"""Cases of every example, all of them a match."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """An accident: a text of a file replaced, and what has to be said of it.

    ``samples`` are ids that have to be among those which drift, ``n_drifted`` how many do, ``message`` a part
    of what is printed.
    """

    example: str
    case: str
    file: str
    old: str
    new: str
    cause: str
    samples: tuple[str, ...] = ()
    n_drifted: int | None = None
    message: str = ""


FAULTS = {
    "eight-bits-a-tensor": Fault(
        example="int8_classifier",
        case="int8",
        file="scanner/int8.py",
        old="weight.abs().amax(dim=tuple(range(1, weight.ndim)), keepdim=True)",
        new="weight.abs().amax()",
        cause="weights.changed",
        n_drifted=10,
    ),
    "stricter-network": Fault(
        example="face_detection",
        case="reference",
        file="turnstile/models.py",
        old="keep_all=True",
        new="keep_all=True, thresholds=[0.6, 0.7, 0.87]",
        cause="model.code",
        samples=("jxl-wesat-blossom", "lom-friends-crop1"),
        n_drifted=2,
        message="lost",
    ),
    "box-a-pixel-off": Fault(
        example="face_detection",
        case="reference",
        file="turnstile/models.py",
        old='"boxes": (boxes, (4,))',
        new='"boxes": (None if boxes is None else boxes + 1, (4,))',
        cause="model.code",
        n_drifted=6,
    ),
    "blue-first": Fault(
        example="face_detection",
        case="reference",
        file="turnstile/pictures.py",
        old='image.convert("RGB"))',
        new='image.convert("RGB"))[..., ::-1].copy()',
        cause="preprocess.channel_order",
        samples=("lom-friends",),
    ),
    "mask-a-pixel-off": Fault(
        example="shape_segmentation",
        case="reference",
        file="parts/network.py",
        old="return self.head(x)",
        new="return torch.roll(self.head(x), 1, 3)",
        cause="model.code",
        n_drifted=24,
        message="pixels changed, most from",
    ),
    "classes-exchanged": Fault(
        example="shape_segmentation",
        case="reference",
        file="parts/network.py",
        old="return self.head(x)",
        new="return self.head(x)[:, [0, 2, 1, 3]]",
        cause="model.code",
        message="most from washer to plate",
    ),
    "picture-a-pixel-off": Fault(
        example="shape_segmentation",
        case="reference",
        file="parts/pictures.py",
        old="pixels.transpose(2, 0, 1)",
        new="np.roll(pixels, 1, 1).transpose(2, 0, 1)",
        cause="preprocess.geometry",
        n_drifted=24,
    ),
    "part-blue-first": Fault(
        example="shape_segmentation",
        case="reference",
        file="parts/pictures.py",
        old="pixels.transpose(2, 0, 1)",
        new="pixels[..., ::-1].transpose(2, 0, 1)",
        cause="preprocess.channel_order",
    ),
    "four-bits": Fault(
        example="int8_classifier",
        case="int8-decisions",
        file="scanner/int8.py",
        old="127",
        new="7",
        cause="weights.changed",
        n_drifted=10,
        message="top1_agreement",
    ),
    "tokenizer-keeps-capitals": Fault(
        example="sentence_embeddings",
        case="reference",
        file="helpdesk/text.py",
        old="    tokenizer.enable_truncation(LENGTH)",
        new="    from tokenizers.normalizers import BertNormalizer\n\n"
        "    tokenizer.normalizer = BertNormalizer(lowercase=False)\n"
        "    tokenizer.enable_truncation(LENGTH)",
        cause="preprocess.other",
        n_drifted=64,
    ),
    "cut-at-half-the-length": Fault(
        example="sentence_embeddings",
        case="reference",
        file="helpdesk/text.py",
        old="LENGTH = 64",
        new="LENGTH = 32",
        cause="preprocess.other",
        samples=("q63",),
    ),
    "padding-is-averaged": Fault(
        example="sentence_embeddings",
        case="reference",
        file="helpdesk/models.py",
        old="mask = attention_mask.unsqueeze(-1).to(tokens.dtype)",
        new="mask = torch.ones_like(tokens[..., :1])",
        cause="model.code",
    ),
    "white-space-is-kept": Fault(
        example="file_types",
        case="reference",
        file="uploadcheck/content.py",
        old="content[-BLOCK:].rstrip()[-N_BYTES:]",
        new="content[-BLOCK:][-N_BYTES:]",
        cause="preprocess.other",
        samples=("complaint", "guide"),
    ),
    "columns-exchanged": Fault(
        example="tabular_callable",
        case="reference",
        file="lending/features.py",
        old='"income", "age"',
        new='"age", "income"',
        cause="preprocess.layout",
        n_drifted=60,
    ),
    "missing-is-zero": Fault(
        example="tabular_callable",
        case="reference",
        file="lending/features.py",
        old="np.nan if",
        new="0 if",
        cause="preprocess.value_range",
        samples=("a001", "a002"),
    ),
    "state-is-kept": Fault(
        example="voice_activity",
        case="reference",
        file="intercom/stream.py",
        old="    model.reset_states()\n",
        new="",
        cause="nondeterminism",
        samples=("hiss", "silence"),
    ),
    "every-second-sample": Fault(
        example="voice_activity",
        case="reference",
        file="intercom/audio.py",
        old="clip.astype(np.float32)",
        new="clip[::2].astype(np.float32)",
        cause="preprocess.interpolation",
        n_drifted=10,
    ),
    "scaled-by-the-largest": Fault(
        example="voice_activity",
        case="reference",
        file="intercom/audio.py",
        old="/ 32768",
        new="/ max(1, np.abs(clip).max())",
        cause="preprocess.normalization",
        samples=("cards-001",),
    ),
    "padding-is-zero": Fault(
        example="file_types",
        case="reference",
        file="uploadcheck/content.py",
        old="PADDING = 256",
        new="PADDING = 0",
        cause="preprocess.other",
        samples=("settings",),
    ),
}


@pytest.fixture
def examples(tmp_path):
    """A copy of all examples, so that nothing in the repository changes; they use each other's files."""
    return Path(shutil.copytree(ROOT / "examples", tmp_path / "examples"))


def run(folder: Path, *options: str) -> tuple[int, str, list[dict]]:
    """Run an example as its README says; return exit code, what was printed, and the report's cases."""
    report = folder / "report.json"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--modelreg", *options, "--modelreg-json", str(report)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    return done.returncode, done.stdout, json.loads(report.read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("name", N_MATCHES)
def test_example_matches_its_goldens(examples, name):
    """What a reader runs first is green."""
    code, out, cases = run(examples / name)
    assert code == 0, out
    assert [case["verdict"] for case in cases] == ["match"] * N_MATCHES[name]


def test_faces_in_another_order_are_the_same_faces(examples):
    """Two faces of one picture change places: nobody is alarmed."""
    file = examples / "face_detection/turnstile/models.py"
    text = file.read_text(encoding="utf-8")
    assert "np.array(values[:n_faces]" in text
    file.write_text(text.replace("np.array(values[:n_faces]", "np.array(values[::-1]"), encoding="utf-8")
    code, out, cases = run(examples / "face_detection")
    assert code == 0, out
    assert [case["verdict"] for case in cases] == ["match", "match"]


@pytest.mark.parametrize("name", FAULTS)
def test_accident_is_caught_and_its_cause_named(examples, name):
    """Planted in a copy: the case drifts, the first cause is the right one, the samples are named."""
    fault = FAULTS[name]
    file = examples / fault.example / fault.file
    text = file.read_text(encoding="utf-8")
    assert fault.old in text
    file.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    code, out, cases = run(examples / fault.example, "-k", fault.case)
    assert code == 1, out
    (case,) = (case for case in cases if case["variant"] == fault.case)
    assert case["verdict"] == "drift", out
    assert case["causes"][0]["cause"] == fault.cause, out
    assert set(fault.samples) <= set(case["drifted_samples"]), out
    assert fault.n_drifted in (None, len(case["drifted_samples"])), out
    assert fault.message in out
