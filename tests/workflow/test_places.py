"""The workflow elsewhere: other folders, another workflow's module, a deployment, odd names."""

import json
import os
import re
import shutil
import subprocess

import pytest
import yaml
from snakemake.utils import update_config

from conftest import ROOT, SMOKE, Project, install
from pgpd_hf import CMDP, random_cmdp, solve
from pgpd_hf.tables import read_table

pytestmark = pytest.mark.workflow

TINY = """
name: tiny
evaluators: [8]
seeds: 2
horizon: 5
algorithms:
  npgpd_hf: {iterations: 20}
  zpgpd_hf: null
rates: null
"""
LAKE = """
name: lake
environment: {gymnasium: FrozenLake-v1, cost: holes, at_most: 0.9, discount: 0.9}
evaluators: [8]
seeds: 2
algorithms: {npgpd_hf: null, zpgpd_hf: {iterations: 20}}
rates: {evaluators: [8], seeds: 2, iterations: {zpgpd_hf: [10, 20]}}
"""
OWN = """
from dataclasses import dataclass
from typing import ClassVar

from pgpd_hf import NPGPDHF


@dataclass(frozen=True, kw_only=True)
class Same(NPGPDHF):
    name: ClassVar[str] = "same"
    label: ClassVar[str] = "Same as NPGPD-HF"
    streams: ClassVar[str] = "npgpd_hf"
    far: float = 0.0

    def update(self, run, state):
        answers = run.ask(state.theta)
        step = run.primal_step(state.multiplier) / (1 - run.cmdp.discount)
        theta = state.theta + step * (answers.reward + state.multiplier * answers.utility)
        return state.next(theta, run.dual_update(state.multiplier, answers.excess))
"""
# As `snakedeploy deploy-workflow` writes it.
DEPLOYED = """
configfile: "config/config.yaml"

module pgpd_hf:
    snakefile:
        "{project}/workflow/Snakefile"
    config:
        config

use rule * from pgpd_hf
"""
HOST = """
configfile: "host.yaml"

module core:
    snakefile: "{project}/Snakefile"
    config: config["votes"]

use rule * from core exclude all as core_*

rule mine:
    default_target: True
    input: rules.core_environment.output.optimum
    output: "mine.txt"
    script: "mine.py"
"""


def test_deployment_without_a_target_makes_the_same_whatever_the_shell_says(smoke, tmp_path):
    project, folder = smoke[0], tmp_path / "deployed"
    for name in ("workflow", "config"):
        (folder / name).mkdir(parents=True)
    (folder / "workflow/Snakefile").write_text(DEPLOYED.format(project=project.folder))
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    update_config(config, yaml.safe_load((ROOT / "config/smoke.yaml").read_text()))
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    shell = {"LC_ALL": "C", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "3", "PYTHONOPTIMIZE": "2"}
    project.snakemake("--cores", "2", cwd=folder, env=shell)
    assert project.contents(folder / "results/smoke") == project.contents()
    assert "Nothing to be done" in project.snakemake("--cores", "2", cwd=folder)


def test_scripts_of_a_host_are_noticed_and_its_configuration_makes_the_same(smoke, tmp_path):
    """What the host's own part of its file looks like is no concern of the module."""
    project, results = smoke[0], "results/smoke"
    (tmp_path / "Snakefile").write_text(HOST.format(project=project.folder))
    config = json.loads((project.folder / results / "provenance.json").read_text())["config"]
    (tmp_path / "host.yaml").write_text(f"a: &a {{1: 2}}\nb: *a\nvotes: {json.dumps(config)}\n")
    script, said = "from pathlib import Path\nPath(snakemake.output[0]).write_text('{}')\n", ""
    for text in ("one", "two"):
        (tmp_path / "mine.py").write_text(script.format(text))
        said += project.snakemake("--cores", "1", cwd=tmp_path)
        assert (tmp_path / "mine.txt").read_text() == text
        assert "Nothing to be done" in project.snakemake("--cores", "1", cwd=tmp_path)
    assert "localrule core_environment:" in said  # also under the host's name
    found, made = project.contents(tmp_path / results), project.contents()
    assert found["optimum.json"] == made["optimum.json"]


def test_study_of_ones_own_is_what_contributing_shows(finished):
    folder = finished.folder / "studies/mine"
    folder.mkdir(parents=True)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.S)
    for name, block in zip(("Snakefile", "bars.py"), blocks, strict=True):
        (folder / name).write_text(block)
    study = ("--snakefile", "studies/mine/Snakefile", "--cores", "1", *SMOKE)
    finished.snakemake(*study)
    assert (finished.folder / "results/smoke/mine/mine.png").stat().st_size > 10000
    assert "Nothing to be done" in finished.snakemake(*study)


def test_folders_may_have_odd_names_and_results_may_lie_elsewhere(tmp_path):
    folder, scratch = tmp_path / """My "odd" & $HOME's é""", tmp_path / "my scratch"
    folder.mkdir()
    scratch.mkdir()
    project = Project(folder)
    (folder / "tiny.yaml").write_text(TINY)
    for place in ((), ("--directory", scratch)):
        command = ("--configfile", "tiny.yaml", "--cores", "2", *place)
        project.snakemake(*command)
        assert "Nothing to be done" in project.snakemake(*command)
    found = project.contents(scratch / "results/tiny")
    assert found == project.contents("results/tiny")
    assert "figures/figure1.pdf" in found


def test_rates_where_a_theorem_has_no_steps_are_told_as_none(project):
    """All policies are safe here, so that averages of the violation have no logarithm."""
    (project.folder / "lake.yaml").write_text(LAKE)
    output = project.snakemake("--configfile", "lake.yaml", "--cores", "2")
    rates = read_table(project.folder / "results/lake/rates.csv").set_index("step_rule")["slope"]
    assert rates["theorem"].isna().all()
    assert rates["study"].notna().any()
    assert "none theorem's" in output
    assert "or rho is zero somewhere (Theorem 2)" in output
    averages = read_table(project.folder / "results/lake/rates_averages.csv")
    assert (averages.query("metric == 'violation'")["mean"].dropna() == 0).all()


def test_modules_beside_an_experiment_are_not_imported(finished):
    modules = ("numpy", "pandas", "types", "yaml", "jsonschema", "matplotlib", "IPython", "json")
    for place in (".", "config"):
        for name in modules:
            (finished.folder / place / f"{name}.py").write_text("raise SystemExit('imported')")
    shutil.rmtree(finished.folder / "results/smoke/notebooks")
    again = ("--forcerun", "aggregate", "provenance", "--cores", "2")
    finished.snakemake("results/smoke/summary.txt", *SMOKE, *again)


def test_plan_of_the_default_imports_nothing_heavy(project):
    plan = "import sys; from snakemake.cli import main\ntry: main(['--dry-run', '-q', 'all'])\n"
    command = [project.python, "-c", plan + "finally: print(*sys.modules)"]
    trivial = project.folder / "trivial"
    trivial.mkdir()
    (trivial / "Snakefile").write_text("rule all:\n    output: 'a'\n    shell: 'touch a'\n")
    ours, theirs = (
        {*subprocess.run(command, cwd=cwd, capture_output=True, text=True).stdout.split()}
        for cwd in (project.folder, trivial)
    )
    heavy = {"numba", "matplotlib", "pandas", "scipy", "numpy", "pgpd_hf", "papermill", "nbconvert"}
    assert ours & heavy <= theirs  # plugins of Snakemake import some of them
    assert "jsonschema" in ours


def test_package_without_a_clone_or_of_another_clone_is_refused(project, tmp_path):
    place, empty = tmp_path / "elsewhere/lib/python3/site-packages", tmp_path / "empty"
    shutil.copytree(project.folder / "src", place)
    empty.mkdir()
    plan = ("--snakefile", project.folder / "Snakefile", "--dry-run")
    python = install(tmp_path / "elsewhere/.venv", place)
    output = project.snakemake(*plan, python=python, cwd=empty, code=1)
    assert "error: pgpd_hf: a clone that pip install --editable has installed is needed" in output
    output = project.snakemake(*plan, python=install(tmp_path / "v", ROOT / "src"), code=1)
    assert f"error: pgpd_hf: installed from {ROOT}, not from here; activate .venv here" in output


def test_algorithm_and_file_of_an_environment_lie_beside_the_configuration(project):
    """An algorithm that does what NPGPD-HF does has its numbers, and all are in the user's units.

    The multiplier is what another unit of cost would be worth, by a finite difference.
    """
    drawn = random_cmdp(states=4, actions=2, instance=3)
    parts = {"transition": drawn.transition, "initial": drawn.initial, "discount": 0.9}
    parts |= {"reward": 300 * drawn.reward, "cost": -70 * drawn.utility}
    cmdp, wider = (CMDP.from_costs(at_most=it, **parts) for it in (-45, -45 + 1e-6))
    best, more = (it.in_units(solve(it).reward_value, 0)[0] for it in (cmdp, wider))
    folder, results = project.folder / "own", project.folder / "results/tiny"
    folder.mkdir()
    cmdp.save(folder / "mine.npz")
    (folder / "mine.py").write_text(OWN)
    steps = "{class: mine.py:Same, iterations: 20, primal_step: 0.1, dual_step: 0.1, far: 1}"
    text = TINY.replace("  npgpd_hf:", f"  same: {steps}\n  npgpd_hf:")
    (folder / "mine.yaml").write_text(f"{text}environment: {{file: mine.npz}}\n")
    mine = ("results/tiny/summary.txt", "--configfile", "own/mine.yaml")
    project.snakemake(*mine, "--cores", "2")
    names = ["same", "npgpd_hf"]  # in the order of the file
    ours, theirs = (read_table(results / f"runs/{name}/M8/seeds0000-0001.csv") for name in names)
    assert ours.drop(columns=["algorithm", "label"]).equals(theirs.drop(columns="algorithm"))
    table = read_table(results / "aggregate.csv")
    assert table["algorithm"].unique().tolist() == names
    page = (results / "notebooks/figure1.html").read_text()
    assert "Constraint violation of Same as NPGPD-HF: " in page
    text = (results / "summary.txt").read_text()
    assert f"reward value {best:.4g} and multiplier {(more - best) / 1e-6:.4g}.\n" in text
    assert "Gaps are in units of the reward, violations in units of the cost." in text
    told = " ".join(text.split())
    safe = (ours.groupby("seed")["constraint_violation"].last() <= 0).sum()
    last = table.groupby("algorithm").last().loc["same"]
    assert f"] {safe} of 2 NPGPD-HF 8 " in told
    assert "Same as NPGPD-HF minus NPGPD-HF 8" + 2 * " +0.0000 [+0.0000, +0.0000]" in told
    end = cmdp.units.reward_unit * last["optimality_gap"]
    panel = read_table(results / "figures/same_optimality_gap.csv")["optimality_gap"]
    assert panel.iloc[-1] == pytest.approx(end, abs=1e-8)
    assert f" 8 {end:+.4f} [" in told
    assert project.jobs(*mine) == {}
    # Files that replace them have other content, but are older.
    (folder / "mine.py").write_text(f"{OWN}\n")
    os.utime(folder / "mine.py", (0, 0))
    assert project.jobs(*mine)["runs"] == 1
    (folder / "mine.npz").write_bytes(b"no archive")
    os.utime(folder / "mine.npz", (0, 0))
    output = project.snakemake(*mine, "--cores", "1", code=1)
    assert "mine.npz: damaged, or no archive; a NumPy archive (.npz) of plain arrays" in output
    assert "Traceback" not in output
