"""The summary on the screen: short, and in agreement with what README says."""

import re
from pathlib import Path

import pandas as pd
import pytest

from replication.analyses import summary
from replication.statements import controls, report
from replication.study import algorithms

ROOT = Path(__file__).parents[2]


def recorded(name):
    return pd.read_csv(ROOT / f"reference/{name}.csv")


def told(verdicts, fresh, *tables):
    """Lines about verdicts."""
    return [*summary._verdicts(report.of_experiment(verdicts), fresh, tables, "results/paper")]


def test_default_study_ends_with_a_short_summary_that_agrees_with_the_readme():
    verdicts, fresh = recorded("claims"), recorded("confirmation")
    lines = told(verdicts, fresh, recorded("controls"))
    ends = recorded("runs").groupby(["algorithm", "evaluators"]).ngroups
    # Beside these: study, heading, means, steps of two races, a forecast, a hint, places, blanks.
    assert len(lines) + ends + 11 <= 25
    assert max(map(len, lines)) <= 100
    readme = (ROOT / "README.md").read_text()
    answer = readme.partition("| Does the figure reproduce? |")[2].partition("|")[0]
    counts = re.findall(r"(\d+) \((\d+) \w+s\)", "\n".join(lines))
    assert len(counts) == 2
    assert {number for both in counts for number in both} <= {*re.findall(r"\d+", answer)}


def test_statements_are_listed_unless_they_are_reproduced_here_and_on_fresh_data():
    verdicts, fresh = recorded("claims"), recorded("confirmation")
    rows = report.of_experiment(verdicts)
    words = report.on_fresh_data(rows, fresh)
    expected = {
        row["statement"]: (row["verdict"], words[row["claim"]])
        for _, row in rows.iterrows()
        if row["verdict"] != "reproduced" or words[row["claim"]] != "reproduced"
    }
    listed = [line.split(maxsplit=2) for line in told(verdicts, fresh) if line.startswith("  ")]
    assert 0 < len(expected) <= 6
    assert {statement: tuple(both) for *both, statement in listed} == expected


def test_of_many_statements_six_are_listed():
    verdicts = recorded("claims").assign(verdict="contradicted")
    lines = told(verdicts, pd.DataFrame())
    assert sum(line.startswith("  contradicted") for line in lines) == 6
    assert lines[-1] == "  and 8 more: results/paper/claims.csv"
    assert "not confirmed on fresh data" in lines[1]


def test_controls_are_counted_in_a_line():
    table = recorded("controls")
    verdicts = recorded("claims")
    last = told(verdicts, recorded("confirmation"), table)[-1]
    assert last.startswith(controls.counted(report.of_experiment(verdicts), table))


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
    lines = [*summary._lines(about, optimum, aggregate, {}, nothing, pd.DataFrame(), [])]
    said = [line for line in lines if "hardly moves" in line]
    words = "ZPGPD-HF: the optimality gap hardly moves, by 0.0001 at most: statements about it say"
    assert said == [f"{words} little."] * still
