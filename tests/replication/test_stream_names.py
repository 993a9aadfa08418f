"""Names of all random streams of a study: another name would be other random numbers."""

import hashlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import yaml
from checking import applying

from pgpd_hf import runs
from replication import analyses
from replication.study import admission, cases, readings

ROOT = Path(__file__).parents[2]
DEFAULTS = admission.load_defaults(ROOT)
CHOSEN = {"primal_step": 0.3, "dual_step": 0.1, "perturbation": 0.5}  # in place of races
# Of each study: how many names its streams have, and a digest of them. New runs add names; those of
# earlier runs stay.
NAMES = {
    "config/config.yaml": (4330, "772bdf77e4224887"),
    "config/smoke.yaml": (330, "b1533ea842e21083"),
    "config/inference.yaml": (1498, "69c7a3236df8540c"),
    "config/pilot.yaml": (1336, "83a46898634fc88e"),
    "config/environments/frozen-lake.yaml": (231, "0eb942e9fd85e706"),
}
LATER = (
    "adaptive_safe_rlhf",
    "episodic_npgpd_hf",
    "linear_npgpd_hf",
    "linear_safe_rlhf",
    "linear_zpgpd_hf",
    "sampled_npgpd_hf",
)  # methods that no study had then


@cache
def plans(path):
    """Cases of all analyses of a study, and of Figure 1 under all of its readings."""
    own = yaml.safe_load((ROOT / path).read_text())
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


def names(path, monkeypatch):
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
        for case in plans(path).get(name, ())
    }
    planned = [case for of_analysis in plans(path).values() for case in of_analysis]
    alike = {
        (case.purpose, case.algorithm, case.choice, case.factors, repr(case.setting), size): case
        for case in planned
        for size in [json.dumps(case.stream_keys)]
    }
    for case in alike.values():
        case = cases._chosen(case, tuned)
        cases._run(replace(case, labels=None), None, None, CHOSEN)
    return sorted(found, key=str)


@pytest.mark.parametrize("path", NAMES)
def test_names_of_streams_stay(path, monkeypatch):
    found = [name for name in names(path, monkeypatch) if name[1] not in LATER]
    digest = hashlib.sha256(json.dumps(found).encode()).hexdigest()
    assert (len(found), digest[:16]) == NAMES[path]
