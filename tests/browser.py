"""A headless Chromium that tests steer by its own protocol, through two pipes."""

import json
import os
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
OPTIONS += ["--no-first-run", "--disable-background-networking", "--disable-sync"]
OPTIONS += ["--remote-debugging-pipe"]  # which is at 3 and 4


def wait_until(condition, seconds=30):
    """Wait until a function returns something true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


class Browser:
    """One window; files are saved in `folder`."""

    def __init__(self, folder):
        (theirs, self._write), (self._read, answers) = os.pipe(), os.pipe()

        def connect():
            os.dup2(theirs, 3)
            os.dup2(answers, 4)

        command = [CHROMIUM, *OPTIONS, f"--user-data-dir={folder}/profile", "about:blank"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, preexec_fn=connect, pass_fds=(3, 4), **quiet)
        os.close(theirs)
        os.close(answers)
        self._number, self._rest, self._session = 0, b"", {}
        target = self("Target.getTargets")["targetInfos"][0]["targetId"]
        attached = self("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
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
        result = self("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, path):
        """Load a page anew."""
        self.run("document.title = ''")
        self("Page.navigate", url=path.as_uri())
        wait_until(lambda: self.run("document.readyState === 'complete' && document.title !== ''"))

    def click(self, selector, number=0):
        """Press and release the mouse in the middle of an element."""
        self.run(f"chosen = document.querySelectorAll('{selector}')[{number}]")
        self.run("chosen.scrollIntoView({block: 'center'}); box = chosen.getBoundingClientRect()")
        x, y = self.run("[box.x + box.width / 2, box.y + box.height / 2]")
        for kind in ("mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, key):
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=key, text=key)

    def close(self):
        """End the browser."""
        self("Browser.close")
        self._process.wait(20)
        os.close(self._write)
        os.close(self._read)
