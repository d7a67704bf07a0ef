"""Points of every sample: gathered while a case runs, and a golden's part of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_modelreg.domain.observation import ObservedSample
from pytest_modelreg.domain.trace import InputPoints
from pytest_modelreg.observe import KnownProbes, keep_points, list_points, observe_case
from pytest_modelreg.observe.input_source import PreparedSample
from pytest_modelreg.observe.tracing.input_points import PointGatherer, count_numbers
from pytest_modelreg.trace import N_STATISTICS, list_places, seed_points


def gather(folder: Path, *values: Any) -> InputPoints:
    """Return points of samples s0, s1 and so on."""
    gatherer = PointGatherer(len(values))
    for number, value in enumerate(values):
        observed = ObservedSample(id=f"s{number}", sha256="0" * 64, input_digest=None)
        gatherer.add(PreparedSample(observed=observed, value=value))
    points = gatherer.write(folder)
    assert points is not None
    return points


def picture(seed: int, *shape: int) -> Any:
    """Return random numbers."""
    return np.random.default_rng(seed).normal(size=shape or (3, 40, 50)).astype(np.float32)


def test_inputs_of_any_structure_and_size_are_read(tmp_path: Path) -> None:
    """Mappings, tuples, ragged sizes; words are left out, and every number lies where its form says."""
    first = {"x": picture(0), "more": (np.arange(5), "a word")}
    points = gather(tmp_path, first, picture(1, 7, 30, 3), picture(2, 300))
    assert points.samples == ("s0", "s1", "s2")
    assert [[leaf.path for leaf in points.forms[index]] for index in points.form_of] == [
        ["more.0", "x"],
        [""],
        [""],
    ]
    entries = list(list_points(tmp_path, points))
    assert [numbers.size for _, _, numbers in entries] == [5 + 4 + 3 * (85 + 4), 3 * (85 + 4), 256 + 4]
    _, form, numbers = entries[0]
    np.testing.assert_array_equal(numbers[:5], np.arange(5))
    start = count_numbers(form[0])
    places = list_places(2000, 85, seed_points("s0"))
    found = numbers[start : start + 3 * 85].reshape(3, 85)
    np.testing.assert_array_equal(found, first["x"].reshape(3, -1)[:, places])


def test_samples_of_words_alone_have_none(tmp_path: Path) -> None:
    """Nothing is written where there is no number."""
    gatherer = PointGatherer(1)
    observed = ObservedSample(id="s", sha256="0" * 64, input_digest=None)
    gatherer.add(PreparedSample(observed=observed, value="text"))
    assert gatherer.write(tmp_path) is None
    assert not list(tmp_path.iterdir())


def test_what_was_overwritten_is_forgotten(tmp_path: Path) -> None:
    """The model was fed something else."""
    gatherer = PointGatherer(2)
    for name in ("a", "b"):
        observed = ObservedSample(id=name, sha256="0" * 64, input_digest=None)
        gatherer.add(PreparedSample(observed=observed, value=picture(0)))
    gatherer.forget(["a", "never seen"])
    points = gatherer.write(tmp_path)
    assert points is not None
    assert points.samples == ("b",)


def test_a_golden_keeps_those_of_samples_that_it_does_not_keep_whole(tmp_path: Path) -> None:
    """Exact inputs need no points."""
    points = gather(tmp_path, *(picture(seed) for seed in range(4)))
    kept = keep_points(tmp_path, points, without={"s1", "s3"}, max_bytes=10**6)
    assert kept is not None
    assert kept.samples == ("s0", "s2")
    assert keep_points(tmp_path, points, without=points.samples, max_bytes=10**6) is None


@pytest.mark.parametrize("n_places", [42, 21, 10])
def test_where_there_is_little_room_each_sample_has_fewer(tmp_path: Path, n_places: int) -> None:
    """The first places of more, with the statistics of the whole."""
    pictures = [picture(seed) for seed in range(4)]
    points = gather(tmp_path, *pictures)
    room = 4 * 3 * (n_places + N_STATISTICS) * 8
    kept = keep_points(tmp_path, points, without=(), max_bytes=room)
    assert kept is not None
    assert kept.samples == points.samples
    assert kept.n_numbers * 8 <= room
    before = {name: numbers for name, _, numbers in list_points(tmp_path, points)}
    for name, form, numbers in list_points(tmp_path, kept):
        assert form[0].n_places == n_places
        values = numbers[: 3 * n_places].reshape(3, n_places)
        np.testing.assert_array_equal(values, before[name][: 3 * 85].reshape(3, 85)[:, :n_places])
        np.testing.assert_array_equal(numbers[3 * n_places :], before[name][3 * 85 :])


def test_where_there_is_less_some_samples_have_none(tmp_path: Path) -> None:
    """They are spread over the set, and the file is never larger than it may be."""
    points = gather(tmp_path, *(picture(seed) for seed in range(9)))
    room = 3 * 3 * (10 + N_STATISTICS) * 8
    kept = keep_points(tmp_path, points, without=(), max_bytes=room)
    assert kept is not None
    assert kept.samples == ("s0", "s4", "s8")
    assert keep_points(tmp_path, points, without=(), max_bytes=100) is None
    assert keep_points(tmp_path, points, without=(), max_bytes=-1.0) is None


def test_short_inputs_that_are_thinned_keep_places_that_can_be_found_again(tmp_path: Path) -> None:
    """All of a short input lies in order; fewer of it lie as they are drawn."""
    values = np.arange(200.0)
    points = gather(tmp_path, values)
    kept = keep_points(tmp_path, points, without=(), max_bytes=(128 + N_STATISTICS) * 8)
    assert kept is not None
    ((_, form, numbers),) = list_points(tmp_path, kept)
    places = list_places(200, form[0].n_places, seed_points("s0"))
    np.testing.assert_array_equal(numbers[: form[0].n_places], values[places])


def test_points_are_gathered_where_a_golden_may_be_recorded(toy_case: Any) -> None:
    """No sample is prepared twice for them, and a plain run of a variant leaves none."""
    observation = observe_case(toy_case.spec(), toy_case.root / "run", known=KnownProbes())
    assert observation.input_points is not None
    assert len(observation.input_points.samples) == len(observation.samples)
    assert toy_case.observe().input_points is None
