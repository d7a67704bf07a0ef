"""Prepared inputs that one process hands another: kept inputs, with an index that any process reads.

What belongs here: the index. The values are ``kept_inputs``'; a form that it can keep and no other
process can rebuild (a named tuple of the suite's own) is refused here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pytest_modelreg.domain.errors import EnvironmentUnavailable, PreprocessError
from pytest_modelreg.domain.observation import ObservedSample
from pytest_modelreg.observe.input_source import InputFacts, PreparedSample
from pytest_modelreg.observe.inputs import convert_sample
from pytest_modelreg.observe.kept_inputs import KeptInputs, KeptSample, LeafForm, ReplayedInputs
from pytest_modelreg.observe.tensor_kind import PLAIN_TENSOR, TensorKind, find_class

_SEQUENCES: dict[str, type[Any]] = {"tuple": tuple, "list": list}
_WORDS: dict[str, type[Any]] = {"str": str, "bytes": bytes, "NoneType": type(None)}


def write_handed_inputs(path: Path, kept: KeptInputs) -> None:
    """Write the index of kept inputs; their file stays where it is.

    Raises
    ------
    PreprocessError
        A sample's inputs hold something that no other process can rebuild.
    """
    samples = [
        {
            "id": sample.observed.id,
            "sha256": sample.observed.sha256,
            "input_digest": sample.observed.input_digest,
            "offset": sample.offset,
            "form": encode_form(sample.form, sample.observed.id),
        }
        for sample in kept.samples
    ]
    path.write_text(json.dumps({"file": str(kept.file), "samples": samples}), encoding="utf-8")


def read_handed_inputs(path: Path) -> KeptInputs:
    """Return the inputs that :func:`write_handed_inputs` wrote; their facts stay with who prepared them.

    Raises
    ------
    EnvironmentUnavailable
        When the index cannot be read, or names a class of tensors that is not here.
    """
    try:
        fields = json.loads(path.read_bytes())
        samples = [
            KeptSample(
                observed=ObservedSample(
                    id=sample["id"], sha256=sample["sha256"], input_digest=sample["input_digest"]
                ),
                form=decode_form(sample["form"]),
                offset=sample["offset"],
            )
            for sample in fields["samples"]
        ]
        return KeptInputs(file=Path(fields["file"]), samples=samples, facts=InputFacts())
    except ImportError as error:
        raise EnvironmentUnavailable(
            f"prepared inputs are of a class that this environment has not: {error}; add its package to the "
            "environment's `requirements`, or leave out `preprocess: here`"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EnvironmentUnavailable(f"{path}: expected the index of prepared inputs: {error!r}") from error


class HandedInputs(ReplayedInputs):
    """Gives inputs that another process prepared; see :class:`~.input_source.InputSource`.

    Parameters
    ----------
    to_tensors : bool
        Whether the model is a module, which whoever prepared them may not have known.
    """

    def __init__(self, kept: KeptInputs, *, to_tensors: bool) -> None:
        super().__init__(kept)
        self._to_tensors = to_tensors

    def read(self, start: int, stop: int) -> list[PreparedSample]:
        """Read samples into memory of their own, in the form in which they are collated."""
        return [
            PreparedSample(
                observed=sample.observed,
                value=convert_sample(sample.value, to_tensors=self._to_tensors),
            )
            for sample in super().read(start, stop)
        ]


def encode_form(form: Any, sample: str) -> Any:
    """Return the form of a kept sample as JSON values.

    Raises
    ------
    PreprocessError
        It holds something that no other process can rebuild.
    """
    if isinstance(form, Mapping):
        return {"map": [[key, encode_form(part, sample)] for key, part in form.items()]}
    if isinstance(form, LeafForm):
        dtype = form.dtype
        if form.kind == "array":
            dtype = dtype.str
        elif form.kind == "word":
            dtype = dtype.__name__
        else:
            dtype = str(dtype).rpartition(".")[2]
        return {
            "leaf": form.kind,
            "dtype": dtype,
            "shape": form.shape,
            "axes": form.axes,
            "n_bytes": form.n_bytes,
            "class": _encode_kind(form.tensor_kind, sample),
        }
    kind, parts = form
    if kind not in _SEQUENCES.values():
        raise PreprocessError(
            f"sample {sample!r}: preprocess: expected tuples, lists and dicts, which another process can be "
            f"handed, got {kind.__name__}; return a plain tuple, or leave out `preprocess: here`"
        )
    return {kind.__name__: [encode_form(part, sample) for part in parts]}


def _encode_kind(kind: TensorKind, sample: str) -> str:
    if kind.attributes:
        raise PreprocessError(
            f"sample {sample!r}: preprocess: expected tensors without attributes of their own, which another "
            f"process can be handed, got {kind.name.replace(':', '.')} with {', '.join(kind.attributes)}; "
            "return a plain tensor, or leave out `preprocess: here`"
        )
    return kind.name


def decode_form(form: Mapping[str, Any]) -> Any:
    """Return the form that :func:`encode_form` wrote; where there is no torch, tensors are arrays.

    Raises
    ------
    ImportError
        A tensor is of a class that is not here.
    """
    if "map" in form:
        return {key: decode_form(part) for key, part in form["map"]}
    if "leaf" in form:
        kind, dtype = _read_dtype(form["leaf"], form["dtype"])
        return LeafForm(
            kind=kind,
            dtype=dtype,
            shape=tuple(form["shape"]),
            axes=tuple(form["axes"]),
            n_bytes=form["n_bytes"],
            tensor_kind=_read_kind(kind, form["class"]),
        )
    ((name, parts),) = form.items()
    items: Sequence[Any] = [decode_form(part) for part in parts]
    return _SEQUENCES[name], items


def _read_kind(leaf: str, name: str) -> TensorKind:
    """Return of which class a tensor is; where there is no torch, all are arrays."""
    if not name or leaf == "array":
        return PLAIN_TENSOR
    find_class(name)  # once for all samples, and told before the model is built
    return TensorKind(name=name)


def _read_dtype(kind: str, name: str) -> tuple[str, Any]:
    """Return kind and dtype of a leaf; a tensor is an array where there is no torch, as for an ONNX file."""
    if kind == "array":
        return kind, np.dtype(name)
    if kind == "word":
        return kind, _WORDS[name]
    try:
        import torch
    except ModuleNotFoundError:
        return "array", np.dtype(name)  # TypeError for what numpy lacks, such as bfloat16
    return kind, getattr(torch, name)
