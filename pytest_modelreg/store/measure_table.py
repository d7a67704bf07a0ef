"""``measures.csv``: the numbers of every compared sample of one case, for people and scripts.

What belongs here: how the measures that judging hands over become the bytes of a table, and come back.
To add a column, add it to the header and to the rows; scripts read columns by name.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from pytest_modelreg.domain.errors import GoldenError, RunFolderError
from pytest_modelreg.domain.result import SampleMeasures
from pytest_modelreg.store.csv_text import neutralise_formula, render_csv, restore_cell
from pytest_modelreg.store.durable_file import replace_atomically
from pytest_modelreg.store.naming import shown

MEASURES_FILE = "measures.csv"


def write_measures(folder: Path, measures: SampleMeasures) -> None:
    """Write a case's measures into its folder of a run.

    Parameters
    ----------
    folder : pathlib.Path
        The case's folder; created when absent.
    measures : SampleMeasures
        A row a sample; without samples the table is its header.

    Raises
    ------
    RunFolderError
        When the file cannot be written; the message names it.

    Notes
    -----
    Columns: ``id``, ``failed`` (``true`` or ``false``), then the relative L2 difference,
    dimensionless, of every output by its path. Numbers are Python's shortest exact text
    of a float64, so that reading gives the same number; ``inf`` and ``nan`` as such.
    """
    paths = list(measures.rel_l2)
    columns = [[repr(float(value)) for value in measures.rel_l2[path]] for path in paths]
    failed = ["true" if each else "false" for each in measures.failed]
    rows = [["id", "failed", *paths], *zip(measures.ids, failed, *columns, strict=True)]
    text = render_csv([neutralise_formula(cell) for cell in row] for row in rows)
    path = folder / MEASURES_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_atomically(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise RunFolderError(
            f"{shown(path)}: the measures cannot be written: {error.strerror or error};"
            " free space or give write access, then run again"
        ) from error


def read_measures(folder: Path) -> SampleMeasures:
    """Read a case's measures from its folder of a run; none where the run wrote none.

    Raises
    ------
    GoldenError
        When the table is not as :func:`write_measures` writes it; the message names it.
    """
    path = folder / MEASURES_FILE
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return SampleMeasures()
    except OSError as error:
        raise GoldenError(f"{shown(path)}: cannot be read: {error.strerror or error}") from error
    try:
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        if header[:2] != ["id", "failed"]:
            raise ValueError(header)
        paths = [restore_cell(cell) for cell in header[2:]]
        columns = {path: tuple(float(row[at]) for row in rows) for at, path in enumerate(paths, start=2)}
        return SampleMeasures(
            ids=tuple(restore_cell(row[0]) for row in rows),
            failed=tuple(row[1] == "true" for row in rows),
            rel_l2=columns,
        )
    except (ValueError, IndexError, csv.Error) as error:
        raise GoldenError(
            f"{shown(path)}: expected a table of id, failed and a column an output, got another; "
            "get the run again"
        ) from error
