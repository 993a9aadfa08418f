"""Cases: what they run, under which streams and labels, and how they fill jobs."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pgpd_hf import ALGORITHMS, environments, random_cmdp, run, solve
from pgpd_hf.runs import traces
from replication.study import cases
from replication.study.cases import (
    CALIBRATED,
    DESCRIPTION,
    Case,
    policy_array,
    run_cases,
    with_steps,
)
from replication.study.jobs import blocks

SETTING = {
    "evaluators": 16,
    "iterations": 20,
    "rounds": 1,
    "horizon": 6,
    "link": "logistic",
    "primal_step": 0.3,
    "dual_step": 0.2,
}
CHOSEN = {"primal_step": 0.3, "dual_step": 0.2}  # by a race
OTHER = {"name": "random", "states": 4, "actions": 3, "discount": 0.8, "threshold": 0.5}


@pytest.fixture(scope="module")
def cmdp():
    return random_cmdp(5, 3, scale="unit", threshold=5.0)


def assert_equal(ours, theirs):
    pd.testing.assert_frame_equal(ours, theirs.reset_index(drop=True), check_exact=True)


def test_case_without_labels_is_a_run(cmdp):
    assert_equal(
        run_cases([Case("npgpd_hf", SETTING, (0, 2))], cmdp, None),
        run(cmdp, "npgpd_hf", seeds=[0, 2], **SETTING),
    )


def test_optimum_from_a_file_is_that_of_the_environment_and_of_no_other(cmdp, monkeypatch):
    case = Case("npgpd_hf", SETTING | {"dual_step": None}, (0,), labels={})
    own = replace(case, environment=OTHER)
    expected = run_cases([case, own], cmdp, None)
    optimum = solve(cmdp)
    content = json.loads(json.dumps(vars(optimum) | {"policy": optimum.policy.tolist()}))
    solved = []
    monkeypatch.setattr(cases, "solve", lambda it: solved.append(it) or solve(it))
    read = cases.as_optimum(content, cmdp)
    assert json.dumps(vars(read) | {"policy": read.policy.tolist()}) == json.dumps(content)
    assert_equal(run_cases([case, own], cmdp, None, optimum=read), expected)
    assert [it.states for it in solved] == [OTHER["states"]]


def test_policies_are_those_that_runs_end_with(cmdp):
    listed = [
        Case("npgpd_hf", SETTING | {"evaluators": number}, seeds)
        for number, seeds in ((16, (2, 0)), (None, (1,)))
    ]
    traces, policies = run_cases(listed, cmdp, None, return_policies=True)
    assert_equal(traces, run_cases(listed, cmdp, None))
    assert list(policies["evaluators"].unique()) == [16, pd.NA]
    last = traces[traces["iteration"] == 20]
    for number, rows in policies.groupby("evaluators", dropna=False):
        arrays = policy_array(rows)
        same = last["evaluators"].isna() if number is pd.NA else last["evaluators"] == number
        values = cmdp.evaluate(arrays)
        assert values[0].tolist() == last.loc[same.fillna(False), "reward_value"].tolist()
        assert values[1].tolist() == last.loc[same.fillna(False), "utility_value"].tolist()


def test_policies_are_sorted_by_seed_state_and_action(cmdp):
    case = Case("npgpd_hf", SETTING, (0, 1))
    _, table = run_cases([case], cmdp, None, return_policies=True)
    shuffled = table.sample(frac=1, random_state=1)
    assert (policy_array(shuffled) == policy_array(table)).all()
    last = table.query("seed == 1 and state == 4 and action == 2")["probability"].item()
    assert policy_array(shuffled)[1, 4, 2] == last


def test_purpose_and_checkpoints_are_handed_on(cmdp):
    case = Case("zpgpd_hf", SETTING, (1,), "mine", checkpoints=(0, 3, 20))
    expected = run(cmdp, "zpgpd_hf", seeds=[1], purpose="mine", checkpoints=(0, 3, 20), **SETTING)
    assert_equal(run_cases([case], cmdp, None), expected)


def test_environment_of_a_case_takes_the_place_of_the_studys(cmdp):
    own, study = Case("npgpd_hf", SETTING, (0,), environment=OTHER), Case("npgpd_hf", SETTING, (0,))
    expected = [
        run(place, "npgpd_hf", seeds=[0], **SETTING)
        for place in (environments.make(OTHER), cmdp, environments.make(OTHER))
    ]
    found = run_cases([own, study, replace(own, seeds=(1,))], cmdp, None)
    # The third differs from the first in its seed only, and is run with it.
    first = run(environments.make(OTHER), "npgpd_hf", seeds=[0, 1], **SETTING)
    assert_equal(found, pd.concat([first, expected[1]]))


def test_each_environment_is_solved_once_for_neighbours(cmdp, monkeypatch):
    solved = []
    monkeypatch.setattr(cases, "solve", lambda cmdp: solved.append(cmdp) or solve(cmdp))
    longer = SETTING | {"iterations": 21}
    run_cases(
        [
            Case("npgpd_hf", SETTING, (0,), environment=OTHER),
            Case("npgpd_hf", longer, (0,), environment=dict(reversed(OTHER.items()))),
            Case("npgpd_hf", SETTING, (0,)),
        ],
        cmdp,
        None,
    )
    assert [found.states for found in solved] == [4, 5]


def test_calibrated_steps_take_the_place_of_the_word(cmdp):
    open_setting = SETTING | {"primal_step": CALIBRATED, "dual_step": CALIBRATED}
    case = Case("npgpd_hf", open_setting, (0,))
    assert case.is_calibrated
    assert not Case("npgpd_hf", SETTING, (0,)).is_calibrated
    expected = SETTING | CHOSEN
    assert_equal(run_cases([case], cmdp, CHOSEN), run(cmdp, "npgpd_hf", seeds=[0], **expected))
    assert open_setting["primal_step"] == CALIBRATED  # as it was


def test_factors_multiply_steps_whichever_way_they_are_given(cmdp):
    calibrated = SETTING | {"primal_step": CALIBRATED, "dual_step": CALIBRATED}
    halves = SETTING | {"primal_step": 0.15, "dual_step": 0.05}
    expected = run(cmdp, "npgpd_hf", seeds=[0], **halves)
    for setting in (SETTING, calibrated):
        case = Case("npgpd_hf", setting, (0,), factors=(0.5, 0.25))
        assert_equal(run_cases([case], cmdp, CHOSEN), expected)


def test_factor_of_a_theorems_step_multiplies_its_number(cmdp):
    theorem = SETTING | {"primal_step": None, "dual_step": None}
    case = Case("npgpd_hf", theorem, (0,), factors=(1.0, 3.0), labels={})
    once = run_cases([replace(case, factors=(1.0, 1.0))], cmdp, None)
    found = run_cases([case], cmdp, None)
    assert found["dual_step"].unique() == pytest.approx(3 * once["dual_step"].unique())
    assert found["primal_step"].unique() == once["primal_step"].unique()
    assert (found["multiplier"].iloc[1:] != once["multiplier"].iloc[1:]).any()


def test_steps_that_nothing_multiplies_are_left_to_the_theorem():
    theorem = {"primal_step": None, "dual_step": None}
    assert with_steps(theorem, None) == theorem
    found = with_steps(theorem, None, (1.0, 2.0), lambda setting: (0.7, 0.1))
    assert found == {"primal_step": None, "dual_step": 0.2}
    both = {"primal_step": CALIBRATED, "dual_step": CALIBRATED}
    chosen = {"primal_step": 0.5, "dual_step": 0.25, "perturbation": 0.7}
    assert with_steps(both, chosen, (2.0, 1.0)) == {"primal_step": 1.0, "dual_step": 0.25}
    all_three = both | {"perturbation": CALIBRATED}
    assert with_steps(all_three, chosen) == chosen
    fixed = {"primal_step": 0.1, "dual_step": 0.1, "perturbation": CALIBRATED}
    assert with_steps(fixed, chosen) == fixed | {"perturbation": 0.7}


def test_stream_keys_name_the_streams_after_the_setting_that_is_run(cmdp):
    """The whole text: another would be other random numbers, and so other published results."""
    open_setting = SETTING | {"primal_step": CALIBRATED, "dual_step": CALIBRATED}
    keys = {"step_rule": "study", "states": 5}
    case = Case("npgpd_hf", open_setting, (0,), "sweep people", stream_keys=keys, factors=(1, 0.5))
    purpose = (
        'sweep people: {"dual_step": 0.1, "evaluators": 16, "horizon": 6, "iterations": 20, '
        '"link": "logistic", "pairs": 1, "primal_step": 0.3, "states": 5, "step_rule": "study"}'
    )
    expected = run(cmdp, "npgpd_hf", seeds=[0], purpose=purpose, **SETTING | {"dual_step": 0.1})
    assert_equal(run_cases([case], cmdp, CHOSEN), expected)


@pytest.mark.parametrize("algorithm", ["npgpd_hf", "zpgpd_hf", "safe_rlhf"])
def test_default_that_is_written_out_changes_no_stream(algorithm):
    """Any other value does, so that no two settings share random numbers by accident."""
    own = {"evaluators": 16, "iterations": 20, "rounds": 1, "horizon": 6, "link": "logistic"}
    plain = cases.stream_name("p", {}, algorithm, own)
    for each in ALGORITHMS[algorithm].options().values():
        if each.name not in own:
            written = own | {each.name: each.default}
            assert cases.stream_name("p", {}, algorithm, written) == plain
            assert cases.stream_name("p", {}, algorithm, own | {each.name: "other"}) != plain
    assert cases.stream_name("p", None, algorithm, own) == "p"


def test_stream_of_an_exact_limit_is_named_after_all_options_of_its_algorithm(monkeypatch, cmdp):
    seen = {}

    def spy(cmdp, algorithm, **options):
        seen.update(options)
        return run(cmdp, algorithm, **options)

    monkeypatch.setattr(traces, "run", spy)
    setting = SETTING | {"evaluators": None, "perturbation": 0.5, "directions": "tangent"}
    run_cases([Case("pg_pd", setting, (0,), "p", stream_keys={"step_rule": "study"})], cmdp, None)
    names = {"pairs": setting.pop("rounds"), "step_rule": "study", **setting}
    names["parameterization"] = "direct"
    assert seen["purpose"] == "p: " + json.dumps(names, sort_keys=True)
    assert not {"perturbation", "directions"} & set(seen)


@pytest.mark.parametrize(
    ("algorithm", "changes", "perturbation"),
    [("npgpd_hf", {}, np.nan), ("zpgpd_hf", {"perturbation": 0.4}, 0.4)],
)
def test_labelled_trace_says_what_was_run(cmdp, algorithm, changes, perturbation):
    setting = SETTING | changes
    case = Case(algorithm, setting, (0, 1), labels={"curve": "mine", "value": 3.0, "second": None})
    found = run_cases([case], cmdp, None)
    plain = run(cmdp, algorithm, seeds=[0, 1], **setting)
    assert list(found) == [*plain, "curve", "value", "second", *DESCRIPTION]
    assert_equal(found[list(plain)], plain)
    row = found.iloc[-1]
    assert row[["curve", "value"]].tolist() == ["mine", 3.0]
    assert np.isnan(row["second"])
    for name in ("iterations", "rounds", "horizon", "primal_step", "dual_step"):
        assert row[name] == setting[name]
    np.testing.assert_equal(row["perturbation"], perturbation)
    assert tuple(row[["states", "actions"]]) == (5, 3)
    assert row["value_bound"] == cmdp.value_bound
    assert row["optimal_multiplier"] == solve(cmdp).multiplier


def test_label_takes_the_place_of_the_description(cmdp):
    found = run_cases([Case("npg_pd", SETTING, (0,), labels={"horizon": 7})], cmdp, None)
    assert (found["horizon"] == 7).all()
    assert list(found).count("horizon") == 1


def test_theorems_steps_stand_in_the_trace_as_numbers(cmdp):
    setting = SETTING | {"primal_step": None, "dual_step": None}
    found = run_cases([Case("npgpd_hf", setting, (0,), labels={})], cmdp, None)
    assert found["primal_step"].unique() == pytest.approx([2 * np.log(3)])
    assert found["dual_step"].unique() == pytest.approx([0.1 / np.sqrt(20)])


def test_cases_that_differ_in_their_seeds_only_are_run_together_in_order(cmdp, monkeypatch):
    asked = []

    def spy(cmdp, algorithm, seeds, **options):
        asked.append((options["iterations"], seeds))
        return run(cmdp, algorithm, seeds=seeds, **options)

    monkeypatch.setattr(traces, "run", spy)
    longer = SETTING | {"iterations": 21}
    listed = [
        Case("npgpd_hf", setting, (seed,), labels={"n": setting["iterations"]})
        for seed in (0, 1, 2)
        for setting in (SETTING, longer)
    ]
    together = run_cases(listed, cmdp, None)
    assert asked == [(20, (0, 1, 2)), (21, (0, 1, 2))]
    alone = pd.concat([run_cases([case], cmdp, None) for case in listed])
    order = ["n", "seed", "iteration"]
    assert_equal(together.sort_values(order, ignore_index=True), alone.sort_values(order))


@pytest.mark.parametrize(
    "change",
    [
        {"algorithm": "zpgpd_hf"},
        {"setting": SETTING | {"horizon": 7}},
        {"purpose": "other"},
        {"environment": OTHER},
        {"factors": (1.0, 2.0)},
        {"stream_keys": {}},
        {"checkpoints": (0, 20)},
        {"labels": {"n": 1}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_cases_that_differ_in_anything_else_are_run_apart(cmdp, change, monkeypatch):
    asked = []

    def spy(cmdp, algorithm, seeds, **options):
        asked.append(seeds)
        return run(cmdp, algorithm, seeds=seeds, **options)

    monkeypatch.setattr(traces, "run", spy)
    case = Case("npgpd_hf", SETTING, (0,))
    run_cases([case, replace(case, seeds=(1,), **change)], cmdp, None)
    assert asked == [(0,), (1,)]


def test_size_of_a_case_is_its_own_or_the_studys():
    case = Case("npgpd_hf", SETTING, (0,))
    assert case.size((10, 4)) == (10, 4)
    assert replace(case, environment={"states": 7}).size((10, 4)) == (7, 4)
    assert replace(case, environment=OTHER).size((10, 4)) == (4, 3)


# Blocks: a case stands for its seconds.


def pack(lengths, minutes, most=None, start=0):
    """Blocks of items that take given numbers of seconds."""
    items = [(start + k, [(start + k, length)]) for k, length in enumerate(lengths)]
    return blocks(items, lambda cases: sum(length for _, length in cases), minutes, most)


def numbers(packed):
    return [number for cases in packed.values() for number, _ in cases]


def test_blocks_hold_every_item_once_in_order_and_are_named_after_their_ends():
    packed = pack([20, 20, 20, 30, 30, 10], 1)
    assert list(packed) == ["0000-0002", "0003-0004", "0005-0005"]
    assert numbers(packed) == list(range(6))
    assert packed["0003-0004"] == [(3, 30), (4, 30)]


@pytest.mark.parametrize("minutes", [0.1, 0.5, 1, 7])
def test_blocks_are_as_full_as_they_can_be(minutes):
    lengths = np.random.default_rng(1).uniform(0.5, 5, size=300)
    packed = list(pack(lengths, minutes).values())
    times = [sum(length for _, length in cases) for cases in packed]
    assert len(packed) > 1
    assert max(times) <= 60 * minutes
    for time, following in zip(times, packed[1:], strict=False):
        assert time + following[0][1] > 60 * minutes


def test_item_that_is_longer_than_a_job_is_a_job_of_its_own():
    assert list(pack([10, 100, 10, 10], 1)) == ["0000-0000", "0001-0001", "0002-0003"]


@pytest.mark.parametrize("most", [1, 3, None])
def test_more_items_leave_full_blocks_as_they_are(most):
    lengths = list(np.random.default_rng(2).uniform(1, 25, size=60))
    before = pack(lengths[:40], 1, most)
    after = pack(lengths, 1, most)
    # The last block may take more items; all others are full.
    assert list(before.items())[:-1] == list(after.items())[: len(before) - 1]
    assert numbers(after) == list(range(60))


def test_no_block_has_more_items_than_allowed():
    assert list(pack([1] * 7, 1, 3)) == ["0000-0002", "0003-0005", "0006-0006"]
    assert list(pack([1] * 7, 1000)) == ["0000-0006"]
    assert list(pack([100] * 2, 1, 3)) == ["0000-0000", "0001-0001"]


def test_blocks_of_items_with_numbers_of_their_own():
    items = [(number, [number]) for number in (3, 7, 12345)]
    packed = blocks(items, lambda cases: 25, 1)
    assert packed == {"0003-0007": [3, 7], "12345-12345": [12345]}


def test_nothing_fills_no_job():
    assert blocks([], len, 1) == {}


def test_blocks_change_no_number(cmdp):
    """A seed's rows are the same whatever else is in its job."""
    items = [(seed, [Case("npgpd_hf", SETTING, (seed,))]) for seed in range(5)]
    together = blocks(items, lambda cases: 1, 10)
    apart = blocks(items, lambda cases: 1, 10, most=2)
    assert [len(packed) for packed in (together, apart)] == [1, 3]
    ours, theirs = (
        pd.concat([run_cases(block, cmdp, None) for block in packed.values()])
        for packed in (together, apart)
    )
    assert_equal(ours, theirs)
