"""Names of all random streams of a study: another name would be other random numbers."""

import hashlib
import json
from dataclasses import replace
from functools import cache
from itertools import chain, product
from pathlib import Path
from types import SimpleNamespace

import pytest
from checking import ANALYSES, applying, laid

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.runs import traces
from replication.analyses import axes_races, comparison_races
from replication.study import admission, cases, comparison, readings

ROOT = Path(__file__).parents[2]
DEFAULTS = admission.load_defaults(ROOT)
CHOSEN = {"primal_step": 0.3, "dual_step": 0.1, "perturbation": 0.5}  # in place of races
# Of each study, by the files that are laid over the defaults: how many names its streams have, and
# a digest of them. New runs add names; those of earlier runs stay, but for the instances on which
# predictions of stability are tested: 8001 and on in place of 2001 and on. The six of an analysis
# that is gone, `sensitivity`, went with it.
NAMES = {
    "": (4091, "0865c0c956fd4e36"),
    "inference": (1381, "f6d27a7f79cfa2ef"),
    "hard": (4339, "a4d259cc6dbb65d9"),
    "hard inference hard-inference": (1508, "2238fb25f62803b3"),
    "hard hard-pilot": (1346, "013507e07d86643f"),
    "smoke": (336, "bbb96ff36f99cf85"),
    "environments/frozen-lake": (225, "0e6e47fce4406971"),
}
# Of the default study without the instances, which it did not have when it was first run.
WITHOUT_INSTANCES = (1141, "b2a877b3677b8ec6")
LATER = (
    "adaptive_safe_rlhf",
    "episodic_npgpd_hf",
    "linear_npgpd_hf",
    "linear_safe_rlhf",
    "linear_zpgpd_hf",
    "sampled_npgpd_hf",
)  # methods that no study had then


@cache
def settled(files):
    """Configuration of a study."""
    own = laid(*files.split())
    return admission.settle(readings.overlay(DEFAULTS, own), ROOT, own, DEFAULTS, ANALYSES)[0]


@cache
def plans(files):
    """Cases of all analyses of a study, and of Figure 1 under all of its readings."""
    config = settled(files)
    plans = {
        name: [case for items in analysis.plan(config).values() for _, of in items for case in of]
        for name, analysis in applying(config).items()
    }
    configs = readings.configurations(config, readings.load(config, ROOT)).values()
    plans["figure"] = [
        case
        for each in configs
        for algorithm in each["algorithms"]
        for _, of in cases.figure_cases(each, algorithm, each["evaluators"])
        for case in of
    ]
    return plans


@cache
def races(files):
    """What all races of the methods that are compared are about."""
    config = settled(files)
    if "comparison_races" not in applying(config):
        return []
    own = [comparison_races.arguments(config, it) for it in comparison_races.parts(config)]
    elsewhere = [axes_races.arguments(config, it)["told"] for it in axes_races.parts(config)]
    return own + elsewhere


def candidates(told):
    """Candidates of a race at each budget, by the key of the choice that is made."""
    entry = comparison.Entry(**told["entry"])
    return {
        told["prefix"] + comparison.key(entry, budget): comparison.candidates(
            told["study"], entry, budget
        )
        for budget in told["budgets"]
    }


class Recorded:
    """An algorithm whose runs tell its name and M."""

    def __init__(self, name):
        self.kind = get_algorithm(name)
        self.pick = self.kind.pick

    def having(self, options):
        told = self.kind.name, options.get("evaluators")
        return SimpleNamespace(prepare=lambda *_: told)


@cache
def names_of_races(files):
    """Purpose, algorithm and M of every stream of the races, as runs of them are told."""
    found = set()

    def record(run, seed, iterations, purpose):
        found.add((purpose, *run))
        raise ValueError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traces, "values_at", record)
        patch.setattr(comparison_races, "get_algorithm", Recorded)
        for told in races(files):
            problems = [(number, None, None) for number in told["instances"]]
            contest = comparison_races._Settings(comparison.Entry(**told["entry"]), problems)
            of_races = chain(*candidates(told).values())
            contest.settings = {setting.get("evaluators"): setting for setting in of_races}
            for evaluators, unit in product(contest.settings, range(len(problems))):
                contest.score((evaluators, unit))
    return found


@cache
def names(files):
    """Purpose, algorithm and M of every stream, as :func:`pgpd_hf.run` is told them."""
    found = set()

    def record(cmdp, algorithm, *, purpose, phases=None, evaluators=None, **options):
        parts = [{}] if phases is None else phases
        for k, phase in enumerate(parts):
            of_phase = f"{purpose}, phase {k}" if len(parts) > 1 else purpose
            found.add((of_phase, algorithm, phase.get("evaluators", evaluators)))
        return None, None

    tuned = {
        key: (settings[-1], 0.0)  # in place of the race's winner
        for told in races(files)
        for key, settings in candidates(told).items()
    }
    planned = [case for of_analysis in plans(files).values() for case in of_analysis]
    alike = {
        (case.purpose, case.algorithm, case.choice, case.factors, repr(case.setting), size): case
        for case in planned
        for size in [json.dumps(case.stream_keys)]
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traces, "run", record)
        for case in alike.values():
            case = cases._chosen(case, tuned)
            cases._run(replace(case, labels=None), None, None, CHOSEN)
    return sorted(found | names_of_races(files), key=str)


def summed(names):
    """Number of names that are not of later methods, and their digest."""
    found = [name for name in names if name[1] not in LATER]
    return len(found), hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]


@pytest.mark.parametrize("files", NAMES)
def test_names_of_streams_stay(files, monkeypatch):
    found = summed(names(files))
    assert found == NAMES[files], "if there are new runs alone, NAMES gets these numbers"


def test_instances_add_names_to_those_of_the_default_study():
    """They are the instances of the hard case, by the same names."""
    found, hard = names(""), names("hard")
    of_instances = {name for name in found if name[0].startswith("instance ")}
    assert summed(name for name in found if name not in of_instances) == WITHOUT_INSTANCES
    assert of_instances
    assert of_instances < {*hard}


@pytest.mark.parametrize("files", NAMES)
def test_races_share_no_stream_with_other_runs(files):
    """Not even the names of a family: the runs that are judged have none of the race's."""
    raced = {purpose for purpose, _, _ in names_of_races(files)}
    planned = {case.purpose for of_analysis in plans(files).values() for case in of_analysis}
    assert bool(raced) == bool(races(files))
    assert not raced & planned
