"""The JSON Schema agrees with what loading a suite accepts, so that editors help and never mislead."""

from __future__ import annotations

import json

import jsonschema
import pytest

from pytest_modelreg.domain.check import CHECK_NAMES
from pytest_modelreg.engine.schema import json_schema
from pytest_modelreg.engine.suite_file.document import parse_document
from pytest_modelreg.engine.suite_file.fault import FaultLog
from pytest_modelreg.engine.suite_file.limit import ChecksBlock

FULL = """\
modelreg: 1                               # format version
suite: photo-classifier
python_path: [src]                        # default: the suite's folder, the rootdir, src when it exists
samples: {folder: fixtures/photos, loader: image}
golden: golden                            # default

reference:
  model: shop.models:build
  model_args: {num_classes: 1000}
  checkpoint: weights/v1.safetensors
  preprocess: shop.data:eval_transform
  collate: module:fn
  forward: module:fn
  runtime: eager
  batch_size: 8

outputs:
  logits: {kind: classification, labels: imagenet.txt, top_k: 5}

checks: {rel_l2: 1e-5, top1_agreement: 1.0}
"""


def is_valid(text: str) -> bool:
    """Whether the schema accepts a suite's text."""
    validator = jsonschema.Draft202012Validator(json_schema())
    return bool(validator.is_valid(parse_document(text, FaultLog("suite.yaml")).data))


def test_schema_is_a_schema_and_strict_json():
    """Any editor can read it."""
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema, allow_nan=False)) == schema


def test_documented_suite_is_valid():
    """The example of the documentation, as far as this release supports it."""
    assert is_valid(FULL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("checkpoint: weights/v1.safetensors", "checkpoint: {path: weights/t.pt, key: model}"),
        ("checkpoint: weights/v1.safetensors", "checkpoint: {package: some_weights, path: w.pth}"),
        ("runtime: eager", "runtime: {kind: eager}"),
        ("loader: image", "loader: shop.io:read"),
        ("rel_l2: 1e-5", "rel_l2: off"),
        ("rel_l2: 1e-5", "rel_l2: false"),
        ("rel_l2: 1e-5", "rel_l2: {max: 1, tags: {rare: 2}}"),
        ("rel_l2: 1e-5", "exact: true"),
        ("rel_l2: 1e-5", "elementwise: {rtol: 1e-3, atol: 0}"),
        ("rel_l2: 1e-5", "cosine: -1"),
        ("top1_agreement: 1.0", "top1_agreement: {min: 0.98, tags: {critical: 1.0}}"),
    ],
)
def test_every_form_of_a_key_is_valid(old, new):
    """Short and long forms both."""
    assert old in FULL
    assert is_valid(FULL.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("modelreg: 1", "modelreg: 2"),
        ("suite: photo-classifier\n", ""),
        ("suite: photo-classifier", "suite: a[b]"),
        ("suite: photo-classifier", "suite: 3"),
        ("python_path: [src]", "python_path: src"),
        ("golden: golden", "golden:"),
        ("loader: image", "loader: imag"),
        ("model: shop.models:build", "model: shop.models.build"),
        ("batch_size: 8", "batch_size: 0"),
        ("batch_size: 8", "batch_size: ~"),
        ("batch_size: 8", "device: [cuda]"),
        ("checks:", "chekcs:"),
        ("rel_l2: 1e-5", "rel_l2: true"),
        ("rel_l2: 1e-5", "rel_l2: {min: 1}"),
        ("rel_l2: 1e-5", "rel_l2: -1"),
        ("rel_l2: 1e-5", "rell2: 1"),
        ("rel_l2: 1e-5", "exact: 1"),
        ("top1_agreement: 1.0", "top1_agreement: 98"),
        ("kind: classification", "kind: tokenz"),
        ("checkpoint: weights/v1.safetensors", "checkpoint: {key: model}"),
    ],
)
def test_faulty_suite_is_invalid(old, new):
    """An editor underlines what loading would refuse."""
    assert old in FULL
    assert not is_valid(FULL.replace(old, new, 1))


def test_every_key_has_a_description():
    """An editor shows what a key is for."""
    schema = json_schema()
    blocks = {"suite": schema, **schema["$defs"]}
    silent = [
        f"{name}.{key}"
        for name, block in blocks.items()
        for key, value in block["properties"].items()
        if not value.get("description")
    ]
    assert silent == []


def test_null_is_never_offered():
    """A key left empty is a fault of the suite, so the schema must not propose it."""
    assert '"null"' not in json.dumps(json_schema())


def test_every_check_of_the_domain_has_a_key():
    """A check that judging knows can be written, and no other."""
    assert tuple(ChecksBlock.model_fields) == CHECK_NAMES
