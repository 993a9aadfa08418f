"""The study's workflow, with all its sweeps and schedules in seconds."""

from pathlib import Path

import pytest
import yaml

from pgpd_hf.tables import read_optimum, read_table

pytestmark = pytest.mark.workflow
FOLDER = Path(__file__).parents[1]
DECLARED = yaml.safe_load((FOLDER / "config.yaml").read_text())
LAKE = {"gymnasium": "FrozenLake-v1", "cost": "holes", "at_most": 0.05}
FINITE = {"npgpd_hf": {"seeds": 3, "evaluators": [16, 64]}}


def in_seconds(key, value):
    """What is declared, with few seeds and iterations."""
    if isinstance(value, dict):
        return {name: in_seconds(name, it) for name, it in value.items()}
    if key == "iterations":
        return [10 * 2**k for k in range(len(value))] if isinstance(value, list) else 43
    return (3 if value > 50 else min(value, 2)) if key == "seeds" else value


def test_everything_in_seconds(snakemake, tmp_path):
    code, output = snakemake(config={"name": "mine"}, declared=in_seconds("", DECLARED))
    assert code == 0, output
    made = tmp_path / "results/mine/effects"
    slopes, means = (read_table(made / f"{name}.csv") for name in ("slopes", "means"))
    assert {*slopes["sweep"]} == {*means["sweep"]} == DECLARED.keys() - {"schedules"}
    assert len(read_table(made / "schedules.csv")) == 2 * 3 * 6
    found = read_table(next(made.glob("runs/rounds/*/*.csv")))
    price = ((found["lagrangian_gap"] - found["gap"]) / found["violation"]).to_numpy()
    assert price == pytest.approx(read_optimum(made.parent / "optimum.json").multiplier)
    assert {it.suffix for it in made.glob("effects.*")} > {".png", ".html", ".ipynb"}


@pytest.mark.parametrize(
    ("experiment", "sweeps", "told"),
    [
        ({"algorithms": {"zpgpd_hf": None}, "rates": None}, {}, "algorithms: npgpd_hf and zpgpd_"),
        ({"algorithms": {"npgpd_hf": {"dual_step": "theorem"}}}, {}, "algorithms: npgpd_hf and z"),
        ({"environment": LAKE}, {}, "environment: one with a discount above 0 in the "),
        ({}, {"seeds": 3}, "declared.yaml: configuration: 'seeds' is not one of "),
        ({}, {"evaluators": FINITE}, "declared.yaml: evaluators.npgpd_hf.evaluators: got [16, 64]"),
    ],
)
def test_what_the_study_cannot_run_is_refused_in_one_line(
    snakemake, tmp_path, experiment, sweeps, told
):
    code, output = snakemake(config={"name": "mine"} | experiment, declared=DECLARED | sweeps)
    assert code != 0
    assert any(line.startswith(f"error: {told}") for line in output.splitlines()), output
    assert not (tmp_path / "results").exists()
