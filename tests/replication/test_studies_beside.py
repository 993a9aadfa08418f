"""The studies that infer N and confirm the verdicts have data of their own."""

import itertools
import re
from pathlib import Path

import pytest
import yaml
from checking import admit_all, laid, study

from pgpd_hf import environments
from pgpd_hf.core.optima import utility_range
from replication.analyses import effects, judged_rates, schedules, slopes
from replication.analyses.inference import trials_of
from replication.analyses.instances import calibrations
from replication.analyses.verdicts import judged
from replication.study import readings, recorded_races

ROOT = Path(__file__).parents[2]
CONFIG, HARD = study(), study("hard")
# As the Makefile lays them, one over the other.
LAID = {
    "inference": ("inference",),
    "confirmation": ("confirmation",),
    "hard-pilot": ("hard", "hard-pilot"),
    "hard-inference": ("hard", "inference", "hard-inference"),
    "hard-confirmation": ("hard", "hard-confirmation"),
}
STUDIES = {name: study(*names) for name, names in LAID.items()}
OF_HARD = {name: config for name, config in STUDIES.items() if name.startswith("hard-")}
CONFIRMATIONS = ("confirmation", "hard-confirmation")


def beside(name):
    """The study that another one stands beside."""
    return HARD if name in OF_HARD else CONFIG


@pytest.mark.parametrize("names", [("hard",), ("settled",), *LAID.values()], ids=" ".join)
def test_studies_are_run_as_they_are_written(names):
    """Nothing is left out of them, and they need no new race."""
    assert admit_all(study(*names), laid(*names), CONFIG)[1] == []


def instances(config):
    """Numbers of the instances that a study judges, and of those that it tunes on."""
    groups = config["claims"]["instances"]["groups"].values()
    judged = {number for group in groups for number in group["numbers"]}
    return judged, {number for group in groups for number in group.get("tuning", [])}


def test_makefile_lays_the_studies_so():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    for name, names in LAID.items():
        files = " ".join(f"config/{each}.yaml" for each in names)
        assert re.search(rf"--configfile +{re.escape(files)}\n", makefile), name


@pytest.mark.parametrize("studies", [{"hard": HARD} | OF_HARD, {"paper": CONFIG} | STUDIES])
def test_no_two_studies_share_seeds_or_instances(studies):
    """The inferences share instances, and so do the two studies themselves, but no seeds."""
    tuning = set().union(*(instances(config)[1] for config in studies.values()))
    for (one, ours), (other, theirs) in itertools.combinations(studies.items(), 2):
        assert ours["streams"] != theirs["streams"]
        if {one, other} != {"inference", "hard-inference"}:
            assert not instances(ours)[0] & instances(theirs)[0]
    for config in studies.values():
        assert not instances(config)[0] & tuning
    families = [it["streams"] for it in (CONFIG, HARD, study("settled"), *STUDIES.values())]
    assert len(families) == len({*families})


def purposes(config):
    """Families of the random streams of the sweeps that statements are about."""
    plans = [analysis.plan(config) for analysis in (judged_rates, slopes, effects, schedules)]
    cases = [case for plan in plans for part in plan.values() for _, of in part for case in of]
    return {case.purpose for case in cases}


def test_pilot_has_all_sweeps_that_are_judged_on_streams_of_its_own():
    pilot = STUDIES["hard-pilot"]
    assert pilot["claims"]["tables"] == HARD["claims"]["tables"] != []
    assert {f"pilot: {name}" for name in purposes(HARD)} == purposes(pilot)
    for name in ("corollary", "people", "horizon"):
        for key in ("varies", "algorithms"):
            assert pilot["sweeps"][name][key] == HARD["sweeps"][name][key]
    assert pilot["rates"]["iterations"] == HARD["rates"]["iterations"]


@pytest.mark.parametrize("name", CONFIRMATIONS)
def test_streams_and_instances_of_a_confirmation_are_sealed(name):
    """Nothing else in the repository runs them, or has numbers that come from them."""
    config = STUDIES[name]
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


def test_fresh_instances_of_the_confirmation_are_the_first_that_bind():
    fresh = sorted(instances(STUDIES["confirmation"])[0])
    options = CONFIG["environment"]
    made = (environments.make({**options, "instance": k}) for k in range(6001, fresh[-1] + 1))
    binding = [k for k, cmdp in enumerate(made, 6001) if utility_range(cmdp)[0] < cmdp.threshold]
    assert binding == fresh


def test_algorithm_that_asks_nobody_has_no_n():
    asking, exact = {"rounds": 5}, {"rounds": 1}  # which is filled in for all
    configs = {"full/": {"algorithms": {"npgpd_hf": asking, "npg_pd": exact}}}
    assert trials_of(configs, {"full/": "default"}) == {5: ["full/"]}


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("inference", [1, 2, 3, 5, 10]),
        ("hard-pilot", [1, 10]),
        ("hard-inference", [1, 2, 3, 5, 10, 20]),
    ],
)
def test_tables_of_verdicts_differ_in_n_alone(name, numbers):
    config, own = STUDIES[name], beside(name)
    loaded = readings.load(config, ROOT)
    configs = readings.configurations(config, loaded) | calibrations(config)
    trials = trials_of(configs, judged(config, loaded))
    assert list(trials) == numbers
    for rounds, folders in trials.items():
        assert [folder.startswith("instances/") for folder in folders] == [False, True]
        for folder in folders:
            assert configs[folder]["algorithms"] == {
                name: {**it, "rounds": rounds} for name, it in own["algorithms"].items()
            }
            assert configs[folder]["calibration"]["late"] == own["calibration"]["late"]
            for key in ("environment", "evaluators", "link", "horizon"):
                assert configs[folder][key] == own[key]
    group, *others = (
        group for group in config["claims"]["instances"]["groups"].values() if group["numbers"]
    )
    for other in others:
        assert (other["numbers"], other["tuning"]) == (group["numbers"], group["tuning"])


def test_all_n_of_the_inference_have_as_many_seeds():
    claims = STUDIES["inference"]["claims"]
    assert claims["own_seeds"] == claims["seeds"]


def test_rules_of_both_inferences_are_those_of_their_edition():
    assert STUDIES["inference"]["inference"] == CONFIG["inference"]
    assert CONFIG["inference"] == {"margins": [0.5, 0.7, 1, 1.4, 2], "of_tied": "half_margins"}
    assert STUDIES["hard-inference"]["inference"] == {"margins": [1], "of_tied": "smallest"}


@pytest.mark.parametrize("name", CONFIRMATIONS)
def test_confirmation_is_the_study_that_it_confirms(name):
    """But for its data; the criteria and the steps are those of that study, too."""
    config, own = STUDIES[name], beside(name)
    for key in ("environment", "evaluators", "link", "horizon", "algorithms", "calibration"):
        assert config[key] == own[key]
    assert config["claims"]["own_seeds"] == own["claims"]["own_seeds"]


@pytest.mark.parametrize("name", STUDIES)
def test_all_races_are_on_record(name):
    config, record = STUDIES[name], recorded_races.load_record(ROOT)
    loaded = readings.load(config, ROOT)
    configs = readings.configurations(config, loaded) | calibrations(config)
    for (folder, algorithm), raced in recorded_races.distinct(configs).items():
        assert recorded_races.recorded(record, raced, algorithm), (folder, algorithm)
