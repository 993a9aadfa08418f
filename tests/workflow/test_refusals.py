"""Configurations that cannot be run stop before the first job, with one line."""

import copy
import re
from pathlib import Path

import pytest
from checking import check_all

from pgpd_hf import random_cmdp
from replication.analyses import bounds_by_setting, schedules
from replication.files import validation
from replication.study import admission, configuration, readings, sweeps

ROOT = Path(__file__).parents[2]
CONFIG = admission.load_defaults(ROOT)
SCHEMA = admission.load_schema(ROOT, "config")
BAD = [
    ("study", "a/b", "study"),
    ("study", "a;rm -rf b", "study"),
    ("study", "", "study"),
    ("study", "..", "study"),
    ("study", "/tmp", "study"),
    ("study", "-rf", "study"),
    ("study", "a\n", "study"),
    ("study", 3, "study"),
    ("unknown", 1, "unknown"),
    ("evaluators", [0], "evaluators.0"),
    ("evaluators", [], "evaluators"),
    ("evaluators", [64, 16], "evaluators"),
    ("evaluators", [16, 16], "evaluators"),
    ("evaluators", [None, 16], "evaluators"),
    ("evaluators", 16, "evaluators"),
    ("evaluators", [True], "evaluators.0"),
    ("link", "cosine", "link"),
    ("horizon", -1, "horizon"),
    ("horizon", 80.0, "horizon"),
    ("seeds", 0, "seeds"),
    ("seeds", "20", "seeds"),
    ("block", 0, "block"),
    ("job_minutes", 0, "job_minutes"),
    ("grid.instances", 1, "grid.instances"),
    ("grid.algorithms.npgpd_hf.rounds", [0], "grid.algorithms.npgpd_hf.rounds"),
    ("environment", None, "environment"),
    ("environment.discount", 1, "environment.discount"),
    ("environment.discount", -0.1, "environment.discount"),
    ("environment.discount", float("nan"), "environment.discount"),
    ("environment.threshold", 0.95, "threshold"),
    ("environment.threshold", float("inf"), "environment.threshold"),
    ("environment.scale", "log", "environment.scale"),
    ("environment.states", 0, "environment.states"),
    ("environment.states", 501, "environment.states"),
    (
        "environment.file",
        "missing.npz",
        "environment.file: missing.npz: No such file or directory; a NumPy archive (.npz) of plain "
        "arrays expected",
    ),
    ("environment.file", "$(reboot).npz", "environment.file"),
    ("environment.file", "/etc/mine.npz", "environment.file"),
    ("environment.file", "../mine.npz", "environment.file"),
    ("environment.file", "config/../../mine.npz", "environment.file"),
    ("environment.file", "mine.npz\n", "environment.file"),
    ("environment.file", "README.md", "environment.file"),
    ("algorithms", {}, "algorithms"),
    ("algorithms.npgpd_hf.rounds", 0, "algorithms.npgpd_hf.rounds"),
    (
        "algorithms.npgpd_hf.rounds",
        10000,
        "algorithms.npgpd_hf: rounds, horizon: one iteration draws",
    ),
    ("algorithms.npgpd_hf.iterations", 1e3, "algorithms.npgpd_hf.iterations"),
    ("algorithms.npgpd_hf.primal_step", -1, "algorithms.npgpd_hf.primal_step"),
    ("algorithms.npgpd_hf.primal_step", 0.1, "algorithms.npgpd_hf"),
    ("algorithms.npgpd_hf.parameterization", "direct", "algorithms.npgpd_hf"),
    ("algorithms.npgpd_hf.perturbation", 0.5, "algorithms.npgpd_hf: unknown key 'perturbation'"),
    (
        "algorithms.npgpd_hf.perturbation",
        "theorem",
        "algorithms.npgpd_hf: unknown key 'perturbation'",
    ),
    ("algorithms.npgpd_hf.directions", "sphere", "algorithms.npgpd_hf: unknown key 'directions'"),
    ("algorithms.npgpd_hf.colour", "red", "algorithms.npgpd_hf"),
    ("algorithms.zpgpd_hf.perturbation", 0, "algorithms.zpgpd_hf.perturbation"),
    ("algorithms.zpgpd_hf.directions", "north", "algorithms.zpgpd_hf.directions"),
    ("algorithms.sarsa", CONFIG["algorithms"]["npgpd_hf"], "algorithms: algorithm: one of"),
    ("calibration.candidates.npgpd_hf.dual_step", [], "calibration.candidates.npgpd_hf.dual_step"),
    (
        "calibration.candidates.npgpd_hf.dual_step",
        [float("nan")],
        "calibration.candidates.npgpd_hf.dual_step",
    ),
    ("calibration.candidates", {}, "calibration.candidates"),
    ("rates.iterations.sarsa", [100, 200], "rates.iterations.sarsa"),
    ("rates.iterations.npgpd_hf", [100], "rates.iterations.npgpd_hf"),
    ("rates.iterations.npgpd_hf", [200, 100], "rates.iterations.npgpd_hf"),
    ("certificates.iterations.npg_pd", 10, "certificates.iterations.npg_pd: the study has no"),
    ("calibration.candidates.npgpdhf", {"primal_step": [1], "dual_step": [1]}, "candidates: one"),
    ("claims.ties", {"npgpd_hf": [[1, 1], [1, 1]]}, "claims.ties.npgpd_hf: no repetition"),
    ("stability.frozen.multipliers", [1, 1], "stability.frozen.multipliers: no repetition"),
    ("stability.variants.z", {"primal_step": 0}, "stability.variants.z: primal_step: a positive"),
    ("axes.answers", [1500], "axes.answers.0: a multiple of 1000 expected, got 1500"),
    (
        "comparison.methods.npgpd_hf.candidates.primal_step",
        ["theorem"],
        "comparison.methods.npgpd_hf.candidates.primal_step: a number expected",
    ),
    (
        "claims.instances.groups.binding.algorithms",
        {"npgpd_hf": None},
        "groups.binding.algorithms.npgpd_hf: keys and values expected, got None",
    ),
    (
        "claims.instances.groups.binding.algorithms",
        {"npg_pd": {"primal_step": 1}},
        "groups.binding.algorithms: the study has no algorithm 'npg_pd'",
    ),
]


def changed(key, value, config=CONFIG):
    """The default configuration, or another, with one key changed."""
    config = copy.deepcopy(config)
    *parents, last = key.split(".")
    place = config
    for parent in parents:
        place = place[parent]
    place[last] = value
    return config


def check(config):
    """Check a configuration, with the entries of all analyses."""
    configuration.check(config, SCHEMA)
    check_all(config)


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({"horizon": 8000}, "(M = null of rates.evaluators)"),
        ({"horizon": 8000, "evaluators": [16, None]}, "(M = null of evaluators)"),
    ],
)
def test_every_number_of_evaluators_is_tried(changes, end):
    config = CONFIG
    for key, value in changes.items():
        config = changed(key, value, config)
    with pytest.raises(ValueError, match=r".") as refusal:
        check(config)
    assert str(refusal.value) == (
        "algorithms.zpgpd_hf: perturbation: Theorem 2's is 0.0 here; a positive number has "
        f"to be given {end}"
    )


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("paper.rounds", 10000, "paper: rounds, horizon: one iteration draws 42130000 random"),
        ("paper.horizon", 100000, "paper: rounds, horizon: one iteration draws"),
        ("unit-scale.environment.scale", "log", "unit-scale.environment.scale: normalized or unit"),
        ("unit-scale.environment.threshold", 9, "unit-scale.environment: threshold: 9.0 leaves no"),
    ],
)
def test_bounds_that_cannot_be_checked_are_refused(key, value, message):
    config = changed(f"bounds.settings.{key}", value)
    if key == "paper.horizon":
        config["bounds"]["settings"]["paper"]["rounds"] = 10
    configuration.check(config, SCHEMA)
    with pytest.raises(ValueError, match=r".") as refusal:
        bounds_by_setting.check(config, SCHEMA)
    assert str(refusal.value).startswith(f"bounds.settings.{message}")


def test_default_configuration_passes():
    bounds_by_setting.check(CONFIG, SCHEMA)
    check(CONFIG)


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("sweeps.length.varies", "colour", "sweeps.length.varies"),
        ("sweeps.other", CONFIG["sweeps"]["length"], "'other'"),
        ("sweeps.rounds.seeds", 0, "sweeps.rounds.seeds"),
        ("sweeps.rounds.seeds", {"npgpd_hf": 0, "zpgpd_hf": 1}, "sweeps.rounds.seeds.npgpd_hf"),
        ("sweeps.rounds.algorithms", {}, "sweeps.rounds.algorithms"),
        ("sweeps.rounds.algorithms.npgpd_hf.rounds", [0, 1], "npgpd_hf.rounds"),
        ("sweeps.rounds.algorithms.npgpd_hf.steps", "free", "npgpd_hf.steps"),
        ("sweeps.people.algorithms.npgpd_hf.evaluators", "all", "npgpd_hf.evaluators"),
        ("schedules.phases.constant.evaluators", [0], "constant.evaluators.0"),
        ("schedules.phases.a;b", {"evaluators": [64], "horizon": [50]}, "a;b"),
        ("schedules.algorithms.npgpd_hf.iterations", 0, "npgpd_hf.iterations"),
    ],
)
def test_schema_of_sweeps_and_schedules(key, value, named):
    with pytest.raises(ValueError, match=r".") as refusal:
        configuration.check(changed(key, value), SCHEMA)
    assert named in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "sweeps.rounds.algorithms.npgpd_hf.rounds",
            [2, 1],
            "sweeps.rounds.algorithms.npgpd_hf: rounds: increasing order expected, null last, "
            "got [2, 1]",
        ),
        (
            "sweeps.rounds.varies",
            "horizon",
            "sweeps.rounds.algorithms.npgpd_hf: horizon: the sweep varies it, so at least two "
            "values are expected",
        ),
        (
            "sweeps.rounds.algorithms.sarsa",
            {"rounds": [1, 2]},
            "sweeps.rounds.algorithms.sarsa: algorithm: one of",
        ),
        (
            "sweeps.rounds.algorithms.npgpd_hf.perturbation",
            [1, 2],
            "sweeps.rounds.algorithms.npgpd_hf: perturbation: no option of npgpd_hf",
        ),
        (
            "algorithms",
            {"npgpd_hf": CONFIG["algorithms"]["npgpd_hf"]},
            "sweeps.length.algorithms.zpgpd_hf: the study has no algorithm 'zpgpd_hf'",
        ),
    ],
)
def test_sweep_that_cannot_be_run_is_refused(key, value, message):
    with pytest.raises(ValueError, match=r".") as refusal:
        sweeps.check(changed(key, value), tuple(CONFIG["sweeps"]))
    assert str(refusal.value).startswith(message)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "schedules.phases.growing.horizon",
            [20, 80],
            "schedules.phases.growing: horizon: 1 or 4 entries expected, got 2",
        ),
        (
            "schedules.phases.growing.evaluators",
            [16, 32, 64, 128],
            "schedules.phases.growing.evaluators: costs 60 answers where constant costs 64",
        ),
        (
            "schedules.algorithms.sarsa",
            {"iterations": 100},
            "schedules.algorithms.sarsa: the study has no algorithm 'sarsa'",
        ),
        (
            "schedules.algorithms.npgpd_hf.perturbation",
            1,
            "schedules.algorithms.npgpd_hf: perturbation: no option of npgpd_hf",
        ),
    ],
)
def test_schedule_that_cannot_be_run_is_refused(key, value, message):
    with pytest.raises(ValueError, match=r".") as refusal:
        schedules.check(changed(key, value))
    assert str(refusal.value).startswith(message)


@pytest.mark.parametrize(("key", "value", "named"), BAD)
def test_one_line_names_the_key(key, value, named):
    with pytest.raises(ValueError, match=r".") as refusal:
        check(changed(key, value))
    message = str(refusal.value)
    assert "\n" not in message
    assert named in message
    shown = value.encode("unicode_escape").decode() if isinstance(value, str) else repr(value)
    assert key.split(".")[-1] in message or shown in message


def with_steps(*calibrated):
    """The default configuration; algorithms that are not named have numbers as step sizes."""
    config = copy.deepcopy(CONFIG)
    for name, options in config["algorithms"].items():
        if name not in calibrated:
            options.update(primal_step=0.1, dual_step=0.1)
    return config


def test_only_calibrated_steps_need_candidates():
    config = with_steps("npgpd_hf")
    del config["calibration"]["candidates"]["zpgpd_hf"]
    configuration.check(config, SCHEMA)
    del config["calibration"]["candidates"]["npgpd_hf"]
    named = r"^calibration\.candidates\.npgpd_hf: primal_step expected"
    with pytest.raises(ValueError, match=named):
        configuration.check(config, SCHEMA)


def test_reading_that_calibrates_needs_candidates():
    config = with_steps()
    del config["calibration"]["candidates"]["npgpd_hf"]
    steps = {"primal_step": "calibrated", "dual_step": "calibrated"}
    reading = {"config": {"algorithms": {"npgpd_hf": steps}}}
    with pytest.raises(
        ValueError, match=r"'tuned': calibration\.candidates\.npgpd_hf: primal_step"
    ):
        readings.check(config, {"tuned": reading}, SCHEMA)


@pytest.mark.parametrize("name", ["npgpd_hf", "zpgpd_hf"])
def test_algorithm_without_values_of_t_has_no_rates(name):
    check(changed("rates.iterations", {name: [10, 20]}))


@pytest.mark.parametrize("name", sorted(CONFIG))
def test_missing_key_is_named(name):
    config = {key: value for key, value in CONFIG.items() if key != name}
    with pytest.raises(ValueError, match=f"'{name}' is missing"):
        configuration.check(config, SCHEMA)


def test_environment_that_would_take_many_minutes_to_solve_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(configuration, "_MOST_TRANSITIONS", 10**6)
    message = r"states, actions: at most 1000000 transition probabilities expected, got 500 x 5 x"
    config = changed("environment.actions", 5, changed("environment.states", 500))
    with pytest.raises(ValueError, match=f"^environment: {message} 500$"):
        configuration.check(config, SCHEMA)
    assert configuration.environment(changed("environment.states", 500)).states == 500
    monkeypatch.chdir(tmp_path)
    random_cmdp(500, 5, 1).save("mine.npz")
    with pytest.raises(ValueError, match=f"^environment.file: {message} 500$"):
        configuration.check(changed("environment.file", "mine.npz"), SCHEMA)


def test_threshold_that_no_policy_meets_says_what_is_possible():
    with pytest.raises(ValueError, match=r"threshold: 0\.95 .* largest utility value .* 0\.797895"):
        configuration.check(changed("environment.threshold", 0.95), SCHEMA)


def test_workflow_stops_before_any_job(fresh):
    code, output = fresh.snakemake("--config", "seeds=0")
    assert code == 1
    assert output.splitlines()[-1] == ("error: seeds: at least 1 expected, got 0")
    assert "Traceback" not in output
    assert not (fresh.folder / "results").exists()


def test_summary_of_an_earlier_study_is_not_shown_where_a_target_is_unknown(fresh):
    for earlier in ("", "of three seeds"):
        if earlier:
            (fresh.folder / "results/paper").mkdir(parents=True, exist_ok=True)
            (fresh.folder / "results/paper/summary.txt").write_text(earlier)
        code, output = fresh.snakemake("summary", "nonsense", "--cores", "1")
        assert code == 1
        assert "No rule to produce nonsense" in output
        assert "of three seeds" not in output
        assert "Traceback" not in output


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("study: a;touch pwned", "error: study: a name of at most 200 letters, "),
        ("study: ../../pwned", "error: study: a name of at most 200 letters, "),
        ("study: " + 201 * "a", "error: study: a name of at most 200 letters, "),
        (
            "environment: {file: $(touch pwned).npz}",
            "error: environment.file: $(touch pwned).npz: ",
        ),
        ("study: smoke\nseeds: .nan", "error: seeds: integer "),
        ("study: smoke\nbounds: {settings: {'a b': {}}}", "error: bounds.settings: "),
        ("study: smoke\nevaluators: [64, 16]", "error: evaluators: increasing order expected"),
    ],
)
def test_refused_file_starts_no_job_and_reaches_no_shell(fresh, text, line):
    (fresh.folder / "config/bad.yaml").write_text(text)
    before = sorted(fresh.folder.rglob("pwned*"))
    code, output = fresh.snakemake(configfile="config/bad.yaml")
    assert code == 1
    assert output.splitlines()[-1].startswith(line)
    assert "Traceback" not in output
    assert not (fresh.folder / "results").exists()
    assert sorted(fresh.folder.rglob("pwned*")) == before == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b'study: !!python/object/apply:os.mkdir ["pwned"]',
            "not YAML: line 1: could not determine a",
        ),
        (b"__use_yte__: true\nstudy: ?__import__('os').mkdir('pwned')", "a template (__use_yte__)"),
        (b"study: [a", "not YAML: line 2: did not find expected ',' or ']'"),
        (
            b"study: x\nmore:\n\tseeds: 3",
            "not YAML: line 3: found character that cannot start any token",
        ),
        (
            b"seeds: 3\nstudy: x\nseeds: 5",
            "not YAML: line 3: the key 'seeds' stands twice, where it may stand once",
        ),
        (
            b"environment:\n  states: 5\n  'states': 6",
            "not YAML: line 3: the key 'states' stands twice",
        ),
        (b"seeds: 010", "not YAML: line 1: 010: a number in decimal digits expected"),
        (b"a: [1:30]", "not YAML: line 1: 1:30: a number in decimal digits expected"),
        (b"a: 1\nseeds: " + 5000 * b"1", "not YAML: line 2: a number of 5000 digits"),
        (b"- a\n- b", "keys and values expected, got a list"),
        (b"", "keys and values expected, got None"),
        (b"\x00\x01\xff", "not YAML: "),
    ],
)
def test_file_is_read_without_executing_anything(tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    path = Path("mine.yaml")
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r".") as refusal:
        validation.read(path)
    assert str(refusal.value).startswith(f"mine.yaml: {message}")
    assert "\n" not in str(refusal.value)
    assert [entry.name for entry in Path().iterdir()] == ["mine.yaml"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("study: x\nmore:\n\tseeds: 3\n", "not YAML: line 3: found character that"),
        ("study: [a\n", "not YAML: line 2: did not find expected ',' or ']'"),
        ("seeds: 3\nseeds: 5\n", "not YAML: line 2: the key 'seeds' stands twice"),
    ],
)
@pytest.mark.parametrize("name", ["config", "claims"])
def test_file_of_the_project_that_cannot_be_read_is_named(fresh, name, text, line):
    (fresh.folder / f"config/{name}.yaml").write_text(text)
    code, output = fresh.call(["snakemake", "--dry-run"])
    assert code == 1
    assert output.splitlines()[-1].startswith(f"error: config/{name}.yaml: {line}")
    assert "Traceback" not in output


def test_equal_keys_of_a_study_are_refused(fresh):
    (fresh.folder / "config/mine.yaml").write_text("study: mine\nseeds: 3\nseeds: 5\n")
    code, output = fresh.snakemake("-n", configfile="config/mine.yaml")
    assert code == 1
    assert output.splitlines()[-1].startswith("error: ")
    assert output.endswith(
        ": not YAML: line 3: the key 'seeds' stands twice, where it may stand once\n"
    )


def test_keys_of_equal_names_in_different_tables_are_read(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: {x: 3}\nc: [{x: 1}, {x: 2}]\nd: {<<: *a, x: 4}\n")
    assert validation.read(path)["d"] == {"x": 4, "y": 2}


def test_file_that_holds_data_is_read(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("study: mine\nseeds: 3\n")
    assert validation.read(path) == {"study": "mine", "seeds": 3}
    with pytest.raises(ValueError, match=r"none\.yaml: No such file"):
        validation.read(tmp_path / "none.yaml")


def test_files_are_handed_to_scripts_and_not_through_a_command():
    """A command is one argument of the shell, which thousands of names do not fit into."""
    rules = Path(ROOT / "workflow/rules").glob("*.smk")
    text = "\n".join(path.read_text() for path in [ROOT / "Snakefile", *rules])
    scripts = {path.name for path in (ROOT / "workflow/scripts").glob("*.py")}
    assert {*re.findall(r'"../scripts/(.*)"', text)} == scripts
    assert "shell:\n" not in text


@pytest.mark.parametrize(
    ("own", "target", "message"),
    [
        ("[nope]", "claims", r"claims\.readings: one of .* expected, got 'nope'"),
        ("[]", "infer", r"claims\.readings: at least two N .* got 2"),
        ("[one-round]", "infer", r"claims: as many .* for each N, .* got 2 for 2, 1 for 1"),
    ],
    ids=["unknown reading", "nothing to infer N from", "one N with more tables"],
)
def test_readings_that_are_no_use_are_refused_before_any_job(fresh, own, target, message):
    (fresh.folder / "mine.yaml").write_text(f"study: mine\nclaims: {{readings: {own}}}\n")
    code, output = fresh.snakemake(target, "--dry-run", configfile="mine.yaml")
    assert code == 1
    assert re.search(f"^error: {message}$", output, re.M)
    assert "Traceback" not in output
