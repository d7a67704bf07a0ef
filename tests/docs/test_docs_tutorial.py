"""The tutorial, block by block in an empty folder, as somebody who follows it types it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/tutorial.md"
BLOCK = re.compile(
    r"(?:<!-- (?P<role>[a-z]+)(?:: (?P<what>[^>]+?))? -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)```", re.S
)


def test_every_block_does_what_the_page_says(tmp_path):
    """Files are written, commands run in order, and end as they should; what they print is what is shown."""
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    environment["PYTHONPATH"] = str(PAGE.parents[1])
    printed, n_commands = "", 0
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        role, what, kind, text = block["role"], block["what"], block["kind"], block["text"]
        if role == "file":
            (tmp_path / what).write_text(text, encoding="utf-8")
        elif role == "append":
            with (tmp_path / what).open("a", encoding="utf-8") as file:
                file.write(text)
        elif role == "prints":
            assert text.strip() in printed
        else:
            assert kind == "console", text
            printed = ""
            lines = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
            for number, line in enumerate(lines, 1):
                ran = subprocess.run(
                    ["bash", "-c", line],
                    cwd=tmp_path,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                expected = int(what) if role == "exit" and number == len(lines) else 0
                assert ran.returncode == expected, f"{line}\n{ran.stdout}\n{ran.stderr}"
                printed += ran.stdout
                n_commands += 1
    assert n_commands > 10
