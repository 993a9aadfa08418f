"""A site of the default study, made from what is committed, and a browser that opens it."""

import shutil
import sys

import pytest
from building import PACKAGES, build, write_results
from projects import ROOT

PARTS = ("article", "config", "figures", "reference", "site", "src", "workflow")
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)


def pytest_collection_modifyitems(items):
    """Skip what cannot be run, and say what would let it run."""
    if (PACKAGES / "installed").exists() and BROWSER:
        return
    reason = "needs Chromium or Chrome, and `make .venv-site/installed`"
    for item in items:
        if "site" in item.fixturenames:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def clone(tmp_path_factory):
    """What the site is made from, in a folder of its own."""
    folder = tmp_path_factory.mktemp("clone")
    for part in PARTS:
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / part, folder / part, ignore=ignore)
    return folder


@pytest.fixture(scope="session")
def site(clone):
    """Folder of the site."""
    write_results(clone)
    done = build(clone)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "The site: results/paper/site/index.html\n"
    return clone / "results/paper/site"


@pytest.fixture(scope="session")
def chromium():
    """A browser without a network."""
    sys.path.append(str(PACKAGES))  # behind those of this environment
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND"]
        browser = playwright.chromium.launch(executable_path=BROWSER, args=options)
        yield browser
        browser.close()


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


@pytest.fixture
def visit(chromium, site):
    """Make visitors; at the end nothing may have gone wrong."""
    visitors = []

    def make(**options):
        visitors.append(Visitor(chromium, site, **options))
        return visitors[-1]

    yield make
    for visitor in visitors:
        visitor.context.close()
        assert visitor.wrong == []
