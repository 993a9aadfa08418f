"""An algorithm is one file and one entry of the configuration; nothing else is touched."""

import sys

import pytest
import yaml
from projects import ROOT

# As little as there can be: a name, and `advance`.
PLAIN = '''
"""The policy gradient with exact values, by the softmax parameterization."""

import numpy as np

from pgpd_hf.algorithms.base import Algorithm


class Plain(Algorithm):
    name = "toy_plain"

    def advance(self, theta, multiplier, words, normals):
        cmdp, policies, multipliers = self.cmdp, [], []
        for _ in words:
            policy = self.policy(theta)
            policies.append(policy)
            multipliers.append(multiplier)
            advantages = cmdp.advantages(policy, cmdp.reward + multiplier * cmdp.utility)
            theta += self.primal_step * cmdp.state_occupancy(policy)[:, None] * policy * advantages
            excess = cmdp.evaluate(policy)[1] - cmdp.threshold
            multiplier = min(max(multiplier - self.dual_step * excess, 0.0), self.multiplier_bound)
        return np.reshape(policies, (-1, *theta.shape)), np.array(multipliers), multiplier
'''
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
    "toy_plain": {"iterations": 60, "pairs": 1, "primal_step": 0.3, "dual_step": 0.2},
    "toy_half": {"iterations": 40, "pairs": 2, "primal_step": "theorem", "dual_step": "theorem"},
}
RUN = """
import pgpd_hf
for name in ("toy_plain", "toy_half"):
    options = {"evaluators": 16, "seeds": [0, 1], "iterations": 50, "pairs": 1, "horizon": 20}
    steps = {} if name == "toy_half" else {"primal_step": 3.0, "dual_step": 0.1}
    trace = pgpd_hf.run(pgpd_hf.random_cmdp(), name, **options, **steps)
    first, last = trace["reward_value"].iloc[[0, -1]]
    print(name, pgpd_hf.ALGORITHMS[name].label, last > first, trace["queries"].max())
try:
    pgpd_hf.run(pgpd_hf.random_cmdp(), "toy_plain", **options)
except ValueError as error:
    print(error)
"""
# All tests that look at every algorithm there is.
TESTS = ["unit/test_contract.py", "unit/test_runs.py", "unit/test_resources.py"]
TESTS += ["properties/test_properties.py"]


def add(project, **files):
    for name, text in files.items():
        (project.folder / f"src/pgpd_hf/algorithms/{name}.py").write_text(text)


@pytest.fixture
def extended(fresh):
    """A project with two new algorithms, and two studies that have both."""
    add(fresh, toy_plain=PLAIN, toy_half=HALF)
    for study, base in (("large", {}), ("tiny", {"seeds": 2, "horizon": 20})):
        content = {"study": study, **base, "algorithms": ENTRIES}
        (fresh.folder / f"config/{study}.yaml").write_text(yaml.safe_dump(content))
    return fresh


def test_run_knows_it(extended):
    code, output = extended.call([sys.executable, "-c", RUN])
    assert code == 0, output
    assert output.splitlines() == [
        "toy_plain toy_plain True 0",
        f"toy_half toy_half True {50 * 16 * 81}",
        "primal_step, dual_step: numbers expected, since this algorithm has no theorem",
    ]


def test_every_target_is_planned_with_it(extended):
    targets = ["all", "claims", "theory", "grid", "crate"]
    code, output = extended.snakemake("--dry-run", *targets, configfile="config/large.yaml")
    assert code == 0, output
    for name in ENTRIES:
        for people in (16, 64, 256):
            assert f"{name}, M = {people}, seeds 0000 to " in output
        assert f"{name} on binding instances 0001 to " in output
        assert f"{name}: steps around the study's" in output
        assert f"{name}: step sizes, on calibration seeds" not in output
        assert f"{name}, M = 256, sweep over T" not in output
    assert "npgpd_hf, M = 256, sweep over T" in output


def test_jobs_run_it(extended):
    runs = [f"results/tiny/runs/{name}/M64/seeds0000-0001.parquet" for name in ENTRIES]
    code, output = extended.snakemake("--cores", "2", *runs, configfile="config/tiny.yaml")
    assert code == 0, output
    assert all((extended.folder / run).exists() for run in runs)


def test_rates_are_those_of_its_theorem_only_if_it_has_one(extended):
    study = {"study": "tiny", "algorithms": ENTRIES}
    study["rates"] = {"iterations": {name: [10, 20] for name in ENTRIES}}
    (extended.folder / "config/tiny.yaml").write_text(yaml.safe_dump(study))
    code, output = extended.snakemake("--dry-run", "rates", configfile="config/tiny.yaml")
    assert code == 0, output
    planned = {
        (name, rule)
        for name in ENTRIES
        for rule in ("study", "theorem")
        if f"{name}, M = 256, sweep over T, {rule} steps" in output
    }
    assert planned == {("toy_plain", "study"), ("toy_half", "study"), ("toy_half", "theorem")}


def test_contract_holds_without_an_edit(extended):
    command = [sys.executable, "-m", "pytest", "-q", "-k", "toy", "-p", "no:cacheprovider"]
    code, output = extended.call([*command, *(f"tests/{test}" for test in TESTS)], cwd=ROOT)
    assert code == 0, output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAIN.replace("toy_plain", "toy"), "class Plain: name = 'toy_plain' expected, a name"),
        (PLAIN.replace("name = ", "title = "), "class Plain: name = 'toy_plain' expected, a name"),
        (HALF.replace("name = ", "title = "), "class Half: name = 'toy_plain' expected, a name"),
        (PLAIN.replace("advance", "iterate"), "class Plain: a method 'advance' expected"),
        (PLAIN + PLAIN.replace("Plain", "Again"), "class Again: one algorithm per file expected"),
    ],
)
def test_incomplete_file_is_named_in_one_line(fresh, text, message):
    add(fresh, toy_plain=text)
    code, output = fresh.call([sys.executable, "-c", "import pgpd_hf"])
    assert code == 1
    assert output.splitlines()[-1].startswith(f"TypeError: algorithms/toy_plain.py: {message}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"primal_step": "theorem"},
            "config: algorithms.toy_plain: primal_step, dual_step: numbers expected",
        ),
        (
            {"primal_step": "calibrated", "dual_step": "calibrated"},
            "config: calibration.grid: no entry for the algorithm 'toy_plain'",
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
    code, output = extended.snakemake("--dry-run", configfile="config/tiny.yaml")
    assert code == 1
    assert output.splitlines()[-1] == (
        "config: sweeps.length.algorithms.toy_plain: "
        "steps: 'theorem' is not possible without a theorem"
    )
