"""Axes in another order, or an axis run through backwards."""

from __future__ import annotations

from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults.planting import add_stage, edit_pipeline

KIND = "preprocess.layout"
TURN = "transpose(2, 0, 1)"
MIRRORED = "a mirrored photo is an axis run backwards and a transform"
AS_LISTED = "return torch.from_numpy(halved.astype(np.float32))"


def _mirror(name: str, *texts: str) -> Fault:
    return edit_pipeline(name, KIND, *texts, also=("preprocess.geometry",), why=MIRRORED)


FAULTS = (
    edit_pipeline("photos-channels-last", KIND, "values.transpose(2, 0, 1).copy()", "values"),
    edit_pipeline("photos-transposed", KIND, TURN, "transpose(2, 1, 0)"),
    edit_pipeline("photos-reshaped", KIND, TURN, "reshape(3, SIDE_PX, SIDE_PX)"),
    _mirror("photos-mirrored", TURN, "transpose(2, 0, 1)[..., ::-1]"),
    _mirror("photos-upside-down", TURN, "transpose(2, 0, 1)[:, ::-1]"),
    edit_pipeline(
        "tensors-channels-last",
        KIND,
        'return {"pixels": pixels}',
        'return {"pixels": pixels.permute(1, 2, 0)}',
    ),
    edit_pipeline(
        "tensors-transposed", KIND, 'return {"pixels": pixels}', 'return {"pixels": pixels.transpose(1, 2)}'
    ),
    _mirror("tensors-mirrored", 'return {"pixels": pixels}', 'return {"pixels": pixels.flip(2)}'),
    edit_pipeline(
        "tensors-viewed",
        KIND,
        'return {"pixels": pixels}',
        'return {"pixels": pixels.permute(1, 2, 0).reshape(pixels.shape)}',
    ),
    edit_pipeline(
        "staged-transposed",
        KIND,
        *add_stage(
            'def stage(pixels):\n    """Exchange height and width."""\n    return pixels.transpose(1, 2)',
            "Normalize(MEAN, STD)",
        ),
    ),
    _mirror(
        "staged-mirrored",
        "InterpolationMode, Normalize",
        "InterpolationMode, Normalize, RandomHorizontalFlip",
        "        CenterCrop(96),",
        "        CenterCrop(96),\n        RandomHorizontalFlip(1.0),",
    ),
    edit_pipeline(
        "staged-turned",
        KIND,
        *add_stage(
            "def stage(image):\n"
            '    """Turn by a right angle."""\n'
            "    return image.transpose(Image.Transpose.ROTATE_90)",
            "ToTensor()",
        ),
        also=("preprocess.geometry",),
        why="a right angle is axes exchanged and one run backwards, and a transform",
    ),
    edit_pipeline(
        "audio-time-first", KIND, AS_LISTED, "return torch.from_numpy(halved.T.astype(np.float32).copy())"
    ),
    edit_pipeline(
        "audio-interleaved",
        KIND,
        AS_LISTED,
        "return torch.from_numpy(halved.T.reshape(halved.shape).astype(np.float32))",
    ),
    edit_pipeline(
        "audio-backwards",
        KIND,
        AS_LISTED,
        "return torch.from_numpy(halved[:, ::-1].astype(np.float32))",
        also=("preprocess.geometry",),
        why="time run backwards is a mirrored axis",
    ),
)
