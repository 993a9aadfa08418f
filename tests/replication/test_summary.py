"""The summary on the screen: short, and in agreement with what README says."""

import re
from pathlib import Path

import pandas as pd
import pytest

from replication.analyses import summary
from replication.statements import controls, report
from replication.study import algorithms

ROOT = Path(__file__).parents[2]


STUDIES = ["", "hard/"]


def recorded(name):
    return pd.read_csv(ROOT / f"reference/{name}.csv")


def told(verdicts, fresh, wrong=None):
    """Lines about verdicts, with verdicts on fresh and on wrong data by their place."""
    rows = report.of_experiment(verdicts)
    return [*summary._verdicts(rows, fresh, wrong or {}, "results/paper")]


def confirmation_of(study):
    return {f"reference/{study}confirmation.csv": recorded(f"{study}confirmation")}


@pytest.mark.parametrize("study", STUDIES)
def test_studies_end_with_a_short_summary_that_agrees_with_the_readme(study):
    place = f"reference/{study}controls.csv"
    lines = told(
        recorded(f"{study}claims"),
        confirmation_of(study),
        {place: recorded(f"{study}controls")},
    )
    # They are on record, with what else stands in a summary.
    text = "\n".join(recorded(f"{study}summary")["text"].fillna(""))
    assert "\n" + "\n".join(lines) + "\n" in text
    assert text.startswith(f"Study {study.rstrip('/') or 'paper'}: V_r* = ")
    ends = recorded(f"{study}runs").groupby(["algorithm", "evaluators"]).ngroups
    # Beside these: study, heading, means, steps of two races, a forecast, a hint, places, blanks.
    assert len(lines) + ends + 11 <= 25
    assert max(map(len, lines)) <= 100
    counts = re.findall(r"(\d+) \((\d+) \w+s\)", "\n".join(lines))
    assert len(counts) == 2
    if study == "":
        readme = (ROOT / "README.md").read_text()
        answer = readme.partition("| Does the figure reproduce? |")[2].partition("|")[0]
        assert {number for both in counts for number in both} <= {*re.findall(r"\d+", answer)}


@pytest.mark.parametrize("study", STUDIES)
def test_statements_are_listed_unless_they_are_reproduced_here_and_on_all_fresh_data(study):
    verdicts, confirmation = recorded(f"{study}claims"), confirmation_of(study)
    rows = report.of_experiment(verdicts)
    [(place, fresh)] = confirmation.items()
    kinds = {"instance": {}, "seed": {}}  # in the order of the columns
    for _, row in fresh[fresh["estimate"].notna()].iterrows():
        kinds[row["unit"]][row["claim"]] = row["verdict"]
    assert all(kinds.values())
    expected = {}
    for _, row in rows.iterrows():
        words = [row["verdict"], *(it.get(row["claim"], "not confirmed") for it in kinds.values())]
        if {*words} != {"reproduced"}:
            expected[row["statement"]] = words
    lines = told(verdicts, confirmation)
    assert f"Not reproduced everywhere (here, fresh instances, fresh seeds: {place}):" in lines
    words = r"reproduced|contradicted|inconclusive|not confirmed"
    listed = {line.split("  ")[-1].strip(): line for line in lines if line.startswith("  ")}
    assert 0 < len(expected) <= 6
    assert {it: re.findall(words, line) for it, line in listed.items()} == expected


def test_statement_that_fresh_data_say_nothing_about_is_listed():
    verdicts = recorded("claims")
    claim = verdicts.loc[verdicts["verdict"] == "reproduced", "claim"].iloc[0]
    [(place, fresh)] = confirmation_of("").items()
    dropped = fresh["claim"].eq(claim) & fresh["unit"].eq("seed")
    assert dropped.any()
    found = {
        count: [line for line in told(verdicts, {place: table}) if "not confirmed" in line]
        for count, table in enumerate([fresh, fresh[~dropped]])
    }
    assert found[0] == []
    (line,) = found[1]
    assert line.split()[:4] == ["reproduced", "reproduced", "not", "confirmed"]


def test_of_many_statements_six_are_listed():
    verdicts = recorded("claims").assign(verdict="contradicted")
    lines = told(verdicts, {})
    assert sum(line.startswith("  contradicted") for line in lines) == 6
    assert lines[-1] == "  and 8 more: results/paper/claims.csv"
    assert "not confirmed on fresh data" in lines[1]


@pytest.mark.parametrize("study", STUDIES)
def test_controls_are_counted_in_a_line(study):
    place, table = f"reference/{study}controls.csv", recorded(f"{study}controls")
    verdicts = recorded(f"{study}claims")
    last = told(verdicts, confirmation_of(study), {place: table})[-1]
    assert last == f"{controls.counted(report.of_experiment(verdicts), table)} ({place})."


@pytest.mark.parametrize("study", STUDIES)
def test_tables_on_record_are_named_by_their_place_in_the_project(tmp_path, study):
    path = tmp_path / f"reference/{study}controls.csv"
    path.parent.mkdir(parents=True)
    path.write_text("claim\na\n")
    [(place, table)] = summary._recorded([str(path)]).items()
    assert place == f"reference/{study}controls.csv"
    assert [*table["claim"]] == ["a"]
    assert summary._recorded([]) == {}


def test_rounds_are_told_of_algorithms_that_ask():
    names = {"npg_pd": {"rounds": 1}, "npgpd_hf": {"rounds": 2}}
    assert algorithms.rounds({"algorithms": names}) == {"npgpd_hf": 2}


@pytest.mark.parametrize("still", [True, False])
def test_curves_that_hardly_move_are_named(still):
    end = 0.2001 if still else 0.1
    aggregate = pd.DataFrame(
        {
            "algorithm": "zpgpd_hf",
            "evaluators": 16,
            "iteration": [0, 10],
            "seeds": 2,
            **{f"{it}_{end}": 0.0 for it in summary.METRICS for end in ("low", "high")},
            "optimality_gap": [0.2, end],
            "constraint_violation": [0.1, 0.05],
        }
    )
    about = {"study": "mine", "rounds": {"zpgpd_hf": 1}, "forecasts": [], "results": "results/mine"}
    about |= {"left_out": [], "figures": "figures", "page": "figure1.html"}
    optimum = {"binding": True, "reward_value": 0.7, "multiplier": 0.5, "slack": 0.1}
    nothing = recorded("claims").assign(why="not asked by this run: no run has M = 64")
    lines = [*summary._lines(about, optimum, aggregate, {}, nothing, {}, {})]
    said = [line for line in lines if "hardly moves" in line]
    words = "ZPGPD-HF: the optimality gap hardly moves, by 0.0001 at most: statements about it say"
    assert said == [f"{words} little."] * still
