"""A dry run shows what jobs would ask a cluster for; none of this needs one."""

import re


def plan(project, *options, **environment):
    """Lines of a dry run about requests, by rule."""
    code, output = project.snakemake("--dry-run", *options, environment=environment)
    assert code == 0, output
    lines = re.findall(r"^cluster: (\w+): (.*)$", output, re.MULTILINE)
    assert [name for name, _ in lines] == sorted(name for name, _ in lines)
    return dict(lines)


def test_dry_run_shows_partition_account_time_and_memory(fresh):
    shown = plan(fresh, "--profile", "profiles/slurm", SBATCH_PARTITION="main")
    assert re.fullmatch(
        r"3 jobs \(5 min, \d{4} MB, partition main, account not given\)", shown["bound"]
    )
    assert {"calibrate", "run"} <= set(shown)
    assert not {"environment", "aggregate", "all"} & set(shown)  # these are not submitted
    (fresh.folder / "site.yaml").write_text(
        "default-resources: {slurm_partition: long, slurm_account: mine}\n"
        "set-resources: {calibrate: {runtime: 120}}\n"
    )
    shown = plan(fresh, "--profile", "profiles/slurm", "--profile", "site.yaml")
    assert shown["calibrate"].startswith("2 jobs (120 min, ")
    assert shown["calibrate"].endswith(", partition long, account mine)")


def test_dry_run_on_this_machine_shows_no_requests(fresh):
    assert plan(fresh) == {}
