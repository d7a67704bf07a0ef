"""Files: arrays of outputs, goldens, observations, sample sets and run folders.

What belongs here: everything that is read from or written to disk, with its format
and its safety. To add a kind of file, add a module that owns its format; writing into
a golden folder goes through ``golden_writer`` alone. Nothing here knows a framework or
has an opinion about a number.
"""

from __future__ import annotations

from pytest_modelreg.store.arrays import OutputWriter, StoredOutput, open_output
from pytest_modelreg.store.codec import decode_golden, decode_observation
from pytest_modelreg.store.durable_file import replace_atomically
from pytest_modelreg.store.element_type import decode as decode_numbers
from pytest_modelreg.store.file_digest import file_digest
from pytest_modelreg.store.golden_removal import remove_golden
from pytest_modelreg.store.golden_root import list_golden_folders, survey_goldens, walk_goldens
from pytest_modelreg.store.golden_size import describe_excess, measure_goldens, suite_folder
from pytest_modelreg.store.golden_store import (
    find_attributes_fault,
    golden_folder,
    golden_sha256,
    read_golden,
    verify_files,
)
from pytest_modelreg.store.golden_writer import restore_attributes, write_golden, write_noise_floor
from pytest_modelreg.store.json_text import parse_json
from pytest_modelreg.store.lock import locked
from pytest_modelreg.store.measure_table import read_measures, write_measures
from pytest_modelreg.store.naming import safe_component
from pytest_modelreg.store.observation_store import read_observation, verify_arrays, write_observation
from pytest_modelreg.store.rows.pin_file import pin_path
from pytest_modelreg.store.rows.pinning import pin_rows
from pytest_modelreg.store.rows.row_set import read_row
from pytest_modelreg.store.rows.table import OPENERS, is_row_file
from pytest_modelreg.store.run_folder import RunFolder
from pytest_modelreg.store.sample_set import (
    PinReport,
    count_sample_set,
    count_samples,
    pin,
    read_sample_set,
    read_samples,
)
from pytest_modelreg.store.summary_table import summary_file
from pytest_modelreg.store.trace_file import find_trace_bytes, read_trace, write_trace, write_trace_bytes

__all__ = [
    "OPENERS",
    "OutputWriter",
    "PinReport",
    "RunFolder",
    "StoredOutput",
    "count_sample_set",
    "count_samples",
    "decode_golden",
    "decode_numbers",
    "decode_observation",
    "describe_excess",
    "file_digest",
    "find_trace_bytes",
    "find_attributes_fault",
    "golden_folder",
    "golden_sha256",
    "is_row_file",
    "list_golden_folders",
    "locked",
    "measure_goldens",
    "open_output",
    "parse_json",
    "pin",
    "pin_path",
    "pin_rows",
    "read_golden",
    "read_measures",
    "read_observation",
    "read_row",
    "read_sample_set",
    "read_samples",
    "read_trace",
    "remove_golden",
    "replace_atomically",
    "restore_attributes",
    "safe_component",
    "suite_folder",
    "summary_file",
    "survey_goldens",
    "verify_arrays",
    "verify_files",
    "walk_goldens",
    "write_golden",
    "write_measures",
    "write_noise_floor",
    "write_observation",
    "write_trace",
    "write_trace_bytes",
]
