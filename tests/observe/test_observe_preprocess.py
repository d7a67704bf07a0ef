"""Preprocessing one sample: stages, no stage, and what goes wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pytest_modelreg.domain.errors import PreprocessError
from pytest_modelreg.observe.preprocess import Preprocess

torch = pytest.importorskip("torch")


def apply(found, sample, to_tensors=False):
    """Preprocess the sample cat."""
    return Preprocess(found, reference="m:prep", to_tensors=to_tensors)(sample, sample_id="cat")


def test_a_callable_is_applied():
    """One loaded sample goes in, the model input comes out."""
    assert apply(lambda x: x + 1, np.ones(2)).tolist() == [2, 2]


def test_stages_of_a_list_are_applied_in_order():
    """A list of callables is a pipeline."""
    assert apply([lambda x: x + 1, lambda x: x * 10], np.ones(1)).tolist() == [20]


def test_without_preprocess_the_sample_is_the_input():
    """Arrays as they are, JSON numbers as the arrays they spell, text as text."""
    assert apply(None, np.ones(2)).tolist() == [1, 1]
    assert apply(None, [[1, 2], [3, 4]]).shape == (2, 2)
    assert apply(None, {"x": [1.5]})["x"].dtype == np.float64
    assert apply(None, {"x": [1.5]}, to_tensors=True)["x"].dtype == torch.get_default_dtype()
    assert apply(None, 3).shape == ()
    assert apply(None, "words") == "words"


def test_without_preprocess_a_path_or_image_is_refused():
    """A file name is no input: its content would be outside the digest."""
    with pytest.raises(PreprocessError, match=r"sample 'cat' \(no preprocess\).*Path"):
        apply(None, Path("x.jpg"))
    image = pytest.importorskip("PIL.Image").new("L", (2, 2))
    with pytest.raises(PreprocessError, match="Pillow image"):
        apply(None, image)


def test_what_is_no_input_is_named_with_sample_and_reference():
    """preprocess returned the image unchanged."""
    image = pytest.importorskip("PIL.Image").new("L", (2, 2))
    with pytest.raises(PreprocessError, match=r"sample 'cat': preprocess 'm:prep': a Pillow image"):
        apply(lambda x: x, image)


def test_an_exception_names_sample_reference_and_line():
    """The user finds the line in their own file."""

    def broken(sample):
        raise TypeError("mode P")

    with pytest.raises(
        PreprocessError, match=rf"'cat'.*'m:prep'.*TypeError: mode P.*{Path(__file__).name}:\d+"
    ):
        apply(broken, 1)


def test_arrays_become_tensors_for_a_module():
    """A numpy pipeline feeds a torch model."""
    assert torch.is_tensor(apply(lambda x: x, np.ones(2), to_tensors=True))


def test_transform_modules_are_put_in_eval_for_the_case_only(torch_case):
    """torchvision's transforms are modules: a dropout among them must not be random."""
    torch_case.write(
        "prep.py",
        """
        import torch

        noise = torch.nn.Dropout(0.5)
        stages = [torch.from_numpy, noise]

        def training():
            return noise.training
        """,
    )
    torch_case.write("model.py", "import torch\n\ndef build():\n    return torch.nn.Identity()\n")
    observation = torch_case.observe(preprocess="prep:stages")
    rows = np.stack(torch_case.rows(observation, "output"))
    np.testing.assert_array_equal(rows, np.arange(15, dtype=np.float32).reshape(5, 3))
    torch_case.write(
        "model.py", "import torch, prep\n\ndef build():\n    assert prep.training()\n    return abs\n"
    )
    torch_case.observe(preprocess="prep:stages")


def test_none_is_a_forgotten_return():
    """A model may well answer something to nothing: sample, reference and stage are named."""
    with pytest.raises(
        PreprocessError, match=r"'cat': preprocess 'm:prep' returned None: is a `return` missing\?"
    ):
        apply(lambda x: None, 1)
    with pytest.raises(PreprocessError, match=r"'m:prep': stage 2 \(\S+\) returned None"):
        apply([lambda x: x, lambda x: None, lambda x: 1], 1)


def test_a_stage_that_raises_is_named():
    """By number and name, as one that returns nothing is; a single callable has no number."""

    def boom(x):
        raise ValueError("broke")

    with pytest.raises(PreprocessError, match=r"'m:prep': stage 2 \(\S*boom\) raised ValueError: broke"):
        apply([lambda x: x, boom], 1)
    with pytest.raises(PreprocessError, match=r"'m:prep': stage 1 \(\S*boom\) raised ValueError: broke"):
        apply([boom], 1)
    with pytest.raises(PreprocessError, match=r"'m:prep' raised ValueError: broke"):
        apply(boom, 1)


def test_none_inside_a_structure_stays():
    """Just inside: an optional input that a sample does not have."""
    assert apply(lambda x: {"image": x, "mask": None}, np.ones(1))["mask"] is None
