"""From an application to what the score card reads."""

import numpy as np

COLUMNS = ("income", "age", "months_employed", "loans", "arrears", "amount")


def to_vector(row):
    """Return float64 (column,), in the order of COLUMNS; what was not answered is NaN."""
    return np.array([np.nan if row[name] is None else row[name] for name in COLUMNS], dtype=np.float64)
