"""Photos read in another way: orientation, palette, bit depth, colour mode, transparency, quality."""

from __future__ import annotations

from benchmarks.attribution.edits import Append, Replace
from benchmarks.attribution.faults.planting import edit_pipeline, plant, replace_texts

KIND = "preprocess.decode"
EXIF = ("edge-exif-orient3", "edge-exif-orient6")
DEEP = ("edge-16bit-gray",)
LOSSY = "what was lost on the way cannot be computed from the photo by any of the named transforms"
UPRIGHT = "    image = ImageOps.exif_transpose(image)\n"
SHIFT = "(np.asarray(image) >> 8)"
STAGED_RGB = 'return image.convert("RGB")'
OVER_WHITE = """if image.mode in ("LA", "PA", "RGBA"):
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA"))
    image = image.convert("RGB")"""
LOADER = '''"""A loader of its own."""

import io
from pathlib import Path

from PIL import Image


def load(path: Path) -> Image.Image:
    """Decode, a JPEG through a smaller scale."""
    image = Image.open(io.BytesIO(path.read_bytes()))
    image.draft(image.mode, (96, 96))
    image.load()
    return image
'''
AS_JPEG = '''def recompress(image: Image.Image) -> Image.Image:
    """Return what an upload leaves of a photo."""
    import io

    file = io.BytesIO()
    image.save(file, "JPEG", quality=70)
    return Image.open(file)


def '''

FAULTS = (
    edit_pipeline("photos-exif-ignored", KIND, UPRIGHT, "", affected=EXIF),
    edit_pipeline(
        "staged-exif-applied",
        KIND,
        "from PIL import Image",
        "from PIL import Image, ImageOps",
        '    if image.mode.startswith("I;16"):',
        '    image = ImageOps.exif_transpose(image)\n    if image.mode.startswith("I;16"):',
        affected=EXIF,
    ),
    edit_pipeline(
        "tensors-exif-applied",
        KIND,
        "from PIL import Image",
        "from PIL import Image, ImageOps",
        '    if image.mode.startswith("I;16"):',
        '    image = ImageOps.exif_transpose(image)\n    if image.mode.startswith("I;16"):',
        affected=EXIF,
    ),
    edit_pipeline(
        "photos-palette-resized",
        KIND,
        '    if "transparency" in image.info:\n',
        '    if image.mode == "P":\n'
        "        image = image.resize((SIDE_PX, SIDE_PX), Image.Resampling.BICUBIC)\n"
        '    if "transparency" in image.info:\n',
        affected=("edge-palette-trns",),
        also=("preprocess.interpolation",),
        why="Pillow resizes a palette by nearest: it was decoded late and therefore interpolated otherwise",
    ),
    edit_pipeline(
        "photos-16-bit-clipped",
        KIND,
        '    if image.mode.startswith("I;16"):\n'
        "        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))\n",
        "",
        affected=DEEP,
    ),
    edit_pipeline(
        "tensors-16-bit-as-12",
        KIND,
        "(np.asarray(image) / 257).round()",
        "(np.asarray(image) / 16).clip(0, 255)",
        affected=DEEP,
    ),
    edit_pipeline("staged-16-bit-clipped", KIND, SHIFT, "np.asarray(image).clip(0, 255)", affected=DEEP),
    edit_pipeline(
        "photos-grey",
        KIND,
        '    image = image.convert("RGB")\n',
        '    image = image.convert("L").convert("RGB")\n',
    ),
    edit_pipeline("staged-grey", KIND, STAGED_RGB, 'return image.convert("L").convert("RGB")'),
    edit_pipeline(
        "photos-over-white",
        KIND,
        'image = image.convert("RGB")',
        OVER_WHITE,
        affected=("edge-la", "edge-palette-trns", "edge-rgba"),
    ),
    edit_pipeline(
        "tensors-over-black",
        KIND,
        'image = image.convert("RGBA").convert("RGB")',
        'layer = image.convert("RGBA")\n'
        '    image = Image.alpha_composite(Image.new("RGBA", layer.size, "black"), '
        'layer).convert("RGB")',
        affected=("edge-la", "edge-palette-trns", "edge-rgba"),
    ),
    edit_pipeline(
        "photos-inks-inverted",
        KIND,
        "Image, ImageOps",
        "Image, ImageChops, ImageOps",
        '    image = image.convert("RGB")\n',
        '    if image.mode == "CMYK":\n'
        "        image = ImageChops.invert(image)\n"
        '    image = image.convert("RGB")\n',
        affected=("edge-cmyk",),
    ),
    edit_pipeline(
        "staged-recompressed",
        KIND,
        "def ",
        AS_JPEG,
        STAGED_RGB,
        f"return recompress({STAGED_RGB.removeprefix('return ')})",
        also=("preprocess.other",),
        why=LOSSY,
    ),
    plant(
        "tensors-scaled-jpeg",
        KIND,
        Append("loading.py", LOADER),
        Replace("modelreg.yaml", "loader: image", 'loader: "loading:load"'),
        also=("preprocess.other",),
        why=LOSSY,
    ),
    edit_pipeline(
        "staged-palette-quantised",
        KIND,
        STAGED_RGB,
        'return image.convert("RGB").convert("P", palette=Image.Palette.ADAPTIVE, colors=64).convert("RGB")',
        also=("preprocess.other",),
        why=LOSSY,
    ),
    edit_pipeline(
        "photos-luminance-and-chroma",
        KIND,
        '    image = image.convert("RGB")\n',
        '    image = image.convert("YCbCr")\n',
    ),
    edit_pipeline(
        "tensors-exif-ignored",
        KIND,
        "    image = ImageOps.exif_transpose(image)\n",
        "",
        affected=EXIF,
        before=replace_texts(
            "pipeline.py",
            "from PIL import Image",
            "from PIL import Image, ImageOps",
            '    if image.mode.startswith("I;16"):',
            '    image = ImageOps.exif_transpose(image)\n    if image.mode.startswith("I;16"):',
        ),
    ),
)
