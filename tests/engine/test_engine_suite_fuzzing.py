"""Whatever a suite file holds, loading it ends soon, in a suite or in faults."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import SuiteFileError
from pytest_modelreg.engine.suite import Suite
from pytest_modelreg.engine.suite_loading import parse_suite

FULL = """\
modelreg: 1
suite: photo-classifier
python_path: [code]
samples: {folder: samples, loader: image}
golden: golden
deterministic: false
reference:
  model: shop.models:build
  model_args: {num_classes: 1000, x: [1, ~, .5, "a"]}
  checkpoint: {path: weights/v1.safetensors, key: model}
  preprocess: shop.data:prepare
  runtime: {kind: eager}
  batch_size: 8
outputs:
  logits: {kind: classification, labels: labels.txt, top_k: 2, checks: {rel_l2: {max: 1, tags: {a: 2}}}}
  aux: {per: ignore}
  box: {kind: regression, checks: {elementwise: {rtol: 1, atol: 0}, exact: off, cosine: 0.9}}
checks: {rel_l2: 1e-5, top1_agreement: 1.0, max_abs: off}
"""

MAX_SECONDS = 2.0

PUNCTUATION = [
    "[]",
    "{}",
    "''",
    "<<: ",
    "- ",
    "? ",
    ": ",
    "\t",
    "\n",
    "  ",
    "#",
    "|",
    ">",
    "{a: ",
    "[",
    "]",
    "}",
]
VALUES_OF_YAML = [
    "~",
    "off",
    "true",
    "1e-5",
    ".nan",
    "-.inf",
    "0x",
    "9" * 120,
    "0",
    "-1",
    "1.5",
    "&a",
    "*a",
    "!x ",
]
DOCUMENTS = [
    "%YAML 1.2\n",
    "---\n",
    "...\n",
    '"\\0"',
    '"\\ud800"',
    '"\\UFFFFFFFF"',
    "\x00",
    "\u2028",
    "\ufeff",
]
WORDS = ["module:fn", "labels.txt", "weights", "tensor", "onnx", "variants", "matrix: {}", "top1_agreement"]
SNIPPETS = st.sampled_from(PUNCTUATION + VALUES_OF_YAML + DOCUMENTS + WORDS)


@st.composite
def mutated_suites(draw: Callable) -> str:
    """A sound suite with pieces cut, doubled or replaced."""
    text = FULL
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 12)))
        piece = draw(st.one_of(SNIPPETS, st.text(max_size=4), st.just(text[start:stop] * 2)))
        text = text[:start] + piece + text[stop:]
    return text


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6), st.sampled_from(WORDS)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def write_flow(value: object) -> str:
    """Return a value as YAML flow."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{write_flow(key)}: {write_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(write_flow(item) for item in value) + "]"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return {"None": "~", "True": "true", "nan": ".nan", "inf": ".inf", "-inf": "-.inf"}.get(
        str(value), str(value)
    )


@st.composite
def retyped_suites(draw: Callable) -> str:
    """A sound suite in which one key holds something else."""
    lines = FULL.splitlines()
    index = draw(st.integers(0, len(lines) - 1))
    key = lines[index].split(":")[0]
    lines[index] = f"{key}: {write_flow(draw(VALUES))}"
    return "\n".join(lines) + "\n"


@pytest.fixture
def read(suites) -> Callable[[str], Suite | None]:
    """Return a function that loads a text and holds the law on it."""

    def load(text: str) -> Suite | None:
        started = time.perf_counter()
        suite, faults, message = None, (), ""
        try:
            suite = parse_suite(text, suites.path / "modelreg.yaml", rootdir=suites.path)
        except SuiteFileError as error:
            faults, message = error.faults, str(error)
        assert time.perf_counter() - started < MAX_SECONDS
        if suite is None:
            lines = message.split("\n")
            assert len(lines) == len(faults) > 0
            assert all(line.startswith("modelreg.yaml:") and "expected" in line for line in lines)
            message.encode()  # can be printed
        return suite

    return load


def test_unchanged_text_is_a_suite(read):
    """The mutations start from something sound."""
    assert read(FULL) is not None


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=mutated_suites())
def test_mutated_suite_is_a_suite_or_faults(read, text):
    """Cut, doubled and replaced pieces raise nothing else."""
    read(text)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=retyped_suites())
def test_any_value_under_any_key_is_a_suite_or_faults(read, text):
    """Every key stands any value."""
    read(text)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=200))
def test_random_text_is_faults(read, text):
    """No text is a suite by accident."""
    assert read(text) is None
