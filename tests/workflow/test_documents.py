"""Pages that are made from other files are up to date."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_config_readme_is_made_from_the_schema(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    document_config = __import__("document_config")
    assert document_config.PAGE.read_text() == document_config.page(), "run `make docs`"
    del sys.modules["document_config"]


@pytest.mark.parametrize("path", sorted(ROOT.glob("notebooks/*.ipynb")), ids=lambda path: path.stem)
def test_notebook_is_committed_without_outputs(path):
    notebook = json.loads(path.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)
