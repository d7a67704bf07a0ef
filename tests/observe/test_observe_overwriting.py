"""Inputs that share memory: only those that were written to since are found."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.domain.observation import ObservedSample
from pytest_modelreg.observe.input_source import PreparedSample
from pytest_modelreg.observe.inputs import digest_sample
from pytest_modelreg.observe.overwriting import find_overwritten

torch = pytest.importorskip("torch")


def prepare(*values):
    """Return prepared samples with the digests of now."""
    return [
        PreparedSample(
            observed=ObservedSample(id=str(index), sha256="", input_digest=digest_sample(value)), value=value
        )
        for index, value in enumerate(values)
    ]


@pytest.mark.parametrize("make", [np.zeros, torch.zeros])
def test_a_shared_buffer_that_was_written_is_found(make):
    """The samples before the last hold what the last one is, with its digest."""
    buffer = make(4)
    samples = [*prepare(buffer), *prepare(make(4))]
    buffer[:] = 7
    samples += prepare(buffer)
    assert find_overwritten(samples) == {0: digest_sample(buffer)}


def test_windows_of_one_buffer_that_overlap_are_found():
    """A ring buffer whose windows reach into each other; also seen backwards."""
    ring = np.zeros(10)
    samples = prepare(ring[0:6])
    ring[4:] = 1
    samples += prepare(ring[9:3:-1])
    assert list(find_overwritten(samples)) == [0]


def test_one_long_input_around_several_short_ones_is_found():
    """The overlap need not be with the neighbour in memory."""
    ring = np.zeros(12)
    samples = prepare(ring, ring[2:3], ring[5:6])
    ring[5] = 1
    assert sorted(find_overwritten(samples)) == [0, 2]


def test_shared_memory_that_nobody_wrote_is_no_fault():
    """Just inside: constants, neighbours in one buffer, empty inputs."""
    table = torch.arange(4.0)
    ring = np.zeros(8)
    samples = prepare((table, ring[:4]), (table, ring[4:]), np.empty(0), {"x": [1, "a", None]})
    assert find_overwritten(samples) == {}


def test_one_sample_is_never_overwritten():
    """In a batch of one the buffer is used before it is filled again."""
    buffer = np.zeros(2)
    samples = prepare(buffer)
    buffer[:] = 1
    assert find_overwritten(samples) == {}
