"""Goldens and observations as JSON and back, and what damaged ones say."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.environment import Fingerprint
from pytest_modelreg.domain.errors import GoldenError, GoldenFormatError
from pytest_modelreg.domain.golden import Acceptance, Calibration, Golden, OutputProfile
from pytest_modelreg.domain.observation import InputProbes, Observation, ObservedSample, OutputRecord
from pytest_modelreg.store.codec import decode_golden, decode_observation, encode_golden, encode_observation
from pytest_modelreg.store.json_text import render_json
from pytest_modelreg.store.own_digest import BLANK, OWN_DIGEST_KEY, write_own_digest

PATH = Path("golden/photos/reference/golden.json")
TEXT = st.text(max_size=8)
NAMES = TEXT.filter(lambda name: not name.endswith("_reason"))
SHA = st.text("0123456789abcdef", min_size=64, max_size=64)
FILES = st.builds(ArrayFile, file=TEXT, sha256=SHA)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
RECORDS = st.builds(
    OutputRecord,
    per=st.sampled_from(["sample", "batch"]),
    dtype=TEXT,
    shape=st.lists(st.integers(-1, 2**40), max_size=4).map(tuple),
    values=FILES,
    counts=st.none() | FILES,
)


def _with_fitting_rows(observation: Observation) -> Observation:
    n_samples = len(observation.samples)
    n_rows = {"sample": n_samples, "batch": -(-n_samples // observation.batch_size)}
    outputs = {
        path: replace(record, shape=(n_rows[record.per], *record.shape[1:]))
        for path, record in observation.outputs.items()
    }
    probes = observation.input_probes
    if probes is not None and len(probes.forms) > 1:
        forms = tuple(probes.forms[row % len(probes.forms)] for row in range(max(n_samples, 1)))
        probes = replace(probes, forms=forms)
    return replace(observation, outputs=outputs, input_probes=probes)


def _with_every_profile(golden: Golden) -> Golden:
    absent = OutputProfile(rms_row_norm=math.inf, n_nan=1, n_inf=2)
    return replace(golden, profiles={**dict.fromkeys(golden.observation.outputs, absent), **golden.profiles})


OBSERVATIONS = st.builds(
    Observation,
    suite=TEXT,
    variant=TEXT,
    axes=st.dictionaries(NAMES, SCALARS | st.dictionaries(NAMES, SCALARS), max_size=3),
    batch_size=st.integers(1, 4),
    samples=st.lists(
        st.builds(ObservedSample, id=TEXT, sha256=TEXT, input_digest=st.none() | TEXT),
        max_size=3,
        unique_by=lambda sample: sample.id,
    ).map(tuple),
    outputs=st.dictionaries(TEXT, RECORDS, max_size=3),
    weights_digest=st.none() | TEXT,
    training_modules=st.lists(TEXT, max_size=3).map(tuple),
    eval_applied=st.booleans(),
    fingerprint=st.builds(
        Fingerprint,
        facts=st.dictionaries(NAMES, SCALARS, max_size=3),
        reasons=st.dictionaries(TEXT, TEXT, max_size=2),
        neutral=st.lists(TEXT, max_size=2).map(tuple),
    ),
    warnings=st.lists(TEXT, max_size=2).map(tuple),
    input_probes=st.none()
    | st.builds(
        InputProbes,
        file=FILES,
        n_columns=st.integers(3, 2**40),
        forms=st.lists(TEXT, min_size=1, max_size=3).map(tuple),
    ),
    duration_s=st.floats(0, 1e6),
).map(_with_fitting_rows)
FLOATS = st.floats(allow_nan=False)
GOLDENS = st.builds(
    Golden,
    observation=OBSERVATIONS,
    accepted=st.builds(
        Acceptance,
        date=TEXT,
        reason=TEXT,
        git_commit=st.none() | TEXT,
        git_dirty=st.none() | st.booleans(),
        ci=st.none() | TEXT,
        supersedes=st.none() | TEXT,
    ),
    profiles=st.dictionaries(
        TEXT,
        st.builds(OutputProfile, rms_row_norm=FLOATS, n_nan=st.integers(), n_inf=st.integers()),
        max_size=2,
    ),
    noise_floor=st.dictionaries(NAMES, FLOATS, max_size=2),
    calibration=st.none()
    | st.builds(
        Calibration,
        date=TEXT,
        perturbations=st.lists(TEXT, max_size=2).map(tuple),
        n_samples=st.integers(),
        environment=TEXT,
        ci=st.none() | TEXT,
    ),
    variant_inputs=st.dictionaries(NAMES, SHA, max_size=2),
    summary=st.none() | FILES,
).map(_with_every_profile)


@given(golden=GOLDENS)
def test_golden_round_trip(golden: Golden) -> None:
    """Every field comes back equal, outputs in the order of the model, the duration not."""
    decoded = decode_golden(encode_golden(golden), PATH)
    assert decoded == golden
    # Left out where observations are compared, because they follow from the inputs.
    assert decoded.observation.input_probes == golden.observation.input_probes
    assert list(decoded.observation.outputs) == list(golden.observation.outputs)
    assert decoded.observation.duration_s == 0.0


@given(observation=OBSERVATIONS)
def test_observation_round_trip(observation: Observation) -> None:
    """An observation crosses a process with its duration."""
    decoded = decode_observation(encode_observation(observation), PATH)
    assert decoded == observation
    assert decoded.input_probes == observation.input_probes
    assert decoded.duration_s == observation.duration_s


@pytest.fixture
def golden(make_golden: Callable[..., Golden], tmp_path: Path) -> Golden:
    """A golden with a regular and a ragged output."""
    return make_golden(tmp_path)


def _fields(golden: Golden) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(encode_golden(golden))
    return fields


def _decode(fields: dict[str, Any]) -> Golden:
    """Read fields as this release would have written them, own digest included."""
    data = render_json({**fields, OWN_DIGEST_KEY: BLANK} if OWN_DIGEST_KEY in fields else fields)
    return decode_golden(write_own_digest(data), PATH)


def test_time_leaves_no_trace(golden: Golden) -> None:
    """A golden does not differ because the run took longer."""
    slow = replace(golden, observation=replace(golden.observation, duration_s=99.0))
    assert encode_golden(slow) == encode_golden(golden)


def test_infinite_norm_is_kept(golden: Golden) -> None:
    """A golden of infinities has an infinite norm, and strict JSON still."""
    profile = OutputProfile(rms_row_norm=math.inf, n_nan=0, n_inf=3)
    data = encode_golden(replace(golden, profiles={**golden.profiles, "logits": profile}))
    assert json.loads(data)["profiles"]["logits"]["rms_row_norm"] is None
    assert decode_golden(data, PATH).profiles["logits"] == profile


def test_samples_take_one_line_each(golden: Golden) -> None:
    """A changed sample is one changed line in a pull request."""
    lines = encode_golden(golden).decode().splitlines()
    assert sum('"input_digest"' in line for line in lines) == len(golden.observation.samples)


def test_fingerprint_has_its_digest(golden: Golden) -> None:
    """The digest over what can move a number is there for people and tools."""
    fields = _fields(golden)["fingerprint"]
    assert fields.keys() == {"facts", "reasons", "neutral", "digest"}
    assert fields["digest"] == golden.observation.fingerprint.digest


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("suite", 3, "suite: expected text, got 3"),
        ("batch_size", True, "batch_size: expected an integer, got True"),
        ("batch_size", "8", "batch_size: expected an integer, got '8'"),
        ("eval_applied", 1, "eval_applied: expected true or false, got 1"),
        ("samples", {}, "samples: expected a list, got {}"),
        ("samples", ["cat"], "samples[0]: expected an object, got 'cat'"),
        ("samples", [{"id": "cat", "input_digest": "0"}], "samples[0].sha256: expected text, got nothing"),
        (
            "samples",
            [{"id": "cat", "sha256": "0", "input_digest": 3}],
            "samples[0].input_digest: expected text, got 3",
        ),
        ("outputs", {"logits": 1}, "outputs.logits: expected an object, got 1"),
        ("warnings", ["a", 1], "warnings[1]: expected text, got 1"),
        (
            "profiles",
            {"logits": {"rms_row_norm": None}},
            "profiles.logits.rms_row_norm: expected a number, got None",
        ),
        ("profiles", None, "profiles: expected an object, got None"),
        (
            "fingerprint",
            {"facts": {"a": []}, "reasons": {}, "neutral": []},
            "fingerprint.facts.a: expected a scalar, got []",
        ),
        ("noise_floor", {"logits": "x"}, "noise_floor.logits: expected a number, got 'x'"),
        ("accepted", {"date": "d", "reason": None}, "accepted.reason: expected text, got None"),
        ("input_probes", [], "input_probes: expected an object, got []"),
        (
            "input_probes",
            {"file": "trace.inputs.0.npy", "sha256": "xyz", "n_columns": 10, "forms": ["float32 3"]},
            "input_probes.sha256: expected 64 hex digits, got 'xyz'",
        ),
        (
            "input_probes",
            {"file": "trace.inputs.0.npy", "sha256": "0" * 64, "n_columns": True, "forms": ["float32 3"]},
            "input_probes.n_columns: expected an integer, got True",
        ),
        (
            "input_probes",
            {"file": "trace.inputs.0.npy", "sha256": "0" * 64, "n_columns": 10, "forms": [3]},
            "input_probes.forms[0]: expected text, got 3",
        ),
        (
            "input_probes",
            {"file": "trace.inputs.0.npy", "sha256": "0" * 64, "n_columns": 2, "forms": ["float32 3"]},
            "input_probes.n_columns: expected at least 3, got 2",
        ),
        (
            "variant_inputs",
            {"grey": "xyz"},
            "variant_inputs.grey: expected 64 hex digits, got 'xyz'",
        ),
    ],
)
def test_damaged_field_is_named(golden: Golden, key: str, value: Any, message: str) -> None:
    """A hand-edited golden says which key it is about, in one line with the file."""
    with pytest.raises(GoldenError) as caught:
        _decode({**_fields(golden), key: value})
    assert str(caught.value).startswith(f"{PATH}: {message}; restore it")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("sha256", "xyz", "outputs.logits.sha256: expected 64 hex digits"),
        ("shape", [2, -2], "outputs.logits.shape[1]: expected a length"),
        ("shape", [2, True], "outputs.logits.shape[1]: expected a length"),
        ("per", "pixel", "outputs.logits.per: expected sample or batch"),
        ("position", "x", "outputs.logits.position: expected an integer"),
        ("counts", {"file": 1}, "outputs.logits.counts.file: expected text"),
    ],
)
def test_damaged_output_is_named(golden: Golden, key: str, value: Any, message: str) -> None:
    """Records of outputs are held to their form before any file is opened."""
    fields = _fields(golden)
    fields["outputs"]["logits"][key] = value
    with pytest.raises(GoldenError, match=r"^golden/photos") as caught:
        _decode(fields)
    assert message in str(caught.value)


@given(data=st.data())
def test_any_missing_key_is_a_golden_error(data: st.DataObject) -> None:
    """No key is read without being looked for."""
    fields = json.loads(encode_golden(data.draw(GOLDENS)))
    key = data.draw(st.sampled_from(sorted(fields)))
    del fields[key]
    if key in {"noise_floor", "calibration", "summary", "weights_digest", "input_probes", "variant_inputs"}:
        _decode(fields)
    else:
        with pytest.raises(GoldenError, match=f"bytes changed: .*{key}" if key == OWN_DIGEST_KEY else key):
            _decode(fields)


def test_unknown_keys_are_tolerated(golden: Golden) -> None:
    """A later release of the same format version may add keys."""
    fields = _fields(golden)
    fields["trace"] = {"file": "trace.x.npy"}
    fields["outputs"]["logits"]["unit"] = "logit"
    assert _decode(fields) == golden


def test_newer_format_says_to_upgrade(golden: Golden) -> None:
    """A golden of a later release names both versions and the way out."""
    with pytest.raises(
        GoldenFormatError, match=r"expected format 2 at most.*got 3; upgrade pytest-modelreg$"
    ):
        _decode({**_fields(golden), "modelreg_golden": 3})


def test_damaged_format_version_offers_both_ways_out(golden: Golden) -> None:
    """A flipped bit can make a version newer: then upgrading is not the only thing to try."""
    data = encode_golden(golden).replace(b'"modelreg_golden": 2', b'"modelreg_golden": 3')
    with pytest.raises(GoldenFormatError, match=r"upgrade pytest-modelreg; where no newer release.*restore"):
        decode_golden(data, PATH)


def test_earlier_format_needs_no_digest(golden: Golden) -> None:
    """What an earlier release wrote is read as it is; with the digest it has to fit."""
    fields = {**_fields(golden), "modelreg_golden": 1}
    assert _decode({key: value for key, value in fields.items() if key != OWN_DIGEST_KEY}) == golden
    with pytest.raises(GoldenError, match="bytes changed"):
        decode_golden(render_json(fields), PATH)


@pytest.mark.parametrize("version", [None, 0, "1", 1.5, True])
def test_foreign_json_is_not_ours(golden: Golden, version: Any) -> None:
    """JSON without a format version was written by something else."""
    with pytest.raises(GoldenError, match=r"expected a format version.*not written by pytest-modelreg"):
        _decode({**_fields(golden), "modelreg_golden": version})


def test_observation_is_no_golden(golden: Golden) -> None:
    """The two kinds of file are not taken for each other."""
    with pytest.raises(GoldenError, match="modelreg_golden: expected a format version"):
        decode_golden(encode_observation(golden.observation), PATH)
