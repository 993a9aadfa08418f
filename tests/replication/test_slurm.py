"""Questions to Slurm, put to programs that answer as Slurm does."""

import os

import pytest

from replication.files import slurm

QUEUE = """\
run-a|rule_run_sweep_wildcards__people_npgpd_hf_0000_0003|/data/study
run-a|rule_aggregate|/data/study
run-a|rule_simulate_wildcards__x|/data/other
shell||/data/study
"""
REQUEST = {"runtime": 5, "mem_mb": 1000, "threads": 1, "slurm_partition": "main"}


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """Let commands be answered by scripts."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")

    def program(name, script):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return tmp_path / f"{name}.calls"

    return program


def queue(lines):
    """A squeue with these jobs."""
    return f"cat <<'END'\n{lines}END"


def test_orphans_are_counted_with_the_command_that_cancels_them(answers):
    answers("squeue", queue(QUEUE))
    with pytest.raises(OSError, match=r".") as refusal:
        slurm.refuse_orphans("/data/study")
    assert str(refusal.value) == (
        "jobs of an earlier run in this folder are still in the queue, 2 of them; wait until they "
        "have ended, or cancel them with `scancel --name=run-a`, and start again"
    )
    slurm.refuse_orphans("/data/third")  # no jobs there


def test_largest_request_of_each_rule_is_tried(answers):
    calls = answers("sbatch", 'echo "$@" >>"$0.calls"')
    larger = {**REQUEST, "runtime": 90, "slurm_extra": "--nice=10"}
    slurm.refuse_requests({"simulate": [REQUEST, {**REQUEST, "mem_mb": 4000}], "sweep": [larger]})
    assert calls.read_text().splitlines() == [
        "--test-only --time=5 --mem=4000 --cpus-per-task=1 --partition=main --wrap=true",
        "--test-only --time=90 --mem=1000 --cpus-per-task=1 --partition=main --nice=10 --wrap=true",
    ]


def test_what_jobs_ask_for_is_a_line_for_each_rule():
    small, large = {**REQUEST, "slurm_partition": None}, {**REQUEST, "slurm_account": "mine"}
    jobs = {"bound": [small], "simulate": [large, {**large, "runtime": 90, "mem_mb": 4000}]}
    assert slurm.describe(jobs) == [
        "bound: 1 job (5 min, 1000 MB, partition not given, account not given)",
        "simulate: 2 jobs (90 min, 4000 MB, partition main, account mine)",
    ]


def test_refusal_quotes_the_scheduler_and_names_the_rule(answers):
    words = "Requested time limit is invalid (missing or exceeds some limit)"
    answers("sbatch", f"case \"$*\" in *=90*) echo 'allocation failure: {words}' >&2; exit 1; esac")
    jobs = {"sweep": [{**REQUEST, "slurm_account": "x"}], "simulate": [{**REQUEST, "runtime": 90}]}
    with pytest.raises(OSError, match=r".") as refusal:
        slurm.refuse_requests(jobs)
    assert str(refusal.value) == (
        "sbatch refuses jobs of simulate (90 min, 1000 MB, partition main, account not given): "
        f"{words}"
    )


def test_slurm_that_fails_or_is_not_there_is_said_so(answers, monkeypatch):
    answers(
        "squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1"
    )
    with pytest.raises(OSError, match=r"squeue fails: .*Unable to contact slurm controller"):
        slurm.refuse_orphans("/data")
    monkeypatch.setattr(slurm, "_PATIENCE", 0.2)
    answers("squeue", "exec sleep 20")
    with pytest.raises(OSError, match=r"squeue has not answered within 0\.2 s"):
        slurm.refuse_orphans("/data")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(OSError, match="no sbatch here: start Snakemake on a login node"):
        slurm.refuse_requests({"simulate": [REQUEST]})
