"""A project whose model notes what it sees, and ways to change what it is fed.

What belongs here: what several tests of one command do to the project before they type it.
"""

from __future__ import annotations

WATCHED = """
import numpy as np

WEIGHT = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def note(line):
    from pathlib import Path
    with open(Path(__file__).with_name("seen.txt"), "a") as file:
        file.write(f"{line}\\n")


def build(scale=1.0):
    note("built")

    def run(x):
        note(f"saw {len(x)}")
        return ANSWER

    return run
"""

HONEST = "scale * (x @ WEIGHT)"
BLUNT = "np.round(scale * (x @ WEIGHT), 1)"
SHARP = "np.where(scale * (x @ WEIGHT) > 0, 1.0, -1.0) + (1e6 * (x - np.round(x, 3))) @ WEIGHT"

APART = "  other: {preprocess: 'toydata:other', checks: {rel_l2: 0.5, top1_agreement: 0.0}}\n"


def watch(project, answer=HONEST):
    """Give the project a model that notes what it sees."""
    project.write("toymodel.py", WATCHED.replace("ANSWER", answer))


def seen(project):
    """Return what the model noted since last asked."""
    path = project.path / "seen.txt"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


def n_seen(project):
    """Return how many samples the model saw since last asked."""
    return sum(int(line.split()[1]) for line in seen(project) if line.startswith("saw"))


def change(project, expression):
    """Make preprocess return this of ``x``, what it returned before, and ``sample``."""
    text = (project.path / "toydata.py").read_text()
    rest = text.replace("def prepare(", "def prepare_first(")
    project.write(
        "toydata.py",
        f"{rest}\n\ndef prepare(sample):\n    x = prepare_first(sample)\n    return {expression}\n",
    )


def extend(project, text):
    """Add lines to the suite file."""
    project.write("modelreg.yaml", f"{(project.path / 'modelreg.yaml').read_text()}{text}")


def tree(project):
    """Return every file of the project, with its bytes."""
    return {
        path.relative_to(project.path).as_posix(): path.read_bytes()
        for path in sorted(project.path.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
