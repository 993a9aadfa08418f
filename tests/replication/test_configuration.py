"""Configurations: the rules that tie keys to each other, and the settings that follow from them."""

import copy
import pickle
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from pgpd_hf import random_cmdp
from replication.analyses import bounds_by_setting
from replication.study import admission, configuration
from replication.study.cases import run_setting
from replication.study.readings import overlay

ROOT = Path(__file__).parents[2]
CONFIG = admission.load_defaults(ROOT)
SCHEMA = admission.load_schema(ROOT, "config")


def refusal(changes):
    with pytest.raises(ValueError, match=r".") as refused:
        configuration.check(overlay(CONFIG, changes), SCHEMA)
    message = str(refused.value)
    assert "\n" not in message
    return message


def patterns(schema):
    """Parts of a schema that refuse text by a pattern."""
    if isinstance(schema, dict):
        if "pattern" in schema:
            yield schema
        schema = [part for key, part in schema.items() if key != "if"]  # which refuses nothing
    for part in schema if isinstance(schema, list) else ():
        yield from patterns(part)


@pytest.mark.parametrize("name", ["config", "reading", "claims"])
def test_every_pattern_says_in_words_what_is_expected(name):
    schema = yaml.safe_load((ROOT / f"workflow/schemas/{name}.schema.yaml").read_text())
    assert [part for part in patterns(schema) if "expected" not in part] == []


def test_settings_without_a_schema_are_refused_by_the_name_of_the_missing_file(tmp_path):
    for folder in ("config/analyses", "workflow/schemas"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "config/analyses/mine.yaml").write_text("seeds: 3\n")
    missing = tmp_path / "workflow/schemas/analyses/mine.schema.yaml"
    with pytest.raises(ValueError, match=f"^{re.escape(str(missing))}: No such file or directory$"):
        admission.load_schema(tmp_path, "config")


@pytest.mark.parametrize("name", ["transition", "reward", "utility", "initial"])
def test_environment_of_gymnasium_is_known_by_its_arrays(monkeypatch, name):
    one = replace(random_cmdp(2), initial=[1, 0])
    made = iter([one, one, replace(one, **{name: np.flip(getattr(one, name), axis=0)})])
    monkeypatch.setattr(configuration, "environment", lambda config: next(made))
    first, second, third = (configuration.archive_digest({"gymnasium": "Mine"}) for _ in range(3))
    assert first == second != third


def test_name_of_a_method_is_refused_in_one_line():
    methods = {"My method": CONFIG["comparison"]["methods"]["zpg"]}
    assert refusal({"comparison": {"methods": methods}}) == (
        "comparison.methods: a name of small letters, digits and _ expected, got 'My method'"
    )


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A folder with an environment in a file."""
    monkeypatch.chdir(tmp_path)
    random_cmdp(6, 3, 2, threshold=0.5).save("mine.npz")
    return "mine.npz"


def test_setting_of_a_run_is_that_of_the_study_with_theorems_left_open():
    setting = run_setting(CONFIG, "zpgpd_hf", 64)
    assert setting == {
        "evaluators": 64,
        "horizon": 80,
        "link": "logistic",
        "iterations": 100000,
        "rounds": 2,
        "primal_step": "calibrated",
        "dual_step": "calibrated",
        "perturbation": None,
        "directions": "sphere",
        "parameterization": "direct",
    }
    steps = {"primal_step": "theorem", "dual_step": 0.3}
    config = overlay(CONFIG, {"algorithms": {"npgpd_hf": steps}})
    setting = run_setting(config, "npgpd_hf", None)
    assert (setting["primal_step"], setting["dual_step"]) == (None, 0.3)
    assert setting["evaluators"] is None


@pytest.mark.parametrize("numbers", [[1, 2, 3], [5], [], [1, None], [None]])
def test_increasing_numbers_pass(numbers):
    configuration.require_increasing("key", numbers)


@pytest.mark.parametrize("numbers", [[2, 1], [None, 1], [1, None, 2]])
def test_other_numbers_are_refused(numbers):
    with pytest.raises(ValueError, match=r"^key: increasing order expected, null last, got \["):
        configuration.require_increasing("key", numbers)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evaluators": [64, 16]}, "evaluators: increasing order expected"),
        ({"evaluators": [None, 16]}, "evaluators: increasing order expected"),
        ({"environment": {"threshold": 0.95}}, "environment: threshold: 0.95 leaves no slack"),
        (
            {"algorithms": {"npgpd_hf": {"primal_step": 0.1}}},
            "algorithms.npgpd_hf: primal_step has to be calibrated, since dual_step is; or write "
            "numbers",
        ),
        (
            {"algorithms": {"npgpd_hf": {"directions": "sphere"}}},
            "algorithms.npgpd_hf: unknown key 'directions'",
        ),
        (
            {"algorithms": {"npgpd_hf": {"rounds": 10000}}},
            "algorithms.npgpd_hf: rounds, horizon: one iteration draws",
        ),
        (
            {
                "algorithms": {"zpgpd_hf": {"estimator": "unbiased"}},
                "environment": {"scale": "unit", "threshold": 5.5},
            },
            "algorithms.zpgpd_hf: estimator: plug-in expected, since with 16 evaluators",
        ),
        (
            {
                "algorithms": {"npgpd_hf": {"estimator": "unbiased"}},
                "link": "probit",
                "evaluators": [3, 64],
            },
            "algorithms.npgpd_hf: estimator: plug-in expected, since with 3 evaluators",
        ),
    ],
    ids=str,
)
def test_keys_that_do_not_fit_each_other_are_refused(changes, message):
    assert refusal(changes).startswith(message)


def test_estimator_is_refused_where_it_would_be_biased():
    setting = {"evaluators": 4, "horizon": 80, "link": "cauchy"}
    configuration.require_estimates(CONFIG, setting)
    unbiased = setting | {"estimator": "unbiased"}
    configuration.require_estimates(CONFIG, unbiased | {"evaluators": None})
    configuration.require_estimates(CONFIG, unbiased | {"horizon": 5})  # smaller returns
    message = "^estimator: plug-in expected, since with 4 evaluators and the cauchy link "
    with pytest.raises(ValueError, match=message):
        configuration.require_estimates(CONFIG, unbiased)
    phases = [{"evaluators": 64}, {"evaluators": 4}]
    with pytest.raises(ValueError, match=message):
        configuration.require_estimates(CONFIG, unbiased | {"evaluators": 64, "phases": phases})


def test_calibrated_steps_need_candidates():
    config = copy.deepcopy(CONFIG)
    del config["calibration"]["candidates"]["npgpd_hf"]
    message = r"^calibration\.candidates\.npgpd_hf: primal_step expected, since it is calibrated"
    with pytest.raises(ValueError, match=message):
        configuration.check(config, SCHEMA)
    config["algorithms"]["npgpd_hf"] |= {"primal_step": 0.1, "dual_step": 0.1}
    configuration.check(config, SCHEMA)


def test_calibrated_radius_needs_candidates_and_calibrated_steps():
    config = copy.deepcopy(CONFIG)
    config["algorithms"]["zpgpd_hf"]["perturbation"] = "calibrated"
    candidates = config["calibration"]["candidates"]["zpgpd_hf"]
    configuration.check(config, SCHEMA)
    del candidates["perturbation"]
    message = (
        r"^calibration\.candidates\.zpgpd_hf: perturbation expected, since it is calibrated in "
    )
    with pytest.raises(ValueError, match=message):
        configuration.check(config, SCHEMA)
    candidates["perturbation"] = [1]
    config["algorithms"]["zpgpd_hf"] |= {"primal_step": 0.1, "dual_step": 0.1}
    with pytest.raises(ValueError, match="zpgpd_hf: primal_step has to be calibrated"):
        configuration.check(config, SCHEMA)


def test_exact_limit_runs_with_no_steps_of_its_own_that_are_calibrated():
    """A job would take those of the algorithm whose limit it is."""
    steps = dict.fromkeys(["primal_step", "dual_step"], "calibrated")
    grid = {"primal_step": [1], "dual_step": [0.1]}
    changes = {
        "algorithms": {"npg_pd": {"iterations": 60, "rounds": 1} | steps},
        "calibration": {"candidates": {"npg_pd": grid}},
    }
    assert refusal(changes) == (
        "algorithms.npg_pd.primal_step: a number expected, since an exact limit runs with the "
        "calibrated steps of npgpd_hf"
    )


def test_changes_of_an_environment_replace_its_keys():
    found = configuration.vary(CONFIG, {"instance": 4, "scale": "unit"})
    assert found == CONFIG["environment"] | {"instance": 4, "scale": "unit"}
    assert CONFIG["environment"]["instance"] == 42


@pytest.mark.parametrize(
    ("environment", "named"), [({"file": "mine.npz"}, "in mine.npz"), ({"name": "coin"}, "coin")]
)
def test_nothing_but_a_random_environment_can_be_changed(environment, named):
    config = {"environment": environment}
    assert configuration.vary(config, {}) == environment
    assert configuration.describe(environment) == named
    with pytest.raises(
        ValueError, match=f"^instance: cannot be changed, since the CMDP {named} is"
    ):
        configuration.vary(config, {"instance": 3})


@pytest.mark.parametrize("environment", [{"name": "coin", "bias": 1}, {"file": "a.npz"}, {}])
def test_file_takes_the_place_of_any_environment(environment):
    found = configuration.vary({"environment": environment}, {"file": "b.npz"})
    assert found["file"] == "b.npz"
    assert "name" not in found


@pytest.mark.parametrize(
    ("options", "random"),
    [({}, True), ({"file": None}, True), ({"name": "random"}, True), ({"file": "a.npz"}, False),
     ({"name": "coin"}, False)],
)  # fmt: skip
def test_random_environments_are_told_from_others(options, random):
    assert configuration.is_random(options) == random


def test_size_is_that_of_the_environment(archive):
    assert configuration.size(CONFIG) == (10, 4)
    assert configuration.size({"environment": {}}) == (10, 4)
    own = {**CONFIG["environment"], "file": archive}  # whose other keys have no effect
    assert configuration.size({"environment": own}) == (6, 3)
    assert configuration.environment({"environment": own}).threshold == 0.5


def test_changed_environment_is_checked_and_made():
    cmdp = configuration.check_environment("here", CONFIG, {"instance": 3}, SCHEMA)
    assert (cmdp.transition == random_cmdp(instance=3).transition).all()
    for changes, message in (
        ({"threshold": 0.9}, "here: threshold: 0.9 leaves no slack"),
        ({"discount": 2}, r"here\.discount: at most 0\.9999 expected"),
        ({"colour": 1}, "here: environment: colour: not an option"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            configuration.check_environment("here", CONFIG, changes, SCHEMA)


def test_problem_of_a_bound_has_the_changes_of_its_setting_and_the_steps_of_the_theorem():
    cmdp, setting = bounds_by_setting.problem(CONFIG, "short-horizon")
    assert (cmdp.states, cmdp.actions, cmdp.discount) == (5, 3, 0.5)
    assert (setting.evaluators, setting.rounds, setting.horizon) == (16, 10, 10)
    assert (setting.primal_step, setting.dual_step) == (None, None)


def test_environment_that_would_take_many_minutes_to_solve_is_refused_before_it_is_drawn():
    large = {"environment": CONFIG["environment"] | {"states": 10**6, "actions": 100}}
    message = r"^environment: states, actions: at most 10000000 transition probabilities expected"
    with pytest.raises(ValueError, match=message):
        configuration.environment(large)


def test_environment_is_solved_once_for_all_checks(monkeypatch):
    solved = []
    real = configuration.solve

    def solve(*arguments):
        solved.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(configuration, "solve", solve)
    configuration._optimum.cache_clear()
    configuration.build.cache_clear()
    for _ in range(2):
        configuration.check(CONFIG, SCHEMA)
    configuration.check(overlay(CONFIG, {"environment": {"instance": 4}}), SCHEMA)
    assert len(solved) == 2


def test_environments_that_differ_in_one_number_are_told_apart():
    one, other = random_cmdp(), random_cmdp(threshold=0.55 + 1e-12)
    assert pickle.dumps(one) == pickle.dumps(random_cmdp())
    assert pickle.dumps(one) != pickle.dumps(other)


@pytest.mark.parametrize("length", [1999, 2000, 2001])
def test_another_length_is_said_to_begin_anew_whether_longer_or_shorter(length):
    before, now = ({"algorithms": {"npgpd_hf": {"iterations": it}}} for it in (2000, length))
    lines = [*configuration.other_lengths(now, before)]
    said = f"algorithms.npgpd_hf.iterations: {length} instead of 2000; its runs begin anew"
    assert [line.startswith(said) for line in lines] == [True] * (length != 2000)
