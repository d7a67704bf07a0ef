"""Every fault of a suite file: where it is, what was expected, what was got, what was meant.

The planted faults are in the text file beside this module, as a user would read them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_modelreg import __version__
from pytest_modelreg.domain.errors import SuiteFileError
from pytest_modelreg.engine.suite_loading import load_suite

TABLE = Path(__file__).with_suffix(".txt")
SUITE_KEYS = (
    "one of modelreg, suite, python_path, samples, golden, golden_per, golden_budget_mb, trace_mb, "
    "deterministic, reference, outputs, checks, variants, matrix"
)
WORDS = {
    "version": __version__,
    "suite keys": SUITE_KEYS,
    "reference keys": "one of model, model_args, collate, forward, device, dtype, memory_format, checkpoint, "
    "preprocess, environment, runtime, autocast, batch_size, threads",
    "runtimes": "one of eager, compile, export, torchscript, onnx, onnx-file, callable",
    "all checks": "one of rel_l2, max_abs, mean_abs, elementwise, cosine, snr_db, exact, kl, top1_agreement, "
    "topk_overlap, negative_flips, accuracy_drop, rank_overlap, iou_match, label_agreement, "
    "pixel_agreement, miou",
}


def read_planted_faults() -> list[tuple[str, list[str]]]:
    """Return pairs of edits (lines) and messages."""
    text = TABLE.read_text(encoding="utf-8")
    for word, meaning in WORDS.items():
        text = text.replace(f"{{{word}}}", meaning)
    blocks = [block.split("\n") for block in text.strip().split("\n\n")[1:]]
    return [
        (
            "\n".join(line for line in block if line[:1] in "+-="),
            [line for line in block if line[:1] not in "+-="],
        )
        for block in blocks
    ]


@pytest.mark.parametrize(("edits", "messages"), read_planted_faults())
def test_planted_fault_is_named(suites, edits, messages):
    """One planted fault is one line, with its place, in our own words."""
    text, old = suites.suite, ""
    for line in edits.split("\n"):
        words = line[2:].replace("\\n", "\n")
        if line.startswith("+"):
            text += f"{words}\n"
        elif line.startswith("-"):
            old = words
            assert old in text
        else:
            text = text.replace(old, words)
    assert suites.faults(text) == messages


def test_misspelt_required_key_is_one_fault(suites):
    """A key that is misspelt is not called missing as well."""
    assert suites.faults(
        "modelreg: 1\nsuit: toy\nsamples: {folder: samples, loader: json}\nreference: {model: m:f}\n"
    ) == [f"modelreg.yaml:2: suit: expected {SUITE_KEYS}, got 'suit' (did you mean suite?)"]


@pytest.mark.parametrize(("text", "got"), [("- a\n", "a list"), ("hello\n", "'hello'"), ("3\n", "3")])
def test_file_that_is_no_mapping_is_one_fault(suites, text, got):
    """Nothing is said of keys of something that has none."""
    assert suites.faults(text) == [f"modelreg.yaml:1: expected a mapping with the keys of a suite, got {got}"]


def test_newer_format_is_the_only_fault(suites):
    """Whatever else a newer file holds is not for this release to judge."""
    assert suites.faults("modelreg: 2\nfancy: 1\n") == [
        "modelreg.yaml:1: modelreg: expected 1, got 2: "
        "the file is for a newer release; upgrade pytest-modelreg"
    ]


def test_all_faults_are_reported_at_once_by_line(suites):
    """Syntax, structure, types, files and checks that do not fit: one list, top to bottom."""
    text = """\
modelreg: 1
suite: a/b
suite: c
samples: {folder: nope, loader: jsn}
variants: {v: {batchsize: 1}}
reference:
  model: build
  batch_size: many
  checkpoint: weights/v2.safetensors
  forward: !custom m:f
outputs:
  x: {kind: tensor, lables: labels.txt, checks: {top1_agreement: 0.9}}
  y: {kind: tokenz}
checks: {rel_l2: {max: -1}, cosin: 0.9}
"""
    keys = [line.split(": ")[:2] for line in suites.faults(text)]
    assert [(where.partition(":")[2], key) for where, key in keys] == [
        ("2", "suite"),
        ("3", "suite"),
        ("4", "samples.folder"),
        ("4", "samples.loader"),
        ("5", "variants.v.batchsize"),
        ("7", "reference.model"),
        ("8", "reference.batch_size"),
        ("9", "reference.checkpoint"),
        ("10", "reference.forward"),
        ("12", "outputs.x.lables"),
        ("12", "outputs.x.checks.top1_agreement"),
        ("13", "outputs.y.kind"),
        ("14", "checks.rel_l2.max"),
        ("14", "checks.cosin"),
    ]


def test_value_on_its_own_line_is_found_there(suites):
    """A long mapping is searched at the line of the value, not of its key."""
    assert suites.faults_of_extension("  batch_size:\n    many\n") == [
        "modelreg.yaml:7: reference.batch_size: expected a whole number, got 'many'"
    ]


def test_files_outside_the_root_folder_are_named_whole(suites, tmp_path):
    """A relative name would not say which file is meant."""
    file = suites.write("modelreg: 2\n")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(SuiteFileError) as caught:
        load_suite(file, rootdir=tmp_path / "elsewhere")
    assert caught.value.faults[0].where == f"{file}:1"


def test_wrong_words_never_come_from_the_validator(suites):
    """No message holds a word of pydantic's or of Python's types."""
    text = (
        "modelreg: x\nsuite: [1]\npython_path: {a: 1}\nsamples: 1\ngolden: 1.5\ndeterministic: {}\n"
        "reference: {model: {}, model_args: 1, checkpoint: [], runtime: [], batch_size: [], threads: x}\n"
        "outputs:\n  {x: 1, y: {kind: 1, per: [], labels: 1, top_k: x, checks: 1}, z: {checks: {exact: x}}}\n"
        "checks: 3\n"
    )
    joined = "\n".join(suites.faults(text))
    for word in (
        "pydantic",
        "Input should",
        "valid",
        "dict",
        "string",
        "int ",
        "instance",
        "function-",
        "Block",
    ):
        assert word not in joined
    assert len(joined.split("\n")) == 20
