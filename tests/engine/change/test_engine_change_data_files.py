"""Reasons in files that a suite's code may read."""

from __future__ import annotations

import pytest


def test_a_file_in_a_package_of_the_code_may_be_read(shop) -> None:
    """A table beside the module is read by a name that nobody can follow."""
    shop.write("src/shop/assets/mean.yaml", "mean: 1\n")
    assert shop.reasons() == [
        "src/shop/assets/mean.yaml added "
        "(may be read by preprocess code: src/shop/data.py, whose package holds it)"
    ]


@pytest.mark.parametrize(
    "file",
    [
        "src/shop/README.md",
        "src/shop/guide.rst",
        "src/shop/py.typed",
        "src/shop/data.pyi",
        "src/shop/.cache",
        "src/shop/web/site.css",
        "src/mean.yaml",
        "mean.yaml",
        "docs/mean.yaml",
    ],
)
def test_other_files_select_nothing(shop, file: str) -> None:
    """Documentation, stubs, another package inside, and what is beside packages."""
    shop.write_base({"src/shop/web/__init__.py": ""})
    shop.write(file, "x: 1\n")
    assert shop.reasons() == []


@pytest.mark.parametrize("place", ["configs/mean.yaml", "mean.yaml", "src/mean.yaml"])
def test_a_file_that_the_code_names_may_be_read(shop, place: str) -> None:
    """The last part of a path stands in the code, however the rest is put together."""
    shop.write_base(
        {
            "src/shop/colour.py": "import os\n\nopen(os.environ['HOME'] + 'configs/mean.yaml')\n",
            place: "mean: 1\n",
            "configs/other.yaml": "",
        }
    )
    shop.write(place, "mean: 2\n")
    shop.write("configs/other.yaml", "mean: 2\n")
    assert shop.reasons() == [
        f"{place} changed (may be read by preprocess code: src/shop/colour.py, which names it)"
    ]


def test_another_project_of_the_repository_is_not_read(make_shop) -> None:
    """Two projects of one repository both have a config.yaml."""
    shop = make_shop(below="a")
    shop.write_base({"a/src/shop/colour.py": "open('config.yaml')\n"})
    shop.write("b/config.yaml", "")
    assert shop.reasons("a/modelreg.yaml", root=shop.path / "a") == []
    shop.write("a/config.yaml", "")
    assert len(shop.reasons("a/modelreg.yaml", root=shop.path / "a")) == 1


def test_a_data_file_that_was_deleted_counts(shop) -> None:
    """The code reads another one now, or fails."""
    shop.write_base({"src/shop/mean.yaml": ""})
    (shop.path / "src/shop/mean.yaml").unlink()
    assert [reason.split(" (")[0] for reason in shop.reasons()] == ["src/shop/mean.yaml deleted"]


def test_goldens_and_samples_of_another_suite_are_not_read(shop) -> None:
    """A package that holds a second suite, with files of its own."""
    shop.write_base(
        {
            "src/shop/other.modelreg.yaml": (shop.path / "modelreg.yaml")
            .read_text()
            .replace("toy", "second")
            .replace("shop.data", "json"),
            "src/shop/samples/a.json": "1",
        }
    )
    shop.write("src/shop/samples/a.json", "2")
    shop.write("src/shop/golden/second/reference/golden.json", "2")
    shop.write(
        "src/shop/other.modelreg.yaml", (shop.path / "src/shop/other.modelreg.yaml").read_text() + "\n"
    )
    reasons = shop.reasons("modelreg.yaml", "src/shop/other.modelreg.yaml")
    assert reasons == ["suite file changed", "sample a.json changed", "golden of reference changed"]
