"""One number changed in a suite file's text, everything else as it is written."""

from __future__ import annotations

import pytest
import yaml

from pytest_modelreg.engine.calibration.suite_edit import has_key, list_keys, render_entry, set_value

NUMBER, COMMENT = "5e-5", "measured"


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        (
            "outputs:\n  y: {kind: tensor} # why\n",
            ("outputs", "y", "checks", "rel_l2"),
            "outputs:\n  # measured\n  y: {kind: tensor, checks: {rel_l2: 5e-5}} # why\n",
        ),
        (
            "outputs:\n  y:\n    kind: tensor # why\n\n# below\nchecks: {}\n",
            ("outputs", "y", "checks", "rel_l2"),
            "outputs:\n  y:\n    kind: tensor # why\n    # measured\n    checks: {rel_l2: 5e-5}\n\n# below\n"
            "checks: {}\n",
        ),
        (
            "checks: {rel_l2: 1e-5, exact: off} # both\n",
            ("checks", "rel_l2"),
            "# measured\nchecks: {rel_l2: 5e-5, exact: off} # both\n",
        ),
        ("checks: {}\n", ("checks", "rel_l2"), "# measured\nchecks: {rel_l2: 5e-5}\n"),
        (
            "checks:\n  rel_l2: {max: 1e-5, tags: {a: 1e-3}}\n",
            ("checks", "rel_l2"),
            "checks:\n  # measured\n  rel_l2: {max: 5e-5, tags: {a: 1e-3}}\n",
        ),
        (
            "suite: toy",
            ("outputs", "a b.*", "checks", "rel_l2"),
            'suite: toy\n# measured\noutputs: {"a b.*": {checks: {rel_l2: 5e-5}}}\n',
        ),
        ("suite: toy\r\n", ("checks", "rel_l2"), "suite: toy\r\n# measured\r\nchecks: {rel_l2: 5e-5}\r\n"),
    ],
    ids=["braces", "lines", "a number", "empty", "long form", "absent, no line end", "CRLF"],
)
def test_number_is_put_where_it_belongs(text: str, path: tuple[str, ...], expected: str) -> None:
    """In braces where there are braces, on a line of its own where there are lines; comments stay."""
    assert set_value(text, path, NUMBER, COMMENT) == expected


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("checks: off\n", ("checks", "rel_l2")),
        ("checks: [1]\n", ("checks", "rel_l2")),
        ("checks: {rel_l2: [1]}\n", ("checks", "rel_l2")),
        ("a: {\n", ("checks", "rel_l2")),
    ],
)
def test_what_cannot_be_changed_in_the_text_is_left_alone(text: str, path: tuple[str, ...]) -> None:
    """No guess at what somebody meant: the caller shows lines to paste."""
    assert set_value(text, path, NUMBER, COMMENT) is None


@pytest.mark.parametrize("key", ["true", "a b", "heads.*", "0", "é", "off"])
def test_keys_are_read_back_as_the_same_text(key: str) -> None:
    """A key that YAML would read as something else is quoted."""
    assert yaml.safe_load(render_entry((key, "x"), "1.5")) == {key: {"x": 1.5}}


def test_keys_are_found_at_their_path() -> None:
    """Also where nothing is."""
    text = "variants:\n  a: {threads: 1}\n  b: {threads: 2}\n"
    assert list_keys(text, ("variants",)) == ["a", "b"]
    assert list_keys(text, ("variants", "a", "threads")) == []
    assert has_key(text, ("variants", "b", "threads"))
    assert not has_key(text, ("variants", "c"))
