"""Which suites are chosen, wherever they and the repository are."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_modelreg.domain.errors import UsageFault
from pytest_modelreg.engine.change import select_changed

from .conftest import Checkout

DATA = "src/shop/data.py"
REASON = "preprocess code changed: src/shop/data.py (imported by shop.data:prepare)"


def test_of_several_suites_the_changed_ones_have_reasons(shop) -> None:
    """All are returned, in order."""
    text = (shop.path / "modelreg.yaml").read_text()
    shop.write_base({"second.modelreg.yaml": text.replace("toy", "second").replace("shop.data", "shop.web")})
    suites = [shop.load("second.modelreg.yaml"), shop.load()]
    shop.write(DATA)
    found = select_changed(suites, base="base", root=shop.path)
    assert [(one.suite.name, one.reasons) for one in found] == [("second", ()), ("toy", (REASON,))]


def test_no_suites_are_none_but_a_faulty_revision_is_one(shop) -> None:
    """A misspelt revision must not look like a clean result."""
    assert select_changed([], base="base", root=shop.path) == ()
    with pytest.raises(UsageFault):
        select_changed([], base="nothing", root=shop.path)


@pytest.mark.parametrize("root", ["", "products/shop"])
def test_a_suite_in_a_subfolder(make_shop, root: str) -> None:
    """The repository's folder may be above the project's; files are shown relative to the project."""
    shop = make_shop(below="products/shop")
    shop.write("src/shop/data.py")  # another project's, of the same name
    assert shop.reasons("products/shop/modelreg.yaml", root=shop.path / root) == []
    shop.write("products/shop/src/shop/data.py")
    file = "src/shop/data.py" if root else "products/shop/src/shop/data.py"
    assert shop.reasons("products/shop/modelreg.yaml", root=shop.path / root) == [
        f"preprocess code changed: {file} (imported by shop.data:prepare)"
    ]


def test_a_worktree_is_a_repository(shop, tmp_path: Path) -> None:
    """Its .git is a file."""
    shop.git("worktree", "add", "--quiet", "-b", "feature", str(tmp_path / "tree"))
    tree = Checkout(tmp_path / "tree")
    shop.write("src/shop/models.py")  # in the other working tree
    tree.write(DATA)
    assert tree.reasons() == [REASON]


def test_a_project_that_is_reached_by_a_link(shop, tmp_path: Path) -> None:
    """Git knows files by their real places."""
    (tmp_path / "link").symlink_to(shop.path)
    linked = Checkout(tmp_path / "link")
    assert linked.reasons() == []
    linked.write(DATA)
    assert linked.reasons() == [REASON]


def test_a_suite_outside_of_the_repository_is_always_chosen(make_shop, tmp_path: Path) -> None:
    """Whether anything of it changed, nobody can tell."""
    shop, other = make_shop(), make_shop("elsewhere")
    found = select_changed([other.load(), shop.load()], base="base", root=shop.path)
    assert [one.reasons for one in found] == [
        (f"outside of the git repository {shop.path}: what changed is not known",),
        (),
    ]


def test_a_suite_that_git_ignores_is_always_chosen(shop) -> None:
    """Git does not say when it changes."""
    text = (shop.path / "modelreg.yaml").read_text()
    shop.write_base({".gitignore": "own/\n"})
    shop.write("own/modelreg.yaml", text.replace("samples,", "../samples,"))
    assert shop.reasons("own/modelreg.yaml") == [
        "the suite file is ignored by git: what changed is not known"
    ]


def test_what_git_ignores_selects_nothing(shop) -> None:
    """Caches, run folders and environments come and go."""
    shop.write_base({".gitignore": "*.cache\n"})
    shop.write("src/shop/assets.cache")
    assert shop.reasons() == []


@pytest.fixture
def with_submodule(make_shop, tmp_path: Path) -> Checkout:
    """A repository whose suite and code are in a submodule."""
    make_shop("origin")
    outer = Checkout(tmp_path / "outer")
    outer.path.mkdir()
    outer.git("init", "--quiet")
    outer.git("submodule", "--quiet", "add", f"file://{tmp_path / 'origin'}", "vendor")
    outer.write("notes.txt")
    outer.commit(tag="base")
    return outer


def test_a_submodule_is_looked_into(with_submodule) -> None:
    """What is edited in it, new in it and committed in it counts file by file."""
    outer = with_submodule
    outer.write("notes.txt", "new\n")
    outer.write("vendor/src/shop/web.py", "PORT = 443\n")
    assert outer.reasons("vendor/modelreg.yaml", root=outer.path) == []
    inner = Checkout(outer.path / "vendor")
    inner.write(DATA, "from . import tone\n")
    inner.commit()
    outer.commit()
    inner.write("src/shop/models.py")
    inner.write("src/shop/tone.py")
    assert outer.reasons("vendor/modelreg.yaml", root=outer.path) == [
        "preprocess code changed: vendor/src/shop/data.py (imported by shop.data:prepare)",
        "preprocess code added: vendor/src/shop/tone.py (imported by shop.data:prepare)",
        "model code changed: vendor/src/shop/models.py (imported by shop.models:build)",
    ]


def test_a_new_submodule_counts_as_a_whole(with_submodule) -> None:
    """There is no commit of it to compare with."""
    outer = with_submodule
    outer.git("tag", "--force", "start", "HEAD")
    outer.git("checkout", "--quiet", "--orphan", "again")
    outer.git("rm", "--quiet", "--cached", "vendor")
    outer.git("commit", "--quiet", "-m", "without")
    outer.git("tag", "without")
    outer.git("add", "vendor")
    outer.git("commit", "--quiet", "-m", "with")
    reasons = outer.reasons("vendor/modelreg.yaml", root=outer.path, base="without")
    assert reasons[0] == "suite file added"
    assert (
        "preprocess and model code added: vendor (a repository of its own; "
        "imported by shop.data:prepare, shop.models:build)"
    ) in reasons


def test_a_broken_submodule_says_what_to_do(with_submodule) -> None:
    """Its files may be there, and git cannot tell what they were."""
    outer = with_submodule
    (outer.path / ".git/modules/vendor").rename(outer.path / ".git/modules/gone")
    suite = outer.load("vendor/modelreg.yaml")
    with pytest.raises(UsageFault) as caught:
        select_changed([suite], base="base", root=outer.path)
    assert "expected git to say what changed in" in str(caught.value)
    assert "`git submodule update --init`" in str(caught.value)


def test_a_repository_that_lies_inside_counts_as_a_whole(shop, tmp_path: Path) -> None:
    """A clone that is no submodule: git lists its folder as one new entry."""
    inner = Checkout(shop.path / "libs")
    inner.path.mkdir()
    inner.git("init", "--quiet")
    inner.write("tone.py")
    inner.commit()
    text = (shop.path / "modelreg.yaml").read_text()
    shop.write("modelreg.yaml", f"{text}python_path: [src, libs]\n")
    shop.write(DATA, "import tone\n")
    shop.git("add", "modelreg.yaml", "src")
    shop.git("commit", "--quiet", "-m", "x")
    assert shop.reasons(base="HEAD") == [
        "preprocess code added: libs (a repository of its own; imported by shop.data:prepare)"
    ]
