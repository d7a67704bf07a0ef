"""``measures.csv``: the numbers of every compared sample of one case, for people and scripts.

What belongs here: how the measures that judging hands over become the bytes of a table.
To add a column, add it to the header and to the rows; scripts read columns by name.
"""

from __future__ import annotations

from pathlib import Path

from pytest_modelreg.domain.errors import RunFolderError
from pytest_modelreg.domain.result import SampleMeasures
from pytest_modelreg.store.csv_text import neutralise_formula, render_csv
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
