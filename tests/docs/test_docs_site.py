"""The documentation as a site: built without a warning, loading nothing, its written pages up to date."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def load(path: Path):
    """Return a script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of a strict build: a broken link or an unknown page is an error."""
    target = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(target)]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return target


def test_every_page_is_built(site):
    """Also the one that only CI's readers look for."""
    pages = [path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md")]
    assert len(pages) > 15
    for page in pages:
        folder = page.parent if page.name in ("index", "README") else page
        assert (site / folder / "index.html").is_file(), page


def test_every_page_is_in_the_navigation(site):
    """A page that nobody finds is none."""
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    missing = [
        path.relative_to(DOCS).as_posix()
        for path in DOCS.rglob("*.md")
        if path.relative_to(DOCS).as_posix() not in listed
    ]
    assert missing == []


def test_nothing_is_loaded_from_elsewhere(site):
    """No font, script or picture of another host."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|iframe)[^>]+src="(?:https?:)?//', text), path
        assert not re.findall(
            r'<link[^>]+rel="(?:stylesheet|preload|icon)"[^>]+href="(?:https?:)?//', text
        ), path


@pytest.mark.parametrize("page", ["suite-file.md", "commands.md", "python.md"])
def test_reference_says_what_the_code_says(page):
    """`python docs/reference/generate.py` writes it again."""
    written = load(DOCS / "reference/generate.py").PAGES[page]()
    assert (DOCS / "reference" / page).read_text(encoding="utf-8") == written


def test_pictures_show_what_the_pipelines_make():
    """`python docs/pictures/draw.py` draws them again; JPEG is a few levels off."""
    drawn = load(DOCS / "pictures/draw.py").draw()
    assert len(drawn) == 4
    for name, picture in drawn.items():
        with Image.open(DOCS / "pictures" / name) as committed:
            gap = np.abs(np.asarray(committed, np.float64) - np.asarray(picture, np.float64))
        assert gap.mean() < 6.0, name
