"""From tensors to arrays: values, shape and the true dtype survive."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_modelreg.domain.errors import OutputError
from pytest_modelreg.observe.arrays import is_tensor, read_shape, to_array

torch = pytest.importorskip("torch")

FLOATS = ["float64", "float32", "float16"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8", "bool"]
DTYPES = [*FLOATS, *INTEGERS, "complex64", "complex128"]


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_that_numpy_has_keep_their_name_and_values(name):
    """The common name is the same for a tensor and an array."""
    tensor = torch.tensor([[0, 1], [2, 3]]).to(getattr(torch, name))
    array, dtype = to_array(tensor)
    assert dtype == name == to_array(array)[1]
    np.testing.assert_array_equal(array, tensor.numpy())


def test_bfloat16_travels_as_its_bits():
    """numpy has no bfloat16: its 16 bits are kept, and its true name."""
    tensor = torch.tensor([[1.0, -2.5], [float("nan"), float("inf")]], dtype=torch.bfloat16)
    array, dtype = to_array(tensor.t())
    assert (dtype, array.dtype, array.shape) == ("bfloat16", np.uint16, (2, 2))
    np.testing.assert_array_equal(array, tensor.t().float().numpy().view(np.uint32) >> 16)


@pytest.mark.parametrize("name", [name for name in ("float8_e4m3fn", "float8_e5m2") if hasattr(torch, name)])
def test_float8_travels_as_its_bits(name):
    """One byte an element, the true name beside it."""
    tensor = torch.tensor([1.0, 2.0]).to(getattr(torch, name))
    array, dtype = to_array(tensor)
    assert (dtype, array.dtype) == (name, np.uint8)
    assert torch.from_numpy(array.copy()).view(tensor.dtype).float().tolist() == [1.0, 2.0]


def test_ml_dtypes_arrays_travel_as_their_bits():
    """Other frameworks hand bfloat16 to numpy as an extension dtype."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array, dtype = to_array(np.array([1.0], dtype=ml_dtypes.bfloat16))
    assert (dtype, array.dtype, int(array[0])) == ("bfloat16", np.uint16, 0x3F80)


def test_gradient_conjugate_and_negation_bits_are_resolved():
    """Lazy views of torch must arrive with their values."""
    leaf = torch.ones(2, requires_grad=True) * 2
    assert to_array(leaf)[0].tolist() == [2.0, 2.0]
    complex_tensor = torch.tensor([1 + 2j])
    assert to_array(complex_tensor.conj())[0].tolist() == [1 - 2j]
    assert to_array(complex_tensor.conj().imag)[0].tolist() == [-2.0]


def test_inference_tensors_are_read():
    """What the eager runtime returns can be converted outside inference mode."""
    with torch.inference_mode():
        tensors = [torch.ones(2, 2, dtype=dtype) for dtype in (torch.float32, torch.bfloat16)]
    assert [to_array(tensor)[1] for tensor in tensors] == ["float32", "bfloat16"]


def test_non_contiguous_zero_dimensional_and_empty():
    """Layout and size make no difference."""
    assert to_array(torch.arange(6).reshape(2, 3).t())[0].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert to_array(torch.tensor(3.0, dtype=torch.bfloat16))[0].shape == ()
    assert to_array(torch.zeros(0, 4))[0].shape == (0, 4)


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_sparse_becomes_dense_and_quantised_is_dequantised():
    """Values are judged, not their storage."""
    assert to_array(torch.eye(2).to_sparse())[0].tolist() == [[1, 0], [0, 1]]
    quantised = torch.quantize_per_tensor(torch.tensor([0.5, 1.0]), 0.5, 0, torch.qint8)
    array, dtype = to_array(quantised)
    assert (array.tolist(), dtype) == ([0.5, 1.0], "float32")


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_tensors_without_values_are_refused():
    """Meta and nested tensors, of either layout, say what they are."""
    parts = [torch.ones(2), torch.ones(3)]
    with pytest.raises(OutputError, match="a meta tensor has no values"):
        to_array(torch.empty(2, device="meta"))
    for layout in (torch.strided, torch.jagged):
        nested = torch.nested.nested_tensor(parts, layout=layout)
        assert read_shape(nested) is None
        with pytest.raises(OutputError, match="a nested tensor cannot be recorded"):
            to_array(nested)


def test_array_that_cannot_be_read_is_refused():
    """What another framework raises is a fault of the value, not of ours."""

    class Broken:
        dtype = "float32"

        def __array__(self, dtype=None, copy=None):
            raise BufferError("gone")

    with pytest.raises(OutputError, match=r"Broken cannot be made an array: BufferError: gone"):
        to_array(Broken())


def test_python_numbers_and_foreign_arrays():
    """A number is a 0-d array; anything with __array__ is read through it."""

    class Foreign:
        dtype = "float32"

        def __array__(self, dtype=None, copy=None):
            return np.ones(2, np.float32)

    assert to_array(1.5)[0].shape == ()
    assert to_array(True)[1] == "bool"
    assert to_array(Foreign())[1] == "float32"


def test_foreign_byte_order_becomes_native():
    """'>f4' is float32 by name; its values must be too."""
    array, dtype = to_array(np.array([1.0, 2.0], dtype=">f4"))
    assert (dtype, array.dtype.isnative, array.tolist()) == ("float32", True, [1.0, 2.0])


@pytest.mark.parametrize(
    "value",
    [
        np.array([{}], dtype=object),
        np.array(["a"]),
        np.array(["2024-01-01"], dtype="datetime64[D]"),
        np.ma.masked_array([1.0], mask=[True]),
    ],
    ids=["object", "text", "date", "masked"],
)
def test_what_is_no_number_is_refused(value):
    """An array of objects would be a pickle; a mask would be lost."""
    with pytest.raises(OutputError):
        to_array(value)


@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_a_tensor_dtype_that_no_file_can_hold_is_refused():
    """Half-precision complex has no counterpart in numpy."""
    with pytest.raises(OutputError, match="complex32 cannot be recorded"):
        to_array(torch.zeros(2, dtype=torch.complex32))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [name for name in ("strided", "jagged") if hasattr(torch, name)])
def test_nested_tensor_is_refused_with_a_way_out(layout):
    """A nested tensor has no shape: the list of its parts does."""
    options = {"layout": torch.jagged} if layout == "jagged" else {}
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], **options)
    with pytest.raises(OutputError, match="unbind"):
        to_array(nested)


def test_is_tensor_is_false_for_arrays():
    """The question is asked of everything a model returns."""
    assert is_tensor(torch.ones(1))
    assert not is_tensor(np.ones(1))
