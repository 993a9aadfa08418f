"""A study as it is run: what is dropped or left out, and what is refused."""

import copy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from checking import ANALYSES, admit_all, applying, each, left_out, study

from pgpd_hf import environments, random_cmdp, solve
from replication.analyses import bounds_by_setting
from replication.files import validation
from replication.study import admission, cases, configuration, own_statements, readings

ROOT = Path(__file__).parents[2]
CONFIG = study()
COIN = """
from pgpd_hf import CMDP

def make(threshold, *, states=2, discount=0.5):
    rows = [[[1 / states] * states] * 2] * states
    signal = [[1, 0]] * states
    return CMDP(rows, signal, [[0, 1]] * states, [1 / states] * states, discount, threshold)
"""


def changed(own, defaults=CONFIG):
    """The default configuration with what a study says itself, as Snakemake merges it."""
    return readings.overlay(defaults, own)


def settled(own, defaults=CONFIG):
    """What is run of a study, and what is said."""
    return admission.settle(changed(own, defaults), ROOT, own, defaults, ANALYSES)


def admitted(own, defaults=CONFIG):
    """The same, checked."""
    return admit_all(changed(own, defaults), own, defaults)


def mentions(node, name):
    """Places of a nested table at which a name is a key."""
    if not isinstance(node, dict):
        return []
    here = [(name,)] if name in node else []
    return here + [(key, *at) for key in node for at in mentions(node[key], name)]


@pytest.fixture
def coin(tmp_path, monkeypatch):
    """A kind of environment of one's own."""
    (tmp_path / "coin.py").write_text(COIN)
    monkeypatch.setattr(environments, "__path__", [*environments.__path__, str(tmp_path)])
    yield
    sys.modules.pop("pgpd_hf.environments.coin", None)


def test_algorithms_keep_their_order_whichever_a_study_names():
    ours, _ = settled({"algorithms": dict(reversed(CONFIG["algorithms"].items()))})
    assert list(ours["algorithms"]) == list(CONFIG["algorithms"])


def test_radius_of_the_theorem_that_is_no_use_is_refused_and_may_race():
    environment = {"scale": "unit", "threshold": 5.5}
    said = r"^algorithms\.zpgpd_hf\.perturbation: Theorem 2's is 114 at M = 16.* calibrated lets it"
    with pytest.raises(ValueError, match=said):
        admitted({"environment": environment})
    racing = {"algorithms": {"zpgpd_hf": {"perturbation": "calibrated"}}}
    config, _ = admitted({"environment": environment, **racing})
    assert config["calibration"]["candidates"]["zpgpd_hf"]["perturbation"] == [0.3, 1, 3]


def test_method_without_steps_needs_none():
    config, _ = admitted({"algorithms": {"safe_rlhf": {"iterations": 10, "rounds": 100}}})
    assert config["algorithms"]["safe_rlhf"]["primal_step"] == "theorem"
    with pytest.raises(ValueError, match=r"algorithms\.npg_pd: the key 'primal_step' is missing"):
        admitted({"algorithms": {"npg_pd": {"iterations": 10, "rounds": 1}}})


def test_sampled_steps_run_beside_the_papers_two_algorithms_at_the_same_price():
    """A round of theirs is priced as one of ZPGPD-HF: three questions, two trajectories."""
    steps = {"primal_step": 0.3, "dual_step": 0.01, "iterations": 40, "rounds": 2}
    own = {"algorithms": {"zpgpd_hf": {"iterations": 40}, "sampled_npgpd_hf": steps}, "seeds": 2}
    config, _ = admitted(own)
    assert list(config["algorithms"]) == ["npgpd_hf", "zpgpd_hf", "sampled_npgpd_hf"]
    cmdp, raced = random_cmdp(), {"primal_step": 0.001, "dual_step": 0.001}
    last = {}
    for name in ("zpgpd_hf", "sampled_npgpd_hf"):
        groups = cases.figure_cases(config, name, config["evaluators"])
        trace = cases.run_cases([case for _, own in groups for case in own], cmdp, raced)
        last[name] = trace[trace["iteration"] == 40]
        assert len(last[name]) == 2 * 3  # seeds and M
        assert last[name]["optimality_gap"].nunique() == 6
    prices = [list(table["answers"]) + list(table["steps"]) for table in last.values()]
    assert prices[0] == prices[1]


@pytest.mark.parametrize(("name", "count"), [("FrozenLake-v1", 5), ("CliffWalking-v1", 1)])
@each(
    default=["left out: 2 of bounds.settings, claims.instances.groups.binding, 100 of"],
    hard=["left out: 2 of bounds.settings, 4 of", "left out: claims.readings.theorem-steps ("],
)
def test_every_default_of_an_environment_is_said_in_a_line(defaults, expected, name, count):
    cost = {"FrozenLake-v1": "holes", "CliffWalking-v1": "edge"}[name]
    # With 3, the race of config/environments/cliff-walking.yaml is about the same setting.
    options = {"gymnasium": name, "cost": cost, "at_most": 0.5, "discount": 0.95}
    racing = {"zpgpd_hf": {"perturbation": "calibrated"}}
    _, lines = admitted({"environment": options, "algorithms": racing}, defaults)
    end = f"{count} absorbing state{'s' * (count > 1)}"
    assert f"trajectories: end in {end}; what would follow is added in closed form" in lines
    begins = ["scale: values lie in [0, 1]", "horizon: 166 instead of 80", "trajectories: "]
    begins += expected
    begins += [f"{it}: new race for step sizes" for it in ("npgpd_hf", "zpgpd_hf")]
    assert [line[: len(begin)] for line, begin in zip(lines, begins, strict=True)] == begins


# An algorithm is dropped.

ABOUT = "bounds judged_rates rates effects schedules slopes".split()
MISSING = "an entry for an algorithm of the study expected"


@pytest.mark.parametrize("name", ["npgpd_hf", "zpgpd_hf"])
def test_dropped_algorithm_goes_with_all_that_is_about_it(name):
    own = {"algorithms": {name: None}}
    config, lines = settled(own)
    assert lines == [f"left out: all that is about {name} (the study has none)"]
    limit = {"npgpd_hf": "npg_pd", "zpgpd_hf": "pg_pd"}[name]
    assert mentions(config, limit) == []
    left = {at[0] for at in mentions(config, name)}
    assert left == {"calibration"}  # candidates, which nothing asks for
    other = ({"npgpd_hf", "zpgpd_hf"} - {name}).pop()
    assert list(config["rates"]["iterations"]) == [other]
    assert list(config["certificates"]["iterations"]) == [other]
    why = ANALYSES["certificates"].why_not(config)  # the page is about NPGPD-HF's runs
    assert bool(why) == (name == "npgpd_hf")
    for part in ("schedules", "grid"):
        assert list(config[part]["algorithms"]) == [other]


@pytest.mark.parametrize("dropped", ["npgpd_hf", "zpgpd_hf"])
@each(default=set(), hard={"npgpd_hf"})  # there ZPGPD-HF's race had no ties
def test_study_of_one_algorithm_is_admitted_and_planned(defaults, expected, dropped):
    config, lines = admitted({"algorithms": {dropped: None}}, defaults)
    assert len(lines) == 1
    limit = {"npgpd_hf": "npg_pd", "zpgpd_hf": "pg_pd"}[dropped]
    idle = {"ties"} if dropped in expected else set()
    left_out = {"npgpd_hf": {"certificates"}, "zpgpd_hf": {"stability"}}[dropped]
    assert set(ANALYSES) - set(applying(config)) == left_out
    for name, analysis in applying(config).items():
        parts = analysis.plan(config)
        runs = analysis.plan.__module__ == f"replication.analyses.{name}"  # a plan of its own
        assert bool(parts) == (runs and name not in idle), name
        assert not [part for part in parts if {dropped, limit} & {*part.split("/")}]
    assert admitted({"algorithms": {dropped: None}}, defaults) == (config, lines)


def test_study_of_another_algorithm_alone_is_admitted_and_planned():
    own = {"npgpd_hf": None, "zpgpd_hf": None, "trajectory_dpo": {"iterations": 1, "rounds": 30}}
    config, _ = admitted({"algorithms": own})
    reasons = {name: it.why_not(config) for name, it in ANALYSES.items() if name in ABOUT}
    assert reasons == {
        **dict.fromkeys(["bounds", "judged_rates", "rates"], f"rates.iterations: {MISSING}"),
        "effects": f"sweeps.people: {MISSING}",
        "schedules": f"schedules.algorithms: {MISSING}",
        "slopes": f"sweeps.length: {MISSING}",
    }
    for analysis in applying(config).values():
        assert not {"npgpd_hf", "zpgpd_hf"} & {
            part for path in analysis.plan(config) for part in path.split("/")
        }


@each(
    default={"fixed-mu", "tangent", "softmax"},
    hard={"fixed-mu", "small-mu", "tangent", "softmax"},
)
def test_readings_that_are_about_a_dropped_algorithm_alone_go_with_it(defaults, expected):
    config, _ = admitted({"algorithms": {"zpgpd_hf": None}}, defaults)
    assert left_out(config, defaults) == expected
    loaded = readings.load(config, ROOT)
    assert "zpgpd_hf" not in str(loaded)
    assert loaded["ten-rounds"]["config"]["algorithms"] == {"npgpd_hf": {"rounds": 10}}
    assert loaded["running-average"]["config"] == {}  # which looks at runs differently


@pytest.mark.parametrize("name", ["safe_rlhf", "zpg"])
def test_method_of_the_comparison_that_is_left_out_goes_with_all_that_is_about_it(name):
    config, lines = admitted({"comparison": {"methods": {name: None}}})
    assert lines == []
    methods = set(CONFIG["comparison"]["methods"])
    assert set(config["comparison"]["methods"]) == methods - {name}
    about = {
        key
        for key, told in CONFIG["comparison"]["statements"].items()
        if name in (told["better"], told["than"])
    }
    kept = set(CONFIG["comparison"]["statements"]) - about
    assert set(config["comparison"]["statements"]) == kept
    for side in ("skipping", "inferring"):
        before = CONFIG["comparison"]["misspecification"][side]
        assert config["comparison"]["misspecification"][side] == [it for it in before if it != name]
    parts = {it: ANALYSES[it].plan(config) for it in ("comparison", "misspecification")}
    parts["comparison_races"] = ANALYSES["comparison_races"].parts(config)
    for paths in parts.values():
        assert paths
        assert not [path for path in paths if name in path.split("/")[:2]]


@each(
    default=("claims.readings.unbiased-votes", {"unbiased-votes"}),
    hard=("2 of claims.readings", {"unbiased-votes", "unbiased-votes-ten-rounds"}),
)
def test_readings_without_bias_are_left_out_where_they_would_be_biased_unless_chosen(
    defaults, expected
):
    told, names = expected
    own = {"environment": {"scale": "unit", "threshold": 5.5}}
    own["algorithms"] = {"zpgpd_hf": {"perturbation": 1}}
    config, lines = admitted(own, defaults)
    assert names <= left_out(config, defaults)
    assert "unbiased" not in str(config["claims"]["readings"])
    said = f"left out: {told} (algorithms.npgpd_hf: estimator: plug-in expected, since"
    assert any(line.startswith(said) for line in lines)
    with pytest.raises(
        ValueError, match=r"^reading 'unbiased-votes': algorithms.*: estimator: plug"
    ):
        admitted(own | {"claims": {"readings": ["unbiased-votes"]}}, defaults)


@each(default=set(), hard={"theorem-steps"})
def test_reading_that_a_radius_which_races_rules_out_is_left_out_unless_chosen(defaults, expected):
    own = {
        "algorithms": {"zpgpd_hf": {"perturbation": "calibrated"}},
        "calibration": {"candidates": {"zpgpd_hf": {"perturbation": [0.3, 1]}}},
    }
    config, lines = admitted(own, defaults)
    assert left_out(config, defaults) == expected
    reason = (
        "algorithms.zpgpd_hf: primal_step has to be calibrated, since perturbation is; or write "
        "numbers"
    )
    said = f"left out: claims.readings.theorem-steps ({reason})"
    assert (said in lines) == ("theorem-steps" in expected)
    with pytest.raises(ValueError, match=f"^reading 'theorem-steps': {reason}$"):
        admitted(own | {"claims": {"readings": ["theorem-steps"]}}, defaults)


@pytest.mark.parametrize(("link", "name"), [("probit", "probit link"), ("cauchy", "Cauchy link")])
def test_people_who_vote_as_the_study_assumes_are_left_out_unless_chosen(link, name):
    config, lines = admitted({"link": link})
    assert f"left out: comparison.misspecification.people.{name} (link: {link})" in lines
    people = CONFIG["comparison"]["misspecification"]["people"]
    assert set(people) - set(config["comparison"]["misspecification"]["people"]) == {name}
    chosen = {"misspecification": {"people": {name: {"true_link": link}}}}
    with pytest.raises(ValueError, match=rf"people\.{name}\.true_link: {link} is what all methods"):
        admitted({"link": link, "comparison": chosen})


@each(default=11, hard=25)
def test_readings_of_a_whole_study_are_as_in_their_files(defaults, expected):
    loaded = readings.load(defaults, ROOT)
    assert len(loaded) == expected
    for name, reading in loaded.items():
        content = yaml.safe_load((ROOT / f"config/readings/{name}.yaml").read_text())
        assert reading == {**readings.LOOK, "config": {}, **content}


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"bounds": {"corrected": {"seen": [{"pairs": 1}]}}}, "bounds.corrected.seen.0.pairs"),
        ({"sweeps": {"pairs": {"seeds": 3}}}, "sweeps.pairs"),
        ({"sweeps": {"rounds": {"varies": "pairs"}}}, "sweeps.rounds.varies.pairs"),
        ({"grid": {"algorithms": {"npgpd_hf": {"pairs": 2}}}}, "grid.algorithms.npgpd_hf.pairs"),
        (
            {"comparison": {"methods": {"zpg": {"candidates": {"pairs": [1]}}}}},
            "comparison.methods.zpg.candidates.pairs",
        ),
        (
            {"comparison": {"methods": {"zpg": {"most_rounds": 9}}}},
            "comparison.methods.zpg.most_rounds",
        ),
    ],
    ids=str,
)
def test_key_of_an_earlier_edition_is_refused_with_its_new_name(changes, place):
    with pytest.raises(ValueError, match=r"^\S+: renamed, write \w+$") as refusal:
        admitted(changes)
    old = place.rpartition(".")[2]
    assert str(refusal.value) == f"{place}: renamed, write {validation.RENAMED[old]}"


@pytest.mark.parametrize(
    ("algorithms", "message"),
    [
        ({"ppo": {"iterations": 10}}, "algorithms: algorithm: one of adaptive_safe_rlhf, "),
        ({"ppo": None}, "algorithms: algorithm: one of adaptive_safe_rlhf, "),
        (
            {"npgpd_hf": {"iterrations": 10}},
            "algorithms.npgpd_hf: unknown key 'iterrations' (did you mean 'iterations'?); allowed "
            "are dual_regularization, dual_step, estimator, initial_multiplier, iterations, "
            "multiplier_bound, normalize, parameterization, primal_step, rounds, step_decay",
        ),
        (
            {"npgpd_hf": {"ridge": 1}},
            "algorithms.npgpd_hf: unknown key 'ridge'; allowed are dual_reg",
        ),
        ({"npgpd_hf": {"pairs": 3}}, "algorithms.npgpd_hf.pairs: renamed, write rounds"),
    ],
    ids=str,
)
def test_name_of_an_algorithm_is_looked_at_first_and_then_the_names_of_its_own_keys(
    algorithms, message
):
    with pytest.raises(ValueError, match=r".") as refusal:
        admitted({"algorithms": algorithms})
    assert str(refusal.value).startswith(message)
    assert "ridge" not in str(refusal.value) or "ridge" in message


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_study_whose_multiplier_cannot_reach_the_optimum_is_told_so(factor):
    needed = solve(configuration.environment(CONFIG)).multiplier
    bound = factor * needed
    _, lines = admitted({"algorithms": {"npgpd_hf": {"multiplier_bound": bound}}})
    told = (
        f"algorithms.npgpd_hf.multiplier_bound: {bound:g} is below the optimal multiplier, "
        f"{needed:.3g}, so the runs cannot reach the optimum"
    )
    assert (told in lines) == (factor < 1)
    assert not any(it.startswith("algorithms.zpgpd_hf.multiplier_bound") for it in lines)


def test_study_without_any_algorithm_is_refused():
    own = {"algorithms": {"zpgpd_hf": None, "npgpd_hf": None}}
    with pytest.raises(ValueError, match=r"^algorithms: at least one entry expected"):
        admitted(own)


def test_configuration_stays_as_it_is():
    own = {"algorithms": {"zpgpd_hf": None}, "environment": {"discount": 0.8}}
    config = changed(own)
    before = copy.deepcopy(config)
    _, lines = admission.settle(config, ROOT, own, CONFIG, ANALYSES)
    assert len(lines) == 2
    assert (config, CONFIG["algorithms"]["zpgpd_hf"]["rounds"]) == (before, 2)


# Other environments.


@pytest.mark.parametrize("key", ["features", "discrimination"])
def test_key_that_the_defaults_lack_makes_another_environment(key):
    usual = {"features": None, "discrimination": 1.0}[key]
    config, lines = settled({"environment": {key: usual}})
    assert lines == []
    assert "binding" in config["claims"]["instances"]["groups"]
    config, lines = settled({"environment": {key: 3}})
    assert f"made for another environment.{key}; " in " ".join(lines)
    assert "binding" not in config["claims"]["instances"]["groups"]


@pytest.mark.parametrize(
    ("key", "value"), [("foo", 10), ("features", 3), ("threshold", 0.55), ("states", 10)]
)
def test_key_beside_a_file_is_refused_whatever_its_value(tmp_path, monkeypatch, key, value):
    monkeypatch.chdir(tmp_path)
    random_cmdp(4, 3, threshold=0.4).save("mine.npz")
    named = rf"^environment\.{key}: "
    with pytest.raises(ValueError, match=named):
        admitted({"environment": {"file": "mine.npz", key: value}})


def test_line_says_what_becomes_of_what_a_study_sets_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random_cmdp(4, 3, threshold=0.4).save("mine.npz")
    groups = {"instances": {"groups": {"mine": {"numbers": [5, 7]}}}}
    for environment, kept in (({"file": "mine.npz"}, False), ({"states": 9}, True)):
        config, lines = settled({"environment": environment, "claims": groups})
        assert ("mine" in config["claims"]["instances"]["groups"]) == kept
        assert ("what a study sets itself is kept" in " ".join(lines)) == kept


@pytest.mark.usefixtures("coin")
@each(
    default={"unit-binding"},
    hard={"unit", "unit-binding", "unit-binding-ten-rounds", "unit-binding-fixed-mu"},
)
def test_environment_of_another_kind_leaves_out_what_is_about_others(defaults, expected):
    own = {"environment": {"name": "coin", "threshold": 0.7}}
    own["algorithms"] = {"zpgpd_hf": {"perturbation": 1}}
    config, lines = admitted(own, defaults)
    *lines, one, other = lines
    for name, line in (("npgpd_hf", one), ("zpgpd_hf", other)):
        assert line.startswith(
            f"{name}: new race for step sizes, since the recorded race differs in env"
        )
    assert config["environment"] == own["environment"]  # none of the default's keys
    assert configuration.environment(config).states == 2
    assert configuration.size(config) == (2, 2)
    assert list(config["bounds"]["settings"]) == ["paper"]
    assert left_out(config, defaults) == expected
    assert config["claims"]["instances"]["groups"] == {}
    assert set(CONFIG["sweeps"]) - set(config["sweeps"]) == {"states", "actions"}
    said = "(the CMDP coin is a single one, not a random family; "
    assert [line.partition(":")[0] for line in lines] == ["scale", "left out"]
    assert said in lines[1]
    assert "threshold" not in lines[1]  # an option of this kind is none of those left out
    again, _ = admission.settle(config, ROOT, own, defaults, ANALYSES)
    assert again == config


@pytest.mark.usefixtures("coin")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "coin"}, "environment: threshold: required by the environment 'coin'"),
        ({"name": "maze"}, "environment: name: one of "),
        (
            {"name": "coin", "threshold": 0.7, "instance": 1},
            "environment: instance: not an option of the environment 'coin'",
        ),
        ({"name": "coin", "threshold": 3.0}, "environment: threshold: 3.0 leaves no slack"),
        (
            {"name": "coin", "threshold": 0.7, "states": 800},
            "environment.states: at most 500 expected, got 800",
        ),
        ({"name": 3}, "environment.name: string expected, got 3"),
    ],
)
def test_environment_of_another_kind_that_cannot_be_made_is_refused(options, message):
    with pytest.raises(ValueError, match=r".") as refusal:
        admitted({"environment": options})
    assert str(refusal.value).startswith(message)


def test_kind_that_is_named_though_it_is_the_default_changes_nothing_else():
    config, lines = admitted({"environment": {"name": "random"}})
    assert lines == []
    assert config == readings.overlay(settled({})[0], {"environment": {"name": "random"}})
    assert environments.make(config["environment"]).transition.shape == (10, 4, 10)


@pytest.mark.usefixtures("coin")
def test_file_takes_the_place_of_another_kind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random_cmdp(4, 3, threshold=0.4).save("other.npz")
    options = {**CONFIG["bounds"]["settings"]["paper"], "environment": {"file": "other.npz"}}
    own = {
        "environment": {"name": "coin", "threshold": 0.7},
        "algorithms": {"zpgpd_hf": {"perturbation": 1}},
        "bounds": {"settings": {"other": options}},
    }
    config, _ = admitted(own)
    assert bounds_by_setting.problem(config, "paper")[0].states == 2
    assert bounds_by_setting.problem(config, "other")[0].states == 4


# Statements of one's own.

MANY = "excess over M = ∞, M ≥ 16"
STATISTICS = {"column": "optimality_gap", "statistic": "whole", "margin": 0.1}


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        ({"test": "equivalent", "algorithm": "npgpd_hf", "evaluators": [3, 64]}, "evaluators"),
        ({"test": "equivalent", "algorithm": "pg_pd", "evaluators": [16, 64]}, "algorithm"),
        (
            {"test": "worse_with_size", "algorithm": "npgpd_hf", "evaluators": [64]}
            | {"groups": ["tiny", "large"]},
            "groups",
        ),
        (
            {"test": "schedule_better", "algorithm": "npgpd_hf", "schedule": "growin"}
            | {"outcome": "gap"},
            "schedule",
        ),
        (
            {"test": "bias_falls", "algorithm": "zpgpd_hf", "curve": "nope", "quantity": MANY},
            "curve",
        ),
        (
            {"test": "decays_with_horizon", "algorithm": "npgpd_hf", "horizons": [10, 11]},
            "horizons",
        ),
    ],
)
def test_own_statement_about_what_the_study_lacks_is_refused(tmp_path, criterion, message):
    def admit(options):
        claim = {"source": "a guess", "statement": "mine", "kind": "ours", "criterion": options}
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump({"claims": {"mine": claim}}))
        own = {"claims": {"statements": [str(path)], "readings": []}}
        return admitted(own, study("hard"))  # which has groups of other sizes

    margin = STATISTICS if "evaluators" in criterion else {"margin": 0.1}
    with pytest.raises(
        ValueError, match=rf"mine\.yaml: claims\.mine\.criterion\.{message}: the study has no "
    ):
        admit(criterion | margin)
    fit = {"evaluators": [16, 64], "groups": ["small", "large"], "schedule": "growing"}
    fit |= {"algorithm": "zpgpd_hf", "curve": "μ = 1", "horizons": [10, 20]}
    admit(criterion | margin | {message: fit[message]})


@pytest.mark.parametrize(
    ("test", "known", "unknown"),
    [("equivalent", 4, 1024), ("falls_at_rate", 1024, 16), ("larger_bias", 8.0, 16)],
)
def test_own_statement_is_about_people_of_the_runs_that_judge_it(tmp_path, test, known, unknown):
    """Those of the study and its readings; for rates and biases those of these sweeps."""
    config, path = study(), tmp_path / "mine.yaml"
    config["rates"]["evaluators"] = [1024]
    readings_of = {"few": {"config": {"evaluators": [4]}}}
    people = [SimpleNamespace(labels={"curve": "", "value": 8})]

    def refuse(number):
        criterion = {"test": test, "evaluators": [number]}
        path.write_text(yaml.safe_dump({"claims": {"mine": {"criterion": criterion}}}))
        own_statements.refuse_unknown_names(path, config, readings_of, people, [])

    refuse(known)
    with pytest.raises(ValueError, match=rf"evaluators: the study has no {unknown} "):
        refuse(unknown)
