"""Streams and lengths of runs, how they are judged, and the committed tables against new runs."""

from itertools import count, islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from stability.runs import frozen_length, run_frozen, run_long
from stability.tables import RUN, ends_table, means_between

from pgpd_hf import ZPGPDHF, predict_stability, random_cmdp, run
from pgpd_hf.optimum import utility_range
from pgpd_hf.primal_dual import normalizer
from pgpd_hf.tables import read_table

FOLDER = Path(__file__).parents[1]
CONFIG, DECLARED, HARD = (
    yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    for name in ("../../config/config.yaml", "config.yaml", "hard.yaml")
)
ENVIRONMENT, PARTS = CONFIG["environment"], DECLARED["parts"]
GIVEN = {key: it for key, it in CONFIG["algorithms"]["zpgpd_hf"].items() if key != "iterations"}
COMMON = {"evaluators": 16, "horizon": CONFIG["horizon"], "link": CONFIG["link"]} | GIVEN
SETTINGS = {name: COMMON | changes for name, changes in DECLARED["settings"].items()}
SMALL = {"states": 3, "actions": 2, "threshold": 0.5}
GAP, VIOLATION = "optimality_gap", "constraint_violation"


def table(name):
    return read_table(FOLDER / "tables" / f"{name}.csv")


def algorithm(setting):
    return ZPGPDHF(**SETTINGS[setting])


@pytest.mark.parametrize("setting", PARTS["frozen"]["settings"])
@pytest.mark.parametrize("multiplier", PARTS["frozen"]["multipliers"])
def test_runs_at_frozen_multipliers_lead_equally_far(setting, multiplier):
    given = algorithm(setting)
    power = ["none", "linear", "quadratic"].index(given.normalize)
    step = given.primal_step / normalizer(power, float(multiplier))
    assert step * frozen_length(given, multiplier, 250000) == pytest.approx(250, rel=1e-5)


def test_a_frozen_multiplier_stays_and_the_policy_moves():
    cmdp = random_cmdp(**SMALL)
    traces = run_frozen(cmdp, algorithm("linear"), [0.5, 3], iterations=100, seeds=2)
    assert (traces["multiplier"] == traces["initial_multiplier"]).all()
    assert [*traces["iteration"]] == [30, 150] * 2 + [80, 400] * 2
    assert traces["reward_value"].nunique() == len(traces)


def test_means_are_over_the_iterates_between_two_checkpoints():
    whole = []
    for instance, start in ((1, 0.0), (2, 0.0), (2, 1.5)):
        cmdp, given = random_cmdp(**SMALL, instance=instance), algorithm("printed")
        setting = {"seeds": [0, 4], "iterations": 60, "checkpoints": range(61)}
        trace = run(cmdp, given, initial_multiplier=start, **setting)
        whole.append(trace.assign(instance=instance, setting="a", initial_multiplier=start))
    whole, marks = pd.concat(whole), [0, 7, 30, 60]
    found = means_between(whole[whole["iteration"].isin(marks)].sample(frac=1, random_state=0))
    assert len(found) == 3 * 2 * 3
    for row in found.itertuples():
        own = whole[(whole[RUN] == [getattr(row, name) for name in RUN]).all(axis=1)]
        first = marks[marks.index(row.iteration) - 1]
        chosen = own[own["iteration"].between(first + 1, row.iteration)]
        assert row.optimality_gap == pytest.approx(chosen[GAP].mean(), abs=1e-13)
        assert row.constraint_violation == pytest.approx(chosen[VIOLATION].mean(), abs=1e-13)
        assert row.multiplier == chosen["multiplier"].iloc[-1]


def traces(*violations):
    """Runs with these mean violations between iterations 0, 10, 20, ..., and that first policy."""
    tables = []
    for seed, (first, *means) in enumerate(violations):
        sums = np.cumsum([first, *(10 * mean for mean in means)])
        iteration = 10 * np.arange(len(sums))
        columns = {"instance": 1, "setting": "a", "initial_multiplier": 0.0, "seed": seed}
        columns |= {"iteration": iteration, f"mean_{VIOLATION}": sums / (iteration + 1)}
        columns |= {f"mean_{GAP}": 0.5, VIOLATION: first, "multiplier": 1.0, "answers": iteration}
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables)


def test_a_run_forgot_if_it_was_safer_than_it_ends():
    cases = {
        (0.2, 0.1, 0.03, 0.06): (True, True),  # the limit is a quarter of 0.2
        (0.2, 0.1, 0.06, 0.06): (True, False),  # it never learned
        (0.2, 0.1, 0.03, 0.045): (False, False),
        (0.04, 0.01, 0.0, 0.018): (False, False),  # the limit is 0.02
        (0.04, 0.01, 0.0, 0.025): (True, True),
        (-0.1, -0.1, 0.03, 0.01): (False, False),  # only its end counts
    }
    known = SMALL, {"a": COMMON}
    found = ends_table(traces(*cases), *known, violation=0.02, share=0.25)
    assert [*zip(found["unsafe"], found["forgot"], strict=True)] == [*cases.values()]
    assert [*found["initial_violation"]] == [case[0] for case in cases]
    assert np.allclose(found[VIOLATION], [case[-1] for case in cases])
    assert np.allclose(found["least_violation"], [min(case[1:-1]) for case in cases])


def first_binding(first, number):
    """Instances from a number on whose constraint binds, and can be kept."""
    ranges = ((it, utility_range(random_cmdp(instance=it))) for it in count(first))
    return [*islice((it for it, (low, high) in ranges if low < 0.55 < high), number)]


def test_fresh_instances_are_the_first_whose_constraint_binds():
    declared = PARTS["fresh"]["instances"]
    assert declared == [*first_binding(8001, 100), *first_binding(25001, 100)]


def test_the_hard_environment_is_the_hardest_of_the_first_hundred():
    slack, violation = {}, {}
    for instance in first_binding(1, 100):
        cmdp = random_cmdp(instance=instance)
        slack[instance] = utility_range(cmdp)[1] - cmdp.threshold
        violation[instance] = -cmdp.evaluate(np.full_like(cmdp.reward, 1 / 4))[1]
    hard = HARD["environment"]["instance"]
    assert hard == min(slack, key=slack.get) == max(violation, key=violation.get)
    steps = ZPGPDHF(**COMMON | {"dual_step": HARD["algorithms"]["zpgpd_hf"]["dual_step"]})
    assert steps == algorithm("printed-slow")
    assert PARTS["long"]["instances"] == [hard, ENVIRONMENT["instance"]]


def test_tables_have_every_run_that_is_declared():
    for name, part in (("ends", "long"), ("fresh", "fresh"), ("frozen", "frozen")):
        plan, found = PARTS[part], table(name)
        each = plan["seeds"] if part != "frozen" else len(plan["multipliers"])
        assert len(found) == each * len(plan["settings"]) * len(plan["instances"])
        assert set(found["setting"]) == {*plan["settings"]}
        assert set(found["instance"]) == {*plan["instances"]}


@pytest.mark.parametrize("name", ["ends", "fresh"])
def test_flags_follow_from_the_numbers_beside_them(name):
    found = table(name)
    limit = np.maximum(0.02, 0.25 * found["initial_violation"])
    assert (found["unsafe"] == (found[VIOLATION] > limit)).all()
    assert (found["forgot"] == (found["unsafe"] & (found["least_violation"] <= limit))).all()
    for row in found[:: len(found) // 12].itertuples():
        cmdp = random_cmdp(**ENVIRONMENT | {"instance": row.instance})
        utility = cmdp.evaluate(np.full_like(cmdp.reward, 1 / cmdp.actions))[1]
        assert row.initial_violation == pytest.approx(cmdp.threshold - utility, abs=1e-12)
        predicted = predict_stability(cmdp, algorithm(row.setting))
        assert row.peak == pytest.approx(predicted.peak, abs=1e-8)
        assert row.breaks == predicted.breaks


@pytest.mark.parametrize("setting", ["printed-slow", "quadratic-slow"])
def test_a_long_run_on_the_hard_environment_ends_as_recorded(setting):
    given = "long", 1, PARTS["long"]["iterations"]
    trace = run_long(random_cmdp(**ENVIRONMENT | {"instance": 1}), algorithm(setting), *given, 1)
    trace = trace.assign(instance=1, setting=setting)
    found = ends_table(trace, ENVIRONMENT, SETTINGS, **DECLARED["unsafe"]).iloc[0]
    recorded = table("ends").query("instance == 1 and setting == @setting and seed == 0").iloc[0]
    numbers = [*recorded.drop("setting").index]
    assert np.allclose(found[numbers].astype(float), recorded[numbers].astype(float), atol=1e-8)
