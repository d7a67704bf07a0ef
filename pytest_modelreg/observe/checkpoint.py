"""Checkpoints: from a file to a flat mapping of names to tensors.

What belongs here: reading ``.safetensors``, ``.pt`` and ``.pth`` without running code
from them, and finding the state dict in a training checkpoint. To read one more format,
add its suffix and reader to :data:`_READERS`.
"""

from __future__ import annotations

import pickle
import re
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pytest_modelreg.domain.case import CheckpointRef
from pytest_modelreg.domain.errors import CheckpointError
from pytest_modelreg.observe.checkpoint_key import select_state_dict
from pytest_modelreg.store.substitute import LFS_POINTER

# What torch's readers raise on bytes that are no checkpoint.
_READ_ERRORS = (
    RuntimeError,
    ValueError,
    EOFError,
    KeyError,
    IndexError,
    AttributeError,
    TypeError,
    AssertionError,
    ImportError,
    OverflowError,
    MemoryError,
    OSError,
    pickle.UnpicklingError,
    struct.error,
    zipfile.BadZipFile,
)
_FOUND = re.compile(r"WeightsUnpickler error:\s*([^\n]+)")
_FETCH_AGAIN = "copy it again from where it was made, or save model.state_dict() there once more"
_CODE = re.compile(r"Unsupported (?:global|class)\W+(?:GLOBAL )?([\w.]+)", re.IGNORECASE)


def read_checkpoint(checkpoint: CheckpointRef) -> Mapping[str, Any]:
    """Read a state dict to the CPU.

    Returns
    -------
    mapping of str to torch.Tensor
        As stored; prefixes are still on the names.

    Raises
    ------
    CheckpointError
        The file does not exist, is of another kind, cut short, or would run code when
        loaded; or it holds no state dict at ``key``. The message names the file.
    """
    path = Path(checkpoint.path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        got = repr(path.suffix) if path.suffix else "none"
        raise CheckpointError(
            f"checkpoint {path}: expected suffix {', '.join(CHECKPOINT_SUFFIXES)}, got {got}; "
            f"save model.state_dict() in one of these formats and name that file"
        )
    try:
        with path.open("rb") as file:
            head = file.read(len(LFS_POINTER))
    except OSError as error:
        raise CheckpointError(
            f"checkpoint {path}: cannot be opened: {error.strerror or error}; "
            f"put the file there, or mend the path in the suite file"
        ) from error
    if head == LFS_POINTER:
        raise CheckpointError(f"checkpoint {path}: is a Git LFS pointer, not the file; run: git lfs pull")
    if not head:
        raise CheckpointError(f"checkpoint {path}: expected weights, got an empty file; {_FETCH_AGAIN}")
    return select_state_dict(reader(path), checkpoint)


def _read_safetensors(path: Path) -> Any:
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
    except ModuleNotFoundError as error:
        raise CheckpointError(
            f"checkpoint {path}: needs safetensors, which is not installed: "
            f"pip install 'pytest-modelreg[torch]'"
        ) from error
    try:
        return load_file(path, device="cpu")
    except (SafetensorError, *_READ_ERRORS) as error:
        raise CheckpointError(
            f"checkpoint {path}: is no whole safetensors file: {error}; {_FETCH_AGAIN}"
        ) from error


def _read_torch(path: Path) -> Any:
    import torch

    _refuse_other_archives(path)
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except _READ_ERRORS as error:
        code = _CODE.search(str(error))
        if code is not None:
            raise CheckpointError(
                f"checkpoint {path}: was refused without running it: it is a pickle that would run code "
                f"({code.group(1)}), not weights alone; save model.state_dict() with torch.save, or a "
                f".safetensors file, where the checkpoint is made"
            ) from error
        raise CheckpointError(
            f"checkpoint {path}: is no whole torch checkpoint (another kind of file, or cut short): "
            f"{_describe_reader(error)}; {_FETCH_AGAIN}"
        ) from error


def _describe_reader(error: BaseException) -> str:
    """Return what torch found, without its advice to load again and run whatever is inside."""
    found = _FOUND.search(str(error))
    if found is not None:
        return f"{found.group(1):.300}"
    if "weights_only" in str(error):
        return "it is not weights alone"
    return f"{type(error).__name__}: {' '.join(str(error).split()):.300}"


def _refuse_other_archives(path: Path) -> None:
    """Refuse zip files that torch did not write, and TorchScript, which holds code."""
    with path.open("rb") as file:
        begins_as_zip = file.read(4) == b"PK\x03\x04"
    if not begins_as_zip:
        return
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.rpartition("/")[2] for name in archive.namelist()]
    except zipfile.BadZipFile as error:
        raise CheckpointError(
            f"checkpoint {path}: is cut short or damaged: {error}; {_FETCH_AGAIN}"
        ) from error
    if "constants.pkl" in names:
        raise CheckpointError(
            f"checkpoint {path}: is a TorchScript archive, not weights; save model.state_dict() instead"
        )
    if "data.pkl" not in names:
        raise CheckpointError(
            f"checkpoint {path}: expected what torch.save writes, got a zip file that it did not write; "
            f"save model.state_dict() with torch.save and name that file"
        )


_READERS: dict[str, Callable[[Path], Any]] = {
    ".safetensors": _read_safetensors,
    ".pt": _read_torch,
    ".pth": _read_torch,
}

CHECKPOINT_SUFFIXES = tuple(_READERS)
"""Ends of the names of files that hold weights."""
