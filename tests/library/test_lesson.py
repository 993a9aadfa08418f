"""The lesson runs from its first cell to its last, and what it builds by hand is the library's."""

import math
import re
from pathlib import Path

import papermill
import pytest

NOTEBOOK = Path(__file__).parents[2] / "notebooks/lesson.ipynb"


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    path = tmp_path_factory.mktemp("lesson") / "lesson.ipynb"
    content = papermill.execute_notebook(NOTEBOOK, path, progress_bar=False)
    return [cell for cell in content.cells if cell.cell_type == "code"]


def shown(cell):
    """What a cell has printed."""
    return "".join(it.text for it in cell.outputs if it.output_type == "stream")


def test_every_picture_has_words(lesson):
    drawn = [it for it in lesson if any("image/png" in out.get("data", {}) for out in it.outputs)]
    assert len(drawn) == 7
    assert all(len(cell.metadata["alt"]) > 80 for cell in drawn)


def test_algorithm_by_hand_has_the_values_of_the_library(lesson):
    (said,) = re.findall(r"Largest difference .*: (\S+)", shown(lesson[-1]))
    assert float(said) < 1e-12


def test_more_people_bring_readings_nearer_to_the_difference(lesson):
    text = "".join(map(shown, lesson))
    found = re.findall(r"people: a mean of (\S+), and a standard deviation of (\S+)\.", text)
    few, many = ([float(it) for it in pair] for pair in found)
    chance = 1 / (1 + math.exp(-1.5))
    # Of many people the inverse link is nearly linear in their share: the delta method.
    assert many[0] == pytest.approx(1.5, abs=0.01)
    assert many[1] == pytest.approx((256 * chance * (1 - chance)) ** -0.5, rel=0.03)
    assert few[0] - 1.5 > 10 * (many[0] - 1.5) > 0
    assert few[1] > 4 * many[1]
    _, by_votes = re.findall(r"average gap (\S+), average violation (\S+)\.", text)
    assert all(abs(float(it)) < 0.1 for it in by_votes)  # of values up to 5
