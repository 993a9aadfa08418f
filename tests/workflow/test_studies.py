"""What a study's environment rules out is left out, and said; nothing else is."""

import copy
from pathlib import Path

import pytest
import yaml

from pgpd_hf import configuration, random_cmdp, readings, studies, sweeps

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config/config.yaml").read_text())
SCALED = {"unit", "unit-binding", "unit-binding-ten-pairs", "unit-binding-fixed-mu"}


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A folder with an environment in a file."""
    monkeypatch.chdir(tmp_path)
    random_cmdp(6, 3, 2, discount=0.8, threshold=0.5).save("mine.npz")
    return "mine.npz"


def changed(changes):
    return readings.overlay(CONFIG, changes)


def test_study_of_random_environments_is_left_alone():
    before = copy.deepcopy(CONFIG)
    config, lines = studies.settle(CONFIG, ROOT)
    assert config == before
    assert lines == []


def test_environment_from_a_file_leaves_out_what_is_about_others(archive):
    study = changed({"environment": {"file": archive}})
    before = copy.deepcopy(study)
    config, lines = studies.admit(study, ROOT)
    assert study == before
    assert list(config["bounds"]["settings"]) == ["paper"]
    assert set(CONFIG["claims"]["readings"]) - set(config["claims"]["readings"]) == SCALED
    assert config["claims"]["instances"]["groups"] == {}
    assert config["grid"]["algorithms"] == {}
    assert set(CONFIG["sweeps"]) - set(config["sweeps"]) == {"states", "actions"}
    assert lines == [
        "left out, because mine.npz holds one process, and nothing to draw or to change others "
        "from: bounds.settings: unit-scale, short-horizon; claims.readings: unit, unit-binding, "
        "unit-binding-ten-pairs, unit-binding-fixed-mu; claims.instances.groups: binding, slack, "
        "small, large; sweeps: states, actions; grid.algorithms: npgpd_hf, zpgpd_hf"
    ]


def test_what_is_left_out_twice_is_said_once(archive):
    config, _ = studies.settle(changed({"environment": {"file": archive}}), ROOT)
    assert studies.settle(config, ROOT) == (config, [])


def test_setting_of_another_file_is_a_process_of_its_own(archive):
    random_cmdp(4, 2, 1).save("other.npz")
    options = {**CONFIG["bounds"]["settings"]["paper"], "environment": {"file": "other.npz"}}
    study = changed({"environment": {"file": archive}, "bounds": {"settings": {"other": options}}})
    config, _ = studies.admit(study, ROOT)
    assert list(config["bounds"]["settings"]) == ["paper", "other"]
    assert configuration.bound_problem(config, "paper")[0].states == 6
    assert configuration.bound_problem(config, "other")[0].states == 4


def test_no_process_of_a_file_goes_by_another_name(archive):
    config = changed({"environment": {"file": archive}})
    message = r": nothing of the process in mine\.npz can be changed"
    for name in ("unit-scale", "short-horizon"):
        with pytest.raises(ValueError, match=message):
            configuration.bound_problem(config, name)
    with pytest.raises(ValueError, match=f"^instance{message}"):
        configuration.instance(config, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"sweeps": {"people": {"algorithms": {"npgpd_hf": {"states": 5}}}}},
            "sweeps.people.algorithms.npgpd_hf: states: nothing of the process in mine.npz",
        ),
        (
            {"bounds": {"settings": {"paper": {"environment": {"scale": "unit"}}}}},
            "bounds.settings: object with at least 1 entries expected",
        ),
    ],
)
def test_what_cannot_be_left_out_is_refused(archive, changes, message):
    study = readings.overlay(changed({"environment": {"file": archive}}), changes)
    with pytest.raises(ValueError, match=r".") as refusal:
        studies.admit(study, ROOT)
    assert str(refusal.value).startswith(message)


def test_file_of_a_setting_or_a_reading_stands_alone(archive):
    both = {"file": archive, "scale": "unit"}
    mine = {**readings.DEFAULT, "title": "mine", "about": "", "config": {"environment": both}}
    message = r"scale: nothing of the process in mine\.npz can be changed"
    with pytest.raises(ValueError, match=f"^reading 'mine': {message}$"):
        readings.check(CONFIG, {"mine": mine}, studies.load_schema(ROOT, "config"))
    study = changed({"bounds": {"settings": {"unit-scale": {"environment": {"file": archive}}}}})
    with pytest.raises(ValueError, match=r"^bounds\.settings\.unit-scale\.environment: scale: not"):
        studies.admit(study, ROOT)


@pytest.mark.parametrize("key", ["file", "instance"])
def test_group_of_instances_cannot_be_one_process(key):
    value = {"file": "mine.npz", "instance": 3}[key]
    study = changed({"claims": {"instances": {"groups": {"small": {"environment": {key: value}}}}}})
    message = rf"^claims\.instances\.groups\.small\.environment\.{key}: the instances are those of"
    with pytest.raises(ValueError, match=message):
        readings.check(study, {}, studies.load_schema(ROOT, "config"))


def test_sweeps_over_sizes_are_those_that_a_file_leaves_out():
    for name, sweep in CONFIG["sweeps"].items():
        sizes = any(set(grid) & set(sweeps.SIZES) for grid in sweep["algorithms"].values())
        assert sizes == (name in sweeps.SIZES)


def plan(project, *targets):
    """Files that config/mine.yaml stands for, and what is said about it."""
    code, output = project.snakemake(*targets, "--summary", configfile="config/mine.yaml")
    assert code == 0, output
    lines = output.splitlines()
    made = {line.split("\t")[0] for line in lines if "\t" in line}
    return made, [line for line in lines if line.startswith("config: ")]


def test_study_of_a_file_is_planned_as_the_readme_says(fresh):
    random_cmdp(6, 3, 2, discount=0.8, threshold=0.5).save(fresh.folder / "my_environment.npz")
    text = "study: mine\nenvironment:\n  file: my_environment.npz\n"
    (fresh.folder / "config/mine.yaml").write_text(text)
    made, notes = plan(fresh)
    assert {path for path in made if "/bounds/" in path} == {"results/mine/bounds/paper.csv"}
    assert "results/mine/figures/figure1.pdf" in made
    assert len(notes) == 1
    assert notes[0].startswith("config: left out, because my_environment.npz holds one process")
    made, _ = plan(fresh, "claims", "theory", "grid")
    assert "results/mine/verdicts.csv" in made
    assert not {path for path in made if "instances" in path or "/readings/unit" in path}
    assert not {path for path in made if "/sweeps/states" in path or "/sweeps/actions" in path}
    assert "results/mine/grid.csv" in made
