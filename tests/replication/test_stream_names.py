"""Names of all random streams of a study: another name would be other random numbers."""

import hashlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from checking import applying, laid

from pgpd_hf import runs
from replication import analyses
from replication.study import admission, cases, readings

ROOT = Path(__file__).parents[2]
DEFAULTS = admission.load_defaults(ROOT)
CHOSEN = {"primal_step": 0.3, "dual_step": 0.1, "perturbation": 0.5}  # in place of races
# Of each study, by the files that are laid over the defaults: how many names its streams have, and
# a digest of them. New runs add names; those of earlier runs stay.
NAMES = {
    "": (4209, "44b975774e3c51a2"),
    "inference": (1499, "df1da5f22fed2b60"),
    "hard": (4330, "772bdf77e4224887"),
    "hard inference hard-inference": (1499, "f5289f4948954961"),
    "hard hard-pilot": (1337, "0d979e227e0e9f4d"),
    "smoke": (332, "b56d20f918b6242f"),
    "environments/frozen-lake": (231, "0eb942e9fd85e706"),
}
# Of the default study without the instances, which it did not have when it was first run.
WITHOUT_INSTANCES = (1259, "427feddcf41989c2")
LATER = (
    "adaptive_safe_rlhf",
    "episodic_npgpd_hf",
    "linear_npgpd_hf",
    "linear_safe_rlhf",
    "linear_zpgpd_hf",
    "sampled_npgpd_hf",
)  # methods that no study had then


@cache
def plans(files):
    """Cases of all analyses of a study, and of Figure 1 under all of its readings."""
    own = laid(*files.split())
    config, _ = admission.settle(
        readings.overlay(DEFAULTS, own), ROOT, own, DEFAULTS, analyses.find()
    )
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


def names(files, monkeypatch):
    """Purpose, algorithm and M of every stream, as :func:`pgpd_hf.run` is told them."""
    found = set()

    def record(cmdp, algorithm, *, purpose, phases=None, evaluators=None, **options):
        parts = [{}] if phases is None else phases
        for k, phase in enumerate(parts):
            of_phase = f"{purpose}, phase {k}" if len(parts) > 1 else purpose
            found.add((of_phase, algorithm, phase.get("evaluators", evaluators)))
        return None, None

    monkeypatch.setattr(runs, "run", record)
    tuned = {
        case.labels["key"]: (case.setting, 0.0)
        for name in ("comparison_tuning", "axes_tuning")
        for case in plans(files).get(name, ())
    }
    planned = [case for of_analysis in plans(files).values() for case in of_analysis]
    alike = {
        (case.purpose, case.algorithm, case.choice, case.factors, repr(case.setting), size): case
        for case in planned
        for size in [json.dumps(case.stream_keys)]
    }
    for case in alike.values():
        case = cases._chosen(case, tuned)
        cases._run(replace(case, labels=None), None, None, CHOSEN)
    return sorted(found, key=str)


def summed(names):
    """Number of names that are not of later methods, and their digest."""
    found = [name for name in names if name[1] not in LATER]
    return len(found), hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]


@pytest.mark.parametrize("files", NAMES)
def test_names_of_streams_stay(files, monkeypatch):
    assert summed(names(files, monkeypatch)) == NAMES[files]


def test_instances_add_names_to_those_of_the_default_study(monkeypatch):
    """They are the instances of the hard case, by the same names."""
    found, hard = names("", monkeypatch), names("hard", monkeypatch)
    of_instances = {name for name in found if name[0].startswith("instance ")}
    assert summed(name for name in found if name not in of_instances) == WITHOUT_INSTANCES
    assert of_instances
    assert of_instances < {*hard}
