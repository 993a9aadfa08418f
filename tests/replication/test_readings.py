"""Readings: what they may change, which runs they share, and how they look at them."""

import copy
from pathlib import Path

import pytest
import yaml

from replication.study import admission, readings
from replication.study.readings import LOOK, overlay

ROOT = Path(__file__).parents[2]
CONFIG = admission.load_defaults(ROOT)
SCHEMA = admission.load_schema(ROOT, "config")
READING = yaml.safe_load((ROOT / "workflow/schemas/reading.schema.yaml").read_text())

LIKE_STUDY = {  # which readings are not: they have seeds of their own
    "seeds": CONFIG["seeds"],
    "calibration": {"seeds": CONFIG["calibration"]["seeds"]},
}


def reading(changes):
    return {"title": "mine", "about": "", **LOOK, "config": changes}


def owner(algorithm, **overlays):
    """The reading to which the runs of each reading belong."""
    loaded = {name: reading(changes) for name, changes in overlays.items()}
    configs = readings.configurations(CONFIG, loaded)
    found = readings.owners(configs, readings.runs_key, algorithm)
    assert found[""] == ""
    return {name: found[f"readings/{name}/"] for name in overlays}


def refusal(changes, config=CONFIG):
    with pytest.raises(ValueError, match=r".") as refused:
        readings.check(config, {"mine": reading(changes)}, SCHEMA)
    message = str(refused.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("algorithm", ["npgpd_hf", "zpgpd_hf"])
def test_runs_of_readings_that_only_look_differently_are_shared(algorithm):
    assert owner(algorithm, looks={}, too={}) == {"looks": "full/", "too": "full/"}
    assert owner(algorithm, looks=LIKE_STUDY) == {"looks": ""}


def test_runs_are_shared_per_algorithm():
    changes = {**LIKE_STUDY, "algorithms": {"zpgpd_hf": {"directions": "tangent"}}}
    assert owner("npgpd_hf", tangent=changes) == {"tangent": ""}
    assert owner("zpgpd_hf", tangent=changes) == {"tangent": "readings/tangent/"}


def test_readings_share_runs_with_each_other():
    ten = {"algorithms": {"npgpd_hf": {"rounds": 10}, "zpgpd_hf": {"rounds": 10}}}
    both = copy.deepcopy(ten)
    both["algorithms"]["zpgpd_hf"]["directions"] = "tangent"
    assert owner("npgpd_hf", ten=ten, both=both)["both"] == "readings/ten/"
    assert owner("zpgpd_hf", ten=ten, both=both)["both"] == "readings/both/"


@pytest.mark.parametrize(
    "changes",
    [
        {"horizon": 79},
        {"link": "probit"},
        {"seeds": 21},
        {"evaluators": [16]},
        {"environment": {"scale": "unit"}},
        {"calibration": {"seeds": 2}},
        {"calibration": {"recorded": False}},
        {"calibration": {"candidates": {"npgpd_hf": {"primal_step": [1]}}}},
        {"algorithms": {"npgpd_hf": {"iterations": 10}}},
    ],
    ids=str,
)
def test_runs_that_differ_are_not_shared(changes):
    mine = overlay(LIKE_STUDY, changes)
    assert owner("npgpd_hf", mine=mine) == {"mine": "readings/mine/"}


def test_readings_have_their_own_numbers_of_seeds():
    loaded = {"look": reading({}), "one": reading({"horizon": 9}), "two": reading({"seeds": 7})}
    found = readings.configurations(CONFIG, loaded)
    own = CONFIG["claims"]
    assert found["full/"] == overlay(CONFIG, {"seeds": own["own_seeds"]})
    assert found["readings/look/"] == found["full/"]
    assert found["readings/one/"]["seeds"] == own["seeds"]
    assert found["readings/one/"]["calibration"]["seeds"] == own["race_seeds"]
    assert found["readings/two/"]["seeds"] == 7
    assert found[""] == CONFIG


def test_candidates_of_another_algorithm_do_not_matter():
    changes = overlay(
        LIKE_STUDY, {"calibration": {"candidates": {"zpgpd_hf": {"primal_step": [1]}}}}
    )
    assert owner("npgpd_hf", mine=changes) == {"mine": ""}


def test_fixed_steps_do_not_depend_on_the_calibration():
    steps = {"algorithms": {"npgpd_hf": {"primal_step": "theorem", "dual_step": "theorem"}}}
    other = {**steps, "calibration": {"seeds": 9, "recorded": False}}
    assert owner("npgpd_hf", one=steps, two=other)["two"] == "readings/one/"


def test_environments_are_shared_where_they_are_the_same():
    loaded = {"same": reading({"horizon": 79}), "other": reading({"environment": {"instance": 2}})}
    configs = readings.configurations(CONFIG, loaded)
    found = readings.owners(configs, readings.environment_key)
    assert found == {
        **dict.fromkeys(("", "full/", "readings/same/"), ""),
        "readings/other/": "readings/other/",
    }


def test_overlay_replaces_key_by_key_and_leaves_the_configuration_as_it_is():
    before = copy.deepcopy(CONFIG)
    changes = {"algorithms": {"npgpd_hf": {"rounds": 10}}, "evaluators": [None]}
    merged = overlay(CONFIG, changes)
    assert merged["algorithms"]["npgpd_hf"] == CONFIG["algorithms"]["npgpd_hf"] | {"rounds": 10}
    assert merged["evaluators"] == [None]  # a list is replaced as a whole
    merged["algorithms"]["npgpd_hf"]["rounds"] = 3
    merged["evaluators"].append(1)
    assert before == CONFIG
    assert changes == {"algorithms": {"npgpd_hf": {"rounds": 10}}, "evaluators": [None]}


def test_reading_says_how_verdicts_look_at_its_runs():
    mine = reading({}) | {"curve": "average"}
    assert readings.look({"mine": mine}, "readings/mine/") == {**LOOK, "curve": "average"}
    assert readings.look({"mine": mine}, "") == LOOK
    assert readings.look({"mine": mine}, "instances/binding/") == LOOK


# Files.


def test_file_is_read_with_defaults_for_what_it_leaves_out(tmp_path):
    (tmp_path / "mine.yaml").write_text("title: a\nabout: b\noptimum: unconstrained\n")
    found = readings.load_reading(tmp_path, "mine", READING)
    expected = {"title": "a", "about": "b", "config": {}, **LOOK, "optimum": "unconstrained"}
    assert found == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title: a", "the key 'about' is missing"),
        ("title: a\nabout: b\ncolour: red", "unknown key 'colour'"),
        ("title: a\nabout: b\ncurve: both", "curve: iterate or average expected, got 'both'"),
        ("title: a\nabout: b\nconfig: [1]", "config: keys and values expected, got [1]"),
        ("title: a\ntitle: b", "not YAML: line 2: the key 'title' stands twice"),
    ],
)
def test_file_that_is_no_reading_is_refused(tmp_path, text, message):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ValueError, match=r".") as refused:
        readings.load_reading(tmp_path, "mine", READING)
    assert str(refused.value).startswith(f"{tmp_path / 'mine.yaml'}: ")
    assert message in str(refused.value)


def test_reading_without_a_file_is_refused_with_those_that_there_are(tmp_path):
    for name in ("b", "a"):
        (tmp_path / f"{name}.yaml").write_text("")
    message = r"^claims\.readings: one of a, b expected, got 'c'$"
    with pytest.raises(ValueError, match=message):
        readings.load_reading(tmp_path, "c", READING)


# What a reading cannot change.


@pytest.mark.parametrize("key", [*sorted(set(CONFIG) - {*readings._KEYS}), "unknown"])
def test_key_without_effect_is_refused(key):
    value = CONFIG.get(key, 1)
    allowed = "environment, evaluators, link, horizon, seeds, algorithms, calibration"
    assert refusal({key: value}) == (
        f"reading 'mine': config: one of {allowed} expected, got {key!r}"
    )


@pytest.mark.parametrize("key", readings._KEYS)
def test_key_with_effect_is_allowed(key):
    readings.check(CONFIG, {"mine": reading({key: CONFIG[key]})}, SCHEMA)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizon": -1}, "horizon: at least 0 expected"),
        ({"evaluators": [64, 16]}, "evaluators: increasing order expected"),
        ({"link": "cosine"}, "link: one of"),
        ({"environment": {"threshold": 0.9}}, "environment: threshold: 0.9 leaves no slack"),
        (
            {"environment": {"file": "a.npz", "scale": "unit"}},
            "scale: cannot be changed, since the CMDP in a.npz",
        ),
        ({"environment": {"name": "maze"}}, "name: cannot be changed, since the CMDP maze is"),
        (
            {"algorithms": {"npgpd_hf": {"perturbation": 1}}},
            "algorithms.npgpd_hf: unknown key 'perturbation'",
        ),
        ({"algorithms": {"npgpd_hf": {"primal_step": 1}}}, "algorithms.npgpd_hf: primal_step has"),
        ({"algorithms": {"sarsa": {"rounds": 1}}}, "algorithms: algorithm: one of"),
        ({"calibration": {"grid": {}}}, "calibration: unknown key 'grid'"),
    ],
)
def test_reading_that_cannot_be_run_is_refused(changes, message):
    found = refusal(changes)
    assert found.startswith("reading 'mine': ")
    assert message in found


def test_reading_that_calibrates_needs_candidates():
    config = copy.deepcopy(CONFIG)
    steps = {"primal_step": 0.1, "dual_step": 0.1}
    config["algorithms"]["npgpd_hf"] |= steps
    del config["calibration"]["candidates"]["npgpd_hf"]
    readings.check(config, {"mine": reading({})}, SCHEMA)
    calibrated = {"algorithms": {"npgpd_hf": dict.fromkeys(steps, "calibrated")}}
    message = "reading 'mine': calibration.candidates.npgpd_hf: primal_step expected, since it is"
    assert refusal(calibrated, config).startswith(message)


@pytest.mark.parametrize(
    "study",
    [
        {},
        {"study": "mine", "seeds": 41, "algorithms": {"zpgpd_hf": None}},
        {"environment": {"file": "mine.npz"}, "evaluators": [8, None], "rates": {"seeds": 3}},
    ],
)
def test_of_a_whole_configuration_counts_what_it_changes_of_the_defaults(study):
    whole = overlay(CONFIG, study)
    assert readings.difference(whole, CONFIG) == study
    assert overlay(CONFIG, readings.difference(whole, CONFIG)) == whole
