"""What jobs are made from: environment, steps and runs of their own reading or group."""

import json
from pathlib import Path

import pytest
import yaml
from projects import ROOT, Project

from pgpd_hf import random_cmdp

pytestmark = pytest.mark.long
MINE = "results/mine"
TEMPLATE = ROOT / "workflow/templates/page"
JUDGED = ("readings/unit", "instances/binding", "instances/other")
TELL = """
import atexit
import json

atexit.register(
    lambda: Path("inputs.json").write_text(
        json.dumps({it: [*map(str, job.input)] for job in workflow.dag.jobs for it in job.output})
    )
)
"""


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """Inputs of the jobs of a study with a reading of another scale and two groups, by output."""
    project = Project(tmp_path_factory.mktemp("planned"))
    study = yaml.safe_load((project.folder / "config/smoke.yaml").read_text())
    groups = {"binding": {"numbers": [1], "tuning": [4]}, "other": {"numbers": [3]}}
    study["study"], study["claims"]["readings"] = "mine", ["unit"]
    study["claims"]["instances"]["groups"] = groups
    (project.folder / "config/mine.yaml").write_text(yaml.safe_dump(study))
    with (project.folder / "Snakefile").open("a") as file:
        file.write(TELL)
    asked = [f"{MINE}/{it}/claims.csv" for it in JUDGED]
    asked.append(f"{MINE}/notebooks/rates.html")
    code, output = project.snakemake(*asked, "--dry-run", configfile="config/mine.yaml")
    assert code == 0, output
    inputs = json.loads((project.folder / "inputs.json").read_text())
    return {output: set(files) for output, files in inputs.items()}


def test_runs_and_verdicts_of_a_reading_have_its_environment_optimum_and_steps(planned):
    own = {f"{MINE}/readings/unit/{it}" for it in ("environment.npz", "optimum.json")}
    for output in [it for it in planned if it.startswith(f"{MINE}/readings/unit/runs/")]:
        algorithm = output.split("/")[5]
        steps = f"{MINE}/readings/unit/calibration/{algorithm}.json"
        assert planned[output] == own | {steps}
    judged = planned[f"{MINE}/readings/unit/claims.csv"]
    assert own < judged
    runs = {it for it in judged if it.endswith(".parquet")}
    assert runs
    assert all(it.startswith(f"{MINE}/readings/unit/runs/") for it in runs)


def test_page_has_its_notebook_its_tables_and_what_gives_it_its_looks(planned):
    template = [it for it in planned[f"{MINE}/notebooks/rates.html"] if "/templates/page/" in it]
    assert {Path(it).name for it in template} == {it.name for it in TEMPLATE.iterdir()}
    assert {"notebooks/rates.ipynb", f"{MINE}/rates.csv"} <= planned[f"{MINE}/notebooks/rates.html"]


@pytest.mark.parametrize(
    ("group", "place"), [("binding", f"{MINE}/instances/binding"), ("other", MINE)]
)
def test_runs_of_a_group_have_the_steps_that_its_own_race_has_chosen(planned, group, place):
    """Without instances to race on, it has those of the study."""
    runs = {it for it in planned if it.startswith(f"{MINE}/instances/{group}/")}
    runs = {it for it in runs if it.endswith(".parquet")}
    assert len({it.split("/")[4] for it in runs}) == 2
    for output in runs:
        algorithm = output.split("/")[4]
        steps = {it for it in planned[output] if "calibration" in it}
        assert steps == {f"{place}/calibration/{algorithm}.json"}
    judged = planned[f"{MINE}/instances/{group}/claims.csv"]
    assert {it for it in judged if it.endswith(".parquet")} == runs
    assert not {it for it in judged if it.endswith(("environment.npz", "optimum.json"))}


def test_another_cmdp_in_the_same_file_makes_another_environment(fresh):
    """And another race: a result that names its file alone would be taken for that of the new."""
    cmdp = random_cmdp(6, 3, 2, discount=0.8, threshold=0.5)
    cmdp.save(fresh.folder / "mine.npz")
    study = yaml.safe_load((fresh.folder / "config/smoke.yaml").read_text())
    study = {key: study[key] for key in ("evaluators", "horizon", "algorithms", "calibration")}
    study |= {"study": "mine", "environment": {"file": "mine.npz"}}
    (fresh.folder / "mine.yaml").write_text(yaml.safe_dump(study))
    targets = f"{MINE}/optimum.json", f"{MINE}/calibration/npgpd_hf.json"
    code, output = fresh.snakemake(*targets, "--cores", "1", configfile="mine.yaml")
    assert code == 0, output
    again = [*targets, "--dry-run", "--quiet", "host"]
    assert "Nothing to be done" in fresh.snakemake(*again, configfile="mine.yaml")[1]
    random_cmdp(6, 3, 3, discount=0.8, threshold=0.5).save(fresh.folder / "mine.npz")
    code, output = fresh.snakemake(*again, configfile="mine.yaml")
    assert code == 0, output
    assert {"environment", "calibrate"} <= {*output.split()}
