"""Probes of inputs: a row and a form a sample, taken over where a golden has them already."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_modelreg.domain.errors import GoldenError
from pytest_modelreg.domain.golden import Acceptance, Golden
from pytest_modelreg.observe import KnownProbes, input_probes, observe_case, read_known_probes
from pytest_modelreg.observe.input_probes import MAX_BYTES, count_buckets, probe_sample
from pytest_modelreg.store import read_trace
from pytest_modelreg.trace import count_columns, estimate_rel_l2, is_known


def observe(case, name="run", known=None, **changes):
    """Observe with probes; return the observation, its table and the golden that it would be."""
    folder = case.root / name
    observation = observe_case(case.spec(**changes), folder, known=known or KnownProbes())
    golden = Golden(observation=observation, accepted=Acceptance(date="", reason=""), profiles={})
    probes = observation.input_probes
    shape = (len(observation.samples), 0 if probes is None else probes.n_columns)
    return observation, None if probes is None else read_trace(folder, probes.file, shape), golden


def test_every_sample_has_a_row_and_all_share_a_form(toy_case):
    """Five samples of three float32, in the order of the sample set."""
    observation, table, _ = observe(toy_case)
    assert observation.input_probes.forms == ("float32 3",)
    assert table.shape == (5, 258)
    rows = np.arange(15, dtype=np.float32).reshape(5, 3)
    for row, values in zip(table, rows, strict=True):
        np.testing.assert_array_equal(row, probe_sample(values, n_buckets=256)[0])
        assert row[-2] == pytest.approx(np.linalg.norm(values.astype(float)), rel=1e-12)


def test_nothing_is_sketched_unless_asked(toy_case):
    """A plain run of a variant pays nothing and leaves no file."""
    observation = toy_case.observe()
    assert observation.input_probes is None
    assert not list(toy_case.folder.glob("trace.*"))


def test_samples_of_several_forms_have_one_each(case_folder):
    """The form of each is found by its row."""
    case_folder.write("model.py", "def build():\n    return lambda x: [[float(len(r))] for r in x]\n")
    case_folder.add_arrays(np.zeros(2, np.float32), np.zeros((2, 3), np.float32), np.zeros(2, np.float32))
    observation, _, _ = observe(case_folder)
    probes = observation.input_probes
    assert probes.forms == ("float32 2", "float32 2 x 3", "float32 2")
    assert [probes.form_of(row) for row in range(3)] == list(probes.forms)


def test_probes_are_no_fact_of_their_own(toy_case):
    """They follow from the inputs: an observation with and one without are the same."""
    with_probes, _, _ = observe(toy_case)
    assert replace(with_probes, input_probes=None) == with_probes


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (np.zeros((3, 224, 224), np.float32), "float32 3 x 224 x 224"),
        (np.asarray(3), "int64 scalar"),
        (np.zeros((0, 4), bool), "bool 0 x 4"),
        ({"b": np.zeros(2), "a": (np.zeros(1, np.uint8),)}, "a.0 uint8 1, b float64 2"),
        ({"ids": np.zeros(2, np.int64), "mask": None}, "ids int64 2, mask NoneType of 4 bytes (dc937b59)"),
    ],
)
def test_form_names_paths_dtypes_and_shapes(value, form):
    """In one line, the paths sorted as in digests."""
    assert probe_sample(value, n_buckets=8)[1] == form


def test_words_are_told_apart_by_form_not_by_distance():
    """No number says how far two prompts are apart: beside a picture that hardly moved, one that changed
    must not pass for another CPU's rounding."""
    picture = np.ones(1000, np.float32)
    expected, expected_form = probe_sample({"x": picture, "text": "a cat"}, n_buckets=256)
    actual, actual_form = probe_sample({"x": picture * np.float32(1 + 1e-6), "text": "a dog"}, n_buckets=256)
    assert expected_form != actual_form
    assert expected_form.startswith("text str of 5 bytes (")
    assert estimate_rel_l2(expected, actual) < 1e-5
    assert probe_sample({"x": 2 * picture, "text": "a cat"}, n_buckets=256)[1] == expected_form


@pytest.mark.parametrize("word", [np.str_("cat"), b"cat", "", type("Prompt", (str,), {})("cat")])
def test_words_of_any_type_are_no_numbers(word):
    """Also those of a library's own type."""
    row, form = probe_sample(word, n_buckets=8)
    assert f"of {len(word)} bytes" in form
    assert not row.any()


def test_small_floats_of_torch_are_taken_by_value():
    """bfloat16 travels as integers: sketching those would call 1.0 and 1.01 thousands apart."""
    torch = pytest.importorskip("torch")
    values = torch.tensor([1.0, -2.0, 0.5])
    expected, _ = probe_sample(values, n_buckets=8)
    row, form = probe_sample(values.to(torch.bfloat16), n_buckets=8)
    np.testing.assert_array_equal(row, expected)
    assert form == "bfloat16 3"


@given(n_samples=st.integers(0, 10**6))
def test_table_never_exceeds_its_size(n_samples):
    """Many samples get narrower sketches, too many none; the width never grows with the number."""
    n_buckets = count_buckets(n_samples)
    assert n_buckets in (0, 8, 16, 32, 64, 128, 256)
    if n_buckets:
        assert n_samples * count_columns(n_buckets) * 8 <= MAX_BYTES
    assert count_buckets(n_samples + 1) <= n_buckets


@pytest.mark.parametrize(
    ("n_samples", "n_buckets"), [(1, 256), (2032, 256), (2033, 128), (52428, 8), (52429, 0)]
)
def test_width_by_number_of_samples(n_samples, n_buckets):
    """Fixed, because two goldens can be compared only at one width."""
    assert count_buckets(n_samples) == n_buckets


def test_too_many_samples_get_no_probes(toy_case, monkeypatch):
    """The case runs as ever."""
    monkeypatch.setattr(input_probes, "MAX_BYTES", 100)
    observation, table, _ = observe(toy_case)
    assert observation.input_probes is None
    assert table is None
    assert len(observation.samples) == 5


def test_known_probes_are_not_computed_again(toy_case, monkeypatch):
    """A run in which nothing changed sketches nothing, and writes the same bytes."""
    first, _, golden = observe(toy_case)
    known = read_known_probes(toy_case.root / "run", golden)
    assert len(known.rows) == 5

    def refuse(value, *, n_buckets):
        raise AssertionError("sketched again")

    monkeypatch.setattr(input_probes, "probe_sample", refuse)
    again, _, _ = observe(toy_case, "again", known=known)
    assert again.input_probes == first.input_probes


def test_only_samples_that_changed_are_sketched(toy_case, monkeypatch):
    """One of five; its row is the new one, the others' are taken over."""
    _, before, golden = observe(toy_case)
    known = read_known_probes(toy_case.root / "run", golden)
    toy_case.write(
        "data.py", "import numpy as np\ndef prepare(x):\n    return x + np.float32(1) * (x[0] == 6)\n"
    )
    sketched = []
    original = input_probes.probe_sample

    def count(value, *, n_buckets):
        sketched.append(np.asarray(value).tolist())
        return original(value, n_buckets=n_buckets)

    monkeypatch.setattr(input_probes, "probe_sample", count)
    _, after, _ = observe(toy_case, "again", known=known, preprocess="data:prepare")
    assert sketched == [[7.0, 8.0, 9.0]]
    moved = [not np.array_equal(one, other) for one, other in zip(before, after, strict=True)]
    assert moved == [False, False, True, False, False]


def test_known_probes_of_another_width_are_not_taken_over(toy_case, monkeypatch):
    """A golden of more samples has narrower rows."""
    monkeypatch.setattr(input_probes, "MAX_BYTES", 1000)
    observation, _, golden = observe(toy_case)
    assert observation.input_probes.n_columns == 18
    known = read_known_probes(toy_case.root / "run", golden)
    monkeypatch.undo()
    observation, table, _ = observe(toy_case, "again", known=known)
    assert observation.input_probes.n_columns == 258
    assert all(is_known(row) for row in table)


def test_golden_without_probes_knows_nothing(toy_case):
    """No golden, or one from before there were probes."""
    observation = toy_case.observe()
    golden = Golden(observation=observation, accepted=Acceptance(date="", reason=""), profiles={})
    assert read_known_probes(toy_case.folder, golden).rows == {}
    assert read_known_probes(toy_case.folder, None).rows == {}


def test_table_that_is_gone_is_an_error(toy_case):
    """Not a reason to sketch again in silence: the golden is damaged."""
    observation, _, golden = observe(toy_case)
    (toy_case.root / "run" / observation.input_probes.file.file).unlink()
    with pytest.raises(GoldenError, match=r"trace\.inputs"):
        read_known_probes(toy_case.root / "run", golden)


def test_overwritten_inputs_are_unknown(toy_case):
    """A buffer used again holds the last sample of the batch: what was sketched was never fed."""
    toy_case.write(
        "data.py",
        """
        import numpy as np

        BUFFER = np.zeros(3, np.float32)

        def prepare(x):
            BUFFER[:] = x
            return BUFFER
        """,
    )
    observation, table, golden = observe(toy_case, preprocess="data:prepare")
    assert [is_known(row) for row in table] == [False, True, False, True, True]
    assert [bool(form) for form in observation.input_probes.forms] == [False, True, False, True, True]
    # Samples 0 and 1 hold the same bytes by now, so that they have one digest, whose row is known.
    assert len(read_known_probes(toy_case.root / "run", golden).rows) == 3


def test_replayed_inputs_have_the_same_probes(torch_case):
    """A case that takes another one's inputs records the same table."""
    from pytest_modelreg.observe import SharedWork

    shared = SharedWork(torch_case.root / "shared")
    specs = [torch_case.spec(variant=name) for name in ("reference", "own")]
    shared.expect(specs)
    made = [
        observe_case(spec, torch_case.root / spec.variant, shared=shared, known=KnownProbes()).input_probes
        for spec in specs
    ]
    shared.close()
    assert made[0] is not None
    assert made[0] == made[1]
