"""The tutorial runs from its first cell to its last, and learns what it says."""

import re
from pathlib import Path

import papermill
import pytest

NOTEBOOK = Path(__file__).parents[2] / "notebooks/tutorial.ipynb"


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    path = tmp_path_factory.mktemp("tutorial") / "tutorial.ipynb"
    content = papermill.execute_notebook(NOTEBOOK, path, progress_bar=False)
    return [cell for cell in content.cells if cell.cell_type == "code"]


def test_tutorial_runs_and_shows_its_pictures(cells):
    kinds = [kind for cell in cells for it in cell.outputs for kind in it.get("data", {})]
    assert kinds.count("image/png") == 3


def test_first_example_has_fifteen_lines(cells):
    assert sum(bool(line.strip()) for line in cells[0].source.splitlines()) <= 15


def test_policy_is_safe_as_the_title_says(cells):
    (said,) = re.findall(r"Of 3 runs, (\d) end with a safe policy", cells[1].outputs[0].text)
    assert int(said) >= 1
