"""The same files in another environment: variables, kernels, threads, packages, hash seeds."""

from __future__ import annotations

from benchmarks.attribution.edits import Append, Edit, Replace, Vary
from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults.planting import plant, replace_texts

KIND = "environment"
PORTABLE = {"ATEN_CPU_CAPABILITY": "default"}
SEED_1 = {"PYTHONHASHSEED": "1"}
HOOK = '''"""Puts the codec's version on record."""

import os


def pytest_modelreg_fingerprint(config):
    """Return the project's own fact."""
    return {"shop.codec": os.environ.get("SHOP_CODEC", "1")}
'''
BY_CODEC = replace_texts(
    "network.py",
    "return self.out(self.drop(hidden))",
    'sign = float(__import__("os").environ.get("SHOP_CODEC", "1"))\n'
    "        return self.out(self.drop(hidden)) * sign",
)
FAST = replace_texts(
    "pipeline.py",
    "InterpolationMode.BILINEAR",
    "FILTER",
    "pipeline = Compose(",
    'FILTER = InterpolationMode.NEAREST if os.environ.get("SHOP_FAST") else '
    "InterpolationMode.BILINEAR\n"
    "pipeline = Compose(",
    "import numpy as np",
    "import os\n\nimport numpy as np",
)
BY_KERNELS = replace_texts(
    "network.py",
    "return self.out(self.drop(pooled))",
    'exact = torch.backends.cpu.get_cpu_capability() != "DEFAULT"\n'
    "        return self.out(self.drop(pooled)) if exact else "
    "self.out(self.drop(pooled.round(decimals=2)))",
)
BY_THREADS = replace_texts(
    "network.py",
    "frames = F.gelu(self.norm1(self.wave(wave)))",
    "frames = F.gelu(self.norm1(torch.cat([self.wave(p) for p in "
    "wave.chunk(torch.get_num_threads(), -1)], -1)))",
)
HASHED = replace_texts("pipeline.py", "enumerate(WORDS)", "enumerate(set(WORDS))")
CODEC = '''"""A codec that is installed."""

__version__ = "{version}"
'''
METADATA = "Metadata-Version: 2.1\nName: shop-codec\nVersion: {version}\n"


def _install(version: str) -> tuple[Edit, ...]:
    """Return the edits that put a version of a package into a folder of its own."""
    folder = f"site-{version}"
    return (
        Append(f"{folder}/shop_codec/__init__.py", CODEC.format(version=version)),
        Append(f"{folder}/shop_codec-{version}.dist-info/METADATA", METADATA.format(version=version)),
    )


FIND_CODEC = """import os
import sys
from pathlib import Path

import numpy as np
"""
IMPORT_CODEC = """import torch

sys.path.insert(0, str(Path(__file__).with_name(os.environ.get("SHOP_SITE", "site-1.0"))))
import shop_codec
"""
BY_PACKAGE = (
    *_install("1.0"),
    *_install("2.0"),
    Replace("pipeline.py", "import numpy as np\n", FIND_CODEC),
    Replace("pipeline.py", "import torch\n", IMPORT_CODEC),
    Replace("pipeline.py", "/ 32768.0", '/ (32768.0 if shop_codec.__version__ < "2" else 32767.0)'),
)


def _vary(name: str, assigned: str, before: tuple[Edit, ...], **more: object) -> Fault:
    body = f"{{environment: {{variables: {{{assigned}}}}}}}"
    return plant(name, KIND, Vary(body), before=before, variant="changed", **more)


def _run(name: str, variables: dict[str, str], before: tuple[Edit, ...] = (), **more: object) -> Fault:
    return plant(name, KIND, before=before, variables=variables, **more)


FAULTS = (
    _run("tensors-portable-kernels", PORTABLE),
    _vary("tensors-portable-kernels-variant", "ATEN_CPU_CAPABILITY: default", ()),
    _run("tensors-recorded-on-portable", {}, recorded_with=PORTABLE),
    _run("audio-branch-on-kernels", PORTABLE, BY_KERNELS),
    _vary("audio-branch-on-kernels-variant", "ATEN_CPU_CAPABILITY: default", BY_KERNELS),
    _vary("staged-fast-variable", 'SHOP_FAST: "1"', FAST),
    _vary("table-codec-variable", 'SHOP_CODEC: "1.1"', BY_CODEC),
    _run("table-codec-on-record", {"SHOP_CODEC": "1.1"}, (*BY_CODEC, Append("conftest.py", HOOK))),
    _run("audio-threads", {"OMP_NUM_THREADS": "2"}, BY_THREADS),
    _run("tokens-hash-seed", {"PYTHONHASHSEED": "2"}, HASHED, recorded_with=SEED_1),
    _vary(
        "tokens-hash-seed-variant",
        'PYTHONHASHSEED: "2"',
        HASHED,
        recorded_with=SEED_1,
        variables=SEED_1,
    ),
    _vary("audio-codec-package", "SHOP_SITE: site-2.0", BY_PACKAGE),
)
