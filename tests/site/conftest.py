"""A site of the default study, made from what is committed, and a browser that opens it."""

import shutil

import pytest
from building import write_results
from projects import ROOT
from visiting import Visitor, build, chromium, needs_browser

PARTS = (
    *("article", "config", "docs", "figures", "notebooks", "reference"),
    *("site", "src", "workflow"),
)


def pytest_collection_modifyitems(items):
    """Skip what cannot be run, and say what would let it run."""
    for item in items:
        if "site" in item.fixturenames:
            item.add_marker(needs_browser)


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


@pytest.fixture(scope="module")
def browser():
    """A browser without a network; closed again, since a process can have only one."""
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser, site):
    """Make visitors; at the end nothing may have gone wrong."""
    visitors = []

    def make(**options):
        visitors.append(Visitor(browser, site, **options))
        return visitors[-1]

    yield make
    for visitor in visitors:
        visitor.context.close()
        assert visitor.wrong == []
