"""Controls of a study: what runs in place of its algorithms, and what a study cannot have."""

import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pgpd_hf import ALGORITHMS, random_cmdp, run
from replication import analyses
from replication.analyses import controls
from replication.study import admission, sweeps
from replication.study.cases import run_cases, run_setting
from replication.study.changes import Changes
from replication.study.readings import overlay

ROOT = Path(__file__).parents[2]
DEFAULTS = admission.load_defaults(ROOT)
SHORT = {
    "seeds": 2,
    "horizon": 20,
    "algorithms": {
        "npgpd_hf": {"iterations": 60, "primal_step": 1.0, "dual_step": 0.1},
        "zpgpd_hf": {"iterations": 600, "primal_step": 0.01, "dual_step": 0.01},
    },
}
CONFIG = overlay(DEFAULTS, SHORT)
CMDP = random_cmdp(instance=1)


def test_exact_limit_with_other_policies_is_left_out_everywhere():
    own = {"study": "mine", "algorithms": {"zpgpd_hf": {"parameterization": "softmax"}}}
    config = overlay(DEFAULTS, own)
    config, lines = admission.settle(config, ROOT, own, DEFAULTS, analyses.find())
    assert "left out: all that is about pg_pd (the study has other policies)" in lines
    assert {"npg_pd"} <= set(sweeps.plan(config, config["sweeps"])) <= {*ALGORITHMS} - {"pg_pd"}
    assert set(controls.plan(config)) == {"npgpd_hf", "zpgpd_hf", "npg_pd"}


@pytest.fixture(scope="module")
def runs():
    """Runs of all controls, by control and algorithm."""
    items = [item for part in controls.plan(CONFIG).values() for item in part]
    cases = [case for _, each in items for case in each]
    traces = run_cases(cases, CMDP, None)
    return dict(list(traces.groupby(["control", "algorithm"])))


def own(algorithm):
    """The study's own runs."""
    setting = run_setting(CONFIG, algorithm, 64)
    return run(CMDP, algorithm, seeds=[0, 1], purpose=CONFIG["streams"], **setting)


def test_controls_of_one_algorithm_are_one_part_and_permuted_labels_run_nothing():
    plan = controls.plan(CONFIG)
    assert set(plan) == {"npgpd_hf", "npg_pd", "zpgpd_hf", "pg_pd"}
    names = list(CONFIG["controls"])
    for part, items in plan.items():
        exact = part in ("npg_pd", "pg_pd")
        for number, cases in items:
            assert {case.labels["control"] for case in cases} == {names[number]}
            assert len(cases) == (1 if exact else 3)
            assert all(case.seeds == ((0,) if exact else (0, 1)) for case in cases)
    ran = {names[number] for items in plan.values() for number, _ in items}
    assert ran == set(names) - {"permuted-m"}


@pytest.mark.parametrize("algorithm", SHORT["algorithms"])
def test_policy_without_a_primal_step_stays_and_its_multiplier_grows(runs, algorithm):
    trace = runs["no-primal-step", algorithm]
    assert trace["optimality_gap"].nunique() == 1
    assert trace.groupby(["evaluators", "seed"])["multiplier"].last().min() > 0


@pytest.mark.parametrize("algorithm", SHORT["algorithms"])
def test_multiplier_without_a_dual_step_stays_at_zero(runs, algorithm):
    trace = runs["zero-multiplier", algorithm]
    assert (trace["multiplier"] == 0).all()
    assert trace["optimality_gap"].nunique() > 2


def test_flipped_votes_lead_away_from_the_reward(runs):
    trace = runs["flipped-votes", "npgpd_hf"]
    gaps = trace.groupby(["evaluators", "seed"])["optimality_gap"]
    assert (gaps.last() > gaps.first()).all()
    right = own("npgpd_hf").groupby("seed")["optimality_gap"]
    assert (right.last() < right.first()).all()


@pytest.mark.parametrize(("algorithm", "limit"), [("npgpd_hf", "npg_pd"), ("zpgpd_hf", "pg_pd")])
def test_exact_gradients_are_those_of_the_limit_with_the_same_steps(runs, algorithm, limit):
    trace = runs["exact-gradients", limit]
    options = {name: SHORT["algorithms"][algorithm][name] for name in ("primal_step", "dual_step")}
    iterations = SHORT["algorithms"][algorithm]["iterations"]
    same = run(CMDP, limit, seeds=[0], iterations=iterations, **options)
    assert np.array_equal(trace["optimality_gap"], same["optimality_gap"])


def settle(changes):
    """A study's controls, and the lines about what is left out."""
    config, lines = admission.settle(
        overlay(DEFAULTS, changes), ROOT, changes, DEFAULTS, analyses.find()
    )
    return list(config["controls"]), [line for line in lines if "controls" in line]


def test_study_has_the_controls_that_it_can_have():
    assert settle({}) == (list(DEFAULTS["controls"]), [])
    names, lines = settle({"evaluators": [64]})
    assert names == [name for name in DEFAULTS["controls"] if name != "permuted-m"]
    assert lines == ["left out: controls.permuted-m (it takes two numbers M of people)"]
    _, lines = settle({"evaluators": [None]})
    assert lines == [
        "left out: 5 of controls (statements are about finite numbers M of people; "
        "config/analyses lists them, and what a study sets itself is kept)"
    ]
    names, lines = settle({"controls": {"permuted-m": None}})
    assert "permuted-m" not in names
    assert lines == []


def test_leaving_out_looks_at_what_the_study_says_itself():
    config = overlay(DEFAULTS, {"evaluators": [64]})
    changes = Changes(config, ROOT, {"controls": {"permuted-m": {}}}, DEFAULTS)
    controls.fit(config, changes)
    assert "permuted-m" in config["controls"]
    with pytest.raises(
        ValueError, match=r"^controls.permuted-m: it takes two numbers M of people$"
    ):
        controls.check(config)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": 1.0}, "controls.mine: npgpd_hf has no option colour"),
        ({"flipped_answers": 2.0}, "controls.mine.options: flipped_answers: a number in"),
    ],
)
def test_control_that_cannot_be_run_is_refused_in_one_line(options, message):
    config = copy.deepcopy(DEFAULTS)
    config["controls"]["mine"] = {"title": "mine", "about": "Wrong.", "options": options}
    with pytest.raises(ValueError, match=rf"^{message}") as refusal:
        controls.check(config)
    assert "\n" not in str(refusal.value)


def test_control_of_one_algorithm_leaves_the_other_as_it_is():
    config = copy.deepcopy(CONFIG)
    narrow = {"title": "narrow", "about": "It hardly perturbs.", "options": {"perturbation": 0.01}}
    config["controls"] = {"narrow": narrow}
    controls.check(config)
    assert list(controls.plan(config)) == ["zpgpd_hf"]


def test_runs_stand_for_their_own_control_and_algorithm(runs):
    told = CONFIG["controls"]
    study = pd.concat([own(name) for name in CONFIG["algorithms"]], ignore_index=True)
    made = pd.concat(runs.values(), ignore_index=True)
    limits = {name: controls._limit(name) for name in CONFIG["algorithms"]}
    wrong = controls._wrong(study, made, told, limits)
    assert wrong.keys() == {(name, algorithm) for name in told for algorithm in limits}
    for (name, algorithm), found in wrong.items():
        if "evaluators" not in told[name]:
            assert {*found["control"]} == {name}
        if "options" in told[name]:
            assert len(found) == len(runs[name, algorithm])
