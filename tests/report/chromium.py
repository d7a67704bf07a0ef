"""A headless Chromium, driven over its own protocol by nothing but the standard library.

What belongs here: starting it, and asking it. It listens on a pipe, so that no port is opened and no
driver has to fit its version. Debian: ``apt-get install chromium``; elsewhere ``CHROMIUM`` names it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "chromium-headless-shell", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",  # of no use to a page of our own, and not to be had in a container
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-pipe",
)
TIME_LIMIT_S = 60.0


def find_chromium() -> str:
    """Return the browser's command; that there is none is a failure."""
    wanted = os.environ.get("CHROMIUM")
    found = wanted or next((path for name in NAMES if (path := shutil.which(name))), None)
    assert found, (
        f"expected a Chromium ({', '.join(NAMES)}, or CHROMIUM=...), found none: apt-get install chromium"
    )
    return found


class Chromium:
    """One page of one browser.

    Attributes
    ----------
    requested : list of str
        Addresses that the page asked for, its own among them.
    complaints : list of str
        What it wrote to the console as a warning or an error, and what it threw.
    """

    def __init__(self, profile: Path) -> None:
        to_browser, from_us = os.pipe()
        to_us, from_browser = os.pipe()
        ends = to_browser, from_browser

        def place_ends() -> None:
            # First out of the way: an end may itself be number 3 or 4.
            copies = [os.dup(os.dup(os.dup(end))) for end in ends]
            for number, copy in zip((3, 4), copies, strict=True):
                os.dup2(copy, number, inheritable=True)

        self._process = subprocess.Popen(
            [find_chromium(), *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=place_ends,
            pass_fds=(3, 4),
        )
        for end in ends:
            os.close(end)
        self._write, self._read = from_us, to_us
        self._left = b""
        self._number = 0
        self._session: str | None = None
        self.requested: list[str] = []
        self.complaints: list[str] = []
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        os.close(self._write)
        os.close(self._read)
        self._process.terminate()
        self._process.wait(timeout=TIME_LIMIT_S)

    def ask(self, method: str, **params: Any) -> Any:
        """Call a method of the protocol and return its result; events meanwhile are noted."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def open(self, page: Path) -> None:
        """Load a file from disk, as a double click does."""
        self.ask("Page.navigate", url=page.absolute().as_uri())
        self.wait("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script: str) -> None:
        """Ask until an expression is true; it becomes so, or the test fails."""
        end = time.monotonic() + TIME_LIMIT_S
        while not self.run(script):
            assert time.monotonic() < end, f"still not true: {script}"

    def click(self, selector: str) -> None:
        """Click in the middle of an element, with the pointer."""
        place = self.run(
            f"(() => {{ const at = document.querySelector({json.dumps(selector)});"
            " at.scrollIntoView({block: 'center', behavior: 'instant'});"
            " const box = at.getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press a key."""
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, text=text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.ask("Input.insertText", text=text)

    def _receive(self) -> Any:
        while b"\0" not in self._left:
            chunk = os.read(self._read, 1 << 20)
            assert chunk, "the browser ended"
            self._left += chunk
        data, _, self._left = self._left.partition(b"\0")
        message = json.loads(data)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, params: Any) -> None:
        if method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("warning", "error"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("warning", "error", "assert"):
            self.complaints.append(json.dumps(params["args"]))
