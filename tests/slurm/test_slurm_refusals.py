"""Requests that the scheduler refuses stop the workflow before its first job, in one line."""

import pytest
from slurm_project import PROFILE

pytestmark = pytest.mark.slurm

TARGET = "results/cut/calibration/npgpd_hf.json"


@pytest.mark.parametrize(
    ("variables", "options", "words"),
    [
        (
            {"SBATCH_PARTITION": None},
            (),
            "No partition specified or system default partition",
        ),
        (
            {"SBATCH_PARTITION": "gpu"},
            (),
            "Invalid partition name specified",
        ),
        (
            {"SBATCH_ACCOUNT": "nobody"},
            (),
            "Invalid account or account/partition combination specified",
        ),
        (
            {},
            ("--set-resources", "calibrate:runtime=500"),
            "Requested time limit is invalid (missing or exceeds some limit)",
        ),
        (
            {},
            ("--set-resources", "calibrate:mem_mb=900000"),
            "Requested node configuration is not available",
        ),
    ],
)
def test_scheduler_is_quoted(cluster, fresh, variables, options, words):
    code, output = fresh.snakemake(TARGET, *PROFILE, *options, **variables)
    assert code == 1
    last = output.splitlines()[-1]
    assert last.startswith("slurm: sbatch refuses jobs of calibrate (")
    assert last.endswith(f"): {words}")
    assert "Traceback" not in output
    assert cluster.jobs(fresh.folder) == []
    assert not fresh.results().exists()
