"""The studies that infer N and confirm the verdicts have data of their own."""

import itertools
import re
from pathlib import Path

import pytest
import yaml

from pgpd_hf import environments
from pgpd_hf.core.optima import utility_range
from replication.analyses import effects, judged_rates, schedules, slopes
from replication.analyses.inference import trials_of
from replication.analyses.instances import calibrations
from replication.analyses.verdicts import judged
from replication.study import admission, readings, recorded_races

ROOT = Path(__file__).parents[2]
NAMES = ("pilot", "inference", "confirmation")
CONFIG = admission.load_defaults(ROOT)


def study(*names):
    """The default study with files of config/ laid over it, one over the other."""
    config = CONFIG
    for name in names:
        path = ROOT / f"config/{name}.yaml"
        config = readings.overlay(config, yaml.safe_load(path.read_text()))
    return config


STUDIES = {name: study(name) for name in NAMES}
TYPICAL = study("typical")
TYPICALS = {  # as the Makefile lays them
    "typical-inference": study("typical", "inference", "typical-inference"),
    "typical-confirmation": study("typical", "typical-confirmation"),
}


def instances(config):
    """Numbers of the instances that a study judges, and of those that it tunes on."""
    groups = config["claims"]["instances"]["groups"].values()
    judged = {number for group in groups for number in group["numbers"]}
    return judged, {number for group in groups for number in group.get("tuning", [])}


def test_no_two_studies_share_seeds_or_instances():
    studies = {"paper": CONFIG} | STUDIES
    tuning = set().union(*(instances(config)[1] for config in studies.values()))
    for one, other in itertools.combinations(studies.values(), 2):
        assert one["streams"] != other["streams"]
        assert not instances(one)[0] & instances(other)[0]
    for config in studies.values():
        assert not instances(config)[0] & tuning
    families = [it["streams"] for it in (*studies.values(), TYPICAL, *TYPICALS.values())]
    assert len(families) == len({*families})


def purposes(config):
    """Families of the random streams of the sweeps that statements are about."""
    plans = [analysis.plan(config) for analysis in (judged_rates, slopes, effects, schedules)]
    cases = [case for plan in plans for part in plan.values() for _, of in part for case in of]
    return {case.purpose for case in cases}


def test_pilot_has_all_sweeps_that_are_judged_on_streams_of_its_own():
    pilot, study = purposes(STUDIES["pilot"]), purposes(CONFIG)
    assert STUDIES["pilot"]["claims"]["tables"] == CONFIG["claims"]["tables"]
    assert {f"pilot: {name}" for name in study} == pilot
    for name in ("corollary", "people", "horizon"):
        for key in ("varies", "algorithms"):
            assert STUDIES["pilot"]["sweeps"][name][key] == CONFIG["sweeps"][name][key]
    assert STUDIES["pilot"]["rates"]["iterations"] == CONFIG["rates"]["iterations"]


@pytest.mark.parametrize("name", ["confirmation", "typical-confirmation"])
def test_streams_and_instances_of_a_confirmation_are_sealed(name):
    """Nothing else in the repository runs them, or has numbers that come from them."""
    config = (STUDIES | TYPICALS)[name]
    fresh, family = instances(config)[0], config["streams"]
    assert len(fresh) == 250
    for path in (ROOT / "config").rglob("*.yaml"):
        content = yaml.safe_load(path.read_text())
        if path.name != f"{name}.yaml":
            assert content.get("streams") != family
            numbers = map(int, re.findall(r"\b\d{4}\b", path.read_text()))
            assert not fresh & set(numbers), path
    for path in (ROOT / "src").rglob("*.py"):
        assert family not in re.findall(r'purpose="(\w+)"', path.read_text())


def test_fresh_instances_of_the_typical_confirmation_are_the_first_that_bind():
    fresh = sorted(instances(TYPICALS["typical-confirmation"])[0])
    options = TYPICAL["environment"]
    made = (environments.make({**options, "instance": k}) for k in range(6001, fresh[-1] + 1))
    binding = [k for k, cmdp in enumerate(made, 6001) if utility_range(cmdp)[0] < cmdp.threshold]
    assert binding == fresh


@pytest.mark.parametrize("name", ["pilot", "inference"])
def test_tables_of_verdicts_differ_in_n_alone(name):
    config = STUDIES[name]
    loaded = readings.load(config, ROOT)
    configs = readings.configurations(config, loaded) | calibrations(config)
    trials = trials_of(configs, judged(config, loaded))
    assert list(trials) == {"pilot": [1, 10], "inference": [1, 2, 3, 5, 10, 20]}[name]
    for rounds, folders in trials.items():
        assert [folder.startswith("instances/") for folder in folders] == [False, True]
        for folder in folders:
            algorithms = configs[folder]["algorithms"]
            assert {name: {**it, "rounds": 1} for name, it in algorithms.items()} == {
                name: {**it, "rounds": 1} for name, it in CONFIG["algorithms"].items()
            }
            assert {options["rounds"] for options in algorithms.values()} == {rounds}
            for key in ("environment", "evaluators", "link", "horizon"):
                assert configs[folder][key] == CONFIG[key]
    group, *others = (
        group for group in config["claims"]["instances"]["groups"].values() if group["numbers"]
    )
    for other in others:
        assert (other["numbers"], other["tuning"]) == (group["numbers"], group["tuning"])


def test_confirmation_is_the_default_study():
    """But for its data; the criteria and the steps are those of the default study, too."""
    config = STUDIES["confirmation"]
    for key in ("environment", "evaluators", "link", "horizon", "algorithms", "calibration"):
        assert config[key] == CONFIG[key]
    assert config["claims"]["own_seeds"] == CONFIG["claims"]["own_seeds"]


def test_typical_inference_differs_in_n_alone():
    config = TYPICALS["typical-inference"]
    loaded = readings.load(config, ROOT)
    configs = readings.configurations(config, loaded) | calibrations(config)
    trials = trials_of(configs, judged(config, loaded))
    assert list(trials) == [1, 2, 3, 5, 10]
    for rounds, folders in trials.items():
        assert [folder.startswith("instances/") for folder in folders] == [False, True]
        for name, ours in TYPICAL["algorithms"].items():
            assert all(
                configs[it]["algorithms"][name] == ours | {"rounds": rounds} for it in folders
            )
    assert config["claims"]["own_seeds"] == config["claims"]["seeds"]


def test_typical_confirmation_is_the_typical_study():
    config = TYPICALS["typical-confirmation"]
    for key in ("environment", "evaluators", "link", "horizon", "algorithms", "calibration"):
        assert config[key] == TYPICAL[key]
    assert config["claims"]["own_seeds"] == TYPICAL["claims"]["own_seeds"]


@pytest.mark.parametrize("name", [*STUDIES, *TYPICALS])
def test_all_races_are_on_record(name):
    config, record = (STUDIES | TYPICALS)[name], recorded_races.load_record(ROOT)
    loaded = readings.load(config, ROOT)
    configs = readings.configurations(config, loaded) | calibrations(config)
    for (folder, algorithm), raced in recorded_races.distinct(configs).items():
        assert recorded_races.recorded(record, raced, algorithm), (folder, algorithm)
