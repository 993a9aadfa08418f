"""The first runs of config/grid.yaml through Slurm: what they took, and what the whole will take.

They are run in short jobs, and again in one job per algorithm, which is what the profile makes of
so few. Both together tell the cost of a run from that of a job.
"""

import re
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import yaml
from projects import ROOT
from slurm_project import COSTS, HERE, PROFILE, Project, submitted

from replication.analyses import grid
from replication.study import admission, readings, resources
from replication.study.jobs import fill_jobs

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

FIRST = ("config/grid.yaml", HERE / "first.yaml")
RUNS = 432
SHORT = ("--config", "job_minutes=0.25")
STEPS = [f"results/grid/calibration/{name}.json" for name in ("npgpd_hf", "zpgpd_hf")]
TABLE = "results/grid/grid.csv"
BLOCK = "results/grid/grid/zpgpd_hf/0001-0001.parquet"
STATES = "results/states/runs/zpgpd_hf/M64/seeds0000-0002.parquet"
RUN_COLUMNS = ["algorithm", "instance", "rounds", "horizon", "evaluators", "seed"]
PER_RUN = ("core seconds", "bytes of tables")  # all else depends on the number of jobs alone


class Part:
    """The grid, run in jobs of one size: what that took, and what it left."""

    def __init__(self, cluster, project, *options):
        before = inventory(project)
        code, output = project.snakemake(TABLE, *PROFILE, "--jobs", "2", *options)
        assert code == 0, output
        self.table = (project.folder / TABLE).read_bytes()
        jobs = [(number, name) for number, rule, name in submitted(output) if rule == "run_block"]
        self.usage = {name: cluster.usage(number) for number, name in jobs}
        self.left = inventory(project)
        self.left.subtract(before)
        self.left["core seconds"] = sum(used["core seconds"] for used in self.usage.values())


def inventory(project):
    """Files of the grid, and bytes: of tables, of logs and benchmarks, and of .snakemake."""
    places = {
        "tables": [project.results("grid")],
        "logs": [project.results("logs", "grid"), project.results("benchmarks", "grid")],
        ".snakemake": [project.folder / ".snakemake"],
    }
    found = Counter()
    for name, folders in places.items():
        paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        sizes = [path.stat().st_size for path in paths]
        found["files"] += len(sizes)
        found[f"bytes of {name}"] += sum(sizes)
    return found


def extrapolate(short, long, instances):
    """What the grid takes on so many instances, in jobs of the profile's size."""
    small = readings.overlay(
        admission.load_defaults(ROOT),
        yaml.safe_load((ROOT / "config/grid.yaml").read_text()),
    )
    small["grid"]["instances"] = instances
    jobs = sum(len(fill_jobs(small, items)) for items in grid.plan(small).values())
    whole = {"runs": instances * small["grid"]["seeds"] * 54, "jobs": jobs}
    for name in long.left:
        slope = (short.left[name] - long.left[name]) / (len(short.usage) - len(long.usage))
        whole[name] = jobs * slope
        if name in PER_RUN:
            whole[name] += whole["runs"] * (long.left[name] - slope * len(long.usage)) / RUNS
    return whole


def plan(project, *options):
    """Plan the grid: seconds, megabytes, and number of jobs that run something."""
    start, peak = time.monotonic(), 0
    workflow = project.start("grid", *PROFILE, "--dry-run", "--quiet", "rules", *options)
    while workflow.process.poll() is None:
        status = Path(f"/proc/{workflow.process.pid}/status").read_text()
        peak = max([peak, *map(int, re.findall(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE))])
        time.sleep(0.1)
    took = time.monotonic() - start
    assert workflow.wait() == 0, workflow.text()
    jobs = re.search(r"^run_block +(\d+)$", workflow.text(), re.MULTILINE)[1]
    return took, peak / 1024, int(jobs)


@pytest.fixture(scope="module")
def project(cluster, tmp_path_factory):
    """The study with its step sizes, but no runs yet."""
    place = Project(tmp_path_factory.mktemp("grid"), "grid", FIRST)
    code, output = place.snakemake(*STEPS, *PROFILE)
    assert code == 0, output
    return place


@pytest.fixture(scope="module")
def short(cluster, project):
    """The grid in short jobs."""
    return Part(cluster, project, *SHORT)


@pytest.fixture(scope="module")
def states(cluster, short, tmp_path_factory):
    """A job on a large environment, which runs beside the longer jobs of the grid."""
    place = Project(tmp_path_factory.mktemp("states"), "states", (HERE / "states.yaml",))
    workflow = place.start(STATES, *PROFILE)
    yield place, workflow
    workflow.kill()


@pytest.fixture(scope="module")
def long(cluster, project, short, states):
    """The grid in jobs of the profile's size."""
    return Part(cluster, project)


def test_first_runs_of_the_grid_were_jobs_of_slurm(cluster, project, short):
    files = project.results("grid").rglob("*.parquet")
    runs = pd.concat(map(pd.read_parquet, files))[RUN_COLUMNS]
    assert len(runs.drop_duplicates()) == RUNS
    assert len(short.usage) == 4  # one for each algorithm and instance
    assert {state for _, state in cluster.jobs(project.folder)} == {"COMPLETED"}


def test_block_has_the_bytes_of_a_local_run(project, short, tmp_path):
    local = Project(tmp_path, "grid", FIRST)
    code, output = local.snakemake(BLOCK, "--cores", "2", *SHORT)
    assert code == 0, output
    assert (local.folder / BLOCK).read_bytes() == (project.folder / BLOCK).read_bytes()


def test_size_of_jobs_changes_no_number(short, long):
    assert len(long.usage) == 2
    assert long.table == short.table


def test_requests_grow_with_the_work_and_suffice(cluster, long, states):
    _, workflow = states
    assert workflow.wait() == 0, workflow.text()
    ((number, rule, name),) = submitted(workflow.text())
    rows = {f"run_block {name}": used for name, used in long.usage.items()}
    rows[f"{rule} {name}"] = cluster.usage(number)
    COSTS.append("| job | minutes requested | took | MB requested | used |")
    for name, used in rows.items():
        assert used["minutes"] < used["minutes asked"], name
        assert used["megabytes"] < used["megabytes asked"], name
        COSTS.append(
            f"| {name} | {used['minutes asked']} | {used['minutes']:.1f} "
            f"| {used['megabytes asked']:.0f} | {used['megabytes']:.0f} |"
        )
    least = resources.LEAST_MINUTES
    assert sum(used["minutes asked"] > least for used in rows.values()) == 2
    assert len({used["megabytes asked"] for used in rows.values()}) == 2


def test_costs_are_told_and_extrapolated(short, long):
    columns = [{"runs": RUNS, "jobs": len(part.usage), **part.left} for part in (short, long)] + [
        extrapolate(short, long, instances) for instances in (25, 2500)
    ]
    COSTS.append("| | short jobs | longer jobs | the grid | 2,500 instances |")
    for name in columns[0]:
        assert all(column[name] > 0 for column in columns), name
        COSTS.append(f"| {name} | " + " | ".join(f"{c[name]:,.0f}" for c in columns) + " |")
    assert columns[2]["runs"] == 10_800


@pytest.mark.parametrize("minutes", [10, 1])
def test_whole_grid_is_planned_within_a_minute_and_a_gigabyte(tmp_path, minutes):
    project = Project(tmp_path, "grid", FIRST[:1])
    seconds, megabytes, jobs = plan(project, "--config", f"job_minutes={minutes}")
    COSTS.append(f"planned: {jobs} jobs of {minutes} min in {seconds:.0f} s, {megabytes:.0f} MB")
    assert seconds < 60
    assert megabytes < 1000
    assert jobs > 5
