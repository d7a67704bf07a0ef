"""A suite file is read within bounds, and every fault of its syntax has a line."""

from __future__ import annotations

import contextlib
import time

import pytest

from pytest_modelreg.domain.errors import SuiteFileError
from pytest_modelreg.engine.suite_file.composer import MAX_DEPTH, MAX_VALUES
from pytest_modelreg.engine.suite_file.document import MAX_BYTES, Document, parse_document, read_document
from pytest_modelreg.engine.suite_file.fault import FaultLog


def parse(text: str) -> Document:
    """Return the document of a text that has no faults."""
    log = FaultLog("suite.yaml")
    document = parse_document(text, log)
    assert log.faults == ()
    return document


def faults_of(text: str) -> list[str]:
    """Return the faults of a text, a line each."""
    log = FaultLog("suite.yaml")
    with contextlib.suppress(SuiteFileError):
        parse_document(text, log)
    return [str(fault) for fault in log.faults]


def read_faults(path) -> list[str]:
    """Return the faults of a file that cannot be read."""
    with pytest.raises(SuiteFileError) as caught:
        read_document(path, FaultLog("suite.yaml"))
    return [str(fault) for fault in caught.value.faults]


def test_values_keep_their_types_and_quotes():
    """Quoted text is text whatever it looks like."""
    text = "a: 1\nb: '1'\nc: [off, no, \"off\", 1e-5]\nd: {x: ~, y: !!str 1}\n"
    assert parse(text).data == {"a": 1, "b": "1", "c": ["off", "no", "off", 1e-5], "d": {"x": None, "y": "1"}}


def test_every_key_and_value_has_its_line():
    """A value on a later line than its key is found where it is."""
    document = parse("a:\n  b:\n    1\n  c:\n    - x\n    - y\n")
    assert document.line(("a", "b")) == 3
    assert document.line(("a", "b"), of_key=True) == 2
    assert document.line(("a", "c")) == 4
    assert document.line(("a", "c", 1)) == 6


def test_path_that_is_not_there_has_the_line_of_what_is():
    """A missing key is reported at the mapping it is missing from."""
    assert parse("a: 1\nb:\n  c: 2\n").line(("b", "nope", "deeper")) == 2


def test_keys_are_text_as_written():
    """Outputs of a tuple have the paths 0, 1, ..: a key is never a number."""
    document = parse("0: a\ntrue: b\n1.50: c\n")
    assert document.data == {"0": "a", "true": "b", "1.50": "c"}
    assert document.unquoted == {("0",): 0, ("true",): True, ("1.50",): 1.5}


def test_alias_stands_for_its_anchor():
    """A few anchors are fine; what they stand for keeps its place in the file."""
    document = parse("a: &x {k: 1}\nb: *x\n")
    assert document.data["b"] == {"k": 1}
    assert document.line(("b",)) == 2
    assert document.line(("b", "k")) == 1


def test_byte_order_mark_is_no_key(tmp_path):
    """Editors on Windows put one in front."""
    (tmp_path / "suite.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\n")
    assert read_document(tmp_path / "suite.yaml", FaultLog("suite.yaml")).data == {"a": 1}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "suite.yaml:1: expected a mapping with the keys of a suite, got an empty file"),
        ("# nothing\n", "suite.yaml:1: expected a mapping with the keys of a suite, got an empty file"),
        ("a: 1\n---\nb: 2\n", "suite.yaml:2: expected one YAML document, got a second one"),
        ("a:\n\tb: 1\n", "suite.yaml:2: expected YAML, got a syntax error: a tab (indent with spaces)"),
        (
            "a: [1\nb: 2\n",
            "suite.yaml:2: expected YAML, got a syntax error: expected ',' or ']', but got ':'",
        ),
        (
            "a: 1\n b: 2\n",
            "suite.yaml:2: expected YAML, got a syntax error: mapping values are not allowed here",
        ),
        ("a: 1\nb: \x01\n", "suite.yaml:2: expected printable characters, got the character U+0001"),
        ('a: 1\nb: "\\UFFFFFFFF"\n', "suite.yaml:2: expected YAML, got "),
        ('a: "\\ud800"\n', "suite.yaml:1: a: expected Unicode text, got half of a surrogate pair"),
        ("a: 1\nb: 2\na: 3\n", "suite.yaml:3: a: expected each key once, got it again (first on line 1)"),
        ("b: {a: 1, a: 2}\n", "suite.yaml:1: b.a: expected each key once, got it again (first on line 1)"),
        ("a: !custom x\n", "suite.yaml:1: a: expected a value without a tag, got the tag !custom"),
        (
            "a: !!python/object/apply:os.system [x]\n",
            "suite.yaml:1: a: expected a value without a tag, got the tag !!python/object/apply:os.system",
        ),
        ("a: !!int x\n", "suite.yaml:1: a: expected a value without a tag, got the tag !!int"),
        (
            "a: *b\n",
            "suite.yaml:1: a: expected the name of an anchor, got *b, which is defined nowhere above",
        ),
        ("a: &a [*a]\n", "suite.yaml:1: a[0]: expected the name of an anchor, got *a, which contains itself"),
        (
            "a: &a {k: 1}\nb:\n  <<: *a\n",
            "suite.yaml:3: b.<<: expected the keys themselves, got '<<' (merging is not YAML 1.2)",
        ),
        ("? [a]\n: 1\n", "suite.yaml:1: expected text as a key, got a list, a mapping or an alias"),
        (
            f"a: {'9' * 200}\n",
            "suite.yaml:1: a: expected a number of at most 100 characters, got a number of 200",
        ),
        (f"{'[' * 40}{']' * 40}", f"suite.yaml:1: expected at most {MAX_DEPTH} levels of nesting, got more"),
    ],
)
def test_fault_of_syntax_is_one_line_with_its_place(text, fault):
    """What YAML itself cannot be is said in our words, where it is."""
    found = faults_of(text)
    assert len(found) == 1
    assert found[0].startswith(fault)


def test_reading_goes_on_behind_what_can_be_read():
    """Duplicate keys and tags in one file are all named."""
    assert len(faults_of("a: 1\na: 2\nb: !x y\nc: *d\n")) == 3


def test_escaped_pair_of_surrogates_is_one_character():
    """JSON, which YAML contains, writes an emoji as two escapes."""
    assert parse('a: "\\ud83d\\ude00"\n').data == {"a": "\U0001f600"}


def test_deepest_allowed_nesting_is_read():
    """The bound itself is inside."""
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(
            f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12)
        ),
        "a0: &a0 [x, x]\n" + "".join(f"a{i + 1}: &a{i + 1} [*a{i}, *a{i}]\n" for i in range(5000)),
    ],
    ids=["nine to the twelfth", "two to the five thousandth"],
)
def test_alias_bomb_is_one_fault_at_once(text):
    """Aliases that stand for billions of values cost neither time nor memory."""
    started = time.perf_counter()
    found = faults_of(text)
    assert time.perf_counter() - started < 5
    assert len(found) == 1
    assert f"expected at most {MAX_VALUES} values" in found[0]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "- " * 100_000, "{a: " * 50_000, "a,\n" * 60_000, "[" + "a," * 100_000 + "]"]
)
def test_hostile_shape_is_refused_quickly(text):
    """Depth and number are bounded while parsing, before memory or recursion end."""
    started = time.perf_counter()
    assert len(faults_of(text)) <= 1
    assert time.perf_counter() - started < 5


def test_file_over_the_size_bound_is_not_read(tmp_path):
    """A data file named like a suite costs one read."""
    (tmp_path / "suite.yaml").write_bytes(b"#" * (MAX_BYTES + 1))
    assert read_faults(tmp_path / "suite.yaml") == [
        f"suite.yaml: expected at most {MAX_BYTES} bytes, got more",
    ]


def test_text_in_another_encoding_names_the_line(tmp_path):
    """Latin-1 is not guessed at."""
    (tmp_path / "suite.yaml").write_bytes(b"a: 1\nb: caf\xe9\n")
    assert read_faults(tmp_path / "suite.yaml") == ["suite.yaml:2: expected UTF-8 text, got the byte 0xe9"]


def test_absent_file_is_a_fault(tmp_path):
    """Also when a command was given a name that does not exist."""
    assert read_faults(tmp_path / "suite.yaml") == ["suite.yaml: expected a file, found none"]


def test_folder_is_a_fault(tmp_path):
    """A folder may be named modelreg.yaml."""
    assert read_faults(tmp_path) == ["suite.yaml: expected a file, found none"]
