"""An algorithm is one file and one entry of the configuration; nothing else is touched."""

import re
import sys
import textwrap

import pandas as pd
import pytest
import yaml
from projects import ROOT

from pgpd_hf.algorithms import base

# As little as there can be: a name, `update`, and an option.
PLAIN = '''
"""The policy gradient with exact values and a decaying step, softmax parameterization."""

from pgpd_hf.algorithms.base import PrimalDual, option


class Plain(PrimalDual):
    name = "toy_plain"
    decay: float = option(0.5, "Power of t by which the step falls.", at_least=0, at_most=1)

    def update(self, run, state, policy, words, normals):
        cmdp, step = run.cmdp, run.primal_step / (state.iteration + 1) ** self.decay
        advantages = cmdp.advantages(policy, cmdp.reward + state.multiplier * cmdp.utility)
        gradient = cmdp.state_occupancy(policy)[:, None] * policy * advantages
        multiplier = run.dual_update(state.multiplier, cmdp.evaluate(policy)[1] - cmdp.threshold)
        return state._replace(theta=state.theta + step * gradient, multiplier=multiplier)
'''
DECORATED = "import dataclasses\n" + PLAIN.replace("class", "@dataclasses.dataclassHOW\nclass")
# With memory: NPGPD-HF with momentum, on the random numbers of NPGPD-HF.
MEMORY = """
from typing import NamedTuple

import numpy as np

from pgpd_hf.algorithms.base import option
from pgpd_hf.algorithms.npgpd_hf import NPGPDHF


class MovingState(NamedTuple):
    theta: np.ndarray
    multiplier: float
    iteration: int
    moved: np.ndarray


class Memory(NPGPDHF):
    name = "toy_memory"
    streams = "npgpd_hf"
    momentum: float = option(0.0, "Share of the step before.", at_least=0, at_most=1)

    def initial_state(self, run, initial_policy=None):
        start = super().initial_state(run, initial_policy)
        return MovingState(*start, moved=np.zeros_like(start.theta))

    def update(self, run, state, policy, words, normals):
        (reward, utility), excess = run.estimate(state.theta, words, normals)
        step = run.primal_step / (1 - run.cmdp.discount)
        moved = self.momentum * state.moved + step * (reward + state.multiplier * utility)
        multiplier = run.dual_update(state.multiplier, excess)
        return state._replace(theta=state.theta + moved, multiplier=multiplier, moved=moved)
"""
# A variant of another algorithm, with steps of its own.
HALF = """
from pgpd_hf.algorithms.npgpd_hf import NPGPDHF


class Half(NPGPDHF):
    name = "toy_half"

    @staticmethod
    def theorem_steps(cmdp, optimum, iterations):
        primal, dual = NPGPDHF.theorem_steps(cmdp, optimum, iterations)
        return primal / 2, dual / 2
"""
ENTRIES = {
    "toy_plain": {"iterations": 60, "primal_step": 0.3, "dual_step": 0.2},
    "toy_half": {"iterations": 40, "rounds": 2, "primal_step": "theorem", "dual_step": "theorem"},
    "toy_memory": {"iterations": 30, "rounds": 1, "primal_step": 0.3, "dual_step": 0.2},
}
PAPERS = {
    "npgpd_hf": {"iterations": 30, "primal_step": 0.3, "dual_step": 0.2},
    "zpgpd_hf": {"iterations": 30, "primal_step": 0.01, "dual_step": 0.01, "perturbation": 1},
}
SHOW = (
    "import sys; sys.path.append({!r}); import document_config as d; print(d.tables()['options'])"
)
RUN = """
import pgpd_hf
for name in ("toy_plain", "toy_half", "toy_memory"):
    options = {"evaluators": 16, "seeds": [0, 1], "iterations": 50, "rounds": 1, "horizon": 20}
    steps = {} if name == "toy_half" else {"primal_step": 3.0, "dual_step": 0.1}
    trace = pgpd_hf.run(pgpd_hf.random_cmdp(), name, **options, **steps)
    first, last = trace["reward_value"].iloc[[0, -1]]
    print(name, pgpd_hf.ALGORITHMS[name].label, last > first, trace["answers"].max())
try:
    pgpd_hf.run(pgpd_hf.random_cmdp(), "toy_plain", **options)
except ValueError as error:
    print(error)
try:
    pgpd_hf.run(pgpd_hf.random_cmdp(), "toy_memory", momentum=1.5, **options)
except ValueError as error:
    print(error)
"""
# All tests that look at every algorithm there is.
TESTS = [f"library/test_{name}.py" for name in ("contract", "runs", "properties")]
TESTS.append("replication/test_resources.py")


def add(project, **files):
    for name, text in files.items():
        (project.folder / f"src/pgpd_hf/algorithms/{name}.py").write_text(text)


@pytest.fixture
def extended(fresh):
    """A project with three new algorithms, and two studies that have them all."""
    add(fresh, toy_plain=PLAIN, toy_half=HALF, toy_memory=MEMORY)
    for study, more in (("large", {}), ("tiny", {"seeds": 2, "horizon": 20})):
        content = {"study": study, **more, "algorithms": ENTRIES}
        (fresh.folder / f"config/{study}.yaml").write_text(yaml.safe_dump(content))
    return fresh


def test_run_knows_it(extended):
    code, output = extended.call([sys.executable, "-c", RUN])
    assert code == 0, output
    assert output.splitlines() == [
        "toy_plain toy_plain True 0",
        f"toy_half toy_half True {50 * 16 * 81}",
        f"toy_memory toy_memory True {50 * 16 * 81}",
        "primal_step, dual_step: numbers expected, since this algorithm has no theorem",
        "momentum: a number in [0, 1] expected, got 1.5",
    ]


def test_every_target_is_planned_with_it(extended):
    targets = ["all", "claims", "theory", "grid", "crate"]
    code, output = extended.snakemake("--dry-run", *targets, configfile="config/large.yaml")
    assert code == 0, output
    for name in ENTRIES:
        for evaluators in (16, 64, 256):
            assert f"{name}, M = {evaluators}, seeds 0000 to " in output
        assert f"instances: binding/{name}, 0001 to " in output
        assert f"{name}: step sizes, from" not in output
        assert f"slopes: {name}, " not in output
        assert f"rates: {name}, " not in output
    assert "slopes: npgpd_hf, 0000 to " in output
    assert "rates: npgpd_hf, 0000 to " in output


def test_jobs_run_it(extended):
    runs = [f"results/tiny/runs/{name}/M64/seeds0000-0001.parquet" for name in ENTRIES]
    code, output = extended.snakemake("--cores", "2", *runs, configfile="config/tiny.yaml")
    assert code == 0, output
    assert all((extended.folder / run).exists() for run in runs)


def test_entry_of_the_first_example_in_the_documentation_runs(fresh):
    text = textwrap.dedent(re.search(r"::\n\n((?:    .*\n|\n)+)", base.__doc__)[1])
    entry = yaml.safe_load(re.search(r"``(decaying: \{.*\})``", base.__doc__)[1])
    add(fresh, decaying=text)
    study = {"study": "mine", "seeds": 2, "algorithms": entry}
    (fresh.folder / "config/mine.yaml").write_text(yaml.safe_dump(study))
    run = "results/mine/runs/decaying/M64/seeds0000-0001.parquet"
    code, output = fresh.snakemake("--cores", "2", run, configfile="config/mine.yaml")
    assert code == 0, output
    trace = pd.read_parquet(fresh.folder / run)
    assert trace["optimality_gap"].iloc[-1] < trace["optimality_gap"].iloc[0] / 5
    assert trace["iteration"].max() == entry["decaying"]["iterations"]


def test_option_is_documented_and_checked(extended):
    code, output = extended.call([sys.executable, "-c", SHOW.format(str(ROOT / "tools"))])
    assert code == 0, output
    row = "| `momentum` | `0.0` | number in [0, 1] | Share of the step before. | `toy_memory` |"
    assert row in output.splitlines()
    refused = [
        ("toy_memory", 1.5, "algorithms.toy_memory.momentum: at most 1 expected, got 1.5"),
        ("toy_memory", "much", "algorithms.toy_memory.momentum: number expected, got 'much'"),
        ("toy_plain", 0.5, "algorithms.toy_plain: unknown key 'momentum'"),
    ]
    for name, momentum, message in refused:
        study = {"study": "tiny", "algorithms": {name: {**ENTRIES[name], "momentum": momentum}}}
        (extended.folder / "config/tiny.yaml").write_text(yaml.safe_dump(study))
        code, output = extended.snakemake("--dry-run", configfile="config/tiny.yaml")
        assert code == 1
        assert output.splitlines()[-1].startswith(f"error: {message}")


def test_option_counts_and_runs_beside_the_papers_two(extended):
    """On common random numbers; the first step is NPGPD-HF's, which has no step before it."""
    heavy = {**ENTRIES["toy_memory"], "rounds": 2, "momentum": 0.5}  # N of the default study
    study = {"study": "tiny", "seeds": 2, "horizon": 20, "evaluators": [64]}
    study["algorithms"] = {**PAPERS, "toy_memory": heavy}
    (extended.folder / "config/tiny.yaml").write_text(yaml.safe_dump(study))
    runs = [f"results/tiny/runs/{name}/M64/seeds0000-0001.parquet" for name in study["algorithms"]]
    code, output = extended.snakemake("--cores", "2", *runs, configfile="config/tiny.yaml")
    assert code == 0, output
    plain, _, ours = (pd.read_parquet(extended.folder / run) for run in runs)
    same = plain["reward_value"] == ours["reward_value"]
    assert same[plain["iteration"] <= 1].all()
    assert not same[plain["iteration"] > 1].any()


def test_rates_are_those_of_its_theorem_only_if_it_has_one(extended):
    lengths = {name: [10, 20] for name in ENTRIES}
    study = {"study": "tiny", "seeds": 1, "algorithms": ENTRIES}
    study["rates"] = {"iterations": lengths, "seeds": 1, "evaluators": [4]}
    (extended.folder / "config/tiny.yaml").write_text(yaml.safe_dump(study))
    runs = [f"results/tiny/rates/{name}/0000-0000.parquet" for name in ENTRIES]
    code, output = extended.snakemake("--cores", "2", *runs, configfile="config/tiny.yaml")
    assert code == 0, output
    made = pd.concat(pd.read_parquet(extended.folder / run) for run in runs)
    with_theorem = {(name, "theorem") for name in ("toy_half", "toy_memory")}
    found = set(zip(made["algorithm"], made["step_rule"], strict=True))
    assert found == {(name, "study") for name in ENTRIES} | with_theorem


def test_contract_holds_without_an_edit(extended):
    command = [sys.executable, "-m", "pytest", "-q", "-k", "toy", "-p", "no:cacheprovider"]
    code, output = extended.call([*command, *(f"tests/{test}" for test in TESTS)], cwd=ROOT)
    assert code == 0, output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAIN.replace("toy_plain", "toy"), "class Plain: name = 'toy_plain' expected, as the "),
        (PLAIN.replace("name = ", "title = "), "class Plain: name = 'toy_plain' expected, as the "),
        (HALF.replace("name = ", "title = "), "class Half: name = 'toy_plain' expected, as the "),
        (PLAIN.replace("update", "iterate"), "class Plain: a method 'update' expected"),
        (PLAIN + PLAIN.replace("Plain", "Again"), "class Again: one algorithm per file expected"),
        ("import math", "a subclass of Algorithm expected"),
        (DECORATED.replace("HOW", ""), "leave out @dataclass, which every algorithm is by "),
        (DECORATED.replace("HOW", "(frozen=True)"), "leave out @dataclass, which every "),
    ],
)
def test_incomplete_file_is_named_in_one_line(fresh, text, message):
    """Where it is used; other algorithms do not notice."""
    add(fresh, toy_plain=text)
    use = "import pgpd_hf; print(pgpd_hf.ALGORITHMS[{!r}].label)".format
    code, output = fresh.call([sys.executable, "-c", use("toy_plain")])
    assert code == 1
    assert output.splitlines()[-1].startswith(f"TypeError: algorithms/toy_plain.py: {message}")
    assert fresh.call([sys.executable, "-c", use("npg_pd")]) == (0, "NPG-PD (exact)\n")


def test_job_refuses_state_in_self(extended):
    """Before it believes any number, in one line."""
    counter = PLAIN.replace("state.iteration + 1", "self.count").replace(
        "        cmdp, step",
        "        self.count = getattr(self, 'count', 0) + 1\n        cmdp, step",
    )
    add(extended, toy_plain=counter)
    run = "results/tiny/runs/toy_plain/M64/seeds0000-0001.parquet"
    code, output = extended.snakemake("--cores", "2", run, configfile="config/tiny.yaml")
    assert code != 0
    assert "algorithm: update of toy_plain: cannot assign to field 'count'" in output
    assert not (extended.folder / run).exists()
    command = [sys.executable, "-m", "pytest", "-q", "-k", "toy_plain", "-p", "no:cacheprovider"]
    code, output = extended.call([*command, "tests/library/test_contract.py"], cwd=ROOT)
    assert code == 1
    assert "belongs in the state, not in self" in output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"primal_step": "theorem"},
            "error: algorithms.toy_plain: primal_step, dual_step: numbers expected",
        ),
        (
            {"primal_step": "calibrated", "dual_step": "calibrated"},
            "error: calibration.candidates.toy_plain: primal_step expected, since it is calibrated",
        ),
    ],
)
def test_steps_that_it_cannot_have_are_refused(extended, options, message):
    study = {"study": "tiny", "algorithms": {"toy_plain": {**ENTRIES["toy_plain"], **options}}}
    (extended.folder / "config/tiny.yaml").write_text(yaml.safe_dump(study))
    code, output = extended.snakemake("--dry-run", configfile="config/tiny.yaml")
    assert code == 1
    assert output.splitlines()[-1].startswith(message)


def test_sweep_with_the_steps_of_no_theorem_is_refused(extended):
    study = {"study": "tiny", "algorithms": {"toy_plain": ENTRIES["toy_plain"]}}
    grid = {"iterations": [10, 20], "steps": ["study", "theorem"]}
    study["sweeps"] = {"length": {"algorithms": {"toy_plain": grid}}}
    (extended.folder / "config/tiny.yaml").write_text(yaml.safe_dump(study))
    code, output = extended.snakemake("theory", "--dry-run", configfile="config/tiny.yaml")
    assert code == 1
    assert output.splitlines()[-1] == (
        "error: sweeps.length.algorithms.toy_plain: "
        "steps: 'theorem' is not possible without a theorem"
    )
