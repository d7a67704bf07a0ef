"""Answers that are not the same twice: augmentations left in, random draws, state that is carried over."""

from __future__ import annotations

from benchmarks.attribution.fault import Fault
from benchmarks.attribution.faults.planting import add_stage, edit_network, edit_pipeline

KIND = "nondeterminism"
IN_PIPELINE = "what is fed depends on what was prepared before: it is not the same twice, and made otherwise"
IN_MODEL = (
    "no word of its own for state that a pass changes: answers depend on those before, by the model's code"
)
PIXELS = 'return {"pixels": pixels}'
JITTER = '''def stage(image):
    """Leave an augmentation in."""
    from torchvision.transforms import ColorJitter

    return ColorJitter(0.2)(image)'''


def _remember(name: str, *texts: str) -> Fault:
    return edit_pipeline(name, KIND, *texts, also=("preprocess.other",), why=IN_PIPELINE)


def _carry(name: str, *texts: str) -> Fault:
    return edit_network(name, KIND, *texts, also=("batch_dependence", "model.code"), why=IN_MODEL)


FAULTS = (
    edit_pipeline(
        "staged-random-crop",
        KIND,
        "import CenterCrop, ",
        "import ",
        "Normalize, Resize",
        "Normalize, RandomCrop, Resize",
        "        CenterCrop(96)",
        "        RandomCrop(96)",
    ),
    edit_pipeline(
        "staged-random-flip",
        KIND,
        "Normalize, Resize",
        "Normalize, RandomHorizontalFlip, Resize",
        "        CenterCrop(96),",
        "        CenterCrop(96),\n        RandomHorizontalFlip(),",
    ),
    edit_pipeline("staged-jitter", KIND, *add_stage(JITTER, "ToTensor()")),
    edit_pipeline(
        "tensors-noise", KIND, PIXELS, 'return {"pixels": pixels + 0.05 * torch.rand_like(pixels)}'
    ),
    edit_pipeline(
        "photos-shift",
        KIND,
        "levels = np.asarray(image, dtype=np.float32)",
        "levels = np.roll(np.asarray(image, dtype=np.float32), np.random.randint(1, 4), axis=0)",
    ),
    edit_pipeline(
        "photos-own-generator",
        KIND,
        "values = (levels - 127.0) / 128.0",
        "values = (levels - 127.0) / 128.0\n"
        "    values += np.random.default_rng().normal(0, 0.02, values.shape).astype(np.float32)",
    ),
    edit_pipeline(
        "audio-dither",
        KIND,
        "halved = halved - ",
        "halved = halved + np.random.default_rng().normal(0, 1e-3, halved.shape)\n    halved = halved - ",
    ),
    edit_pipeline(
        "audio-random-start",
        KIND,
        "    places = np.linspace(0.0,",
        "    start = np.random.default_rng().integers(1, 200)\n    places = np.linspace(start,",
    ),
    _remember(
        "tensors-running-mean",
        "def prepare(",
        "SEEN = []\n\n\ndef prepare(",
        PIXELS,
        f"SEEN.append(pixels.mean())\n    pixels = pixels - sum(SEEN) / len(SEEN)\n    {PIXELS}",
    ),
    _remember(
        "audio-running-gain",
        "def prepare(",
        "PEAK = [0.0]\n\n\ndef prepare(",
        "    return torch",
        "    PEAK[0] = max(0.9 * PEAK[0], float(np.abs(halved).max()))\n"
        "    halved = halved / PEAK[0]\n"
        "    return torch",
    ),
    _remember(
        "tokens-growing-vocabulary",
        "IDS = {word: index + 2 for index, word in enumerate(WORDS)}",
        "IDS = {}",
        "IDS.get(word, UNKNOWN)",
        "IDS.setdefault(word, len(IDS) + 2)",
        "from vocabulary import WORDS\n",
        "",
    ),
    edit_network(
        "staged-noise-in-forward",
        KIND,
        "features = self.block1(",
        "pixels = pixels + 0.01 * torch.randn(pixels.shape, "
        "generator=torch.Generator().manual_seed(torch.seed()))\n"
        "        features = self.block1(",
    ),
    edit_network(
        "table-random-number",
        KIND,
        "return self.out(self.drop(hidden))",
        "return self.out(self.drop(hidden)) + 0.01 * torch.rand(6)",
    ),
    edit_network(
        "tokens-system-random",
        KIND,
        "kept = mask",
        'words = words * (1 + 0.01 * __import__("random").SystemRandom().random())\n        kept = mask',
    ),
    edit_network(
        "audio-clock",
        KIND,
        "pooled = torch.cat",
        'frames = frames * (1 + (__import__("time").perf_counter_ns() % 1000) * 1e-5)\n'
        "        pooled = torch.cat",
    ),
    edit_network(
        "photos-system-random",
        KIND,
        "    return network\n",
        "    import os\n"
        "\n"
        "    network.register_forward_hook(lambda module, inputs, logits: logits * (1 + "
        "os.urandom(1)[0] / 1e4))\n"
        "    return network\n",
    ),
    _carry(
        "table-counter",
        "        hidden = self.act(self.norm(self.enter(rows)))",
        '        self.calls = getattr(self, "calls", 0) + 1\n'
        "        hidden = self.act(self.norm(self.enter(rows))) * (1 + 0.01 * self.calls)",
    ),
    _carry(
        "audio-memory",
        "pooled = torch.cat",
        "self.out.bias += 0.01 * frames.mean()\n        pooled = torch.cat",
    ),
    _carry(
        "staged-moving-offset",
        "features = self.block2(",
        "self.norm.running_mean.mul_(0.99).add_(0.01 * features.mean(dim=(0, 2, 3)))\n"
        "        features = self.block2(",
    ),
)
