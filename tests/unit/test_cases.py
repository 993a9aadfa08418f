"""What a study consists of: which cases share results, and which groups are judged together."""

import copy
from pathlib import Path

import pytest
import yaml

from pgpd_hf.studies import configuration, variants
from pgpd_hf.studies.readings import DEFAULT

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config/config.yaml").read_text())


def owner(algorithm, **overlays):
    """The reading to which the runs of each reading belong."""
    loaded = {name: {"config": overlay} for name, overlay in overlays.items()}
    listed = variants.list_cases(CONFIG, loaded)
    found = variants.owners(listed, variants.simulation_key, algorithm)
    return {name: found[f"readings/{name}/"] for name in overlays}


def test_runs_of_readings_that_only_look_differently_are_shared():
    for algorithm in ("npgpd_hf", "zpgpd_hf"):
        assert owner(algorithm, looks={}) == {"looks": ""}


def test_runs_are_shared_per_algorithm():
    overlay = {"algorithms": {"zpgpd_hf": {"directions": "tangent"}}}
    assert owner("npgpd_hf", tangent=overlay) == {"tangent": ""}
    assert owner("zpgpd_hf", tangent=overlay) == {"tangent": "readings/tangent/"}


def test_readings_share_runs_with_each_other():
    ten = {"algorithms": {"npgpd_hf": {"pairs": 10}, "zpgpd_hf": {"pairs": 10}}}
    both = copy.deepcopy(ten)
    both["algorithms"]["zpgpd_hf"]["directions"] = "tangent"
    assert owner("npgpd_hf", ten=ten, both=both)["both"] == "readings/ten/"
    assert owner("zpgpd_hf", ten=ten, both=both)["both"] == "readings/both/"


@pytest.mark.parametrize(
    "overlay",
    [
        {"horizon": 79},
        {"link": "probit"},
        {"environment": {"scale": "unit"}},
        {"calibration": {"seeds": 2}},
        {"calibration": {"grid": {"npgpd_hf": {"primal_step": [1]}}}},
        {"algorithms": {"npgpd_hf": {"iterations": 10}}},
    ],
)
def test_runs_that_differ_are_not_shared(overlay):
    assert owner("npgpd_hf", mine=overlay) == {"mine": "readings/mine/"}


def test_fixed_steps_do_not_depend_on_the_calibration():
    steps = {"algorithms": {"npgpd_hf": {"primal_step": "theorem", "dual_step": "theorem"}}}
    other = {**steps, "calibration": {"seeds": 9}}
    assert owner("npgpd_hf", one=steps, two=other)["two"] == "readings/one/"


def test_environments_are_shared_where_they_are_the_same():
    overlays = {"same": {"horizon": 79}, "other": {"environment": {"scale": "unit"}}}
    loaded = {name: {"config": overlay} for name, overlay in overlays.items()}
    found = variants.owners(variants.list_cases(CONFIG, loaded), variants.environment_key)
    assert found == {"": "", "readings/same/": "", "readings/other/": "readings/other/"}


def test_groups_of_instances_have_their_own_seeds_and_sizes():
    groups = variants.list_groups(CONFIG)
    assert groups["binding"]["seeds"] == CONFIG["claims"]["instances"]["seeds"]
    assert groups["binding"]["environment"] == CONFIG["environment"]
    assert groups["small"]["environment"]["states"] == 5


def with_groups(**numbers):
    """The default configuration with other groups of instances."""
    config = copy.deepcopy(CONFIG)
    groups = {name: {"numbers": chosen} for name, chosen in numbers.items()}
    config["claims"]["instances"]["groups"] = groups
    return config


def test_groups_without_instances_and_those_for_comparison_are_not_judged():
    config = with_groups(binding=[1], slack=[], small=[2], large=[3], odd=[4])
    assert variants.judged_groups(config) == ["binding", "odd"]


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
    assert variants.judged_together(config, group) == expected


def test_every_judged_case_has_a_title():
    config = with_groups(binding=[1], small=[2], slack=[3])
    config["claims"]["instances"]["groups"]["slack"]["title"] = "slack constraint"
    assert variants.titles(config, {"ten": {"title": "N = 10"}}) == {
        "": "default",
        "readings/ten/": "N = 10",
        "instances/binding/": "binding",
        "instances/slack/": "slack constraint",
    }


def test_reading_says_how_verdicts_look_at_its_runs():
    mine = {**DEFAULT, "curve": "average", "title": "mine", "config": {}}
    assert variants.look({"mine": mine}, "readings/mine/") == {**DEFAULT, "curve": "average"}
    assert variants.look({"mine": mine}, "") == DEFAULT


@pytest.mark.parametrize("evaluators", [1, 64, None])
def test_name_of_a_crowd_is_read_back(evaluators):
    name = configuration.name_crowd(evaluators)
    assert configuration.parse_crowd(name) == evaluators


def test_relevant_part_of_a_configuration_is_that_of_one_algorithm():
    part = yaml.safe_load(configuration.relevant(CONFIG, "npgpd_hf", "rates"))
    assert sorted(part) == ["algorithms", "horizon", "link", "rates"]
    assert part["algorithms"] == {"npgpd_hf": CONFIG["algorithms"]["npgpd_hf"]}
    assert part["rates"] == CONFIG["rates"]
