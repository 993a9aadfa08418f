"""Tables of analyses that hand their settings on: whose runs, how many, and which of them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from checking import study

from pgpd_hf import random_cmdp, run, solve, stability
from replication import proofs
from replication.analyses import (
    bounds_by_setting,
    certificates_by_algorithm,
    corrected,
    inference,
    lengths,
    policies,
    races,
    resampled,
    summary,
    ties,
    verdict_table,
)
from replication.files import storage
from replication.statements import evidence, report, verdicts
from replication.statements import inference as rule
from replication.statements.declaration import load_claims
from replication.study.cases import run_setting
from replication.theory import table as bounds_table

ROOT = Path(__file__).parents[2]
CONFIG = study()
CLAIMS, SCHEMA = ROOT / "config/claims.yaml", ROOT / "workflow/schemas/claims.schema.yaml"
CMDP = random_cmdp(states=3, actions=2, instance=1, discount=0.7, threshold=0.5)
CORRECTED = {"seen": [{"rounds": 1, "iterations": [4]}, {"rounds": 3, "iterations": [4]}]}
CORRECTED |= {"iterations": [4, 8], "measured": 12, "seeds": 2, "cases": 1}
THEORY = {"link": "logistic", "horizon": 12, "evaluators": [4, 16], "corrected": CORRECTED}


@pytest.fixture
def environment(tmp_path):
    CMDP.save(tmp_path / "environment.npz")
    return tmp_path / "environment.npz"


def test_runs_behind_bounds_over_t_are_those_that_the_settings_allow(environment):
    table = lengths.tables(environment, **THEORY)["lengths"]
    assert {*table["evaluators"]} == {4, 16}
    assert {*table["rounds"]} == {1, 3}
    for row in table.dropna(subset="iterations").itertuples():
        assert np.isnan(row.measured_gap) == (row.rounds * row.iterations > 12)


def test_bounds_from_what_runs_show_are_made_for_every_m_and_n(environment, monkeypatch):
    asked = []
    monkeypatch.setattr(proofs, "check_steps", asked.append)
    table = corrected.tables(environment, **THEORY)["seen"]
    found = table[table["estimator"] == "plug-in"].groupby(["evaluators", "rounds"]).size()
    assert found.to_dict() == {(m, n): 2 for m in (4, 16) for n in (1, 3)}
    assert asked == [1]


def test_certificates_are_of_all_seeds_of_the_study_and_all_draws(environment):
    setting = run_setting(CONFIG, "npgpd_hf", 16) | {"iterations": 3, "horizon": 5}
    setting |= {"primal_step": 0.1, "dual_step": 0.1}
    settings = [setting, setting | {"evaluators": 64}]
    made = certificates_by_algorithm.tables(environment, [], settings, 3, 1, "npgpd_hf")
    found = made["npgpd_hf"].groupby("case")["seed"].unique()
    assert {case: sorted(seeds) for case, seeds in found.items()} == {
        "study": [0, 1, 2],
        "random": [0],
    }
    ours = made["npgpd_hf"].query("case == 'study'")
    assert len(ours) == 2 * 2 * 3  # numbers of people, quantities, seeds


def test_bounds_are_checked_with_the_seeds_of_the_configuration(monkeypatch):
    asked = []

    def check_all(cmdp, setting, seeds):
        asked.append([*seeds])
        return pd.DataFrame(columns=[*bounds_table.COLUMNS])

    monkeypatch.setattr(bounds_table, "check_all", check_all)
    options = {"evaluators": 16, "iterations": 5, "horizon": 5}
    table = bounds_by_setting.tables(CONFIG["environment"], None, options, 3, "paper")["paper"]
    assert asked == [[0, 1, 2]]
    assert list(table)[5] == "setting"


def test_scores_of_resamples_add_up_over_the_tables_of_an_n(tmp_path, monkeypatch):
    """As those of the tables do, of which a study has one of seeds and one of instances."""
    verdict = pd.DataFrame({"claim": ["a"], "source": ["line 1, experiment"], "kind": ["measured"]})
    for place, scores in enumerate(([1, 2], [10, 20], [5, 7])):
        storage.write(tmp_path / f"claims{place}.csv", verdict.assign(statement=str(place)))
        storage.write(tmp_path / f"resampled{place}.csv", pd.DataFrame({"score": scores}))
    monkeypatch.setattr(rule, "infer", lambda *given, **options: (given, options))
    paths = [[tmp_path / f"{name}{k}.csv" for k in range(3)] for name in ("claims", "resampled")]
    (tables, scores), options = inference.tables(*paths, [1, 1, 2], rule="smallest")["inferred"]
    assert {n: [it["statement"].item() for it in found] for n, found in tables.items()} == {
        1: [0, 1],
        2: [2],
    }
    assert {n: found.tolist() for n, found in scores.items()} == {1: [11, 22], 2: [5, 7]}
    assert options == {"rule": "smallest"}


def test_resamples_are_judged_with_all_margins_of_the_inference():
    told = resampled.arguments(CONFIG, {}, "full/")
    assert told["margins"] == CONFIG["inference"]["margins"]
    assert len(told["margins"]) > 1


def test_text_of_all_verdicts_has_those_on_fresh_data():
    reference = ROOT / "reference"
    own, fresh = reference / "claims.csv", reference / "confirmation.csv"
    text = verdict_table.tables([own], [own], [fresh], ["default"])["verdicts.txt"]
    expected = report.confirmed(storage.read_table(own), storage.read_table(fresh))
    counts = expected["reading"].value_counts()
    assert report.FRESH in counts
    for reading, count in counts.items():
        (line,) = (line for line in text.splitlines() if line[3:].startswith(f"{reading}  "))
        assert sum(int(word) for word in line.split() if word.isdecimal()) >= count


def test_scores_of_new_races_bear_their_names(tmp_path):
    names = ["a/npgpd_hf", "npgpd_hf"]
    paths = [tmp_path / f"{number}.csv" for number in range(2)]
    for number, path in enumerate(paths):
        storage.write(path, pd.DataFrame({"primal_step": [number], "score": [0.1]}))
    made = races.tables(paths, {name: {"algorithm": "npgpd_hf"} for name in names})
    assert made["races"]["race"].tolist() == names
    assert made["races"]["primal_step"].tolist() == [0, 1]
    assert list(yaml.safe_load(made["steps.yaml"])) == names


def test_page_of_policies_has_a_picture_for_every_m():
    config = CONFIG | {"evaluators": [16, 64, None]}
    found = policies.parameters(config)["evaluators"]
    assert [*found.values()] == [16, 64, None]
    assert [f"policies_M{name}" for name in found] == [*policies.pictures(config)]


def test_forecasts_count_the_steps_of_their_own_algorithm(monkeypatch):
    told = []
    monkeypatch.setattr(stability, "forecast", lambda *given: told.append(given[1:]))
    runs = pd.DataFrame({"algorithm": ["npgpd_hf", "zpgpd_hf"], "steps": [10, 900], "seeds": 3})
    setting = {"evaluators": 16, "primal_step": 0.1, "dual_step": 0.1}
    settings = {name: [setting] for name in runs["algorithm"]}
    assert [*summary._forecasts(CMDP, settings, {}, runs)] == []
    assert {algorithm.name: steps for algorithm, _, steps in told} == {
        "npgpd_hf": 30,
        "zpgpd_hf": 2700,
    }


def test_summary_shows_the_last_iterate_of_each_algorithm(monkeypatch):
    """Their runs have different lengths."""
    curves = pd.read_csv(ROOT / "reference/curves.csv", dtype={"evaluators": "Int64"})
    curves = curves.assign(seeds=20)
    optimum = {"binding": True, "reward_value": 1.0, "multiplier": 1.0, "slack": 0.1}
    about = {"study": "mine", "rounds": {}, "forecasts": [], "results": "", "left_out": []}
    about |= {"figures": "", "page": ""}
    claims = storage.read_table(ROOT / "reference/claims.csv")
    lines = [*summary._lines(about, optimum, curves, {}, claims, {}, {})]
    ends = curves.groupby("algorithm")["iteration"].max()
    assert ends.nunique() == 2
    rows = [line for line in lines if line.startswith(("NPGPD-HF   ", "ZPGPD-HF   "))]
    last = curves[curves["iteration"] == curves["algorithm"].map(ends)]
    assert [float(line.split()[2].replace("−", "-")) for line in rows] == pytest.approx(
        last["optimality_gap"].tolist(), abs=1e-3
    )


def test_steps_that_tie_with_themselves_have_the_verdicts_of_the_study(environment, tmp_path):
    """Estimates and intervals, too: the other algorithm's runs are those of the study."""
    optimum, steps = solve(CMDP), {"primal_step": 0.05, "dual_step": 0.05}
    traces = [
        run(CMDP, name, seeds=range(3), iterations=40, evaluators=m, horizon=8, **steps)
        for name in ("npgpd_hf", "zpgpd_hf")
        for m in (16, 64, 256)
    ]
    traces = pd.concat(traces, ignore_index=True)
    own = traces[traces["algorithm"] == "npgpd_hf"].assign(**steps)
    storage.write(tmp_path / "traces.parquet", traces)
    storage.write(tmp_path / "own.parquet", own)
    storage.write(tmp_path / "optimum.json", {"multiplier": optimum.multiplier})
    declared = load_claims(CLAIMS, yaml.safe_load(SCHEMA.read_text()))
    member = evidence.Member.on(CMDP, optimum.multiplier, traces)
    expected = verdicts.judge(declared, evidence.Evidence([member])).set_index("claim")
    storage.write(tmp_path / "verdicts.csv", expected.reset_index())
    table = ties.tables(
        [tmp_path / "own.parquet"], CLAIMS, [], SCHEMA, environment,
        tmp_path / "optimum.json", [tmp_path / "traces.parquet"], tmp_path / "verdicts.csv",
    )["ties"]  # fmt: skip
    assert len(table) > 5
    assert (table["verdict"] == table["chosen"]).all()
    criteria = declared["claims"]
    assert any("than" in criteria[claim]["criterion"] for claim in table["claim"])
    numbers = ["estimate", "low", "high"]
    found = expected.loc[table["claim"], numbers].to_numpy(float)
    np.testing.assert_allclose(table[numbers].to_numpy(float), found)
