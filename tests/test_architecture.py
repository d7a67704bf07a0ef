"""Facts about the package as a whole that import-linter cannot hold.

What belongs here: rules over all modules, each with a planted fault that shows that the
rule's detector finds one. Contracts between layers are in pyproject.toml.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_modelreg

PACKAGE = Path(pytest_modelreg.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
FRAMEWORKS = frozenset(
    {"torch", "torchvision", "onnx", "onnxruntime", "PIL", "safetensors", "cv2", "pyarrow"}
)
KNOWN_FRAMEWORKS = {
    **dict.fromkeys(("runtimes", "fingerprint", "observe"), FRAMEWORKS),
    "store": frozenset({"pyarrow"}),  # rows of Parquet files
    "diagnose": frozenset({"PIL"}),  # what a photo can become is tried out on the photo
}
BARE_LAYERS = ("domain", "store", "trace", "runtimes", "fingerprint", "observe")
MAX_LINES = 300

BARE_ENVIRONMENT = """
    import importlib, importlib.abc, pkgutil, sys

    ALLOWED = {*sys.stdlib_module_names, "numpy", "pytest_modelreg"}

    class Refuser(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            # sysconfig's generated table is part of the standard library, but named by platform.
            if name.partition(".")[0] not in ALLOWED and not name.startswith("_sysconfigdata"):
                raise ModuleNotFoundError(f"not in a bare environment: {name}", name=name)

    sys.meta_path.insert(0, Refuser())
    importlib.import_module("pytest_modelreg")
    for layer in sys.argv[1:]:
        package = importlib.import_module(layer)
        for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{layer}."):
            importlib.import_module(module.name)
    print(*(name for name in sys.modules if name.startswith("pytest_modelreg.")))
    """


def import_bare(*names: str) -> subprocess.CompletedProcess[str]:
    """Import packages with every module of theirs where only numpy is installed."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(BARE_ENVIRONMENT), *names], capture_output=True, text=True
    )


def find_framework_imports(tree: ast.AST) -> Iterator[tuple[str, int, bool]]:
    """Yield framework, line and whether a function is around it, for every import of one."""

    def visit(node: ast.AST, inside: bool) -> Iterator[tuple[str, int, bool]]:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in names:
            if name.partition(".")[0] in FRAMEWORKS:
                yield name.partition(".")[0], getattr(node, "lineno", 0), inside
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, inside)

    return visit(tree, False)


def list_misplaced_imports(file: str, source: str) -> list[str]:
    """Say where a module imports a framework when it is loaded, or in a layer that must know none."""
    known = KNOWN_FRAMEWORKS.get(file.partition("/")[0], frozenset())
    return [
        f"{file}:{line}: {framework}"
        for framework, line, inside in find_framework_imports(ast.parse(source))
        if not (inside and framework in known)
    ]


def test_observing_needs_only_numpy():
    """The worker runs in interpreters with nothing of ours installed, nor yaml, pydantic, pytest or torch."""
    done = import_bare(*(f"pytest_modelreg.{layer}" for layer in BARE_LAYERS))
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    expected = [
        "pytest_modelreg." + ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        for layer in BARE_LAYERS
        for file in (PACKAGE / layer).rglob("*.py")
        if file.name != "__init__.py"
    ]
    assert set(expected) <= set(loaded)


@pytest.mark.parametrize("name", ["pytest_modelreg.engine.schema", "pytest_modelreg.plugin"])
def test_what_needs_more_is_refused_in_a_bare_environment(name):
    """Planted fault: layers above need pydantic or pytest, and the environment shows it."""
    done = import_bare(name)
    assert done.returncode != 0
    assert "not in a bare environment" in done.stderr


def test_frameworks_are_imported_inside_functions_of_the_layers_that_know_them():
    """Loading any module of ours loads no framework."""
    faults = []
    for module in MODULES:
        file = module.relative_to(PACKAGE).as_posix()
        faults += list_misplaced_imports(file, module.read_text(encoding="utf-8"))
    assert faults == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("observe/model.py", "import torch.nn as nn"),
        ("observe/model.py", "if TYPE_CHECKING:\n    from torch import Tensor"),
        ("observe/model.py", "try:\n    import onnxruntime\nexcept ImportError:\n    pass"),
        ("observe/model.py", "class A:\n    from PIL import Image"),
        ("judge/case.py", "def f():\n    import torch"),
        ("diagnose/model.py", "def f():\n    import torch"),
        ("diagnose/inputs/decoding.py", "from PIL import Image"),
        ("store/arrays.py", "def f():\n    from safetensors.numpy import load"),
    ],
)
def test_misplaced_framework_import_is_found(file, source):
    """Planted faults: at module level, and in a layer that must not know frameworks."""
    assert len(list_misplaced_imports(file, source)) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("observe/model.py", "def f():\n    import torch"),
        ("fingerprint/collectors/gpu.py", "class A:\n    async def f(self):\n        from torch import cuda"),
        ("diagnose/inputs/decoding.py", "def f():\n    from PIL import Image"),
        ("runtimes/eager.py", "import numpy\nfrom .torch import x\nimport torchlike"),
    ],
)
def test_import_inside_a_function_is_fine(file, source):
    """Just inside."""
    assert list_misplaced_imports(file, source) == []


def test_no_module_is_long():
    """A module that needs more than 300 lines has two subjects."""
    lengths = {
        module.relative_to(PACKAGE).as_posix(): len(module.read_text(encoding="utf-8").splitlines())
        for module in MODULES
    }
    assert {file: length for file, length in lengths.items() if length > MAX_LINES} == {}
