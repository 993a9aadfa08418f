"""A headless Chromium that tests steer by its own protocol, through two pipes."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic"]
OPTIONS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
OPTIONS += ["--disable-dev-shm-usage", "--remote-debugging-pipe"]  # which is at 3 and 4
AT_THREE_AND_FOUR = """
import os, sys
os.dup2(int(sys.argv[1]), 3), os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def wait_until(condition, seconds=30):
    """Wait until a function returns something true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


class Browser:
    """One window; files are saved in `folder`."""

    def __init__(self, folder):
        pipes = *os.pipe(), *os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipes]  # none is 3 or 4
        theirs, self._write, self._read, answers = ends
        for end in pipes:
            os.close(end)
        command = [CHROMIUM, *OPTIONS, f"--user-data-dir={folder}/profile", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", AT_THREE_AND_FOUR, str(theirs), str(answers), *command],
            pass_fds=(theirs, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs), os.close(answers)
        self._number, self._rest, self._session = 0, b"", {}
        target = self("Target.getTargets")["targetInfos"][0]["targetId"]
        attached = self("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        self("Page.enable")
        self("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def __call__(self, method, **params):
        """Result of a command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params, **self._session}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            *messages, self._rest = (self._rest + os.read(self._read, 2**16)).split(b"\0")
            for answer in map(json.loads, messages):
                if answer.get("id") == self._number:
                    assert "error" not in answer, answer
                    return answer["result"]
            assert self._process.poll() is None

    def run(self, script):
        """Value of an expression in the page."""
        how = {"returnByValue": True, "awaitPromise": True}
        result = self("Runtime.evaluate", expression=script, **how)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, script):
        """Wait until an expression is true."""
        wait_until(lambda: self.run(script))

    def open(self, path):
        self("Page.navigate", url=path.as_uri())
        self.wait("document.readyState === 'complete' && document.title !== ''")

    def click(self, selector, number=0):
        """Press and release the mouse in the middle of an element."""
        self.run(f"chosen = document.querySelectorAll('{selector}')[{number}]")
        self.run("chosen.scrollIntoView({block: 'center'}); box = chosen.getBoundingClientRect()")
        x, y = self.run("[box.x + box.width / 2, box.y + box.height / 2]")
        for kind in ("mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=key, text=key)

    def write(self, selector, text):
        self.run(f"document.querySelector('{selector}').focus()")
        self("Input.insertText", text=text)

    def close(self):
        self("Browser.close")
        self._process.wait(20)
        os.close(self._write), os.close(self._read)
