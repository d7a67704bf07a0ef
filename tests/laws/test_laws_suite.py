"""Law of the suite file: the plan that is loaded is the one that was written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_modelreg.domain.case import CaseSpec, CheckpointRef, OutputSpec, RuntimeSpec
from pytest_modelreg.domain.check import (
    CHECK_NAMES,
    KINDS,
    KINDS_OF_CHECK,
    CheckPlan,
    Limit,
    OutputChecks,
    fits_kind,
)
from pytest_modelreg.domain.sample import SampleSet
from pytest_modelreg.engine.suite_loading import load_suite
from pytest_modelreg.judge.checks import CHECKS

pytestmark = pytest.mark.filterwarnings("error")

LABELS = ("cat", "dog", "owl")
# Words that YAML 1.1 or a careless reader takes for something else than text.
TRAPS = st.sampled_from(
    ["off", "yes", "1e-5", "null", "~", "0x1f", "12:30", "01", "a b", "#x", "é", "- x", "a: b"]
)
NAMES = st.text("abcxyz._-", min_size=1, max_size=8).filter(lambda text: text.strip("."))
REFERENCES = st.sampled_from(["toymodel:build", "shop.models:Net.make", "a.b.c:d"])
NUMBERS = st.floats(0.0, 1e300) | st.integers(0, 2**53)
FRACTIONS = st.floats(0.0, 1.0) | st.sampled_from([0, 1])
TAGS = st.text("abc-", min_size=1, max_size=3)
OFF = st.sampled_from([False, "off"])


@st.composite
def _check(draw: st.DrawFn, name: str) -> tuple[Any, Limit | None]:
    """What a suite writes for a check, and the limit that it means, without source; None for off."""
    if draw(st.integers(0, 4)) == 0:
        return draw(OFF), None
    if name == "exact":
        return True, Limit(name=name, source="")
    if name == "elementwise":
        rtol, atol = draw(NUMBERS), draw(NUMBERS)
        return {"rtol": rtol, "atol": atol}, Limit(name=name, rtol=rtol, atol=atol, source="")
    is_least = CHECKS[name].direction == "min"
    is_share = name not in ("rel_l2", "max_abs", "mean_abs", "kl", "snr_db")
    numbers = FRACTIONS if is_share else NUMBERS
    value = draw(st.none() | numbers)
    tags = draw(st.dictionaries(TAGS, numbers, min_size=value is None, max_size=2))
    if value is not None and not tags and draw(st.booleans()):
        return value, Limit(name=name, value=value, source="")
    written = {} if value is None else {"min" if is_least else "max": value}
    return {**written, **({"tags": tags} if tags else {})}, Limit(
        name=name, value=value, tags=tags, source=""
    )


@st.composite
def _checks(draw: st.DrawFn, names: list[str]) -> dict[str, tuple[Any, Limit | None]]:
    chosen = draw(st.lists(st.sampled_from(names), max_size=4, unique=True))
    return {name: draw(_check(name)) for name in chosen}


def _gather(*scopes: tuple[str, Mapping[str, tuple[Any, Limit | None]]]) -> OutputChecks:
    """Merge scopes, wide to narrow, as the documentation says it: by name, the narrowest wins."""
    merged: dict[str, Limit | None] = {}
    for source, checks in scopes:
        for name, (_, limit) in checks.items():
            outer = merged.get(name)
            merged[name] = limit and Limit(**{**vars(limit), "source": f"{source}.{name}"})
            if limit and outer and limit.value is None and limit.tags:
                tags = {**outer.tags, **limit.tags}
                merged[name] = Limit(name=name, value=outer.value, tags=tags, source=f"{source}.{name}")
    return OutputChecks(
        limits=tuple(merged[name] for name in CHECK_NAMES if merged.get(name)),
        off=frozenset(name for name, limit in merged.items() if limit is None),
    )


@st.composite
def _suites(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A suite file's content, and the fields of the case spec and check plan that it means."""
    option = lambda strategy: draw(st.none() | strategy)  # noqa: E731 - draws, so cannot be a strategy
    data: dict[str, Any] = {
        "modelreg": 1,
        "suite": draw(NAMES.filter(lambda name: name[0] != "." != name[-1])),
    }
    data["samples"] = {
        "folder": "samples",
        "loader": draw(st.sampled_from(["image", "json", "shop.data:load"])),
    }
    reference: dict[str, Any] = {"model": draw(REFERENCES)}
    scalars = (
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.floats(allow_nan=False, allow_infinity=False)
        | TRAPS
    )
    arguments = st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TRAPS, inner, max_size=2),
        max_leaves=5,
    )
    if draw(st.booleans()):
        reference["model_args"] = draw(st.dictionaries(st.text("abc_", min_size=1), arguments, max_size=3))
    for key, strategy in (
        ("preprocess", REFERENCES),
        ("collate", REFERENCES),
        ("forward", REFERENCES),
        ("batch_size", st.integers(1, 10**6)),
        ("threads", st.integers(1, 64)),
    ):
        if (value := option(strategy)) is not None:
            reference[key] = value
    key = option(TRAPS)
    checkpoint = draw(st.sampled_from([None, "weights/v1.safetensors", "mapping"]))
    if checkpoint is not None:
        file = {"path": "weights/v1.safetensors", **({} if key is None else {"key": key})}
        reference["checkpoint"] = file if checkpoint == "mapping" else checkpoint
    if (runtime := draw(st.sampled_from([None, "eager", {"kind": "eager"}]))) is not None:
        reference["runtime"] = runtime
    data["reference"] = reference
    if (deterministic := option(st.booleans())) is not None:
        data["deterministic"] = deterministic
    if (golden := option(st.sampled_from(["golden", "accepted/here"]))) is not None:
        data["golden"] = golden
    outputs, specs, by_output = {}, {}, {}
    for path in draw(st.lists(NAMES | TRAPS, max_size=3, unique=True)):
        kind = draw(st.sampled_from(KINDS))
        fitting = [name for name in CHECK_NAMES if fits_kind(name, kind)]
        entry: dict[str, Any] = {
            "kind": kind,
            **({"per": draw(st.just("sample"))} if draw(st.booleans()) else {}),
        }
        if kind == "classification" and draw(st.booleans()):
            entry |= {"labels": "labels.txt", "top_k": draw(st.integers(1, len(LABELS)))}
        checks = draw(_checks(fitting))
        # One check that is written keeps the others from being all off.
        checks["max_abs"] = (0.5, Limit(name="max_abs", value=0.5, source=""))
        outputs[path] = {**entry, "checks": {name: written for name, (written, _) in checks.items()}}
        specs[path] = OutputSpec(
            kind=kind,
            per_is_declared="per" in entry,
            labels=LABELS if "labels" in entry else None,
            top_k=entry.get("top_k", 5),
        )
        by_output[path] = checks
    kinds = {spec.kind for spec in specs.values()}
    wide = draw(
        _checks(
            [
                name
                for name in CHECK_NAMES
                if name not in KINDS_OF_CHECK or any(fits_kind(name, kind) for kind in kinds)
            ]
        )
    )
    wide["mean_abs"] = (0.25, Limit(name="mean_abs", value=0.25, source=""))
    data |= {"outputs": outputs} if outputs else {}
    data["checks"] = {name: written for name, (written, _) in wide.items()}
    fit = {kind: {name: check for name, check in wide.items() if fits_kind(name, kind)} for kind in KINDS}
    plan = CheckPlan(
        by_output={
            path: _gather(
                ("checks", fit[specs[path].kind]),
                (f"outputs.{path}.checks", checks),
            )
            for path, checks in by_output.items()
        },
        default=_gather(("checks", fit["tensor"])),
    )
    return data, {"outputs": specs, "checks": plan, "key": key if checkpoint == "mapping" else None}


def _write_block(value: Any, indent: str) -> str:
    """Return a value as YAML in block style, text quoted."""
    if isinstance(value, dict) and value:
        return "".join(
            f"\n{indent}{json.dumps(key)}:{_write_block(item, indent + '  ')}" for key, item in value.items()
        )
    if isinstance(value, list) and value:
        return "".join(f"\n{indent}-{_write_block(item, indent + '  ')}" for item in value)
    return f" {_write_flow(value)}"


def _write_flow(value: Any) -> str:
    """Return a value as YAML in flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {_write_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_write_flow, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which every file that the suites name exists."""
    folder = tmp_path_factory.mktemp("suites")
    for name in ("samples", "weights"):
        (folder / name).mkdir()
    (folder / "weights" / "v1.safetensors").touch()
    (folder / "labels.txt").write_text("\n".join(LABELS) + "\n", encoding="utf-8")
    return folder


@given(drawn=_suites(), is_flow=st.booleans(), data=st.data())
@settings(max_examples=200, deadline=None)
def test_a_written_suite_is_the_plan_that_it_means(
    folder: Path, drawn: Any, is_flow: bool, data: st.DataObject
) -> None:
    """Law: every field of the case that a sound suite file plans is what the file says, in flow and in
    block style, its keys in any order.
    """
    written, meant = drawn
    written = {key: written[key] for key in data.draw(st.permutations(list(written)))}
    file = folder / "modelreg.yaml"
    file.write_text(_write_flow(written) if is_flow else _write_block(written, ""), encoding="utf-8")
    suite = load_suite(file, rootdir=folder)
    reference = written["reference"]
    (case,) = suite.cases
    assert suite.golden_root == folder / written.get("golden", "golden")
    assert case.checks == meant["checks"]
    assert case.template == CaseSpec(
        suite=written["suite"],
        root=str(folder),
        python_path=(str(folder),),
        samples=SampleSet(folder=str(folder / "samples"), samples=()),
        loader=written["samples"]["loader"],
        model=reference["model"],
        model_args=reference.get("model_args", {}),
        checkpoint=CheckpointRef(path=str(folder / "weights" / "v1.safetensors"), key=meant["key"])
        if "checkpoint" in reference
        else None,
        preprocess=reference.get("preprocess"),
        collate=reference.get("collate"),
        forward=reference.get("forward"),
        runtime=RuntimeSpec(kind="eager"),
        batch_size=reference.get("batch_size", 8),
        threads=reference.get("threads"),
        deterministic=written.get("deterministic", False),
        outputs=meant["outputs"],
    )
