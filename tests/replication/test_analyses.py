"""Analyses: found in their folder, complete, and planned as the workflow expects it."""

import copy
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import checking
import pytest

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.algorithms.base import STEPS
from pgpd_hf.core.arguments import located
from replication import analyses
from replication.analyses import effects, slopes
from replication.study import admission, readings, sweeps
from replication.study.cases import Case, run_setting
from replication.study.readings import overlay

ROOT = Path(__file__).parents[2]
CONFIG = overlay(
    admission.load_defaults(ROOT),
    {"claims": {"ties": {"npgpd_hf": [[1, 0.1]]}}},  # which settling a study fills in
)
SCHEMA = admission.load_schema(ROOT, "config")
FOUND = analyses.find()
# Those that define a function `plan`; the one that is there without is of another module.
RUNNING = [name for name, it in FOUND.items() if it.plan.__module__ != analyses.__name__]
FACTS = {
    **{"config": CONFIG, "algorithm": "npgpd_hf", "setting": "paper", "folder": "full/"},
    **{
        "results": "results",
        "figures": "figures",
        "rows": 1.0,
        "archive_digest": lambda options: None,
    },
    **{name: {} for name in ("readings", "judged", "trials", "trial_runs")},
    **{name: {} for name in ("new_races", "calibrated")},
    **{name: [] for name in ("left_out", "raced")},
}
COMPLETE = '"""Mine."""\nTARGET = "all"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Another folder in which analyses are looked for, too."""
    monkeypatch.setattr(analyses, "__path__", [*analyses.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    yield tmp_path
    sys.modules.pop("replication.analyses.mine", None)
    if hasattr(analyses, "mine"):
        del analyses.mine


def test_file_is_an_analysis(folder):
    (folder / "mine.py").write_text(COMPLETE)
    found = analyses.find()
    assert found["mine"].TARGET == "all"
    assert set(found) == {*FOUND, "mine"}
    assert list(FOUND) == sorted(FOUND)


def test_incomplete_file_is_refused(folder):
    (folder / "mine.py").write_text(COMPLETE.replace("TARGET", "AIM"))
    message = r"^analyses/mine\.py: TARGET expected, see analyses/__init__\.py$"
    with pytest.raises(TypeError, match=message):
        analyses.find()


def test_what_leads_to_figure_1_comes_first():
    first = {name for name, analysis in FOUND.items() if analysis.PRIORITY}
    assert first == {"aggregate", "verdicts", "figure1"}


def test_declaration_that_needs_another_module_is_refused(folder):
    (folder / "mine.py").write_text(f"{COMPLETE}\nREADS = other.READS\n")
    message = r"^analyses/mine\.py: READS: name 'other' is not defined, so write it out$"
    with pytest.raises(TypeError, match=message):
        analyses.find()


def test_file_is_imported_when_one_of_its_functions_is_asked_for():
    code = """
import subprocess
import sys
from replication import analyses
found = analyses.find()
names = [name for name in found if f"replication.analyses.{name}" in sys.modules]
assert found["rates"].TABLES["rates"].keys and found["rates"].title and found["grid"].LOCAL
assert (names, found["aggregate"].plan({})) == ([], {})
found["aggregate"].tables
print(*(name for name in found if f"replication.analyses.{name}" in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "aggregate\n"


def ask(function, **facts):
    """Call a function of an analysis as the workflow does, with the facts that it asks for."""
    return checking.ask(function, FACTS | facts)


def parts_of(analysis):
    """Values of the wildcard `part` in the names of an analysis' tables, if there is one."""
    return analysis.parts(CONFIG) if any("{part}" in name for name in analysis.TABLES) else [None]


@pytest.mark.parametrize("name", sorted(FOUND))
def test_analysis_is_what_its_folder_promises(name):
    analysis = FOUND[name]
    assert len(analysis.title) > 5
    # As the workflow passes them on: Papermill would write other types as text.
    assert isinstance(json.loads(json.dumps(ask(analysis.parameters))), dict)
    parts = parts_of(analysis)
    assert parts
    assert len(parts) == len(set(parts))
    for part in parts if analysis.TABLES else []:
        given = {**dict.fromkeys(analysis.READS), **ask(analysis.arguments, part=part)}
        inspect.signature(analysis.tables).bind(**given)
        assert ask(analysis.seconds, part=part) > 0
        assert ask(analysis.megabytes, part=part) > 0


@pytest.mark.parametrize("name", RUNNING)
def test_plan_is_made_of_cases_whose_algorithm_ends_the_part(name):
    plan = FOUND[name].plan(CONFIG)
    assert plan
    for part, items in plan.items():
        numbers = [number for number, _ in items]
        assert numbers == sorted(set(numbers)), part
        for _, cases in items:
            assert cases
            for case in cases:
                assert isinstance(case, Case)
                assert case.algorithm == part.rpartition("/")[2]
                assert case.seeds
                assert case.labels


@pytest.mark.parametrize("name", RUNNING)
def test_no_two_cases_of_an_analysis_are_the_same_run(name):
    """Different cases may share a purpose only where a setting or an environment differs."""
    for part, items in FOUND[name].plan(CONFIG).items():
        keys = [
            (case.seeds, repr(case.environment), repr(case.setting), case.factors, case.purpose)
            for _, cases in items
            for case in cases
        ]
        assert len(keys) == len(set(keys)), part


@pytest.mark.parametrize("name", RUNNING)
def test_plan_and_check_leave_the_configuration_as_it_is(name):
    config = copy.deepcopy(CONFIG)
    ask(FOUND[name].check, config=config, schema=SCHEMA)
    FOUND[name].plan(config)
    assert config == CONFIG


@pytest.mark.parametrize("name", RUNNING)
def test_settings_are_ready_but_for_calibrated_steps(name):
    """None is left that only calibration or the run itself would refuse."""
    for part, items in FOUND[name].plan(CONFIG).items():
        for case in items[0][1]:
            kind = get_algorithm(case.algorithm)
            fields = kind.pick(case.setting)
            with located(f"{name} {part}"):
                for step in kind.pick(dict.fromkeys(STEPS)):
                    value = fields.pop(step)
                    assert value in ("calibrated", None) or value >= 0
                for phase in case.setting.get("phases", [{}]):
                    kind.having({**fields, **kind.pick(phase)})


@pytest.mark.parametrize(
    ("analysis", "names"),
    [(slopes, ["length", "corollary"]), (effects, ["people", "horizon", "rounds", "states"])],
)
def test_sweeps_are_shown_by_one_analysis_each(analysis, names):
    plan = analysis.plan(CONFIG)
    shown = {case.labels["sweep"] for items in plan.values() for case in items[0][1]}
    assert set(names) <= shown <= set(analysis.SWEEPS)
    assert plan == sweeps.plan(CONFIG, analysis.SWEEPS)
    assert {*slopes.SWEEPS} | {*effects.SWEEPS} == set(CONFIG["sweeps"])
    assert not {*slopes.SWEEPS} & {*effects.SWEEPS}


@pytest.mark.parametrize(
    ("analysis", "own", "other"), [(slopes, "length", "rounds"), (effects, "rounds", "length")]
)
def test_analysis_refuses_its_own_sweeps_only(analysis, own, other):
    for name in (own, other):
        config = copy.deepcopy(CONFIG)
        axis = config["sweeps"][name]["varies"]
        config["sweeps"][name]["algorithms"] = {"npgpd_hf": {axis: [20, 10]}}
        if name == other:
            analysis.check(config)
            continue
        with pytest.raises(ValueError, match=rf"^sweeps\.{own}\.algorithms\.npgpd_hf: {axis}: inc"):
            analysis.check(config)


def test_two_groups_of_one_title_are_refused():
    """Tables of verdicts would add them up."""
    config = copy.deepcopy(CONFIG)
    groups = {name: {"numbers": [k], "title": "mine"} for k, name in enumerate("ab", 1)}
    config["claims"]["instances"]["groups"] = groups
    with pytest.raises(ValueError, match=r"^claims: 'mine' is the title of two readings or groups"):
        FOUND["verdicts"].check(config, readings.load(config, ROOT), ROOT)


def test_certificates_are_of_algorithms_whose_estimates_are_recorded():
    config = copy.deepcopy(CONFIG)
    config["algorithms"]["npg_pd"] = config["algorithms"]["npgpd_hf"]
    config["certificates"]["iterations"] = {"npg_pd": 10}
    with pytest.raises(
        ValueError, match=r"^certificates\.iterations\.npg_pd: name: one of npgpd_hf, "
    ):
        FOUND["certificates_by_algorithm"].check(config)


def test_tied_steps_take_the_place_of_the_chosen_ones_and_nothing_else_changes():
    pairs = [[1, 0.1], [0.3, 0.2]]
    config = overlay(CONFIG, {"claims": {"ties": {"npgpd_hf": pairs}, "seeds": 3}})
    items = FOUND["ties"].plan(config)["npgpd_hf"]
    assert [number for number, _ in items] == [0, 1]
    for (_, found), pair in zip(items, pairs, strict=True):
        for case, evaluators in zip(found, config["evaluators"], strict=True):
            usual = run_setting(config, "npgpd_hf", evaluators)
            assert case.setting == usual | dict(zip(STEPS, pair, strict=True))
            assert (case.seeds, case.purpose) == ((0, 1, 2), config["streams"])
