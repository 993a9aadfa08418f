"""Controls: wrong data in place of an algorithm, on which statements fail or do not."""

import copy
from pathlib import Path

import pandas as pd
import pytest
import worlds
import yaml

from replication.statements import controls
from replication.statements.inference import of_experiment
from replication.statements.verdicts import judge

ROOT = Path(__file__).parents[2]
CLAIMS = of_experiment(yaml.safe_load((ROOT / "config/claims.yaml").read_text()))
RIGHT = worlds.make_traces(worlds.paper())
TITLES = {"wrong": "wrong data"}


def resting():
    """Curves that never leave the start, under a multiplier that grows for ever."""
    world = {key: [curve[0]] * 6 for key, curve in worlds.paper().items()}
    grows = [0, 1, 2, 5, 7.5, 10]
    return world | {key: grows for key in world if key[2] == "multiplier"}


def judged(traces, algorithm, claims=CLAIMS, control="wrong"):
    member = worlds.member(RIGHT)
    wrong = {(control, algorithm): traces[traces["algorithm"] == algorithm]}
    return controls.judge_controls(claims, member, wrong, {control: "wrong data"})


@pytest.mark.parametrize("algorithm", worlds.LENGTHS)
def test_right_data_are_judged_as_the_study_is(algorithm):
    study = judge(CLAIMS, worlds.seed_evidence(worlds.paper())).set_index("claim")
    table = judged(RIGHT, algorithm).set_index("claim")
    assert (table["verdict"] == study["verdict"].loc[table.index]).all()
    assert (table["estimate"] == study["estimate"].loc[table.index]).all()
    assert (table["verdict"] == "reproduced").all()
    assert not table["failed"].any()


def test_each_statement_is_judged_once_on_the_runs_that_it_is_about():
    tables = [judged(RIGHT, algorithm) for algorithm in worlds.LENGTHS]
    claims = pd.concat(tables)["claim"]
    assert sorted(claims) == sorted(CLAIMS["claims"])
    assert claims.is_unique


def test_only_the_algorithm_that_a_statement_is_about_is_wrong():
    """A ZPGPD-HF at rest is much slower than a right NPGPD-HF, but not than one at rest."""
    traces = worlds.make_traces(resting())
    table = judged(traces, "zpgpd_hf").set_index("claim")
    assert table.loc["zpgpd-gap-much-slower", "verdict"] == "reproduced"
    both = judge(CLAIMS, worlds.seed_evidence(resting())).set_index("claim")
    assert both.loc["zpgpd-gap-much-slower", "verdict"] == "contradicted"


def test_table_says_what_had_to_fail_what_did_and_why():
    traces = worlds.make_traces(resting(), noise=0)
    table = pd.concat([judged(traces, name, control="no-primal-step") for name in worlds.LENGTHS])
    declared = {
        name: claim["has_to_fail"].get("no-primal-step") for name, claim in CLAIMS["claims"].items()
    }
    assert len(table) == 14
    for _, row in table.iterrows():
        reason = declared[row["claim"]]
        assert row["had_to_fail"] == (reason is not None)
        assert row["failed"] == (row["verdict"] == "contradicted")
        assert row["reason"] == reason if reason else pd.isna(row["reason"])
    assert table.loc[table["had_to_fail"], "failed"].all()  # a policy at rest is what it has to be


def test_next_labels_move_every_m_and_keep_the_runs():
    moved = controls.with_next_labels(RIGHT)
    for label, was in ((16, 64), (64, 256), (256, 16)):
        ours = moved[moved["evaluators"] == label].drop(columns="evaluators")
        theirs = RIGHT[RIGHT["evaluators"] == was].drop(columns="evaluators")
        pd.testing.assert_frame_equal(ours, theirs)
    infinite = RIGHT.assign(evaluators=RIGHT["evaluators"].mask(RIGHT["evaluators"] == 64))
    assert set(controls.with_next_labels(infinite)["evaluators"]) == {16, 256}


def test_one_run_stands_for_all_labels():
    rows = (RIGHT["algorithm"] == "npgpd_hf") & (RIGHT["evaluators"] == 16) & (RIGHT["seed"] == 3)
    run = RIGHT[rows].assign(algorithm="npg_pd", seed=0)
    traces = controls.for_all_labels(run, RIGHT[RIGHT["algorithm"] == "npgpd_hf"])
    assert set(traces["algorithm"]) == {"npgpd_hf"}
    groups = traces.groupby(["evaluators", "seed"])
    assert len(groups) == 3 * 20
    for _, group in groups:
        assert list(group["optimality_gap"]) == list(run["optimality_gap"])


CONTROLS = pd.DataFrame(
    [
        ("a", "x", True, "contradicted"),
        ("a", "y", True, "reproduced"),
        ("b", "x", True, "inconclusive"),  # not enough to fail
        ("b", "y", False, "contradicted"),  # fails where it need not
        ("c", "x", False, "reproduced"),
        ("d", "x", True, "contradicted"),  # by another criterion
    ],
    columns=["claim", "control", "had_to_fail", "verdict"],
).assign(criterion="old", failed=lambda it: it["verdict"] == "contradicted")
STUDY = pd.DataFrame(
    {
        "claim": list("abcd"),
        "statement": ["A", "B", "C", "D"],
        "criterion": ["old"] * 3 + ["new"],
        "verdict": ["reproduced", "reproduced", "contradicted", "reproduced"],
    }
)


def test_informative_is_what_fails_where_it_has_to():
    assert controls.informative(CONTROLS) == ["a", "d"]


def test_counts_are_of_statements_as_they_are():
    counted = controls.counted(STUDY, CONTROLS)
    assert counted == "Of the 1 that are informative, 1 are reproduced"
    assert controls.not_informative(STUDY, CONTROLS) == ["b", "c"]


def test_scores_are_what_wrong_data_would_get():
    table = CONTROLS.assign(title=CONTROLS["control"].str.upper())
    assert controls.scores(table) == {"X": (1, 4), "Y": (1, 2)}


@pytest.mark.parametrize(
    ("study", "few_seeds", "many_seeds", "reproduced", "on_all"),
    [("", 3, 5, [8, 7, 7, 9, 10], 6), ("hard/", 5, 5, [6, 7, 8, 9, 9], 4)],
)
def test_record_is_about_what_is_declared(study, few_seeds, many_seeds, reproduced, on_all):
    record = pd.read_csv(ROOT / f"reference/{study}controls.csv")
    own = pd.read_csv(ROOT / f"reference/{study}claims.csv")
    own = own[own["claim"].isin(CLAIMS["claims"])]
    more = pd.read_csv(ROOT / f"reference/{study}verdicts.csv")
    more = more[(more["reading"] == "default") & more["claim"].isin(CLAIMS["claims"])]
    for table, held in ((own, few_seeds), (more, many_seeds)):
        told = f"Of the 7 that are informative, {held} are reproduced"
        assert controls.counted(table, record) == told
    assert [score for score, _ in controls.scores(record).values()] == reproduced
    passed = record.groupby("claim")["verdict"].apply(lambda it: (it == "reproduced").all())
    assert passed.sum() == on_all
    # Declared as they stand in config/claims.yaml, and judged by the criteria that stand there.
    required = record[record["had_to_fail"]]
    declared = {
        (name, it) for name, claim in CLAIMS["claims"].items() for it in claim["has_to_fail"]
    }
    assert set(zip(required["claim"], required["control"], strict=True)) == declared
    assert set(record["criterion"]) == set(own["criterion"])


def test_statement_of_ones_own_without_a_declaration_has_to_fail_nowhere():
    claims = copy.deepcopy(CLAIMS)
    for claim in claims["claims"].values():
        del claim["has_to_fail"]
    table = judged(worlds.make_traces(resting()), "npgpd_hf", claims)
    assert table["failed"].any()
    assert not table["had_to_fail"].any()
    assert controls.informative(table) == []
