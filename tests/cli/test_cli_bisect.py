"""``modelreg bisect``: the planted commit is named, nothing of the checkout is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.engine.environments.conftest import UV

DATA = """
import numpy as np
from PIL import Image


def prepare(image):
    small = image.convert("RGB").resize((8, 8), Image.Resampling.BICUBIC)
    return np.asarray(small, dtype=np.float32) / 255
"""

MODEL = """
import numpy as np


def build():
    weight = np.linspace(-1, 1, 8 * 8 * 3 * 4, dtype=np.float32).reshape(-1, 4)
    return lambda x: x.reshape(len(x), -1) @ weight
"""

SUITE = """
modelreg: 1
suite: shop
samples: {folder: photos, loader: image}
reference: {model: "shopmodel:build", preprocess: "shopdata:prepare"}
variants: {one: {batch_size: 1}}
"""


def git(folder: Path, *arguments: str) -> str:
    """Run git with an identity of its own."""
    settings = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def history(project):
    """Eight commits, the fifth of which swaps the interpolation; the golden is the second's."""
    folder = project.path
    (folder / "photos").mkdir()
    for index in range(3):
        image = Image.effect_noise((40 + index, 30), 80 + index)
        image.save(folder / f"photos/p{index}.png")
    project.write("modelreg.yaml", SUITE)
    project.write("shopdata.py", DATA)
    project.write("shopmodel.py", MODEL)
    from pytest_modelreg.store import pin

    pin(folder / "photos", update=False)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "1 start")
    assert project.modelreg("regen", "--yes").ret == 0
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "2 golden")
    edits = {
        3: lambda: project.edit("shopmodel.py", "import numpy as np", "import numpy as np  # three"),
        4: lambda: project.edit("shopmodel.py", "# three", "# four"),
        5: lambda: project.edit("shopdata.py", "BICUBIC", "NEAREST"),
        6: lambda: project.edit("shopmodel.py", "# four", "# six"),
        7: lambda: project.edit("shopmodel.py", "# six", "# seven"),
        8: lambda: project.edit("shopmodel.py", "# seven", "# eight"),
    }
    for number, edit in edits.items():
        edit()
        git(folder, "commit", "-q", "-a", "-m", f"{number} change")
    return project


def test_the_commit_that_swapped_the_interpolation_is_named(history):
    """With its files and what it does to the inputs; checkout, branch and goldens are as before."""
    before = history.golden_bytes()
    head = git(history.path, "rev-parse", "HEAD")
    history.edit("shopmodel.py", "# eight", "# not committed")
    result = history.modelreg("bisect", "shop", "--good", "HEAD~6", "--bad", "HEAD")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "first that drifts: * 5 change",
            "  changes shopdata.py",
            "drift: *rel_l2 * in 3 of 3 samples*",
            "*inputs differ for 3 of 3 samples*",
        ]
    )
    assert history.golden_bytes() == before
    assert git(history.path, "rev-parse", "HEAD") == head
    assert "# not committed" in (history.path / "shopmodel.py").read_text()
    assert len(git(history.path, "worktree", "list").splitlines()) == 1


def test_what_cannot_run_is_skipped_and_said_so(history):
    """A broken commit between the last good one and the first bad one may be the culprit as well."""
    folder = history.path
    git(folder, "checkout", "-q", "-b", "broken", "HEAD~4")
    history.edit("shopmodel.py", "import numpy as np", "import numpy as np\nraise RuntimeError('broken')")
    git(folder, "commit", "-q", "-a", "-m", "broken")
    history.edit("shopmodel.py", "\nraise RuntimeError('broken')", "")
    history.edit("shopdata.py", "BICUBIC", "NEAREST")
    git(folder, "commit", "-q", "-a", "-m", "mended and swapped")
    result = history.modelreg("bisect", "shop[one]", "--good", "HEAD~2", "--bad", "HEAD")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "* broken: could not run*raised RuntimeError: broken*",
            "first that drifts: * mended and swapped",
            "  or, as it could not run: * broken",
        ]
    )


USER = """
import numpy as np

try:
    from toylib import __version__ as version
except ImportError:  # here, where the golden is recorded
    version = "1.0"
WEIGHT = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def build(scale=1.0):
    return lambda x: np.float32(1.01 if version >= "2" else 1.0) * (x @ WEIGHT)
"""


@pytest.fixture
def versions(recorded, monkeypatch, tmp_path_factory):
    """A model that answers otherwise with the second version of a package, and what installs packages."""
    libraries = tmp_path_factory.mktemp("libraries")
    for found in Path(np.__file__).parents[1].glob("numpy*"):
        (libraries / found.name).symlink_to(found)  # as it is here: nothing is fetched
    uv = tmp_path_factory.mktemp("bin") / "uv"
    uv.write_text(UV.format(python=sys.executable))
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{uv.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("UV_LOG", str(libraries / "uv.log"))
    monkeypatch.setenv("UV_OFFLINE", "1")  # it is configured: no question for pip's sources
    monkeypatch.setenv("MODELREG_CACHE", str(tmp_path_factory.mktemp("cache")))
    recorded.write("toymodel.py", USER)
    environment = f"{{requirements: [numpy], variables: {{PYTHONPATH: '{libraries}'}}}}"
    text = (recorded.path / "modelreg.yaml").read_text()
    recorded.write("modelreg.yaml", f"{text}variants: {{elsewhere: {{environment: {environment}}}}}\n")
    return recorded


def test_the_version_that_answers_otherwise_is_named(versions):
    """One that cannot be installed is passed over, with the installer's own reason."""
    before = versions.golden_bytes()
    listed = "1.0,1.2,1.404,2.0,3.0"
    result = versions.modelreg("bisect", "toy[elsewhere]", "--package", "toylib", "--versions", listed)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "toylib 1.0: match: 6 samples, bit-identical",
            "toylib 3.0: drift: *rel_l2 1.0e-02 > 1e-05 in 6 of 6 samples*",
            "toylib 1.404: could not run (2 left to decide): environment: requirements: expected uv to*",
            "  no such package: toylib==1.404",
            "toylib 1.2: match*",
            "toylib 2.0: drift*",
            "first that drifts: toylib 2.0",
            "  or, as it could not run: toylib 1.404",
            "drift: *",
        ]
    )
    assert versions.golden_bytes() == before


def test_versions_of_which_none_drifts_are_no_finding(versions):
    """The last one is what is said to drift."""
    listed = "1.0,1.1,1.2"
    result = versions.modelreg("bisect", "toy[elsewhere]", "--package", "toylib", "--versions", listed)
    assert result.ret == 2
    assert "1.2: expected an end that drifts from the golden, got one that matches" in result.stderr.str()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["shop"], "expected --good REV --bad REV, or --package NAME --versions"),
        (["shop", "--good", "HEAD"], "expected --good REV --bad REV, or"),
        (["shop", "--good", "HEAD", "--bad", "HEAD"], "expected two commits"),
        (["shop", "--good", "HEAD", "--bad", "HEAD~1"], "expected an ancestor of --bad"),
        (["shop", "--good", "nope", "--bad", "HEAD"], "--good nope: expected a branch, tag or commit"),
        (["shop", "--good", "HEAD~6", "--bad", "HEAD~5"], "expected an end that drifts from the golden"),
        (["shop", "--good", "HEAD~1", "--bad", "HEAD"], "expected an end that matches the golden"),
        (["shpo", "--good", "HEAD~1", "--bad", "HEAD"], "did you mean shop?"),
        (["shop", "--package", "numpy", "--versions", "1.26"], "expected at least two"),
        (["shop", "--good", "HEAD~1", "--bad", "HEAD", "--with", "x"], "--with: expected --package"),
    ],
)
def test_searches_that_mean_nothing_are_refused(history, arguments, told):
    """Exit 2, in one line, before or at the ends."""
    result = history.modelreg("bisect", *arguments)
    assert result.ret == 2
    assert told in result.stderr.str()


def test_without_a_golden_there_is_nothing_to_search(project):
    """It says how to record one."""
    project.pin()
    result = project.modelreg("bisect", "toy", "--good", "a", "--bad", "b")
    assert result.ret == 2
    assert "expected a golden to compare with" in result.stderr.str()
