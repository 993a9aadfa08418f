"""What a study's environment rules out is left out, and said; nothing else is."""

import copy
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from checking import ANALYSES, admit_all, each, laid, left_out, study

import pgpd_hf
from pgpd_hf import random_cmdp
from pgpd_hf.core.optima import METHODS, solve
from pgpd_hf.core.sampling import CUT_OFF
from replication.analyses import bounds_by_setting, instances, rates
from replication.study import admission, configuration, readings, sweeps
from replication.theory.table import check_all

ROOT = Path(__file__).parents[2]
CONFIG = study()
HIGH = {"threshold": 0.9}
# What is left out of the claims of another environment: text, readings in other units, and those
# without bias.
LEFT = {
    "default": (
        ("claims.instances.groups.binding", "claims.readings.unit-binding"),
        {"unit-binding"},
        {"unbiased-votes"},
    ),
    "hard": (
        ("4 of claims.instances.groups", "4 of claims.readings"),
        {"unit", "unit-binding", "unit-binding-ten-rounds", "unit-binding-fixed-mu"},
        {"unbiased-votes", "unbiased-votes-ten-rounds"},
    ),
}


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A folder with an environment in a file."""
    monkeypatch.chdir(tmp_path)
    random_cmdp(6, 3, 2, discount=0.8, threshold=0.5).save("mine.npz")
    return "mine.npz"


def changed(changes, defaults=CONFIG):
    return readings.overlay(defaults, changes)


def settled(own):
    """What is run of a study, and what is said to be left out of it."""
    config, lines = admission.settle(changed(own), ROOT, own, CONFIG, ANALYSES)
    return config, [line for line in lines if line.startswith("left out")]


def admitted(own, defaults=CONFIG):
    """The same, checked; for each algorithm a last line announces a new race."""
    config, lines = admit_all(changed(own, defaults), own, defaults)
    *lines, first, second = lines
    assert first.startswith(
        "npgpd_hf: new race for step sizes, since the recorded race differs in "
    )
    assert second.startswith(
        "zpgpd_hf: new race for step sizes, since the recorded race differs in "
    )
    return config, [line for line in lines if line.startswith("left out")]


def test_study_of_random_environments_is_left_alone():
    before = copy.deepcopy(CONFIG)
    for own in ({}, {"seeds": 3}, {"environment": {"instance": 7}}, CONFIG):
        config, lines = settled(own)
        assert lines == []
        tied = {"ties": config["claims"]["ties"]}  # taken from the record
        assert config == readings.overlay(changed(own), {"claims": tied})
    assert before == CONFIG


@each(**LEFT)
def test_environment_from_a_file_leaves_out_what_is_about_others(archive, defaults, expected):
    own = {"environment": {"file": archive}}
    config, lines = admitted(own, defaults)
    (groups, of_readings), scaled, _ = expected
    assert list(config["bounds"]["settings"]) == ["paper"]
    assert left_out(config, defaults) == scaled
    assert config["claims"]["instances"]["groups"] == {}
    assert set(CONFIG["sweeps"]) - set(config["sweeps"]) == {"states", "actions"}
    assert lines == [
        f"left out: 2 of bounds.settings, {groups}, 100 of "
        f"stability.fresh.instances, {of_readings}, 2 of "
        "sweeps (the CMDP in mine.npz is a single one, not a random family; config/analyses lists "
        "them)"
    ]


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        (
            {"threshold": 0.4, "states": 10},
            "environment.states: already set by the CMDP in mine.npz; leave states out, or change "
            "it there",
        ),
        ({"name": "random"}, "environment: name or file expected, not both"),
        ({"gymnasium": "Taxi-v4"}, "environment: gymnasium or file expected, not both"),
    ],
)
def test_what_contradicts_a_file_is_refused(archive, beside, message):
    own = {"environment": {"file": archive, **beside}}
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        admit_all(changed(own), own, CONFIG)


def test_archive_may_lie_anywhere(archive, fresh, tmp_path):
    """Braces, too, which Snakemake takes for wildcards: here one that it knows."""
    folder = tmp_path / "my own {reading} (1)"
    folder.mkdir()
    path = str(folder / "mine.npz")
    Path(archive).rename(path)
    config, lines = admitted({"environment": {"file": path}})
    assert configuration.environment(config).states == 6
    assert f"(the CMDP in {path} is a single one" in lines[0]
    own = yaml.safe_dump({"study": "mine", "environment": {"file": path}})
    (fresh.folder / "mine.yaml").write_text(own)
    targets = [f"results/mine/{name}" for name in ("summary.txt", "bounds/paper.csv")]
    code, output = fresh.snakemake(*targets, "--dry-run", configfile="mine.yaml")
    assert code == 0, output


@pytest.mark.parametrize(
    ("name", "content", "refused"),
    [
        ("paper", "seeds: 3\n", True),
        ("paper", "study: paper\nseeds: 3\n", True),
        ("paper", "study: paper\nseeds: 20\n", False),  # the default study itself
        ("hard", "study: hard\nseeds: 3\n", True),
        ("hard", yaml.safe_dump(laid("hard") | {"seeds": 20}), False),  # the hard case itself
        ("mine", "study: mine\nseeds: 3\n", False),
    ],
)
def test_study_in_the_place_of_one_on_record_is_refused(fresh, name, content, refused):
    """Its results would take the place of files of the project."""
    (fresh.folder / "mine.yaml").write_text(content)
    target = f"results/{name}/optimum.json"
    code, output = fresh.snakemake(target, "--dry-run", configfile="mine.yaml")
    assert code == refused, output
    told = [line for line in output.splitlines() if line.startswith("error: ")]
    message = (
        f"error: study: a name of its own expected for a study that changes {name}, whose results "
        "it would replace: write `study: mine`"
    )
    assert told == [message] * refused


@pytest.mark.parametrize(
    ("name", "place", "refused"),
    [
        ("settled", "mine.yaml", True),
        ("ding", "mine.yaml", True),
        ("ding", "config/environments/ding.yaml", False),
        ("settled", "config/settled.yaml", False),
        ("mine", "config/mine.yaml", False),
        ("claims", "mine.yaml", False),  # config/claims.yaml is no study
    ],
)
def test_study_in_the_place_of_one_of_the_project_is_refused(fresh, name, place, refused):
    if "mine" in place:
        (fresh.folder / place).write_text(f"study: {name}\nseeds: 3\n")
    more = fresh.folder / "more.yaml"
    more.write_text("seeds: 2\n")
    command = fresh.workflow(f"results/{name}/optimum.json", "--dry-run", configfile=place)
    for files in ([], [more]):
        code, output = fresh.call([*command, *files])
        assert code == refused, output
        assert ("error: study: a name of its own expected, since " in output) == refused


def test_study_elsewhere_may_have_any_name(fresh, tmp_path):
    (fresh.folder / "mine.yaml").write_text("study: settled\n")
    command = fresh.workflow("results/settled/optimum.json", "--dry-run", configfile="mine.yaml")
    for folder, refused in ((fresh.folder, 1), (tmp_path / "elsewhere", 0)):
        command[command.index("--directory") + 1] = folder
        code, output = fresh.call(command)
        assert code == refused, output


def test_file_over_the_hard_case_needs_a_name_of_its_own(fresh):
    options = ["results/hard/optimum.json", "--dry-run"]
    command = fresh.workflow(*options, configfile="config/hard.yaml")
    assert fresh.call(command)[0] == 0
    assert fresh.call([*command, "--config", "seeds=1"])[0] == 0  # as `make sample` does
    for content, name, refused in (("seeds: 3", "hard", 1), ("{seeds: 3, study: mine}", "mine", 0)):
        (fresh.folder / "mine.yaml").write_text(content)
        command[1] = f"results/{name}/optimum.json"
        code, output = fresh.call([*command, fresh.folder / "mine.yaml"])
        assert code == refused, output
        assert ("a name of its own expected for a study that changes hard" in output) == refused


def test_default_study_may_be_changed_by_an_option_and_a_study_named_by_one(fresh):
    (fresh.folder / "mine.yaml").write_text("seeds: 3\n")
    command = fresh.workflow("results/paper/optimum.json", "--dry-run")[:-2]  # without a file
    assert fresh.call([*command, "--config", "seeds=40"])[0] == 0
    for other, told in (("hard", " for a study that changes hard"), ("settled", ", since ")):
        code, output = fresh.call([*command, "--config", f"study={other}"])
        assert code == 1
        assert f"a name of its own expected{told}" in output
    options = ["results/mine/optimum.json", "--dry-run", "--config", "study=mine"]
    assert fresh.snakemake(*options, configfile="mine.yaml")[0] == 0


def varied(archive, options=None, defaults=CONFIG, **changes):
    """Write the environment of the file with other fields, and give back what is said of it."""
    cmdp = pgpd_hf.CMDP.load(archive)
    replace(cmdp, **changes).save(archive)
    own = {"environment": {"file": archive}, "algorithms": {"zpgpd_hf": options or {}}}
    return admit_all(changed(own, defaults), own, defaults)


@each(default=False, hard=True)
def test_first_state_may_be_certain(archive, defaults, expected):
    """Theorem 2's dual step is infinite then: its rows and its reading are left out."""
    replace(pgpd_hf.CMDP.load(archive), initial=np.eye(6)[2]).save(archive)
    own = {"environment": {"file": archive}, "algorithms": {"zpgpd_hf": {"perturbation": 1}}}
    config, lines = admit_all(changed(own, defaults), own, defaults)
    said = (
        "left out: claims.readings.theorem-steps (algorithms.zpgpd_hf: dual_step: Theorem 2's is "
        "infinite, since initial is 0 in state "
    )
    assert any(line.startswith(said) for line in lines) == expected
    assert left_out(config, defaults) >= ({"theorem-steps"} if expected else set())
    rules = {
        name: {case.labels["step_rule"] for _, cases in work for case in cases}
        for name, work in rates.plan(config).items()
    }
    assert rules == {"npgpd_hf": {"study", "theorem"}, "zpgpd_hf": {"study"}}


@pytest.mark.parametrize(
    "changes",
    [
        {"initial": np.eye(6)[0]},
        {"scale": 3.0},
        {"threshold": -1e-300},
        {"threshold": 4.2, "reward": np.full((6, 3), 1.0), "utility": np.full((6, 3), 1.0)}
        | {"scale": 1.0, "discount": 0.8},
    ],
    ids=["fixed start", "scale", "negative", "large"],
)
def test_bounds_outside_their_assumptions_are_rows_with_a_reason(archive, changes):
    config, _ = varied(archive, {"perturbation": "calibrated"}, **changes)
    cmdp, setting = bounds_by_setting.problem(config, "paper")
    table = check_all(
        cmdp, replace(setting, iterations=4, horizon=5), seeds=range(2), items=[11, 12]
    )
    refused = table[table["holds"].isna()]
    assert len(refused) > 0
    assert (refused["reason"].str.len() > 0).all()


def test_defaults_fit_a_large_scale_and_a_long_memory(archive):
    config, lines = varied(archive, {"perturbation": 1}, scale=1.0, discount=0.99, threshold=1.0)
    assert config["horizon"] == config["bounds"]["settings"]["paper"]["horizon"] == 847
    text = "\n".join(lines)
    assert "horizon: 847 instead of 80, so that at most 0.0002 of the largest value" in text
    assert "scale: values lie in [0, 100], where votes are almost unanimous" in text
    with pytest.raises(ValueError, match=r"perturbation: Theorem 2's is 3\.94e\+21 at M = 16, but"):
        varied(archive, scale=1.0, discount=0.99, threshold=1.0)


@pytest.mark.parametrize(
    ("own", "rates_of"),
    [
        ({"horizon": 8000}, [256]),
        ({"environment": {"discount": 0.1}}, [256]),
        ({"environment": {"discount": 0.5}}, [256, None]),
    ],
)
def test_radius_that_only_infinity_has_no_use_for_refuses_nothing(own, rates_of):
    """Zero, or lost in rounding (1e-40 at M = null)."""
    config, lines = admit_all(changed(own), own, CONFIG)
    assert config["rates"]["evaluators"] == rates_of
    assert (rates_of == [256]) == any("left out: rates.evaluators.null" in it for it in lines)
    swept = config["sweeps"]["people"]["algorithms"]["zpgpd_hf"]["perturbation"]
    stopped = any("sweeps.people.algorithms.zpgpd_hf.perturbation.theorem" in it for it in lines)
    assert swept == ([1] if stopped else ["theorem", 1])


def test_radius_that_a_study_says_itself_is_refused_if_it_is_lost_in_rounding():
    own = {"horizon": 8000, "rates": {"evaluators": [256, None]}}
    with pytest.raises(ValueError, match=r"Theorem 2's is 0\.0 here; .*null of rates\.evaluators"):
        admit_all(changed(own), own, CONFIG)
    own = {"horizon": 8000, "evaluators": [16, None]}
    with pytest.raises(ValueError, match=r"Theorem 2's is 0\.0 here; .*null of evaluators"):
        admit_all(changed(own), own, CONFIG)


def test_discount_of_zero_has_no_corollary():
    own = {"environment": {"discount": 0}}
    config, lines = admit_all(changed(own), own, CONFIG)
    assert set(CONFIG["sweeps"]) - set(config["sweeps"]) == {"corollary"}
    assert "left out: sweeps.corollary (no corollary of Theorem 1 at discount 0)" in lines
    own["sweeps"] = {"corollary": CONFIG["sweeps"]["corollary"]}
    with pytest.raises(ValueError, match=r"^sweeps\.corollary\.algorithms\.npgpd_hf: discount: in"):
        admit_all(changed(own), own, CONFIG)


def test_defaults_that_a_study_says_itself_stay(archive):
    replace(pgpd_hf.CMDP.load(archive), scale=1.0, discount=0.99, threshold=1.0).save(archive)
    own = {"environment": {"file": archive}, "horizon": 100}
    own["algorithms"] = {"zpgpd_hf": {"perturbation": 0.5}}
    config, _ = admit_all(changed(own), own, CONFIG)
    assert config["horizon"] == 100
    assert config["algorithms"]["zpgpd_hf"]["perturbation"] == 0.5


@pytest.mark.parametrize("name", ["cliff-walking", "ding", "frozen-lake", "media-streaming"])
def test_constraint_of_a_known_environment_binds(name):
    own = yaml.safe_load((ROOT / f"config/environments/{name}.yaml").read_text())
    config, _ = admit_all(changed(own), own, CONFIG)
    assert config["study"] == name
    cmdp = configuration.environment(config)
    for method in METHODS:
        assert solve(cmdp, method).multiplier > 0.1
    assert cmdp.discount ** (config["horizon"] + 1) <= CUT_OFF


@each(default="claims.readings.unbiased-votes", hard="2 of claims.readings")
def test_reading_that_was_not_asked_for_refuses_nothing(archive, defaults, expected):
    """Votes cannot be read without bias, and the probit link has no inverse, at such returns."""
    racing = {"perturbation": "calibrated"}
    config, lines = varied(archive, racing, defaults, scale=70.0)
    if "probit" in defaults["claims"]["readings"]:
        assert "probit" in config["claims"]["readings"]  # with a radius that is a number
    text = f"left out: {expected} (algorithms."
    assert any(line.startswith(text) for line in lines)
    own = {"environment": {"file": archive}, "claims": {"readings": ["unbiased-votes"]}}
    own["algorithms"] = {"zpgpd_hf": racing}
    with pytest.raises(ValueError, match=r"^reading 'unbiased-votes': "):
        admit_all(changed(own, defaults), own, defaults)


def test_configuration_of_a_finished_study_gives_the_same_study(archive):
    config, _ = settled({"environment": {"file": archive}})
    assert settled(config)[0] == config


def test_setting_of_another_file_is_a_cmdp_of_its_own(archive):
    random_cmdp(4, 2, 1).save("other.npz")
    options = {**CONFIG["bounds"]["settings"]["paper"], "environment": {"file": "other.npz"}}
    own = {"environment": {"file": archive}, "bounds": {"settings": {"other": options}}}
    config, _ = admitted(own)
    assert list(config["bounds"]["settings"]) == ["paper", "other"]
    assert bounds_by_setting.problem(config, "paper")[0].states == 6
    assert bounds_by_setting.problem(config, "other")[0].states == 4


def test_no_cmdp_of_a_file_goes_by_another_name(archive):
    config = changed({"environment": {"file": archive}})
    message = r": cannot be changed, since the CMDP in mine\.npz"
    for name in ("unit-scale", "short-horizon"):
        with pytest.raises(ValueError, match=message):
            bounds_by_setting.problem(config, name)
    with pytest.raises(ValueError, match=f"^instance{message}"):
        configuration.vary(config, {"instance": 3})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"sweeps": {"people": {"algorithms": {"npgpd_hf": {"states": 5}}}}},
            "sweeps.people.algorithms.npgpd_hf: states: cannot be changed, since the CMDP in mine",
        ),
        (
            {"bounds": {"settings": {"paper": {"environment": {"scale": "unit"}}}}},
            "bounds.settings: at least one entry expected",
        ),
    ],
)
def test_what_cannot_be_left_out_is_refused(archive, changes, message):
    with pytest.raises(ValueError, match=r".") as refusal:
        admitted({"environment": {"file": archive}, **changes})
    assert str(refusal.value).startswith(message)


def test_file_of_a_setting_or_a_reading_stands_alone(archive):
    both = {"file": archive, "scale": "unit"}
    mine = {**readings.LOOK, "title": "mine", "about": "", "config": {"environment": both}}
    message = r"scale: cannot be changed, since the CMDP in mine\.npz is not a random one"
    with pytest.raises(ValueError, match=f"^reading 'mine': {message}$"):
        readings.check(CONFIG, {"mine": mine}, admission.load_schema(ROOT, "config"))
    with pytest.raises(
        ValueError, match=r"^bounds\.settings\.unit-scale\.environment: \w+: cannot"
    ):
        admitted({"bounds": {"settings": {"unit-scale": {"environment": {"file": archive}}}}})


@pytest.mark.parametrize("key", ["file", "instance"])
def test_group_of_instances_cannot_be_one_cmdp(key):
    value = {"file": "mine.npz", "instance": 3}[key]
    own = {"claims": {"instances": {"groups": {"small": {"environment": {key: value}}}}}}
    message = (
        rf"^claims\.instances\.groups\.small\.environment\.{key}: not allowed here; list instances"
    )
    with pytest.raises(ValueError, match=message):
        instances.check(changed(own), admission.load_schema(ROOT, "config"))


def test_sweeps_over_sizes_are_those_that_a_file_leaves_out():
    for name, sweep in CONFIG["sweeps"].items():
        sizes = any(set(grid) & set(sweeps.SIZES) for grid in sweep["algorithms"].values())
        assert sizes == (name in sweeps.SIZES)


@pytest.mark.parametrize(
    "environment",
    [
        {"discount": 0.8},
        {"actions": 2},
        {"states": 5, "actions": 3},
        {"threshold": 0.65},
        {"threshold": 0.3},
        {"scale": "unit", "threshold": 5.5},
        {"concentration": 1},
    ],
    ids=str,
)
@each(**LEFT)
def test_environment_may_be_changed(defaults, expected, environment):
    (groups, of_readings), scaled, unbiased = expected
    radius = {"perturbation": 1 if "scale" in environment else "theorem"}
    own = {"environment": environment, "algorithms": {"zpgpd_hf": radius}}
    config, lines = admitted(own, defaults)
    assert list(config["bounds"]["settings"]) == ["paper"]
    unreadable = unbiased if "scale" in environment else set()
    assert left_out(config, defaults) == scaled | unreadable
    assert config["claims"]["instances"]["groups"] == {}
    assert config["sweeps"] == CONFIG["sweeps"]
    assert config["grid"] == CONFIG["grid"]
    names = ", ".join(f"environment.{key}" for key in environment)
    assert len(lines) == (2 if unreadable else 1)
    assert lines[0] == (
        f"left out: 2 of bounds.settings, {groups}, 100 of "
        f"stability.fresh.instances, {of_readings} (made "
        f"for another {names}; config/analyses lists them, and what a study sets itself is kept)"
    )


def test_what_a_study_says_itself_is_run():
    own = {
        "environment": {"discount": 0.8},
        "bounds": {"settings": {"unit-scale": {"environment": {"threshold": 2.5}}}},
        "claims": {
            "readings": ["unit", "tangent"],
            "instances": {"groups": {"binding": {"numbers": [1, 3]}}},
        },
    }
    config, lines = admitted(own)
    assert list(config["bounds"]["settings"]) == ["paper", "unit-scale"]
    assert config["claims"]["readings"] == ["unit", "tangent"]
    assert list(config["claims"]["instances"]["groups"]) == ["binding"]
    assert len(lines) == 1
    assert "unit" not in lines[0]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            {"bounds": {"settings": {"unit-scale": {"environment": {"threshold": 5.5}}}}},
            "bounds.settings.unit-scale.environment: threshold: 5.5 leaves no slack",
        ),
        (
            {"claims": {"readings": ["unit-binding"]}},
            "reading 'unit-binding': environment: threshold: 5.5 leaves no slack",
        ),
        (
            {"claims": {"instances": {"groups": {"own": {"environment": HIGH, "numbers": [1]}}}}},
            "claims.instances.groups.own.environment: threshold: 0.9 leaves no slack",
        ),
    ],
)
def test_what_a_study_says_itself_is_refused_if_it_cannot_be_run(said, message):
    with pytest.raises(ValueError, match=r".") as refusal:
        admitted({"environment": {"discount": 0.8}, **said})
    assert str(refusal.value).startswith(message)


@each(
    default=({"fixed-mu", "tangent", "softmax"}, "unit-binding"),
    hard=({"fixed-mu", "small-mu", "tangent", "softmax"}, "unit"),
)
def test_algorithm_that_a_study_drops_leaves_nothing_behind(defaults, expected):
    own = {"algorithms": {"zpgpd_hf": None}}
    config, lines = admit_all(changed(own, defaults), own, defaults)
    assert lines == ["left out: all that is about zpgpd_hf (the study has none)"]
    # Readings that change nothing else, as opposed to those that change both algorithms.
    left, raced = expected
    assert left_out(config, defaults) == left
    loaded = readings.load(config, ROOT)
    assert loaded["ten-rounds"]["config"]["algorithms"] == {"npgpd_hf": {"rounds": 10}}
    assert set(loaded[raced]["config"]["calibration"]["candidates"]) == {"npgpd_hf"}
    for part in ("rates", "certificates"):
        assert set(config[part]["iterations"]) == {"npgpd_hf"}
    grids = [config[part]["algorithms"] for part in ("schedules", "grid")]
    grids += [sweep["algorithms"] for sweep in config["sweeps"].values()]
    assert set().union(*grids) == {"npgpd_hf", "npg_pd"}


def test_reading_of_an_algorithm_that_does_not_exist_is_refused():
    mine = {**readings.LOOK, "title": "mine", "config": {"algorithms": {"zpgpd": {"rounds": 2}}}}
    mine = readings.restrict(mine, CONFIG["algorithms"])
    with pytest.raises(ValueError, match=r"^reading 'mine': algorithms: algorithm: one of "):
        readings.check(CONFIG, {"mine": mine}, admission.load_schema(ROOT, "config"))


@pytest.mark.parametrize("key", readings.LOOK)
def test_reading_that_only_looks_otherwise_is_kept(key):
    about = {"algorithms": {"zpgpd_hf": {"rounds": 2}}}
    mine = readings.restrict({**readings.LOOK, "config": about}, ["npgpd_hf"])
    assert mine["config"] == {}
    assert readings.is_idle(mine)
    assert not readings.is_idle({**mine, key: "otherwise"})
    assert about == {"algorithms": {"zpgpd_hf": {"rounds": 2}}}


def test_runs_of_another_length_are_said_to_begin_anew(fresh):
    results, lengths = fresh.folder / "results/mine", {"npgpd_hf": 20, "zpgpd_hf": 50_000}
    results.mkdir(parents=True)
    before = {name: {"iterations": length} for name, length in lengths.items()}
    (results / "provenance.json").write_text(json.dumps({"config": {"algorithms": before}}))
    text = "study: mine\nalgorithms: {npgpd_hf: {iterations: 50}, zpgpd_hf: {iterations: 50000}}\n"
    (fresh.folder / "mine.yaml").write_text(text)
    code, output = fresh.snakemake("figure", "--dry-run", configfile="mine.yaml")
    assert code == 0, output
    told = [line for line in output.splitlines() if ".iterations: " in line]
    assert told == [
        "note: algorithms.npgpd_hf.iterations: 50 instead of 20; its runs begin anew, since "
        "checkpoints and step sizes depend on T"
    ]


def plan(project, *targets):
    """Files that config/mine.yaml stands for, and what is said about it."""
    code, output = project.snakemake(*targets, "--summary", configfile="config/mine.yaml")
    assert code == 0, output
    lines = output.splitlines()
    made = {line.split("\t")[0] for line in lines if "\t" in line}
    notes = [line for line in lines if line.startswith("note: ")]
    anew = [
        line
        for line in notes
        if " new race for step sizes, since the recorded race differs in environment" in line
    ]
    assert len(anew) == 2  # one for each algorithm
    return made, [line for line in notes if line not in anew]


def test_study_of_a_file_is_planned_as_the_readme_says(fresh):
    random_cmdp(6, 3, 2, discount=0.8, threshold=0.5).save(fresh.folder / "my_environment.npz")
    text = "study: mine\nenvironment:\n  file: my_environment.npz\n"
    (fresh.folder / "config/mine.yaml").write_text(text)
    made, notes = plan(fresh)
    assert {path for path in made if "/bounds/" in path} == {"results/mine/bounds/paper.csv"}
    assert "results/mine/figures/figure1.pdf" in made
    assert [note.split(": ")[1] for note in notes] == ["scale", "left out"]
    assert "(the CMDP in my_environment.npz is a single one" in notes[1]
    made, _ = plan(fresh, "claims", "theory")
    assert "results/mine/verdicts.csv" in made
    assert not {path for path in made if "instances" in path or "/readings/unit" in path}
    assert "results/mine/effects.csv" in made
    why = "environment: the CMDP in my_environment.npz is a single one; only without a name"
    for target in ("grid", "comparison"):
        code, output = fresh.snakemake(target, "--dry-run", configfile="config/mine.yaml")
        assert code == 1
        assert output.splitlines()[-1].startswith(f"error: {target}: {why}")
    _, output = fresh.snakemake("compare", "--dry-run", configfile="config/mine.yaml")
    assert f"note: left out: comparison ({why}" in output


def test_study_of_another_environment_is_planned(fresh):
    text = "study: mine\nenvironment:\n  discount: 0.8\n"
    (fresh.folder / "config/mine.yaml").write_text(text)
    made, notes = plan(fresh)
    assert {path for path in made if "/bounds/" in path} == {"results/mine/bounds/paper.csv"}
    (note,) = notes
    assert "(made for another environment.discount" in note


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "targets"),
    [
        ({"file": "mine.npz"}, ["all", "claims", "theory"]),
        ({"discount": 0.8}, ["all"]),
        ({"states": 5, "actions": 3}, ["all"]),
        ({"threshold": 0.65}, ["all"]),
    ],
    ids=str,
)
def test_study_of_another_environment_is_run(fresh, environment, targets):
    random_cmdp(6, 3, 2, discount=0.8, threshold=0.5).save(fresh.folder / "mine.npz")
    content = yaml.safe_load((fresh.folder / "config/smoke.yaml").read_text())
    del content["claims"]["instances"]["groups"]  # of the other environment
    (fresh.folder / "config/mine.yaml").write_text(
        yaml.safe_dump({**content, "environment": environment})
    )
    code, output = fresh.snakemake("--cores", "2", *targets, configfile="config/mine.yaml")
    assert code == 0, output
    assert fresh.results("figures/figure1.pdf").exists()
    assert fresh.results("claims.csv").exists()
