"""Readers see which verdicts fresh data confirm: those that the table of the confirmation has."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from replication.statements import report

ROOT = Path(__file__).parents[2]
DECIDED = {  # on fresh seeds, and on fresh instances
    "alike": ("reproduced", "reproduced"),
    "apart": ("reproduced", "contradicted"),
    "changed": ("reproduced", "reproduced"),
    "sweep": (None, None),
}


def rows(reading, verdicts, **changed):
    """Table of verdicts; None is one without an estimate."""
    return pd.DataFrame(
        {
            "reading": reading,
            "claim": claim,
            "statement": claim,
            "criterion": changed.get(claim, f"{claim} > 0"),
            "estimate": None if verdict is None else 0.1,
            "unit": "instance" if "instances" in reading else "seed",
            "verdict": verdict or "inconclusive",
            "p_reproduced": 0.5,
            "level": 0.01,
        }
        for claim, verdict in verdicts.items()
    )


@pytest.fixture
def table():
    verdicts = dict.fromkeys([*DECIDED, "new"], "reproduced")
    return rows("default", verdicts, changed="changed > 1")


@pytest.fixture
def confirmation():
    first, second = ({claim: both[i] for claim, both in DECIDED.items()} for i in (0, 1))
    return pd.concat([rows("default", first), rows("9 instances", second)])


def test_new_and_changed_statements_and_those_without_an_estimate_are_not_confirmed(
    table, confirmation
):
    assert report.on_fresh_data(table, confirmation) == {
        "alike": "reproduced",
        "apart": "contradicted (9 instances), reproduced (fresh seeds)",
        **dict.fromkeys(["changed", "sweep", "new"], "not confirmed"),
    }


def test_readings_of_the_same_seeds_are_counted_apart(table, confirmation):
    seeds = confirmation.query("unit == 'seed'").assign(units=60.0)
    (counted,) = report.fresh_counts(table, seeds)
    both = pd.concat([seeds, seeds.assign(reading="another")])
    assert report.fresh_counts(table, both) == [counted, counted]


def test_matrix_as_text_has_the_confirmation_beside_the_readings(table, confirmation):
    fresh = report.confirmed(table, confirmation)
    text = report.as_text(pd.concat([table, fresh]))
    cells = dict(line.split(maxsplit=1) for line in text.splitlines()[3:8])
    assert cells == {
        "alike": "+ + +",
        "apart": "+ - +",
        **dict.fromkeys(["changed", "sweep", "new"], "+ . ."),
    }
    assert "Statements with . in C (fresh seeds) are not confirmed on fresh data." in text
    assert "not confirmed" not in report.as_text(table)


@pytest.mark.parametrize("study", ["", "hard/"])
@pytest.mark.parametrize("name", ["claims", "verdicts"])
def test_criteria_are_those_that_were_confirmed(study, name):
    confirmation = pd.read_csv(ROOT / f"reference/{study}confirmation.csv")
    told = report.on_fresh_data(pd.read_csv(ROOT / f"reference/{study}{name}.csv"), confirmation)
    decided = confirmation.groupby("claim")["estimate"].count() > 0
    assert {claim: words != "not confirmed" for claim, words in told.items()} == decided.to_dict()


ROWS = pd.DataFrame(
    [
        ("reproduced", 0.1, None),
        ("inconclusive", 0.1, "on the margin: about 30 seeds would decide"),
        ("inconclusive", None, "not asked by this run: npgpd_hf was not run with M = 16"),
        ("inconclusive", None, "not decided: one seed has no interval"),
    ],
    columns=["verdict", "estimate", "why"],
)


def test_what_runs_do_not_ask_is_called_so():
    words = [report.word(row) for _, row in ROWS.iterrows()]
    assert words == ["reproduced", "inconclusive", "not asked", "inconclusive"]
    told = "Of 4 statements 1 are reproduced, 0 contradicted and 2 inconclusive; 1 are not asked"
    assert report.in_short(ROWS) == told
    assert report.in_short(ROWS[:2]).endswith("and 1 inconclusive")
    none = "Of 0 statements 0 are reproduced, 0 contradicted and 0 inconclusive"
    assert report.in_short(ROWS[:0]) == none


def test_study_that_asks_nothing_says_so_in_one_line():
    nothing = pd.concat([ROWS[2:3]] * 3)
    assert report.asked(nothing).empty
    told = "None of the 3 statements is judged (npgpd_hf was not run with M = 16)"
    assert report.in_short(nothing) == told
    reasons = [f"not asked by this run: no run has M = {m}" for m in (16, 64, 16)]
    others = nothing.assign(why=reasons)
    told = "None of the 3 statements is judged (for one, no run has M = 16)"
    assert report.in_short(others) == told


@pytest.mark.parametrize("study", ["", "hard/"])
def test_numbers_of_a_verdict_have_a_unit(study):
    """Each part of a criterion about curves is about one kind of curve, whose unit is named."""
    table = report.of_experiment(pd.read_csv(ROOT / f"reference/{study}claims.csv"))
    of_column = {"optimality_gap": "initial gap", "constraint_violation": "range of V_g"}
    claims = yaml.safe_load((ROOT / "config/claims.yaml").read_text())["claims"]
    for _, row in table.iterrows():
        column = claims[row["claim"]]["criterion"].get("column")
        assert report.unit_of(row["part"]) == of_column.get(column, "λ*")
    assert report.unit_of("questions per iteration / |S||A|, M = 16 > 1") == ""
    assert report.unit_of(float("nan")) == ""
