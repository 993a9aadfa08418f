"""Requests that the scheduler refuses stop the workflow before its first job, in one line."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from slurm_project import PROFILE, Project

pytestmark = pytest.mark.slurm

TARGET = "results/cut/calibration/npgpd_hf.json"
# Variables, options, and what the scheduler says.
REQUESTS = {
    "no partition": (
        {"SBATCH_PARTITION": None},
        (),
        "No partition specified or system default partition",
    ),
    "partition": (
        {"SBATCH_PARTITION": "gpu"},
        (),
        "Invalid partition name specified",
    ),
    "account": (
        {"SBATCH_ACCOUNT": "nobody"},
        (),
        "Invalid account or account/partition combination specified",
    ),
    "time": (
        {},
        ("--set-resources", "calibrate:runtime=500"),
        "Requested time limit is invalid (missing or exceeds some limit)",
    ),
    "memory": (
        {},
        ("--set-resources", "calibrate:mem_mb=900000"),
        "Requested node configuration is not available",
    ),
}


@pytest.fixture(scope="module")
def refused(cluster, tmp_path_factory):
    """Project, exit code and what was printed, by request: two at a time."""

    def run(name):
        variables, options, _ = REQUESTS[name]
        project = Project(tmp_path_factory.mktemp(name.replace(" ", "-")))
        return project, *project.snakemake(TARGET, *PROFILE, *options, **variables)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(REQUESTS, pool.map(run, REQUESTS), strict=True))


@pytest.mark.parametrize("name", REQUESTS)
def test_scheduler_is_quoted(cluster, refused, name):
    project, code, output = refused[name]
    assert code == 1
    last = output.splitlines()[-1]
    assert last.startswith("error: sbatch refuses jobs of calibrate (")
    assert last.endswith(f"): {REQUESTS[name][-1]}")
    assert "Traceback" not in output
    assert cluster.jobs(project.folder) == []
    assert not project.results().exists()
