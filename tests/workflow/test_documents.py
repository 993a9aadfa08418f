"""Pages that are made from other files are up to date."""

import json
import re
import sys
from pathlib import Path

import pytest

from replication.statements import evidence

ROOT = Path(__file__).parents[2]


def test_pages_of_the_configuration_are_made_from_the_schemas(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    document_config = __import__("document_config")
    pages = {path: path.read_text() for path in document_config.PAGES}
    assert pages == document_config.pages(), "run `make docs`"
    marks = re.findall(r"<!-- (\w+) -->(?<!end -->)", "".join(pages.values()))
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


# The tutorial and the lesson are a user's own code.
@pytest.mark.parametrize(
    "path",
    sorted(
        set(ROOT.glob("notebooks/*.ipynb"))
        - {ROOT / f"notebooks/{it}.ipynb" for it in ("lesson", "tutorial")}
    ),
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


def test_readme_is_short():
    """At most 110 lines of at most 100 characters beside tables and the words of a picture."""
    text = re.sub(r"!\[[^\]]*\]\(.*\)|^\|.*\n", "", (ROOT / "README.md").read_text(), flags=re.M)
    lines = text.splitlines()
    assert len(lines) <= 110
    assert max(map(len, lines)) <= 100


def test_numbers_of_the_readme_s_answers_are_those_of_the_results():
    """Those of docs/results.md are compared with the tables in tests/theory/test_findings.py."""
    readme, results = ((ROOT / name).read_text() for name in ("README.md", "docs/results.md"))
    answers = readme.partition("## What it finds")[2].partition("\n## ")[0]
    numbers = set(
        re.findall(
            r"\b\d[\d,.]*(?:·10[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|10[⁰¹²³⁴⁵⁶⁷⁸⁹]+", re.sub(r"\]\([^)]*\)", "", answers)
        )
    )
    assert len(numbers) > 10
    assert {it for it in numbers if it.rstrip(".,") not in results} == set()


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))]
)
def test_pictures_have_words_and_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", text)
    for words, _ in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", text):
        assert len(words) > 80
    for path, anchor in links:
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), path
        if anchor and target.suffix == ".md":
            titles = re.findall(r"^#+ (.*)$", target.read_text(), re.M)
            slugs = {re.sub(r"[^\w\- ]", "", it.lower()).replace(" ", "-") for it in titles}
            assert anchor in slugs, (path, anchor)


def test_places_that_the_architecture_names_exist():
    text = (ROOT / "docs/architecture.md").read_text()
    places = {name for name in re.findall(r"`([\w./]+)`", text) if "/" in name or "." in name}
    assert len(places) > 20
    roots = [ROOT, *(ROOT / "src" / name for name in ("pgpd_hf", "replication"))]
    roots.append(ROOT / "src/pgpd_hf/algorithms")
    missing = {name for name in places if not any((root / name).exists() for root in roots)}
    assert missing == set()
    assert "```mermaid" in text
