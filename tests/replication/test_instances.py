"""Random instances: which are run, with which steps and streams, and how they are judged."""

import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checking import ANALYSES, study

from pgpd_hf import environments, random_cmdp, run, statistics
from replication.analyses import instances
from replication.files import storage
from replication.study import admission, recorded_races
from replication.study.cases import run_cases
from replication.study.readings import overlay

ROOT = Path(__file__).parents[2]
CONFIG, HARD = study(), study("hard")
SCHEMA = admission.load_schema(ROOT, "config")


def with_groups(**groups):
    """The default study with other groups: options, or numbers alone."""
    config = copy.deepcopy(CONFIG)
    config["claims"]["instances"]["groups"] = {
        name: options if isinstance(options, dict) else {"numbers": options}
        for name, options in groups.items()
    }
    return config


def test_groups_have_their_own_seeds_calibration_and_sizes():
    assert list(instances.groups(CONFIG)) == ["binding"]
    assert list(instances.groups(HARD)) == ["binding", "slack", "small", "large"]
    for config in (CONFIG, HARD):
        groups = instances.groups(config)
        options = config["claims"]["instances"]
        for group in groups.values():
            assert group["seeds"] == options["seeds"]
            assert group["calibration"]["seeds"] == config["claims"]["race_seeds"]
        assert groups["binding"]["environment"] == config["environment"]
    assert groups["small"]["environment"] == HARD["environment"] | {"states": 5, "actions": 3}


def test_plan_has_a_part_per_group_and_algorithm_and_an_item_per_instance_in_order():
    plan = instances.plan(with_groups(binding=[7, 3, 12345], slack=[], odd=[1]))
    assert list(plan) == ["binding/npgpd_hf", "binding/zpgpd_hf", "odd/npgpd_hf", "odd/zpgpd_hf"]
    assert [number for number, _ in plan["binding/zpgpd_hf"]] == [3, 7, 12345]
    for number, cases in plan["binding/zpgpd_hf"]:
        assert [case.setting["evaluators"] for case in cases] == CONFIG["evaluators"]
        for case in cases:
            assert case.algorithm == "zpgpd_hf"
            assert case.seeds == (0, 1, 2, 3)
            assert case.environment == CONFIG["environment"] | {"instance": number}
            assert case.is_calibrated
            assert case.calibration == ""  # the group has no instances to race on
            assert case.purpose == f"instance {number}"
            assert case.labels == {"group": "binding", "instance": number}


def test_instance_is_run_with_its_steps_and_its_streams():
    config = with_groups(small={"numbers": [4, 6], "environment": {"states": 4, "actions": 3}})
    config["algorithms"]["npgpd_hf"]["iterations"] = 40
    assert config["algorithms"]["npgpd_hf"]["rounds"] == 2
    config["evaluators"] = [None]
    (_, (case,)) = instances.plan(config)["small/npgpd_hf"][1]
    found = run_cases([case], None, {"primal_step": 0.3, "dual_step": 0.1})
    expected = run(
        random_cmdp(4, 3, 6, threshold=0.55),
        "npgpd_hf",
        seeds=range(4),
        evaluators=None,
        iterations=40,
        rounds=2,
        primal_step=0.3,
        dual_step=0.1,
        purpose="instance 6",
    )
    assert found[list(expected)].equals(expected)
    assert (found["instance"] == 6).all()


def test_table_is_of_one_group_and_has_infinitely_many_people(tmp_path):
    """Whatever the study is called."""
    config = with_groups(binding=[3, 4], other=[3, 5])
    setting = {"iterations": 2, "primal_step": 0.3, "dual_step": 0.1}
    natural = {"npgpd_hf": config["algorithms"]["npgpd_hf"] | setting}
    config |= {"evaluators": [16, None], "algorithms": natural}
    runs = []
    for part, items in instances.plan(config).items():
        for number, cases in items:
            runs.append(tmp_path / f"binding/instances/{part}/{number}.parquet")
            storage.write(runs[-1], run_cases(cases, None, None))
    (table,) = instances.tables(runs, "binding").values()
    assert table["seeds"].unique().tolist() == [2]
    assert table["evaluators"].isna().sum() == (table["evaluators"] == 16).sum() == 3


def test_seeds_of_an_instance_are_averaged_before_instances(tmp_path):
    values = {name: 0.0 for name in statistics.VALUES}
    rows = [
        values | {"algorithm": "npgpd_hf", "evaluators": 16, "iteration": 0, "instance": instance}
        | {"seed": seed, "optimality_gap": gap}
        for instance, gaps in {3: (0, 0, 3), 4: (1, 1, 7)}.items()
        for seed, gap in enumerate(gaps)
    ]  # fmt: skip
    path = tmp_path / "instances/binding/runs.parquet"
    storage.write(path, pd.DataFrame(rows))
    (table,) = instances.tables([path], "binding").values()
    mean, low, high = statistics.mean_interval([1, 3])
    found = table[["optimality_gap", "optimality_gap_low", "optimality_gap_high"]].iloc[0]
    assert found.tolist() == pytest.approx([mean, low, high])


def test_steps_of_a_group_race_on_other_instances():
    config = with_groups(mine={"numbers": [3], "tuning": [1001, 1003]}, other=[4])
    ((folder, raced),) = instances.calibrations(config).items()
    assert (folder, raced["tuning"]) == ("instances/mine/", [1001, 1003])
    raced = recorded_races.subject(raced, "npgpd_hf")["environments"]
    expected = [CONFIG["environment"] | {"instance": number} for number in (1001, 1003)]
    for one, other in zip(raced, expected, strict=True):
        assert np.array_equal(environments.make(one).reward, environments.make(other).reward)
    ((_, cases),) = instances.plan(config)["mine/npgpd_hf"]
    assert {case.calibration for case in cases} == {"instances/mine/"}


@pytest.mark.parametrize("config", [CONFIG, HARD], ids=["default", "hard"])
def test_groups_are_tuned_on_instances_that_are_not_judged(config):
    for options in config["claims"]["instances"]["groups"].values():
        assert len(options["tuning"]) == 5
        assert not set(options["tuning"]) & set(options["numbers"])


def test_instance_that_is_both_tuned_on_and_judged_is_refused():
    config = with_groups(mine={"numbers": [1, 3], "tuning": [3]})
    message = (
        r"^claims\.instances\.groups\.mine\.tuning: 3 is one of the instances that are judged$"
    )
    with pytest.raises(ValueError, match=message):
        instances.check(config, SCHEMA)


def test_groups_without_instances_and_those_for_comparison_are_not_judged():
    config = with_groups(binding=[1], slack=[], small=[2], large=[3], odd=[4])
    assert instances.judged(config) == {"binding": "binding", "odd": "odd"}
    config["claims"]["instances"]["groups"]["odd"]["title"] = "an odd one"
    assert instances.judged(config)["odd"] == "an odd one"


@pytest.mark.parametrize(
    ("group", "small", "expected"),
    [
        ("binding", [2], ["binding", "small", "large"]),
        ("binding", [], ["binding", "large"]),
        ("slack", [2], ["slack"]),
    ],
)
def test_first_group_is_judged_with_those_of_other_sizes(group, small, expected):
    config = with_groups(binding=[1], slack=[2], small=small, large=[3])
    assert instances.judged_with(config, f"instances/{group}/") == expected


@pytest.mark.parametrize("folder", ["", "readings/instances/"])
def test_no_other_verdicts_are_about_instances(folder):
    assert instances.judged_with(CONFIG, folder) == []


# What is refused before any job.


def test_title_that_tells_another_number_is_not_inherited():
    own = {"claims": {"instances": {"groups": {"binding": {"numbers": [1, 3]}}}}}
    titles = [
        admission.settle(overlay(CONFIG, it), ROOT, it, CONFIG, ANALYSES)[0]["claims"]["instances"][
            "groups"
        ]["binding"].get("title")
        for it in (own, {})
    ]
    assert titles == [None, "100 binding instances"]


@pytest.mark.parametrize("config", [CONFIG, HARD], ids=["default", "hard"])
def test_groups_pass(config):
    instances.check(config, SCHEMA)


@pytest.mark.parametrize(
    ("number", "claimed", "message"),
    [
        (2, True, "the constraint of instance 2 does not bind"),
        (1, False, "the constraint of instance 1 binds"),
    ],
)
def test_wrong_claim_that_the_constraint_binds_is_refused(number, claimed, message):
    config = with_groups(mine={"numbers": [3 if claimed else 11, number], "binding": claimed})
    with pytest.raises(ValueError, match=rf"^claims\.instances\.groups\.mine\.binding: {message}$"):
        instances.check(config, SCHEMA)
    del config["claims"]["instances"]["groups"]["mine"]["binding"]
    instances.check(config, SCHEMA)  # nothing is claimed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"environment": {"file": "a.npz"}}, "environment.file: not allowed here; list instances"),
        (
            {"environment": {"instance": 3}},
            "environment.instance: not allowed here; list instances",
        ),
        ({"environment": {"threshold": 0.9}}, "environment: threshold: 0.9 leaves no slack"),
        ({"environment": {"states": 0}}, "environment.states: at least 1 expected"),
        ({"environment": {"colour": 1}}, "environment: environment: colour: not an option"),
    ],
)
def test_group_that_cannot_be_drawn_is_refused(options, message):
    with pytest.raises(ValueError, match=r".") as refusal:
        instances.check(with_groups(mine={"numbers": [1], **options}), SCHEMA)
    assert str(refusal.value).startswith(f"claims.instances.groups.mine.{message}")


def test_groups_need_a_random_environment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    environments.make({"states": 4, "actions": 3}).save("mine.npz")
    config = with_groups(mine=[1])
    config["environment"] = {"file": "mine.npz"}
    with pytest.raises(
        ValueError, match=r"instance: cannot be changed, since the CMDP in mine\.npz"
    ):
        instances.check(config, SCHEMA)
