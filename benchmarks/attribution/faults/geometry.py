"""Another part of the photo, other proportions, a grid that is moved."""

from __future__ import annotations

from benchmarks.attribution.faults.planting import add_stage, edit_pipeline, replace_texts

KIND = "preprocess.geometry"
PHOTOS = "image.resize((SIDE_PX, SIDE_PX), Image.Resampling.BICUBIC)"
PAD = "ImageOps.pad(image, (SIDE_PX, SIDE_PX), Image.Resampling.BICUBIC)"
STAGED_CROP = "CenterCrop(96)"
TENSORS = "levels = F.resize(levels, [SIDE_PX, SIDE_PX], F.InterpolationMode.BILINEAR, antialias=True)"
SHORT_SIDE = "F.resize(levels, [{0}], F.InterpolationMode.BILINEAR, antialias=True)"


def _crop(top: int, left: int) -> str:
    return (
        f'def stage(image):\n    """Crop."""\n'
        f"    left, top = (image.width - 96) // 2 + {left}, (image.height - 96) // 2 + {top}\n"
        f"    return image.crop((left, top, left + 96, top + 96))"
    )


FAULTS = (
    edit_pipeline("photos-letterbox", KIND, PHOTOS, PAD),
    edit_pipeline(
        "photos-cropped", KIND, PHOTOS, "ImageOps.fit(image, (SIDE_PX, SIDE_PX), Image.Resampling.BICUBIC)"
    ),
    edit_pipeline(
        "photos-shifted", KIND, "Resampling.BICUBIC)", "Resampling.BICUBIC, box=(2, 2, *image.size))"
    ),
    edit_pipeline(
        "photos-enlarged-and-cropped",
        KIND,
        PHOTOS,
        "image.resize((240, 240), Image.Resampling.BICUBIC).crop((8, 8, 8 + SIDE_PX, 8 + SIDE_PX))",
    ),
    edit_pipeline(
        "photos-crop-off-by-one",
        KIND,
        "crop((8, 8, 8 + SIDE_PX, 8 + SIDE_PX))",
        "crop((9, 8, 9 + SIDE_PX, 8 + SIDE_PX))",
        before=replace_texts(
            "pipeline.py",
            PHOTOS,
            "image.resize((240, 240), Image.Resampling.BICUBIC).crop((8, 8, 8 + SIDE_PX, 8 + SIDE_PX))",
        ),
    ),
    edit_pipeline(
        "photos-pad-value",
        KIND,
        PAD,
        PAD[:-1] + ", color=(127, 127, 127))",
        before=replace_texts("pipeline.py", PHOTOS, PAD),
    ),
    edit_pipeline(
        "photos-squash-for-letterbox", KIND, PAD, PHOTOS, before=replace_texts("pipeline.py", PHOTOS, PAD)
    ),
    edit_pipeline("photos-smaller", KIND, "SIDE_PX = 224", "SIDE_PX = 192"),
    edit_pipeline("tensors-larger", KIND, "SIDE_PX = 96", "SIDE_PX = 112"),
    edit_pipeline(
        "tensors-cropped",
        KIND,
        TENSORS,
        f"levels = F.center_crop({SHORT_SIDE.format('SIDE_PX')}, [SIDE_PX, SIDE_PX])",
    ),
    edit_pipeline("tensors-rolled", KIND, TENSORS, TENSORS + "\n    levels = levels.roll(1, 2)"),
    edit_pipeline("tensors-margin", KIND, TENSORS, TENSORS.replace("levels, [", "levels[:, 3:-3, 3:-3], [")),
    edit_pipeline(
        "tensors-crop-off-by-one",
        KIND,
        "levels[:, 4:100, 4:100]",
        "levels[:, 5:101, 4:100]",
        before=replace_texts(
            "pipeline.py",
            TENSORS,
            TENSORS.replace("[SIDE_PX, SIDE_PX]", "[104, 104]") + "\n    levels = levels[:, 4:100, 4:100]",
        ),
    ),
    edit_pipeline("staged-larger-before-crop", KIND, "Resize(112, ", "Resize(120, "),
    edit_pipeline("staged-squashed", KIND, "Resize(112, ", "Resize((112, 112), "),
    edit_pipeline(
        "staged-crop-off-by-one", KIND, *add_stage(_crop(1, 0), STAGED_CROP), f"        {STAGED_CROP},\n", ""
    ),
    edit_pipeline(
        "staged-top-left",
        KIND,
        *add_stage('def stage(image):\n    """Crop."""\n    return image.crop((0, 0, 96, 96))', STAGED_CROP),
        f"        {STAGED_CROP},\n",
        "",
    ),
    edit_pipeline("staged-smaller-crop", KIND, STAGED_CROP, "CenterCrop(88)"),
    edit_pipeline(
        "staged-rotated",
        KIND,
        *add_stage(
            "def stage(image):\n"
            '    """Turn by two degrees."""\n'
            "    return image.rotate(2.0, Image.Resampling.BILINEAR)",
            "ToTensor()",
        ),
    ),
)
