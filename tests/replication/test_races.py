"""Races on record: which there are, what they are about, and when there is a new one."""

import copy
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from pgpd_hf import races
from replication import analyses
from replication.analyses import instances
from replication.study import admission, readings, recorded_races

ROOT = Path(__file__).parents[2]
CONFIG = admission.load_defaults(ROOT)
RECORD = recorded_races.load_record(ROOT)
SCORES = pd.read_csv(ROOT / recorded_races.SCORES)
LOADED = readings.load(CONFIG, ROOT)
CONFIGS = readings.configurations(CONFIG, LOADED) | instances.calibrations(CONFIG)
OWN = {f"{folder}{algorithm}" for folder, algorithm in recorded_races.distinct(CONFIGS)}
INFERENCE = yaml.safe_load((ROOT / "config/inference.yaml").read_text())
KNOWN = sorted(path.stem for path in (ROOT / "config/environments").iterdir())


def changed(**own):
    return readings.overlay(CONFIG, own)


def said(config):
    return recorded_races.lines(RECORD, config, CONFIG)


def own_of(name):
    place = name if name == "typical" else f"environments/{name}"
    return yaml.safe_load((ROOT / f"config/{place}.yaml").read_text())


def known(name, **own):
    """Study of a known environment, with other keys."""
    own = readings.overlay(own_of(name), own)
    return admission.settle(readings.overlay(CONFIG, own), ROOT, own, CONFIG, analyses.find())[0]


def test_all_races_of_the_default_study_are_on_record_once():
    assert set(RECORD) > OWN  # those for other N: test_studies_beside.py
    assert list(RECORD) == list(SCORES["race"].unique())
    for (folder, algorithm), config in recorded_races.distinct(CONFIGS).items():
        assert recorded_races.recorded(RECORD, config, algorithm) == f"{folder}{algorithm}"
    assert said(CONFIG) == []


@pytest.mark.parametrize("name", RECORD)
def test_record_says_what_its_table_says(name):
    scores = recorded_races.load_scores(ROOT / recorded_races.SCORES, name)
    assert RECORD[name]["chosen"] == [*races.chosen_steps(scores).values()]
    least = 256
    if name.startswith("environments/"):
        least = own_of(name.split("/")[-2])["calibration"]["seeds"]
    elif "/" in name:
        least = (CONFIG if name in OWN else INFERENCE)["claims"]["race_seeds"]
    raced_on = (scores["standing"] != races.DROPPED).sum()
    assert raced_on == 1 or RECORD[name]["seeds"] >= least


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("npgpd_hf,0.3,0.03,", "npgpd_hf,0.5,0.03,", "(0.5, 0.03) is not of the grid"),
        ("npgpd_hf,0.3,0.03,", "npgpd_hf,nan,0.03,", "(nan, 0.03) is not of the grid"),
        ("npgpd_hf,0.3,0.03,", "npgpd_hf,1.0,0.03,", "one row expected for each pair"),
        ("npgpd_hf,0.3,0.03,", "npgpd_hf,100.0,0.01,", "one row expected for each pair"),
        (",chosen\n", ",tied\n", "one row 'chosen' expected, got 0"),
        (",dropped\n", ",chosen\n", "one row 'chosen' expected, got "),
    ],
)
def test_edited_outcome_is_refused(tmp_path, old, new, what):
    for path in (recorded_races.RECORD, recorded_races.SCORES):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text((ROOT / path).read_text().replace(old, new))
    with pytest.raises(ValueError, match=re.escape(f"reference/races.csv: race npgpd_hf: {what}")):
        recorded_races.load_record(tmp_path)


@pytest.mark.parametrize("about", ["3", "{candidates: .nan}", "{primal_step: .nan}"])
def test_race_that_is_about_nothing_is_refused(tmp_path, about):
    (tmp_path / "config").mkdir()
    (tmp_path / recorded_races.RECORD).write_text(f"npgpd_hf: {about}\n")
    (tmp_path / "reference").mkdir()
    (tmp_path / recorded_races.SCORES).write_text("race\n")
    with pytest.raises(ValueError, match=r"^config/steps\.yaml: npgpd_hf: what the race was about"):
        recorded_races.load_record(tmp_path)


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        (
            {"algorithms": {"npgpd_hf": {"iterations": 2001}}},
            "the recorded race had another iterations ",
        ),
        ({"horizon": 40}, "the recorded race had another horizon "),
        ({"evaluators": [8]}, "the recorded race had another evaluators "),
        ({"environment": {"instance": 7}}, "the recorded race had another environment "),
        (
            {"environment": {"discount": 0.8, "states": 9}},
            "the recorded race had another environment (at",
        ),
        (
            {"calibration": {"candidates": {"npgpd_hf": {"dual_step": [1]}}}},
            "the recorded race had another candidates ",
        ),
        ({"calibration": {"recorded": False}}, "calibration.recorded is false "),
    ],
    ids=str,
)
def test_what_races_anew_is_said_with_the_reason(own, reason):
    (line,) = (line for line in said(changed(**own)) if line.startswith("npgpd_hf: "))
    assert line.startswith("npgpd_hf: new race for step sizes, since ")
    assert reason in line
    assert line.endswith("(at most 32 seeds for each pair, and 24 runs in all)")


@pytest.mark.parametrize(
    "own",
    [
        {"seeds": 100},
        {"study": "mine"},
        {"environment": {"name": "random"}},
        {"algorithms": {"npgpd_hf": {"primal_step": 0.3, "dual_step": 0.03}}},
    ],
    ids=str,
)
def test_what_no_race_depends_on_is_not_raced_again(own):
    assert said(changed(**own)) == []


def test_seeds_that_a_race_on_record_does_not_have_are_said_to_be_idle():
    idle = "has no effect, since its race is on record, with at most"
    advice = "seeds; calibration.recorded: false runs a new one"
    seeds = {"calibration": {"seeds": 5}}
    assert said(changed(**seeds)) == [
        f"npgpd_hf: calibration.seeds: 5 {idle} 256 {advice}",
        f"zpgpd_hf: calibration.seeds: 5 {idle} {RECORD['zpgpd_hf']['seeds']} {advice}",
    ]
    own = readings.overlay(seeds, {"evaluators": [8]})  # whose race is new, with these seeds
    limit = "(at most 5 seeds for each pair, and 24 runs in all)"
    assert all(line.endswith(limit) for line in said(changed(**own)))


@pytest.mark.parametrize(
    ("own", "runs"),
    [
        ({}, 24),
        ({"seeds": 100}, 24),  # so that more seeds do not change the steps
        ({"seeds": 8}, 24),
        ({"seeds": 5}, 15),
        ({"seeds": 1}, 3),
        ({"calibration": {"runs": 1000}}, 60),
        ({"calibration": {"runs": None}}, None),
        ({"tuning": [1, 3]}, None),
    ],
    ids=str,
)
def test_new_race_costs_at_most_three_times_its_study(own, runs):
    assert recorded_races.effort(changed(**own)) == {"seeds": 32, "runs": runs}


def test_races_on_record_had_no_limit():
    """`make races` makes them again, by these configurations."""
    files = ["races.yaml", "inference.yaml", *(f"environments/{name}.yaml" for name in KNOWN)]
    for file in files:
        own = yaml.safe_load(Path(ROOT, "config", file).read_text(encoding="utf-8"))
        assert own["calibration"]["runs"] is None, file


def test_race_that_weighs_the_end_is_another_race():
    config = changed(calibration={"late": 0.5})
    assert recorded_races.subject(config, "npgpd_hf")["late"] == 0.5
    assert recorded_races.recorded(RECORD, config, "npgpd_hf") is None
    assert any("the recorded race had another late" in line for line in said(config))


def test_radius_races_only_where_it_is_calibrated():
    radii = {"calibration": {"candidates": {"zpgpd_hf": {"perturbation": [1, 3]}}}}
    config = changed(**radii)
    assert recorded_races.recorded(RECORD, config, "zpgpd_hf") == "zpgpd_hf"
    config["algorithms"]["zpgpd_hf"]["perturbation"] = "calibrated"
    about = recorded_races.subject(config, "zpgpd_hf")
    assert about["candidates"]["perturbation"] == [1, 3]
    assert "perturbation" not in about["setting"]
    assert recorded_races.recorded(RECORD, config, "zpgpd_hf") is None


def test_race_of_the_typical_environment_is_on_record():
    config = known("typical")
    for algorithm in ("npgpd_hf", "zpgpd_hf"):
        race = recorded_races.recorded(RECORD, config, algorithm)
        assert race == f"typical-inference/readings/two-rounds/{algorithm}"


@pytest.mark.parametrize("name", KNOWN)
def test_races_of_known_environments_are_on_record(name):
    config = known(name)
    assert config["study"] == name
    for algorithm in ("npgpd_hf", "zpgpd_hf"):
        race = recorded_races.recorded(RECORD, config, algorithm)
        assert race == f"environments/{name}/{algorithm}"
    assert said(config) == []
    chosen = RECORD[f"environments/{name}/zpgpd_hf"]["chosen"]
    assert len(chosen) == 3
    assert "zpgpd_hf" not in config["claims"]["ties"]  # which are pairs


@pytest.mark.parametrize(
    "own",
    [
        {"environment": {"discount": 0.93}},
        {"algorithms": {"npgpd_hf": {"rounds": 2}, "zpgpd_hf": {"iterations": 12345}}},
        {"evaluators": [16, 64]},
        {"calibration": {"recorded": False}},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["media-streaming", "cliff-walking"])
def test_another_setting_of_a_known_environment_races_anew(name, own):
    config = known(name, **own)
    for algorithm in ("npgpd_hf", "zpgpd_hf"):
        assert recorded_races.recorded(RECORD, config, algorithm) is None


def test_own_study_of_a_known_environment_takes_its_race():
    """All that it has to say is the environment, and that the radius races."""
    own = {"study": "mine", "environment": {"name": "ding"}, "seeds": 7}
    own["algorithms"] = {"zpgpd_hf": {"perturbation": "calibrated"}}
    config, _ = admission.settle(readings.overlay(CONFIG, own), ROOT, own, CONFIG, analyses.find())
    for algorithm in ("npgpd_hf", "zpgpd_hf"):
        assert (
            recorded_races.recorded(RECORD, config, algorithm) == f"environments/ding/{algorithm}"
        )


def test_another_algorithm_races_anew_without_a_comparison():
    config = copy.deepcopy(CONFIG)
    config["algorithms"]["mine"] = config["algorithms"]["npgpd_hf"]
    config["calibration"]["candidates"]["mine"] = CONFIG["calibration"]["candidates"]["npgpd_hf"]
    (line,) = said(config)
    assert line.startswith("mine: new race for step sizes, since no race is on record for it")
