"""A dry run shows what jobs would ask a cluster for; none of this needs one."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def plan(project, *options, **environment):
    """Lines of a dry run about requests, by rule."""
    code, output = project.snakemake("--dry-run", *options, environment=environment)
    assert code == 0, output
    lines = re.findall(r"^note: (\w+): (\d+ jobs? .*)$", output, re.MULTILINE)
    assert [name for name, _ in lines] == sorted(name for name, _ in lines)
    return dict(lines)


def test_dry_run_shows_partition_account_time_and_memory(fresh):
    shown = plan(fresh, "--profile", "profiles/slurm", SBATCH_PARTITION="main")
    assert re.fullmatch(
        r"3 jobs \(5 min, \d{4} MB, partition main, account not given\)",
        shown["bounds_by_setting"],
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


def test_inference_is_submitted_by_the_commands_of_the_document(fresh):
    """They are those of `make infer` with a profile; the one that plans most is tried."""
    commands, recipe = (
        re.findall(r"(?:snakemake|python tools/record.py|cp) .*", text)
        for text in (
            (ROOT / "docs/cluster.md").read_text().partition("`make infer`")[2].split("```")[1],
            (ROOT / "Makefile").read_text().partition("\ninfer:")[2].partition("\n\n")[0],
        )
    )
    submitted = [line.split(" #")[0].strip() for line in commands]
    assert submitted == [
        line.replace("--cores $(CORES)", "--profile profiles/slurm") for line in recipe
    ]
    _, *options, _, file = submitted[1].split()
    code, output = fresh.snakemake(*options, "--dry-run", configfile=file)
    assert code == 0, output
    asked = re.findall(r"^note: (\w+): \d+ jobs? \((\d+) min, (\d+) MB", output, re.MULTILINE)
    asked = {name: (int(minutes), int(megabytes)) for name, minutes, megabytes in asked}
    assert min(asked[name][0] for name in ("calibrate", "run", "run_block")) > 5
    # Those that have tables of runs at hand ask for more memory than those that run something.
    assert min(asked[name][1] for name in ("resampled", "verdicts")) > asked["run"][1]


def test_dry_run_on_this_machine_shows_no_requests(fresh):
    assert plan(fresh) == {}
