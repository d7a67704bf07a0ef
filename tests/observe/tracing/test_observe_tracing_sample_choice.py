"""Which samples are traced: of every kind one, before a second of any."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from pytest_modelreg.domain.sample import Sample, SampleSet
from pytest_modelreg.observe import choose_samples


def sample_set(folder: Path, names: list[str]) -> SampleSet:
    """Return a set of these files."""
    return SampleSet(
        folder=str(folder), samples=tuple(Sample(id=name, file=name, sha256="0" * 64) for name in names)
    )


def test_every_mode_is_there(tmp_path: Path):
    """One palette image among thirty photos is chosen."""
    names = []
    for number in range(30):
        Image.new("RGB", (8, 6)).save(tmp_path / f"p{number:02}.png")
        names.append(f"p{number:02}.png")
    Image.new("P", (8, 6)).save(tmp_path / "palette.png")
    Image.fromarray(np.zeros((6, 8), np.uint16)).save(tmp_path / "deep.png")
    chosen = choose_samples(sample_set(tmp_path, [*names, "palette.png", "deep.png"]))
    assert {"palette.png", "deep.png"} <= set(chosen)
    assert len(chosen) == 12


def test_samples_of_one_kind_are_spread(tmp_path: Path):
    """The middle comes first, then the quarters: neighbours in a folder are often alike."""
    names = [f"{number:03}.npy" for number in range(100)]
    assert choose_samples(sample_set(tmp_path, names), most=3) == ("050.npy", "025.npy", "075.npy")


def test_a_small_set_is_chosen_whole(tmp_path: Path):
    """Fewer samples than are wanted: all, each once."""
    names = ["a.npy", "b.npy", "c.npy"]
    chosen = choose_samples(sample_set(tmp_path, names))
    assert sorted(chosen) == names


def test_a_file_that_is_no_image_is_a_kind_of_its_own(tmp_path: Path):
    """An unreadable header ends nothing."""
    (tmp_path / "broken.png").write_bytes(b"no image")
    assert choose_samples(sample_set(tmp_path, ["broken.png"])) == ("broken.png",)
    assert choose_samples(sample_set(tmp_path, [])) == ()
