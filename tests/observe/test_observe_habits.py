"""Habits of preprocessing: each planted and found, and what is none stays quiet."""

from __future__ import annotations

import numpy as np
import pytest

HEADER = """
import random
import numpy as np

RNG = np.random.default_rng(0)
SEEN = []
BUFFER = np.zeros(3, np.float32)
"""


def habits(case, source: str, preprocess: str = "prep:prepare", **changes):
    """Return the habits of a preprocess by name."""
    case.write("prep.py", HEADER + source)
    observation = case.observe(preprocess=preprocess, **changes)
    return {habit.habit: habit for habit in observation.habits}


def test_a_random_augmentation_is_found(toy_case):
    """Drawn from Python's generator: other seed, other input; same seed, same input."""
    found = habits(toy_case, "def prepare(x):\n    return x + random.random()\n")
    assert list(found) == ["random"]
    assert found["random"].samples
    assert "preprocessing is random" in found["random"].summary


@pytest.mark.parametrize("draw", ["np.random.rand()", "np.random.choice([0, 1])", "random.choice([0, 1])"])
def test_coins_are_found_as_well(toy_case, draw):
    """An augmentation that only happens half the time is tried with several seeds."""
    found = habits(toy_case, f"def prepare(x):\n    return x + {draw}\n")
    assert list(found) == ["random"]


def test_samples_that_an_augmentation_leaves_alone_hide_nothing(toy_case):
    """A black picture mirrored is itself: with other seeds another sample tells."""
    source = "def prepare(x):\n    return x + random.random() * (x[0] > 3)\n"
    assert list(habits(toy_case, source)) == ["random"]


def test_random_stage_is_named(torch_case):
    """Where the stages are known, the one that draws is told."""
    pytest.importorskip("torchvision")
    torch_case.write("model.py", "def build():\n    return lambda x: x\n")
    source = """
import torch
from torchvision.transforms import Compose, RandomHorizontalFlip

stages = Compose([lambda x: torch.from_numpy(x).reshape(1, 3), RandomHorizontalFlip(p=0.5), lambda x: x * 2])
"""
    found = habits(torch_case, source, "prep:stages")
    assert list(found) == ["random"]
    assert "stage 2, RandomHorizontalFlip(p=0.5)" in found["random"].summary


def test_seeding_in_preprocess_is_no_habit(toy_case):
    """Just inside: a draw that always gives the same, and one whose value is not used."""
    source = "def prepare(x):\n    random.seed(7)\n    return x + random.random()\n"
    assert habits(toy_case, source) == {}
    assert habits(toy_case, "def prepare(x):\n    np.random.rand()\n    return x\n") == {}


@pytest.mark.parametrize(
    "body",
    [
        "SEEN.append(1)\n    return x * len(SEEN)",
        "SEEN.append(1)\n    return x + len(SEEN) % 2",
        "SEEN.append(1)\n    return x + len(SEEN) % 3",
        "SEEN.append(x.sum())\n    return x - np.float32(np.mean(SEEN))",
        "SEEN.append(x)\n    return x + SEEN[-2 if len(SEEN) > 1 else 0]",
    ],
)
def test_state_is_found(toy_case, body):
    """Counters, running means, the sample before."""
    found = habits(toy_case, f"def prepare(x):\n    {body}\n")
    assert list(found) == ["stateful"]
    assert "same seeds" in found["stateful"].summary


@pytest.mark.parametrize("body", ["return x + RNG.random()", "return x + np.random.default_rng().random()"])
def test_a_generator_that_no_seed_reaches_is_chance(toy_case, body):
    """Another input every time, and nothing is remembered in between: no state, and no seed helps."""
    found = habits(toy_case, f"def prepare(x):\n    {body}\n")
    assert list(found) == ["unseeded"]
    assert "preprocessing is random" in found["unseeded"].summary


def test_stateful_stage_is_named(toy_case):
    """A pipeline of functions: the second keeps state."""
    source = """
def count(x):
    SEEN.append(1)
    return x * len(SEEN)

stages = [lambda x: x + 1, count, lambda x: x / 2]
"""
    assert "stage 2, prep:count" in habits(toy_case, source, "prep:stages")["stateful"].summary


def test_state_that_makes_a_second_time_fail_is_found(toy_case):
    """A generator that is used up."""
    source = "ROWS = iter(range(5))\n\ndef prepare(x):\n    return x + next(ROWS)\n"
    assert "second time failed" in habits(toy_case, source)["stateful"].summary


def test_a_cache_is_no_state(toy_case):
    """Just inside: what is remembered and gives the same again."""
    source = """
CACHE = {}

def prepare(x):
    return CACHE.setdefault(x.tobytes(), x * 2)
"""
    assert habits(toy_case, source) == {}


def test_changing_the_argument_is_found(toy_case):
    """In place, although what is returned is right."""
    found = habits(toy_case, "def prepare(x):\n    x -= 1\n    return x.copy()\n")
    assert list(found) == ["mutates"]
    assert "work on a copy" in found["mutates"].summary


def test_changing_a_photo_is_found(case_folder):
    """thumbnail() works in place."""
    image = pytest.importorskip("PIL.Image").new("RGB", (8, 8), (10, 20, 30))
    path = case_folder.samples_folder / "photo.png"
    image.save(path)
    case_folder.add_sample("photo.png", path.read_bytes())
    case_folder.write("model.py", "def build():\n    return lambda x: x\n")
    source = "def prepare(image):\n    image.thumbnail((4, 4))\n    return np.asarray(image)\n"
    assert list(habits(case_folder, source, loader="image")) == ["mutates"]
    source = "def prepare(image):\n    return np.asarray(image.resize((4, 4)))\n"
    assert habits(case_folder, source, loader="image") == {}


def test_closing_what_the_loader_opened_is_no_fault(case_folder):
    """A loader and a preprocess of one's own may have an agreement."""
    image = pytest.importorskip("PIL.Image").new("L", (8, 8), 3)
    path = case_folder.samples_folder / "photo.png"
    image.save(path)
    case_folder.add_sample("photo.png", path.read_bytes())
    case_folder.write("model.py", "def build():\n    return lambda x: x\n")
    source = """
from PIL import Image

def load(path):
    return Image.open(path)

def prepare(image):
    assert image.tile  # nobody has decoded it
    with image:
        return np.array(image)
"""
    assert habits(case_folder, source, loader="prep:load") == {}


def test_mutation_of_a_shared_object_reaches_no_other_sample_unseen(toy_case):
    """A loader that hands out one object: changing it is both kinds of fault."""
    source = """
KEPT = {}

def load(path):
    return KEPT.setdefault(path, np.load(path))

def prepare(x):
    x += 1
    return x.copy()
"""
    assert list(habits(toy_case, source, loader="prep:load")) == ["stateful", "mutates"]


@pytest.mark.parametrize("source", ["BUFFER", "torch.from_numpy(BUFFER)", "{'x': (BUFFER[1:],)}"])
def test_one_buffer_for_all_samples_is_found(torch_case, source):
    """Later samples of a batch overwrite earlier ones; the digests are of what the model was fed."""
    torch_case.write(
        "model.py", "def build():\n    return lambda x: {'y': x[0] if isinstance(x, tuple) else x}\n"
    )
    text = f"import torch\n\ndef prepare(x):\n    BUFFER[:] = x\n    return {source}\n"
    torch_case.write("prep.py", HEADER + text)
    observation = torch_case.observe(preprocess="prep:prepare")
    (habit,) = observation.habits
    assert (habit.habit, habit.samples) == ("stateful", ("a", "c"))
    assert "one buffer" in habit.summary
    digests = [sample.input_digest for sample in observation.samples]
    assert digests[0] == digests[1]
    assert digests[2] == digests[3]
    assert len(set(digests)) == 3
    rows = torch_case.rows(observation, "y")
    assert rows[0].tolist() == rows[1].tolist()


def test_a_constant_that_all_samples_share_is_no_fault(toy_case):
    """Just inside: shared memory that nobody writes to."""
    toy_case.write("model.py", "def build():\n    return lambda x, b: x + b\n")
    assert habits(toy_case, "def prepare(x):\n    return x, BUFFER\n") == {}


def test_buffer_in_batches_of_one_is_harmless(toy_case):
    """Just inside: nothing is overwritten before it was used."""
    assert habits(toy_case, "def prepare(x):\n    BUFFER[:] = x\n    return BUFFER\n", batch_size=1) == {}


STATE = {
    "largest so far": """
class Scale:
    largest = np.float32(0)

    def __call__(self, x):
        self.largest = max(self.largest, np.abs(x).max())
        return x / (self.largest + 1)

prepare = Scale()
""",
    "statistics of the first, on the object": """
class Normalize:
    mean = None

    def __call__(self, x):
        if self.mean is None:
            self.mean = x.mean()
        return x - self.mean

prepare = Normalize()
""",
    "statistics of the first, in a global": """
MEAN = None

def prepare(x):
    global MEAN
    if MEAN is None:
        MEAN = x.mean()
    return x - MEAN
""",
    "statistics of the first, on the class": """
class Normalize:
    mean = None

    def __call__(self, x):
        if Normalize.mean is None:
            Normalize.mean = x.mean()
        return x - Normalize.mean

prepare = Normalize()
""",
    "statistics of the first, enclosed": """
def make():
    mean = None

    def prepare(x):
        nonlocal mean
        mean = x.mean() if mean is None else mean
        return x - mean

    return prepare

prepare = make()
""",
    "statistics of the first, in a buffer": """
MEAN = np.full(1, np.nan, np.float32)

def prepare(x):
    if np.isnan(MEAN[0]):
        MEAN[0] = x.mean()
    return x - MEAN
""",
    "statistics of the first, in an argument's default": """
def prepare(x, seen=[]):
    seen or seen.append(x.mean())
    return x - seen[0]
""",
    "a key that is too coarse": """
CACHE = {}

def prepare(x):
    return CACHE.setdefault(x.shape, x * 2)
""",
}


@pytest.mark.parametrize("source", STATE.values(), ids=STATE)
def test_state_that_settles_is_found(toy_case, source):
    """It gives the same however often one asks, and still depends on which sample came first."""
    assert list(habits(toy_case, source)) == ["stateful"]


QUIET_STATE = {
    "table on first use": """
TABLE = None

def prepare(x):
    global TABLE
    if TABLE is None:
        TABLE = np.arange(3, dtype=np.float32)
    return x + TABLE
""",
    "counter": "COUNT = 0\n\ndef prepare(x):\n    global COUNT\n    COUNT += 1\n    return x * 2\n",
    "log": "def prepare(x):\n    SEEN.append(x.sum())\n    return x * 2\n",
    "opened once": """
OPENED = False

def prepare(x):
    global OPENED
    if not OPENED:
        open(__file__ + ".once", "x").close()  # fails when it is done a second time
        OPENED = True
    return x * 2
""",
}


@pytest.mark.parametrize("source", QUIET_STATE.values(), ids=QUIET_STATE)
def test_what_is_remembered_without_effect_is_no_state(toy_case, source):
    """Just inside: it changes, and no input does."""
    assert habits(toy_case, source) == {}


def test_what_happens_every_few_calls_is_found(toy_case):
    """A long period falls on none of the repetitions that every preprocess gets."""
    source = "def prepare(x):\n    SEEN.append(1)\n    return x + (len(SEEN) % 11 == 0)\n"
    assert list(habits(toy_case, source)) == ["stateful"]


def test_what_was_put_back_is_put_forward_again(toy_case):
    """The next case of the process meets what it would have met."""
    toy_case.write("model.py", "import prep\n\ndef build():\n    return lambda x: x * len(prep.SEEN)\n")
    source = "def prepare(x):\n    SEEN.append(float(x.sum()))\n    return x - SEEN[0]\n"
    toy_case.write("prep.py", HEADER + source + "\ndef count(x):\n    return x * 0 + len(SEEN)\n")
    before = len(toy_case.observe(preprocess="prep:prepare").habits)
    after = toy_case.observe(preprocess="prep:count")
    assert before == 1
    # Five samples, two repetitions, and as many as showed it: none of them is lost.
    assert toy_case.rows(after, "output")[0].flat[0] > 0


def test_a_state_that_shows_only_for_the_first_sample_is_found(toy_case):
    """An offset that is right from the second sample on."""
    source = "def prepare(x):\n    SEEN.append(1)\n    return x + (len(SEEN) == 1)\n"
    found = habits(toy_case, source)
    assert found["stateful"].samples == ("a",)


def test_a_change_of_a_single_sample_is_found(toy_case):
    """Every sample is watched, not only those that are prepared again."""
    source = "def prepare(x):\n    if x[0] == 6:\n        x *= -1\n    return x * 1\n"
    found = habits(toy_case, source)
    assert list(found) == ["mutates"]
    assert found["mutates"].samples == ("c",)


def count_calls(case, n_samples: int) -> int:
    """Return how often preprocess is called for this many samples."""
    for index in range(n_samples):
        path = case.samples_folder / f"s{index:03d}.npy"
        np.save(path, np.full(3, index, np.float32))
        case.add_sample(path.name, path.read_bytes())
    case.write("model.py", "def build():\n    return lambda x: x\n")
    case.write(
        "prep.py", f"def prepare(x):\n    open({str(case.root / 'calls')!r}, 'a').write('x')\n    return x\n"
    )
    case.observe(preprocess="prep:prepare", batch_size=64)
    return len((case.root / "calls").read_text())


@pytest.mark.parametrize(("n_samples", "n_repeats"), [(1, 1), (31, 2), (64, 3), (300, 6)])
def test_repeats_are_few(case_folder, n_samples, n_repeats):
    """One sample in 32 is prepared again, at least one and at most four, and the first; of many two."""
    assert count_calls(case_folder, n_samples) == n_samples + n_repeats


def test_repeats_are_spread_over_image_modes(case_folder):
    """What is done only to grey photos is found among many in colour."""
    pillow = pytest.importorskip("PIL.Image")
    for index in range(64):
        image = pillow.new("L" if index in (20, 41) else "RGB", (4, 4), index)
        path = case_folder.samples_folder / f"{index:02d}.png"
        image.save(path)
        case_folder.add_sample(path.name, path.read_bytes())
    case_folder.write("model.py", "def build():\n    return lambda x: x\n")
    source = """
def prepare(image):
    if image.mode == "L":
        image.putpixel((0, 0), 99)
    return np.asarray(image.convert("RGB"))
"""
    found = habits(case_folder, source, loader="image")
    assert list(found) == ["mutates"]
    assert found["mutates"].samples[0] in ("20", "41")
