"""Reasons in files that a suite names."""

from __future__ import annotations

import pytest

from pytest_modelreg.store import pin, pin_rows

SUITE = """\
modelreg: 1
suite: toy
samples: {folder: samples, loader: json}
reference:
  model: shop.models:build
  model_args: {config: configs/net.yaml, table: tables, here: .}
  preprocess: shop.data:prepare
  checkpoint: weights/v1.safetensors
outputs:
  logits: {kind: classification, labels: labels.txt}
variants:
  later: {checkpoint: "weights/epoch-*.pt"}
  shipped: {runtime: {kind: onnx-file, path: dist/model.onnx, custom_ops: [dist/ops.so]}}
  own: {batch_size: 1, golden: own}
"""

FILES = [
    "configs/net.yaml",
    "dist/model.onnx",
    "dist/model.onnx.data",
    "dist/ops.so",
    "golden/toy/own/golden.json",
    "golden/toy/reference/golden.json",
    "tables/a.csv",
    "weights/epoch-1.pt",
    "weights/epoch-2.pt",
    "weights/v1.safetensors",
]


@pytest.fixture
def rich(shop):
    """The shop with every kind of file that a suite can name."""
    shop.write_base({"modelreg.yaml": SUITE, "labels.txt": "cat\ndog\n"} | dict.fromkeys(FILES, "1"))
    assert shop.reasons() == []
    return shop


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("configs/net.yaml", "model argument configs/net.yaml changed"),
        ("dist/model.onnx", "onnx-file dist/model.onnx changed"),
        ("dist/model.onnx.data", "onnx-file dist/model.onnx.data changed"),
        ("dist/ops.so", "onnx-file dist/ops.so changed"),
        ("golden/toy/own/golden.json", "golden of own changed"),
        ("golden/toy/reference/golden.json", "golden of reference changed"),
        ("labels.txt", "labels labels.txt changed"),
        ("samples/cat.json", "sample cat.json changed"),
        ("samples/samples.csv", "samples.csv changed"),
        ("tables/a.csv", "model argument tables/a.csv changed"),
        ("weights/epoch-2.pt", "checkpoint weights/epoch-2.pt changed"),
        ("weights/v1.safetensors", "checkpoint weights/v1.safetensors changed"),
        ("modelreg.yaml", "suite file changed"),
    ],
)
def test_a_file_that_the_suite_names_counts(rich, file: str, reason: str) -> None:
    """Each with what it is to the suite."""
    path = rich.path / file
    path.write_text(path.read_text() + "\n")
    assert rich.reasons() == [reason]


@pytest.mark.parametrize(
    "file",
    [
        "configs/other.yaml",
        "dist/other.onnx",
        "golden/toy/other/golden.json",
        "golden/py/test_a/golden.json",
        "labels.md",
        "samples/README.md",
        "samples/.hidden",
        "weights/v2.safetensors",
        "weights/notes.txt",
        "other.modelreg.yaml",
    ],
)
def test_a_file_beside_them_selects_nothing(rich, file: str) -> None:
    """The neighbours of every kind."""
    rich.write(file, "x")
    assert rich.reasons() == []


def test_a_checkpoint_of_a_pattern_that_is_gone_counts(rich) -> None:
    """Its variant is gone with it: no case names the file any more."""
    (rich.path / "weights/epoch-1.pt").unlink()
    assert rich.reasons() == ["checkpoint weights/epoch-1.pt deleted"]


def test_a_new_checkpoint_of_a_pattern_counts(rich) -> None:
    """It makes a variant."""
    rich.write("weights/epoch-3.pt")
    assert rich.reasons() == ["checkpoint weights/epoch-3.pt added"]


def test_samples_that_come_and_go(shop) -> None:
    """With their rows, as `modelreg pin` writes them."""
    shop.write("samples/eel.json", "3")
    (shop.path / "samples/dog.json").unlink()
    pin(shop.path / "samples", update=True)
    assert shop.reasons() == ["samples.csv changed", "sample eel.json added"]


def test_a_sample_that_is_gone_while_its_row_is_not(shop) -> None:
    """The precheck will refuse the set; the choice says why the suite was looked at."""
    (shop.path / "samples/dog.json").unlink()
    assert shop.reasons() == ["sample dog.json deleted"]


def test_many_samples_are_a_short_list(shop) -> None:
    """A set that was replaced as a whole."""
    for n in range(9):
        shop.write(f"samples/s{n}.json", "3")
    assert shop.reasons() == [
        "sample s0.json added",
        "sample s1.json added",
        "sample s2.json added",
        "6 more samples changed",
    ]


def test_a_linked_samples_folder_is_followed(shop) -> None:
    """Suites share a sample set by a link; the link itself may change too."""
    shop.git("mv", "samples", "shared")
    (shop.path / "samples").symlink_to("shared")
    shop.commit(tag="base")
    assert shop.reasons() == []
    shop.write("shared/cat.json", "9")
    assert shop.reasons() == ["sample cat.json changed"]
    shop.git("checkout", "shared")
    (shop.path / "samples").unlink()
    (shop.path / "samples").symlink_to("./shared")
    assert shop.reasons() == ["samples folder samples changed"]


def test_a_new_suite_is_chosen(shop) -> None:
    """There is no golden that it was compared with before."""
    text = (shop.path / "modelreg.yaml").read_text()
    shop.write("second.modelreg.yaml", text.replace("toy", "second"))
    assert shop.reasons("second.modelreg.yaml") == ["suite file added"]


def test_a_file_with_rows_and_its_pin_count_once(shop) -> None:
    """Also where they lie in a package of the suite's code, which may read what is beside it."""
    rows = SUITE.replace("{folder: samples, loader: json}", "{file: src/shop/rows.jsonl}")
    suite = rows.partition("  model_args")[0] + "  preprocess: shop.data:prepare\n"
    shop.write_base({"modelreg.yaml": suite, "src/shop/rows.jsonl": '{"x": 1}\n'})
    pin_rows(shop.path / "src/shop/rows.jsonl")
    shop.commit(tag="base")
    assert shop.reasons() == []
    shop.write("src/shop/rows.jsonl", '{"x": 2}\n')
    assert shop.reasons() == ["samples src/shop/rows.jsonl changed"]
    pin_rows(shop.path / "src/shop/rows.jsonl", update=True)
    assert shop.reasons() == [
        "samples src/shop/rows.jsonl changed",
        "samples src/shop/rows.jsonl.pin.json changed",
    ]
