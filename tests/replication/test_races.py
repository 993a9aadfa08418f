"""Races on record: which there are, what they are about, and when there is a new one."""

import copy
import re
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from checking import ANALYSES, laid, study

from pgpd_hf.runs import races
from replication.analyses import instances
from replication.study import admission, readings, recorded_races

ROOT = Path(__file__).parents[2]
CONFIG, HARD = study(), study("hard")
RECORD = recorded_races.load_record(ROOT)
SCORES = pd.read_csv(ROOT / recorded_races.SCORES)
KNOWN = sorted(path.stem for path in (ROOT / "config/environments").iterdir())
# What `make races` runs, one after the other, and the place of its races in the record.
RACED = {
    ("hard", "hard-races"): "hard/",
    ("hard", "inference", "hard-inference"): "hard/",
    **{(f"environments/{name}",): f"environments/{name}/" for name in KNOWN},
    ("inference",): "inference/",
    ("races",): "",
}
# Where the races of the default study stand that have chosen its N.
INFERRED = {
    "": "inference/readings/two-rounds/",
    "readings/one-round/": "inference/",
    "readings/ten-rounds/": "inference/readings/ten-rounds/",
    "instances/binding/": "inference/instances/two/",
}


def changed(**own):
    return readings.overlay(CONFIG, own)


def said(config):
    return recorded_races.lines(RECORD, config, CONFIG)


def configurations(config):
    """Configurations by folder of a study, its readings and its groups that race."""
    configs = readings.configurations(config, readings.load(config, ROOT))
    return configs | instances.calibrations(config)


def distinct(config):
    """Races that these need, by folder and algorithm."""
    return recorded_races.distinct(configurations(config))


def settled(*names, **own):
    """A study of config/, with other keys."""
    own = readings.overlay(laid(*names), own)
    return admission.settle(readings.overlay(CONFIG, own), ROOT, own, CONFIG, ANALYSES)[0]


def known(name, **own):
    """Study of a known environment, with other keys."""
    return settled(f"environments/{name}", **own)


@cache
def raced(names):
    """Configurations by folder of the races that `make races` runs for some files."""
    return configurations(settled(*names))


@cache
def made():
    """Races that `make races` makes, by their names: what was raced, each once."""
    found, subjects = {}, []
    for names, place in RACED.items():
        for (folder, algorithm), config in recorded_races.distinct(raced(names)).items():
            subject = recorded_races.subject(config, algorithm)
            if subject not in subjects:
                subjects.append(subject)
                found[f"{place}{folder}{algorithm}"] = config
    return found


def test_all_races_of_the_default_study_are_on_record():
    for (folder, algorithm), config in distinct(CONFIG).items():
        place = INFERRED.get(folder, folder)
        assert recorded_races.recorded(RECORD, config, algorithm) == f"{place}{algorithm}"
    assert said(CONFIG) == []


def test_all_races_of_the_hard_case_are_on_record():
    found = distinct(HARD)
    assert len(found) > 40
    for (folder, algorithm), config in found.items():
        assert recorded_races.recorded(RECORD, config, algorithm) == f"hard/{folder}{algorithm}"
    assert said(HARD) == []


def test_record_has_what_make_races_makes_each_race_once():
    assert list(RECORD) == list(made())
    assert list(RECORD) == list(SCORES["race"].unique())
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = makefile.partition("\nraces:")[2].partition("\n\n")[0]
    files = [f"config/{name}.yaml" for names in RACED for name in names]
    all_known = [f"config/environments/{name}.yaml" for name in KNOWN]
    first = files.index(all_known[0])
    files[first : first + len(KNOWN)] = ["config/environments/*.yaml"]
    told = re.findall(r"config/[\w/*-]+\.yaml", recipe)
    assert [file for file in told if file != recorded_races.RECORD] == files


@pytest.mark.parametrize("names", RACED, ids=" ".join)
def test_new_races_get_the_names_that_they_have_on_record(names):
    configs, place = raced(names), RACED[names]
    found = recorded_races.unrecorded({}, configs, ROOT, configs[""]["study"])
    assert [*found.values()] == [*recorded_races.distinct(configs)]
    assert [*found] == [f"{place}{folder}{algorithm}" for folder, algorithm in found.values()]


def test_races_on_record_are_not_new():
    assert recorded_races.unrecorded(RECORD, configurations(CONFIG), ROOT, "paper") == {}
    own = configurations(settled(study="mine", evaluators=[8]))
    assert recorded_races.unrecorded(RECORD, {"": own[""]}, ROOT, "mine") == {
        name: ("", name) for name in ("npgpd_hf", "zpgpd_hf")
    }


@pytest.mark.parametrize("name", RECORD)
def test_record_says_what_its_table_says(name):
    scores = recorded_races.load_scores(ROOT / recorded_races.SCORES, name)
    chosen = races.chosen_steps(scores)
    assert RECORD[name]["chosen"] == [*chosen.values()]
    tied = scores.loc[scores["standing"] == "tied", [*chosen]]
    assert RECORD[name]["tied"] == tied.to_numpy().tolist()
    raced_on = (scores["standing"] != races.DROPPED).sum()
    least = recorded_races.effort(made()[name])["seeds"]
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
    race = next(iter(RECORD))
    with pytest.raises(ValueError, match=re.escape(f"reference/races.csv: race {race}: {what}")):
        recorded_races.load_record(tmp_path)


@pytest.mark.parametrize(
    "about", ["3", "{candidates: .nan}", "{algorithm: npgpd_hf, candidates: {primal_step: [1]}}"]
)
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
            "the recorded race differs in iterations ",
        ),
        ({"horizon": 40}, "the recorded race differs in horizon "),
        ({"evaluators": [8]}, "the recorded race differs in evaluators "),
        ({"environment": {"instance": 7}}, "the recorded race differs in environment "),
        (
            {"environment": {"discount": 0.8, "states": 9}},
            "the recorded race differs in environment (24",
        ),
        (
            {"calibration": {"candidates": {"npgpd_hf": {"dual_step": [1]}}}},
            "the recorded race differs in candidates ",
        ),
        ({"calibration": {"recorded": False}}, "calibration.recorded is false "),
    ],
    ids=str,
)
def test_what_races_anew_is_said_with_the_reason(own, reason):
    (line,) = (line for line in said(changed(**own)) if line.startswith("npgpd_hf: "))
    assert line.startswith("npgpd_hf: new race for step sizes, since ")
    assert reason in line
    assert line.endswith("(24 runs in all, and at most 32 seeds for each pair)")


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


@pytest.mark.parametrize("name", ["", "hard"])
def test_seeds_that_a_race_on_record_does_not_have_are_said_to_be_idle(name):
    config = study(*name.split())
    idle = "has no effect, since its race is on record, with at most"
    advice = "seeds; calibration.recorded: false runs a new one"
    seeds = {"calibration": {"seeds": 5}}
    most = {
        algorithm: RECORD[recorded_races.recorded(RECORD, config, algorithm)]["seeds"]
        for algorithm in ("npgpd_hf", "zpgpd_hf")
    }
    assert said(readings.overlay(config, seeds)) == [
        f"{algorithm}: calibration.seeds: 5 {idle} {number} {advice}"
        for algorithm, number in most.items()
    ]
    assert most == ({"npgpd_hf": 256, "zpgpd_hf": 8} if name else {"npgpd_hf": 16, "zpgpd_hf": 16})
    own = readings.overlay(seeds, {"evaluators": [8]})  # whose race is new, with these seeds
    limit = "(24 runs in all, and at most 5 seeds for each pair)"
    assert all(line.endswith(limit) for line in said(readings.overlay(config, own)))


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
    for names in RACED:
        assert laid(*names)["calibration"]["runs"] is None, names


@pytest.mark.parametrize(
    ("config", "late", "text"),
    [
        (CONFIG, 0.3, "the recorded race differs in late"),
        (CONFIG, 0, "the recorded race differs in late"),
        (HARD, 0.5, "the recorded race differs in "),
    ],
    ids=["default", "default, whole runs", "hard case"],
)
def test_race_that_weighs_the_end_otherwise_is_another_race(config, late, text):
    config = readings.overlay(config, {"calibration": {"late": late}})
    assert recorded_races.subject(config, "npgpd_hf").get("late", 0) == late
    assert recorded_races.recorded(RECORD, config, "npgpd_hf") is None
    assert any(text in line for line in said(config))


@pytest.mark.parametrize(
    ("name", "place"), [("", "inference/readings/two-rounds/"), ("hard", "hard/")]
)
def test_radius_races_only_where_it_is_calibrated(name, place):
    radii = {"calibration": {"candidates": {"zpgpd_hf": {"perturbation": [1, 3]}}}}
    config = readings.overlay(study(*name.split()), radii)
    assert recorded_races.recorded(RECORD, config, "zpgpd_hf") == f"{place}zpgpd_hf"
    config["algorithms"]["zpgpd_hf"]["perturbation"] = "calibrated"
    about = recorded_races.subject(config, "zpgpd_hf")
    assert about["candidates"]["perturbation"] == [1, 3]
    assert "perturbation" not in about["setting"]
    assert recorded_races.recorded(RECORD, config, "zpgpd_hf") is None


@pytest.mark.parametrize(
    "own",
    [
        {"environment": {"discrimination": 1, "features": None, "concentration": 5.0}},
        {"algorithms": {"npgpd_hf": {"estimator": "plug-in", "multiplier_bound": None}}},
    ],
    ids=["environment", "algorithm"],
)
def test_default_that_is_written_out_needs_no_new_race(own):
    config = readings.overlay(CONFIG, own)
    assert config != CONFIG
    assert said(config) == []


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
    """Beside the environment it has to say how long runs are, that N = 1, and what is raced."""
    own = {"study": "mine", "environment": {"name": "ding"}, "seeds": 7}
    own["algorithms"] = {
        "npgpd_hf": {"iterations": 1000, "rounds": 1},
        "zpgpd_hf": {"iterations": 50000, "rounds": 1, "perturbation": "calibrated"},
    }
    own["calibration"] = {"late": 0}
    for algorithm in ("npgpd_hf", "zpgpd_hf"):
        race = recorded_races.recorded(RECORD, settled(**own), algorithm)
        assert race == f"environments/ding/{algorithm}"
        for left_out in ("algorithms", "calibration"):
            fewer = {key: it for key, it in own.items() if key != left_out}
            assert recorded_races.recorded(RECORD, settled(**fewer), algorithm) is None


def test_another_algorithm_races_anew_without_a_comparison():
    config = copy.deepcopy(CONFIG)
    config["algorithms"]["mine"] = config["algorithms"]["npgpd_hf"]
    config["calibration"]["candidates"]["mine"] = CONFIG["calibration"]["candidates"]["npgpd_hf"]
    (line,) = said(config)
    assert line.startswith("mine: new race for step sizes, since no race is on record for it")


def test_row_that_stands_twice_is_refused(tmp_path):
    for path in (recorded_races.RECORD, recorded_races.SCORES):
        (tmp_path / path).parent.mkdir()
        text = (ROOT / path).read_text()
        twice = text.splitlines(keepends=True)[-1] if path == recorded_races.SCORES else ""
        (tmp_path / path).write_text(text + twice)
    with pytest.raises(ValueError, match="one row expected for each pair of the grid"):
        recorded_races.load_record(tmp_path)
