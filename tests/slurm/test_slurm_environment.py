"""A study of a Gymnasium environment, through Slurm: verdicts, and pictures of policies."""

import pytest
from slurm_project import HERE, PROFILE, Project, submitted

pytestmark = pytest.mark.slurm

TARGETS = ("results/lake/claims.csv", "policies")


@pytest.mark.usefixtures("cluster")
def test_study_of_an_environment_is_that_of_one_machine(tmp_path_factory):
    files = [HERE / "environment.yaml"]
    local = Project(tmp_path_factory.mktemp("local"), "lake", files)
    code, output = local.snakemake(*TARGETS, "--cores", "2")
    assert code == 0, output
    remote = Project(tmp_path_factory.mktemp("remote"), "lake", files)
    code, output = remote.snakemake(*TARGETS, *PROFILE, "--jobs", "4")
    assert code == 0, output
    assert {"calibrate", "run"} <= {rule for _, rule, _ in submitted(output)}
    assert local.tables() == remote.tables()
    name = "policies_M16.png"
    assert (
        remote.results("figures", name).read_bytes() == local.results("figures", name).read_bytes()
    )
