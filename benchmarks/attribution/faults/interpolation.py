"""Photos resized by another filter, or by another implementation of the same filter."""

from __future__ import annotations

from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults.planting import edit_pipeline, replace_texts

KIND = "preprocess.interpolation"
PHOTOS = "image.resize((SIDE_PX, SIDE_PX), Image.Resampling.BICUBIC)"
STAGED = "Resize(112, InterpolationMode.BILINEAR)"
TENSORS = "levels = F.resize(levels, [SIDE_PX, SIDE_PX], F.InterpolationMode.BILINEAR, antialias=True)"
AS_TENSOR = (
    "levels = np.asarray(image, dtype=np.float32)\n",
    "levels = resize_levels(image).permute(1, 2, 0).numpy().astype(np.float32)\n",
)
TENSOR_RESIZE = """def resize_levels(image: Image.Image) -> torch.Tensor:
    from torchvision.transforms.v2 import functional as F

    levels = F.pil_to_tensor(image){cast}
    return F.resize(levels, [SIDE_PX, SIDE_PX], F.InterpolationMode.BICUBIC, antialias={antialias}){back}


def prepare("""
TENSOR_FIRST = (
    "        Resize(112, InterpolationMode.BILINEAR),\n        CenterCrop(96),\n        ToTensor(),\n",
    "        ToTensor(),\n"
    "        Resize(112, InterpolationMode.BILINEAR, antialias=True),\n"
    "        CenterCrop(96),\n",
)
ROUNDING = "the filter is the same, what differs is the rounding of its result: no word of the vocabulary"


def _resize_as_tensor(name: str, antialias: bool, cast: str = "", back: str = "") -> Fault:
    code = TENSOR_RESIZE.format(antialias=antialias, cast=cast, back=back)
    texts = ("def prepare(", code, f"    image = {PHOTOS}\n", "", *AS_TENSOR)
    return edit_pipeline(name, KIND, *texts)


FAULTS = (
    edit_pipeline("photos-nearest", KIND, "Resampling.BICUBIC", "Resampling.NEAREST"),
    edit_pipeline("photos-bilinear", KIND, "Resampling.BICUBIC", "Resampling.BILINEAR"),
    edit_pipeline("photos-lanczos", KIND, "Resampling.BICUBIC", "Resampling.LANCZOS"),
    edit_pipeline("photos-box", KIND, "Resampling.BICUBIC", "Resampling.BOX"),
    edit_pipeline(
        "photos-reducing-gap", KIND, "Resampling.BICUBIC)", "Resampling.BICUBIC, reducing_gap=1.0)"
    ),
    edit_pipeline(
        "photos-thumbnail-first",
        KIND,
        f"image = {PHOTOS}",
        f"image = image.resize((2 * SIDE_PX, 2 * SIDE_PX), Image.Resampling.BILINEAR)\n    image = {PHOTOS}",
    ),
    _resize_as_tensor("photos-tensor-resize", True),
    _resize_as_tensor("photos-tensor-no-antialias", False),
    _resize_as_tensor(
        "photos-float-resize",
        False,
        cast=".float()",
        back=".clamp(0, 255)",
    ),
    edit_pipeline("tensors-antialias-off", KIND, "antialias=True", "antialias=False"),
    edit_pipeline("tensors-bicubic", KIND, "InterpolationMode.BILINEAR", "InterpolationMode.BICUBIC"),
    edit_pipeline("tensors-nearest", KIND, "InterpolationMode.BILINEAR", "InterpolationMode.NEAREST"),
    edit_pipeline(
        "tensors-nearest-exact", KIND, "InterpolationMode.BILINEAR", "InterpolationMode.NEAREST_EXACT"
    ),
    edit_pipeline(
        "tensors-pil-resize",
        KIND,
        TENSORS,
        "levels = F.pil_to_tensor(image.resize((SIDE_PX, SIDE_PX), Image.Resampling.BILINEAR))",
    ),
    edit_pipeline(
        "tensors-float-resize",
        KIND,
        "F.resize(levels, ",
        "F.resize(levels.float(), ",
        also=("preprocess.other",),
        why=ROUNDING,
    ),
    edit_pipeline(
        "tensors-corners-aligned",
        KIND,
        TENSORS,
        "levels = torch.nn.functional.interpolate(\n"
        '        levels[None].float(), (SIDE_PX, SIDE_PX), mode="bilinear", '
        "align_corners=True\n"
        "    )[0]",
        also=("preprocess.geometry",),
        why="aligned corners move where pixels are taken from, which is the grid as much as the filter",
    ),
    edit_pipeline("staged-nearest", KIND, "InterpolationMode.BILINEAR", "InterpolationMode.NEAREST"),
    edit_pipeline("staged-bicubic", KIND, "InterpolationMode.BILINEAR", "InterpolationMode.BICUBIC"),
    edit_pipeline("staged-lanczos", KIND, "InterpolationMode.BILINEAR", "InterpolationMode.LANCZOS"),
    edit_pipeline("staged-tensor-resize", KIND, *TENSOR_FIRST),
    edit_pipeline(
        "staged-antialias-off",
        KIND,
        "antialias=True",
        "antialias=False",
        before=replace_texts("pipeline.py", *TENSOR_FIRST),
    ),
    edit_pipeline(
        "staged-tensor-bicubic",
        KIND,
        "InterpolationMode.BILINEAR, antialias=True",
        "InterpolationMode.BICUBIC, antialias=True",
        before=replace_texts("pipeline.py", *TENSOR_FIRST),
    ),
)
