"""How a site is built, and a browser without a network that opens its pages."""

import contextlib
import os
import shutil
import subprocess
import sys

import offline
import pytest
from projects import ROOT

PACKAGES = ROOT / ".venv-site"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
needs_browser = pytest.mark.skipif(
    not (PACKAGES / "installed").exists() or BROWSER is None,
    reason="needs Chromium or Chrome, and `make .venv-site/installed`",
)
WITHOUT_DOCUMENTATION = """
import sys
import build
build.add_documentation = lambda site: None
build.main(sys.argv[1])
"""


def build(folder, configfile="", documentation=True):
    """Call what `make site` calls, without a network; give what came of it.

    The documentation of the package is the longest part, and the same for every study.
    """
    code = [str(folder / "site/build.py")] if documentation else ["-c", WITHOUT_DOCUMENTATION]
    command = offline.cut_off([sys.executable, *code, configfile])
    path = os.pathsep.join(map(str, (PACKAGES, ROOT / "src", folder / "site")))
    environment = {"PYTHONPATH": path, "PATH": os.environ["PATH"]}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@contextlib.contextmanager
def chromium():
    """A browser without a network."""
    sys.path.append(str(PACKAGES))  # behind those of this environment
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND"]
        browser = playwright.chromium.launch(executable_path=BROWSER, args=options)
        yield browser
        browser.close()


def violations(page, scheme="light", context=None):
    """What axe-core finds wrong with a page, each with the first place, and what it finds right.

    Between colour schemes only colours differ, so of a dark page only contrast is checked.
    """
    from axe_playwright_python.sync_playwright import Axe

    options = {"preload": False} | ({"runOnly": ["color-contrast"]} if scheme == "dark" else {})
    found = Axe().run(page, context, options).response
    wrong = [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]]
    return wrong, {one["id"] for one in found["passes"]}


class Visitor:
    """Opens pages of the site, and notes what goes wrong on them."""

    def __init__(self, browser, site, **options):
        self.context = browser.new_context(**options)
        self.site, self.wrong = site, []
        self.page = self.context.new_page()
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", self._ask)

    def _note(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(message.text)

    def _ask(self, request):
        if not request.url.startswith(("data:", "blob:", self.site.as_uri())):
            self.wrong.append(request.url)

    def open(self, name):
        """Open a page and wait until it is complete."""
        self.page.goto("about:blank")  # so that another fragment is another visit
        self.page.goto(f"{self.site.as_uri()}/{name}")
        if name.startswith("explorer.html"):
            self.settle()
        return self.page

    def settle(self):
        """Wait until the explorer shows what was chosen."""
        self.page.wait_for_selector("body[data-shown]")
