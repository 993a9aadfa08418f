"""What `make races` and `make environments` put on record is what the studies' results say."""

import re
import shutil
import sys

import pandas as pd
import pytest
from projects import ROOT

from replication.figures import style
from replication.study import recorded_races
from replication.verify import tables

REFERENCE = ROOT / "reference"
KNOWN = sorted(path.stem for path in ROOT.glob("config/environments/*.yaml"))


def results_of(folder):
    """Folders of results in which the races in a folder of the record may stand."""
    study, _, rest = folder.partition("/")
    if study == "hard":
        return [f"hard-races/{rest}", f"hard-inference/{rest}"]
    return {"environments": [rest], "inference": [folder]}.get(study, [f"races/{folder}"])


@pytest.mark.long
def test_races_are_recorded_as_they_are_committed(fresh):
    """The recipe of the Makefile, with the scores of all races, so that it runs none again."""
    record, scores = fresh.folder / recorded_races.RECORD, fresh.folder / recorded_races.SCORES
    for race in recorded_races.load_record(ROOT):
        folder, _, algorithm = race.rpartition("/")
        for place in results_of(folder):
            path = fresh.folder / "results" / place / "calibration" / f"{algorithm}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            recorded_races.load_scores(REFERENCE / "races.csv", race).to_csv(path, index=False)
            path.with_suffix(".json").write_text("{}")
    # The scores have no records of what made them, so the workflow would run the races again.
    rules = fresh.folder / "workflow/rules/common.smk"
    rules.write_text(re.sub(r"\nstale\.decide_by_content\(.*\)\n", "\n", rules.read_text()))
    head = "".join(re.findall("^#.*\n", record.read_text(), re.MULTILINE))
    record.write_text(f"{head}{{}}\n")
    activated = f"IN_VENV=export PYTHONPATH={fresh.folder / 'src'} &&"
    code, output = fresh.call(["make", "--assume-old=.venv/kernels", activated, "races"])
    assert code == 0, output
    assert "calibrate" not in output
    for path in (record, scores):
        assert path.read_bytes() == (ROOT / path.relative_to(fresh.folder)).read_bytes()


def test_verdicts_on_known_environments_are_put_into_one_table_and_a_picture(fresh):
    table = pd.read_csv(REFERENCE / "environments.csv")
    assert KNOWN == list(table["study"].unique())
    beside = fresh.folder / "reference/hard"  # beside which they are drawn
    beside.mkdir()
    for name in ("verdicts", "curves"):
        shutil.copy(REFERENCE / f"hard/{name}.csv", beside)
    curves = pd.read_csv(beside / "curves.csv")
    for study, verdicts in table.drop(columns="moved").groupby("study"):
        results = fresh.folder / "results" / study
        results.mkdir(parents=True)
        verdicts.drop(columns="study").to_csv(results / "claims.csv", index=False)
        curves.to_parquet(results / "aggregate.parquet")
    code, output = fresh.snakemake("environments", "--cores", "1", configfile="config/config.yaml")
    assert code == 0, output
    made = fresh.folder / "results/environments"
    expected = table.assign(moved=True)  # as the curves of the hard case do
    pd.testing.assert_frame_equal(pd.read_csv(made / "environments.csv"), expected)
    pictures = {path.name for path in (made / "figures").iterdir()}
    assert pictures == {f"environments.{ending}" for ending in style.FORMATS}
    hard = pd.read_csv(beside / "verdicts.csv").query("reading == 'default'")
    hold = hard["verdict"].eq("reproduced") & hard["source"].str.endswith(", experiment")
    title = f"<!-- Of 14 statements {hold.sum()} hold in the hard case, but only "
    assert title in (made / "figures/environments.svg").read_text()
    shutil.copytree(ROOT / "tools", fresh.folder / "tools")
    command = [sys.executable, "tools/record.py", "results/environments", "environments"]
    code, output = fresh.call(command)
    assert code == 0, output
    recorded = next(it for it in tables.TABLES if it.name == "environments")
    written = tables.read_file(fresh.folder / "reference/environments.csv")
    assert written.equals(recorded.load(made))
