"""Changes of code and files that must not matter: the same thing in other words."""

from __future__ import annotations

from benchmarks.attribution.edits import Append, Change, Pin, Replace
from benchmarks.attribution.fault import BENIGN
from benchmarks.attribution.faults.planting import edit_network, edit_pipeline, edit_suite, plant

AS_FUNCTION = '''def pipeline(image: Image.Image):
    """Do what the stages did, in one function."""
    image = CenterCrop(96)(Resize(112, InterpolationMode.BILINEAR)(to_rgb(image)))
    return Normalize(MEAN, STD)(ToTensor()(image))
'''
STAGES = """pipeline = Compose(
    [
        to_rgb,
        Resize(112, InterpolationMode.BILINEAR),
        CenterCrop(96),
        ToTensor(),
        Normalize(MEAN, STD),
    ]
)
"""

FAULTS = (
    edit_pipeline(
        "photos-refactored",
        BENIGN,
        "values = (levels - 127.0) / 128.0",
        "values = (levels - np.float32(127)) * np.float32(2**-7)",
        "torch.from_numpy(values.transpose(2, 0, 1).copy())",
        "torch.from_numpy(np.ascontiguousarray(np.moveaxis(values, 2, 0)))",
    ),
    edit_pipeline(
        "photos-explicit-box", BENIGN, "Resampling.BICUBIC)", "Resampling.BICUBIC, box=(0, 0, *image.size))"
    ),
    edit_pipeline(
        "photos-renamed-variables",
        BENIGN,
        "levels = np.asarray(image, dtype=np.float32)",
        "grey_levels = np.asarray(image, dtype=np.float32)",
        "(levels - 127.0)",
        "(grey_levels - 127.0)",
    ),
    edit_pipeline(
        "tensors-refactored",
        BENIGN,
        "levels.float() / 255.0",
        "F.to_dtype(levels, torch.float32, scale=True)",
    ),
    edit_pipeline(
        "tensors-constants-merged",
        BENIGN,
        "    pixels = levels.float() / 255.0\n    pixels = (pixels - MEAN) / STD\n",
        "    pixels = (levels.float() - 255.0 * MEAN) / (255.0 * STD)\n",
    ),
    edit_pipeline("staged-one-function", BENIGN, STAGES, AS_FUNCTION),
    edit_pipeline(
        "staged-nested",
        BENIGN,
        "        ToTensor(),\n        Normalize(MEAN, STD),\n",
        "        Compose([ToTensor(), Normalize(MEAN, STD)]),\n",
    ),
    edit_pipeline(
        "audio-refactored",
        BENIGN,
        "halved - halved.mean(axis=1, keepdims=True)",
        "halved - np.add.reduce(halved, axis=1, keepdims=True) / halved.shape[1]",
    ),
    edit_pipeline(
        "table-refactored",
        BENIGN,
        "        if value is None:\n            value = mean\n        values.append((value - mean) / std)\n",
        "        values.append(0.0 if value is None else (value - mean) / std)\n",
    ),
    edit_pipeline(
        "tokens-split-by-pattern",
        BENIGN,
        "sentence.strip().lower().split()",
        '__import__("re").findall(r"\\w+", sentence.lower())',
    ),
    edit_network(
        "staged-refactored",
        BENIGN,
        "features + inner",
        "torch.add(inner, features)",
        "self.pool(features).flatten(1)",
        "features.mean(dim=(2, 3))",
    ),
    edit_network(
        "tokens-scaled-query",
        BENIGN,
        "query @ key.transpose(-1, -2) / (width // HEADS) ** 0.5",
        "(query * (width // HEADS) ** -0.5) @ key.transpose(-1, -2)",
    ),
    edit_network(
        "tokens-fused-attention",
        BENIGN,
        "mixed = (scores.softmax(-1) @ value)",
        "mixed = nn.functional.scaled_dot_product_attention(query, key, value, "
        "attn_mask=mask[:, None, None, :])",
    ),
    edit_network(
        "table-einsum",
        BENIGN,
        "return self.out(self.drop(hidden))",
        'return torch.einsum("rf,of->ro", self.drop(hidden), self.out.weight) + self.out.bias',
    ),
    edit_network("audio-linear-pooling", BENIGN, "frames.mean(-1)", "frames.sum(-1) / frames.shape[-1]"),
    plant("photos-weights-reordered", BENIGN, Change("reorder", "weights.pth")),
    plant("tensors-weights-reordered", BENIGN, Change("reorder", "weights.pt")),
    plant(
        "staged-weights-moved",
        BENIGN,
        Change("rename", "weights.safetensors", ("v1.safetensors",)),
        Replace("modelreg.yaml", "weights.safetensors", "v1.safetensors"),
    ),
    plant("staged-weights-prefixed", BENIGN, Change("prefix", "weights.safetensors", ("module.",))),
    plant(
        "photos-notes-beside",
        BENIGN,
        Append("pipeline.py", "\n# A remark.\n"),
        Append("notes.txt", "Nothing.\n"),
    ),
    plant(
        "audio-code-added",
        BENIGN,
        Append(
            "network.py",
            "\n"
            "\n"
            "def count(network: nn.Module) -> int:\n"
            '    """Count weights."""\n'
            "    return sum(p.numel() for p in network.parameters())\n",
        ),
    ),
    plant(
        "table-files-renamed",
        BENIGN,
        Change("rename", "samples/r03.json", ("row-three.json",)),
        Replace("samples/samples.csv", "r03,r03.json", "r03,row-three.json"),
    ),
    plant("tokens-pinned-again", BENIGN, Append("README.md", "A project.\n"), Pin()),
    edit_suite(
        "ranking-suite-reformatted",
        BENIGN,
        "samples: {folder: samples, loader: json}",
        "samples:\n  folder: samples\n  loader: json\ngolden: golden",
    ),
)
