"""The tutorial runs from its first cell to its last, in five steps, and learns what it says."""

import re
from pathlib import Path

import pandas as pd
import papermill
import pytest
import yaml

import pgpd_hf

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "notebooks/tutorial.ipynb"
STEPS = (
    *("The figure", "Another number of people", "An environment of your own"),
    *("A safe policy", "Its picture"),
)


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory):
    path = tmp_path_factory.mktemp("tutorial") / "tutorial.ipynb"
    return papermill.execute_notebook(NOTEBOOK, path, progress_bar=False)


@pytest.fixture(scope="module")
def cells(tutorial):
    return [cell for cell in tutorial.cells if cell.cell_type == "code"]


def test_steps_follow_each_other(tutorial):
    prose = "\n".join(cell.source for cell in tutorial.cells if cell.cell_type == "markdown")
    titles = re.findall(r"^## (\d)\. (.*)$", prose, re.MULTILINE)
    assert titles == [(str(k), title) for k, title in enumerate(STEPS, 1)]


def test_first_figure_has_the_settings_of_the_study(cells):
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    names = {}
    exec(cells[0].source.partition("metrics =")[0], names)
    steps = pd.read_csv(ROOT / "reference/steps.csv").set_index(["algorithm", "entry"])["value"]
    for name, setting in names["settings"].items():
        study = {key: config["algorithms"][name][key] for key in ("iterations", "rounds")}
        study |= {key: float(steps[name, key]) for key in ("primal_step", "dual_step")}
        assert setting == study
    drawn = {key: config["environment"][key] for key in ("states", "actions", "instance")}
    own = pgpd_hf.random_cmdp(**drawn, threshold=config["environment"]["threshold"])
    assert (names["cmdp"].transition == own.transition).all()


def test_every_picture_has_words(cells):
    drawn = [it for it in cells if any("image/png" in out.get("data", {}) for out in it.outputs)]
    assert len(drawn) == 4
    assert all(len(cell.metadata["alt"]) > 80 for cell in drawn)


def test_example_with_a_map_has_fifteen_lines(cells):
    assert sum(bool(line.strip()) for line in cells[-1].source.splitlines()) <= 15


def test_policies_are_safe_as_the_text_says(cells):
    texts = [cell.outputs[0].get("text", "") for cell in cells]
    assert "so it is certified to be safe." in texts[3]
    (said,) = re.findall(r"Of 3 runs, (\d) end with a safe policy", texts[-1])
    assert int(said) >= 1
