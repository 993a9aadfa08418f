"""The studies that infer N, and confirm, on a budget of seconds."""

import pandas as pd
import pytest
import yaml
from checking import laid

from replication.study.readings import overlay

pytestmark = pytest.mark.long
# As the Makefile lays them, one over the other.
INFERENCES = {
    "inference": ("inference",),
    "hard-inference": ("hard", "inference", "hard-inference"),
}
CONFIRMATIONS = {
    "confirmation": ("confirmation",),
    "hard-confirmation": ("hard", "hard-confirmation"),
}


def tiny(project, files, settings):
    """Shrink a study of config/: two instances, three seeds, short runs, given step sizes."""
    content = laid(*files)
    groups = content["claims"]["instances"]["groups"]
    judged = {name: group for name, group in groups.items() if group["numbers"]}
    small = {"numbers": next(iter(judged.values()))["numbers"][:2], "tuning": []}
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
            "instances": {"seeds": 1, "groups": dict.fromkeys(judged, small)},
        },
    }
    path = project.folder / f"config/{files[-1]}.yaml"
    path.write_text(yaml.safe_dump(overlay(content, overlay(changes, settings))))
    return f"config/{files[-1]}.yaml"


@pytest.fixture(scope="module", params=INFERENCES)
def inferred(request, tmp_path_factory):
    """A project in which N has been inferred, from almost nothing, and the results."""
    from projects import Project

    project = Project(tmp_path_factory.mktemp("inferred"))
    # Fewer N than the study has: those of the groups go with those of the readings.
    gone = {key: {"numbers": []} for key in ("two", "three", "ten", "twenty")}
    fewer = {"claims": {"readings": ["five-rounds"], "instances": {"groups": gone}}}
    file = tiny(project, INFERENCES[request.param], fewer)
    analysis = project.folder / "src/replication/analyses/resampled.py"
    before, after = analysis.read_text().split("RESAMPLES = 1000")
    analysis.write_text(f"{before}RESAMPLES = 50{after}")
    code, output = project.snakemake("infer", "--cores", "2", configfile=file)
    assert code == 0, output
    return project.folder / "results" / request.param


def test_inference_has_a_row_for_each_n_and_one_is_inferred(inferred):
    table = pd.read_csv(inferred / "inferred.csv")
    assert table["rounds"].tolist() == [1, 5]
    assert (table["standing"] == "inferred").sum() == 1
    assert (table["standing"] == "runner-up").sum() == 1
    verdicts = pd.read_csv(inferred / "verdicts.csv")
    experiment = verdicts[verdicts["source"].str.endswith(", experiment")]
    signs = experiment["verdict"].map({"reproduced": 1, "contradicted": -1, "inconclusive": 0})
    rounds = experiment["reading"].str.extract(r"N = (\d+)")[0].fillna("1").astype(int)
    assert signs.groupby(rounds).sum().tolist() == table["score"].tolist()


def test_inference_draws_other_n_and_explains_itself(inferred):
    for ending in ("pdf", "svg", "png"):
        assert (inferred / f"figures/rounds.{ending}").exists()
    page = (inferred / "notebooks/inference.html").read_text()
    assert "Inferred: N = " in page
    assert "Runner-up" in page


def test_power_has_the_tested_statements_of_each_table(inferred):
    power = pd.read_csv(inferred / "verdicts_power.csv")
    assert set(power["reading"]) == set(pd.read_csv(inferred / "verdicts.csv")["reading"])
    assert power["power"].between(0, 1).all()
    assert set(power["unit"]) == {"seed", "instance"}


@pytest.mark.parametrize("name", CONFIRMATIONS)
def test_confirmation_runs_on_streams_of_its_own(fresh, name):
    file = tiny(fresh, CONFIRMATIONS[name], {})
    code, output = fresh.snakemake("verdict_table", "--cores", "2", configfile=file)
    assert code == 0, output
    results = fresh.folder / "results" / name
    verdicts = pd.read_csv(results / "verdicts.csv")
    assert verdicts["reading"].unique().tolist() == ["default", "250 fresh instances"]
    own = results / "full/runs/npgpd_hf"
    there = pd.concat(map(pd.read_parquet, own.rglob("*.parquet")))
    path = fresh.folder / file
    content = yaml.safe_load(path.read_text())
    assert content["streams"] not in ("run", "typical")
    path.write_text(yaml.safe_dump(content | {"streams": "run"}))
    runs = [str(it.relative_to(fresh.folder)) for it in own.rglob("*.parquet")]
    code, output = fresh.snakemake(*runs, "--cores", "2", configfile=file)
    assert code == 0, output
    others = pd.concat(map(pd.read_parquet, own.rglob("*.parquet")))
    last = (there["iteration"] == 20).to_numpy()
    assert (
        there["optimality_gap"][last].to_numpy() != others["optimality_gap"][last].to_numpy()
    ).all()
