"""Collecting outputs: rows of every batch into files, one output path at a time.

What belongs here: that all batches have the same outputs, and that a case which fails
leaves no unfinished file behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.domain.observation import OutputRecord
from pytest_modelreg.observe.outputs import Leaf
from pytest_modelreg.store import OutputWriter


class OutputCollector:
    """Writes the flattened outputs of a case, batch by batch.

    Parameters
    ----------
    folder : Path
        Existing folder of the observation.
    n_samples, n_batches : int
        Rows that outputs per sample and per batch will have.
    """

    def __init__(self, folder: Path, *, n_samples: int, n_batches: int) -> None:
        self._folder = folder
        self._n_rows = {"sample": n_samples, "batch": n_batches}
        self._writers: dict[str, OutputWriter] = {}
        self._stack = ExitStack()

    def __enter__(self) -> OutputCollector:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def write(self, leaves: Mapping[str, Leaf]) -> None:
        """Append one batch.

        Raises
        ------
        OutputError
            The outputs are not those of the first batch, or cannot be written.
        """
        if not self._writers:
            for path, leaf in leaves.items():
                writer = OutputWriter(self._folder, path, per=leaf.per, n_rows=self._n_rows[leaf.per])
                self._writers[path] = self._stack.enter_context(writer)
        if leaves.keys() != self._writers.keys():
            raise OutputError(
                f"expected the outputs of the first batch ({', '.join(self._writers)}), "
                f"got {', '.join(leaves)}; return the same structure for every batch, or declare outputs "
                f"that come and go {{per: ignore}}"
            )
        for path, leaf in leaves.items():
            if isinstance(leaf.rows, tuple):
                self._writers[path].append_ragged(leaf.rows, dtype=leaf.dtype)
            else:
                self._writers[path].append(leaf.rows, dtype=leaf.dtype)

    def close(self) -> dict[str, OutputRecord]:
        """Finish all files and return their records, in the order of the first batch."""
        return {path: writer.close() for path, writer in self._writers.items()}
