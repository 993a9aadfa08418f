"""Pages that are made from other files are up to date."""

import json
import re
import sys
from pathlib import Path

import pytest

from replication.statements import evidence

ROOT = Path(__file__).parents[2]


def test_config_readme_is_made_from_the_schema(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    document_config = __import__("document_config")
    text = document_config.PAGE.read_text()
    assert text == document_config.page(), "run `make docs`"
    marks = re.findall(r"<!-- (\w+) -->(?<!end -->)", text)
    assert sorted(marks) == sorted(document_config.tables())
    del sys.modules["document_config"]


def test_config_readme_has_every_column_and_statistic_of_a_criterion():
    text = (ROOT / "config/README.md").read_text()
    windows = {
        name: f"{low:.0%} to {high:.0%} of T" if high else "the policy before the first iteration"
        for name, (low, high) in evidence.STATISTICS.items()
    }
    short = text.partition("A criterion uses a `column`")[2]
    assert dict(re.findall(r"\| `(\w+)` \| (.*) \|", short)) == evidence.COLUMNS | windows
    *some, last = (f"`{name}`" for name in evidence.RATE_COLUMNS)
    assert f"Its `column` is {', '.join(some)} or {last}" in " ".join(short.split())


@pytest.mark.parametrize("path", sorted(ROOT.glob("notebooks/*.ipynb")), ids=lambda path: path.stem)
def test_notebook_is_committed_without_outputs(path):
    notebook = json.loads(path.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)


# The tutorial is a user's own code.
@pytest.mark.parametrize(
    "path",
    sorted(set(ROOT.glob("notebooks/*.ipynb")) - {ROOT / "notebooks/tutorial.ipynb"}),
    ids=lambda path: path.stem,
)
def test_notebook_draws_in_the_common_style_and_in_words(path):
    cells = json.loads(path.read_text())["cells"]
    code = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert "style.use_style()" in code
    assert "style.show(" in code
    assert "plt." not in code


@pytest.mark.parametrize("path", sorted(ROOT.glob("notebooks/*.ipynb")), ids=lambda path: path.stem)
def test_notebook_says_nothing_about_one_study(path):
    """Notebooks are the pages of every study, so measured numbers come from its tables."""
    cells = json.loads(path.read_text())["cells"]
    prose = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert "default study" not in prose
    assert not re.search(r"−?\d\.\d+ \[−?\d", prose)  # an estimate with its interval


def test_pictures_of_the_readme_have_words():
    readme = (ROOT / "README.md").read_text()
    pictures = dict(re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", readme))
    assert set(pictures.values()) == {"figures/figure1.png", "figures/claims_headline.png"}
    assert all(len(words) > 80 for words in pictures)


def test_places_that_the_architecture_names_exist():
    text = (ROOT / "docs/architecture.md").read_text()
    places = {name for name in re.findall(r"`([\w./]+)`", text) if "/" in name or "." in name}
    assert len(places) > 20
    roots = [ROOT, *(ROOT / "src" / name for name in ("pgpd_hf", "replication"))]
    roots.append(ROOT / "src/pgpd_hf/algorithms")
    missing = {name for name in places if not any((root / name).exists() for root in roots)}
    assert missing == set()
    assert "```mermaid" in text
