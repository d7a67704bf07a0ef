"""Traces on disk, for another process."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_modelreg.domain.array_file import ArrayFile
from pytest_modelreg.domain.errors import GoldenError, RunFolderError
from pytest_modelreg.domain.project_code import ProjectReads, SourceFile, VariableFact
from pytest_modelreg.domain.trace import (
    Activations,
    Behaviour,
    InputPoints,
    LeafPoints,
    ModuleFacts,
    Trace,
)
from pytest_modelreg.store.json_object import JsonObject
from pytest_modelreg.store.trace_codec import read_trace_fields, trace_fields
from pytest_modelreg.store.trace_record import read_trace_record, write_trace_record

TRACE = Trace(
    points=InputPoints(
        file=ArrayFile(file="trace.points.npy", sha256="3" * 64),
        n_numbers=278,
        samples=("a", "b"),
        forms=(
            (LeafPoints(path="", dtype="float32", shape=(3, 9, 9), axis=0, n_places=81),),
            (LeafPoints(path="x", dtype="int64", shape=(), axis=None, n_places=1),),
        ),
        form_of=(0, 1),
    ),
    modules=(ModuleFacts(name="(model)", settings="Net()", is_training=True),),
    activations=Activations(
        file=ArrayFile(file="trace.activations.npy", sha256="1" * 64),
        n_columns=34,
        samples=("a",),
        calls=("(model)",),
    ),
    behaviour=Behaviour(
        rerun_rel_l2=0.5,
        alone_rel_l2=float("inf"),
        draws=("(model): rand",),
        initial=("a",),
        strays=("b",),
        n_loads=1,
    ),
    sources=(SourceFile(file="net.py", sha256="2" * 64, sides=("model", "preprocess")),),
    reads=ProjectReads(
        data_files=(SourceFile(file="pre.json", sha256="4" * 64, sides=("preprocess",)),),
        variables=(VariableFact(name="SCALE", state="abc", files=("net.py",), sides=("model",)),),
    ),
    element_types={"float16": 3},
    model_fault="told",
)


def test_round_trip(tmp_path: Path) -> None:
    """What was traced is read back; no temporary file is left."""
    assert write_trace_record(tmp_path, TRACE).name == "trace.json"
    assert read_trace_record(tmp_path) == TRACE
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]


def test_a_trace_of_nothing_is_read_back(tmp_path: Path) -> None:
    """A model of which nothing could be had."""
    write_trace_record(tmp_path, Trace())
    assert read_trace_record(tmp_path) == Trace()


def test_a_trace_from_before_code_had_sides_is_read() -> None:
    """As goldens that were recorded then have it: digests alone, and weights without their beginnings."""
    assert TRACE.behaviour is not None
    fields = trace_fields(replace(TRACE, behaviour=replace(TRACE.behaviour, alone_rel_l2=0.0)))
    assert fields is not None
    for key in ("source_sides", "reads", "element_types"):
        del fields[key]
    for key in ("initial", "strays", "n_loads"):
        del fields["behaviour"][key]
    found = read_trace_fields(JsonObject(json.loads(json.dumps(fields, default=list)), Path("golden.json")))
    assert found.sources == (SourceFile(file="net.py", sha256="2" * 64),)
    assert found.reads is None
    assert found.behaviour is not None
    assert (found.behaviour.initial, found.behaviour.strays, found.behaviour.n_loads) == (None, (), 0)


def test_points_are_files_of_the_trace() -> None:
    """A golden copies and verifies them with the others."""
    assert "trace.points.npy" in {file.file for file in TRACE.files}


def test_damage_is_told(tmp_path: Path) -> None:
    """A file that is not as it was written is taken for nothing else."""
    path = write_trace_record(tmp_path, TRACE)
    path.write_bytes(path.read_bytes().replace(b"Net()", b"Not()"))
    with pytest.raises(GoldenError, match=r"trace\.json"):
        read_trace_record(tmp_path)


def test_a_missing_record_says_what_to_do(tmp_path: Path) -> None:
    """The process ended before it could write it."""
    with pytest.raises(GoldenError, match="run the case again"):
        read_trace_record(tmp_path)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """With the way out."""
    with pytest.raises(RunFolderError, match="cannot be written"):
        write_trace_record(tmp_path / "absent", TRACE)
