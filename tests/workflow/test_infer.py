"""The studies that infer N, and confirm, on a budget of seconds."""

import pandas as pd
import pytest
import yaml

from replication.study.readings import overlay

pytestmark = pytest.mark.long
GROUPS = {
    "inference": ("one", "two", "three", "five", "ten", "twenty"),
    "confirmation": ("fresh",),
}


def tiny(project, name, settings):
    """Shrink a study of config/: two instances, three seeds, short runs, given step sizes."""
    path = project.folder / f"config/{name}.yaml"
    content = yaml.safe_load(path.read_text())
    groups = content["claims"]["instances"]["groups"]
    small = {"numbers": groups[GROUPS[name][0]]["numbers"][:2], "tuning": []}
    steps = {"primal_step": 0.1, "dual_step": 0.1}
    algorithms = {"npgpd_hf": {"iterations": 20}, "zpgpd_hf": {"iterations": 40}}
    changes = {
        "horizon": 5,
        "evaluators": [16, 64, 256],
        "seeds": 2,
        "algorithms": {key: it | steps for key, it in algorithms.items()},
        "claims": {
            "own_seeds": 3,
            "seeds": 3,
            "instances": {"seeds": 1, "groups": dict.fromkeys(GROUPS[name], small)},
        },
    }
    path.write_text(yaml.safe_dump(overlay(content, overlay(changes, settings))))
    return f"config/{name}.yaml"


@pytest.fixture(scope="module")
def inferred(tmp_path_factory):
    """A project in which N has been inferred, from almost nothing."""
    from projects import Project

    project = Project(tmp_path_factory.mktemp("inferred"))
    file = tiny(project, "inference", {"claims": {"readings": ["five-rounds"]}})
    # Fewer N than the file has: those of the groups go with those of the readings.
    path = project.folder / file
    content = yaml.safe_load(path.read_text())
    for name in ("two", "three", "ten", "twenty"):
        content["claims"]["instances"]["groups"][name] = {"numbers": []}
    path.write_text(yaml.safe_dump(content))
    analysis = project.folder / "src/replication/analyses/resampled.py"
    before, after = analysis.read_text().split("RESAMPLES = 1000")
    analysis.write_text(f"{before}RESAMPLES = 50{after}")
    code, output = project.snakemake("infer", "--cores", "2", configfile=file)
    assert code == 0, output
    return project


def test_inference_has_a_row_for_each_n_and_one_is_inferred(inferred):
    table = pd.read_csv(inferred.folder / "results/inference/inferred.csv")
    assert table["rounds"].tolist() == [1, 5]
    assert (table["standing"] == "inferred").sum() == 1
    assert (table["standing"] == "runner-up").sum() == 1
    verdicts = pd.read_csv(inferred.folder / "results/inference/verdicts.csv")
    experiment = verdicts[verdicts["source"].str.endswith(", experiment")]
    signs = experiment["verdict"].map({"reproduced": 1, "contradicted": -1, "inconclusive": 0})
    rounds = experiment["reading"].str.extract(r"N = (\d+)")[0].fillna("1").astype(int)
    assert signs.groupby(rounds).sum().tolist() == table["score"].tolist()


def test_inference_draws_other_n_and_explains_itself(inferred):
    for ending in ("pdf", "svg", "png"):
        assert (inferred.folder / f"results/inference/figures/rounds.{ending}").exists()
    page = (inferred.folder / "results/inference/notebooks/inference.html").read_text()
    assert "Inferred: N = " in page
    assert "Runner-up" in page


def test_power_has_the_tested_statements_of_each_table(inferred):
    power = pd.read_csv(inferred.folder / "results/inference/verdicts_power.csv")
    assert set(power["reading"]) == set(
        pd.read_csv(inferred.folder / "results/inference/verdicts.csv")["reading"]
    )
    assert power["power"].between(0, 1).all()
    assert set(power["unit"]) == {"seed", "instance"}


def test_confirmation_runs_on_streams_of_its_own(fresh):
    file = tiny(fresh, "confirmation", {})
    code, output = fresh.snakemake("verdict_table", "--cores", "2", configfile=file)
    assert code == 0, output
    verdicts = pd.read_csv(fresh.folder / "results/confirmation/verdicts.csv")
    assert verdicts["reading"].unique().tolist() == ["default", "250 fresh instances"]
    own = fresh.folder / "results/confirmation/full/runs/npgpd_hf"
    there = pd.concat(map(pd.read_parquet, own.rglob("*.parquet")))
    path = fresh.folder / file
    path.write_text(path.read_text().replace("streams: confirmation", "streams: run"))
    runs = [str(it.relative_to(fresh.folder)) for it in own.rglob("*.parquet")]
    code, output = fresh.snakemake(*runs, "--cores", "2", configfile=file)
    assert code == 0, output
    others = pd.concat(map(pd.read_parquet, own.rglob("*.parquet")))
    last = (there["iteration"] == 20).to_numpy()
    assert (
        there["optimality_gap"][last].to_numpy() != others["optimality_gap"][last].to_numpy()
    ).all()
