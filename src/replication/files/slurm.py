"""Questions to Slurm before a workflow submits anything.

A Snakemake that was killed leaves its jobs in the queue, and a new one does not know of them: both
would write the same files. And a request that the scheduler cannot grant is refused here once for
each rule, in the scheduler's own words, rather than once for each job in the middle of the output.
"""

import re
import shlex
import subprocess

_PATIENCE = 60  # seconds for an answer: a controller that restarts needs some
_OPTIONS = {
    "runtime": "time",
    "mem_mb": "mem",
    "threads": "cpus-per-task",
    "slurm_partition": "partition",
    "slurm_account": "account",
    "qos": "qos",
}


def refuse_orphans(folder):
    """Stop if the queue still has jobs of an earlier run in a folder, or Slurm does not answer."""
    listed = _ask("squeue fails", "squeue", "--me", "--noheader", "--format=%j|%k|%Z")
    rows = [line.split("|", 2) for line in listed.splitlines()]
    # The executor plugin's comment is rule_NAME_wildcards_VALUES; a run's jobs share their name.
    jobs = [
        name for name, comment, place in rows if place == folder and comment.startswith("rule_")
    ]
    if jobs:
        raise OSError(
            f"jobs of an earlier run in this folder are still in the queue, {len(jobs)} of them; "
            "wait until they have ended, or cancel them with "
            f"`scancel --name={','.join(sorted({*jobs}))}`, and start again"
        )


def describe(requests):
    """Describe the largest request of each rule, from the requests of its jobs: a line for each."""
    return [
        f"{rule}: {len(jobs)} job{'s' * (len(jobs) > 1)} ({_in_words(_largest(jobs))})"
        for rule, jobs in requests.items()
    ]


def refuse_requests(requests):
    """Stop, with the scheduler's words, if Slurm would not accept a rule's largest request."""
    for rule, jobs in requests.items():
        request = _largest(jobs)
        options = [f"--{_OPTIONS[key]}={request[key]}" for key in _OPTIONS if key in request]
        options += shlex.split(request.get("slurm_extra") or "")
        refused = f"sbatch refuses jobs of {rule} ({_in_words(request)})"
        _ask(refused, "sbatch", "--test-only", *options, "--wrap=true")


def _largest(jobs):
    """The most that any job of a rule asks for, without what is not set."""
    most = {key: max(job[key] for job in jobs) for key in ("runtime", "mem_mb", "threads")}
    return {key: value for key, value in (jobs[0] | most).items() if value}


def _in_words(request):
    known = {"slurm_partition": "not given", "slurm_account": "not given", **request}
    words = "{runtime} min, {mem_mb} MB, partition {slurm_partition}, account {slurm_account}"
    return words.format_map(known)


def _ask(refused, *command):
    """Output of a command of Slurm; if it fails, its last line without prefixes is the reason."""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE)
    except FileNotFoundError:
        where = "start Snakemake on a login node of the cluster"
        raise OSError(f"no {command[0]} here: {where}") from None
    except subprocess.TimeoutExpired:
        raise OSError(f"{command[0]} has not answered within {_PATIENCE} s") from None
    if answer.returncode:
        last = answer.stderr.strip().rpartition("\n")[2]
        words = re.sub("^((sbatch|error|allocation failure): )+", "", last)
        raise OSError(f"{refused}: {words or 'no reason given'}")
    return answer.stdout
