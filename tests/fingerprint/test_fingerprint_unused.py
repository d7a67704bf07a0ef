"""What is installed but not used makes no difference."""

from __future__ import annotations

import json
import subprocess
import sys

PROBE = """
import json, sys
from pytest_modelreg.fingerprint import collect
before = collect()
import PIL
after = collect()
key = "pillow.version"
same = before.facts[key] == after.facts[key]
print(json.dumps([key in before.neutral, key in after.neutral, same, before.digest == after.digest]))
"""


def test_version_of_a_package_counts_once_it_is_loaded():
    """A package that no code of the run uses is on record, but neither in the digest nor a change."""
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [True, False, True, False]
