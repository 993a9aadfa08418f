"""What Slurm is asked before a workflow submits anything.

Snakemake that was killed leaves its jobs in the queue, and a new one knows nothing of them: both
would write the same files. And what the scheduler has to say about a request that it cannot grant
is said once for each rule here, in its own words, rather than for each job beside a page of
command line.
"""

import shlex
import shutil
import subprocess

_PATIENCE = 60  # seconds for an answer: a controller that restarts needs some
_SHOWN = 5


class Refusal(Exception):
    """Why nothing was submitted, in one line."""


def find_jobs(folder):
    """Jobs of a workflow in this folder that Slurm still has in its queue.

    Parameters
    ----------
    folder : str
        Where Snakemake runs, an absolute path.

    Returns
    -------
    list of tuple of str
        Number, state and rule of each job, and the name that all jobs of a run share.

    Raises
    ------
    Refusal
        If Slurm does not answer.
    """
    answer = _ask("squeue", "--me", "--noheader", "--sort=i", "--format=%i|%T|%j|%k|%Z")
    jobs = []
    for line in answer.stdout.splitlines():
        number, state, name, comment, place = line.split("|", 4)
        # The executor plugin's comment is rule_NAME_wildcards_VALUES.
        if place == folder and comment.startswith("rule_"):
            jobs.append((number, state, comment[len("rule_") :].partition("_wildcards_")[0], name))
    return jobs


def refuse_orphans(folder):
    """Stop if jobs of an earlier run are still there.

    Parameters
    ----------
    folder : str
        Where Snakemake runs.

    Raises
    ------
    Refusal
        Naming them, and the command that cancels them.
    """
    jobs = find_jobs(folder)
    if not jobs:
        return
    shown = ", ".join(
        f"{number} ({rule}, {state.lower()})" for number, state, rule, _ in jobs[:_SHOWN]
    )
    more = f" and {len(jobs) - _SHOWN} more" if len(jobs) > _SHOWN else ""
    names = ",".join(dict.fromkeys(name for *_, name in jobs))
    raise Refusal(
        f"jobs of an earlier run in this folder are still in the queue: {shown}{more}; "
        f"wait until they have ended, or cancel them with `scancel --name={names}`, "
        "and start again"
    )


def refuse_requests(requests):
    """Stop if Slurm would not accept what rules ask for.

    Parameters
    ----------
    requests : dict
        By rule, a list of what its jobs ask for: dicts with `runtime` (minutes), `mem_mb`,
        `threads`, and where they are set `slurm_partition`, `slurm_account`, `qos` and
        `slurm_extra`. Of the largest request of each rule Slurm is asked whether it could run it.

    Raises
    ------
    Refusal
        The scheduler's own words, and the rules that they are about.
    """
    refused = {}
    for rule, jobs in requests.items():
        options = dict(jobs[0])
        for key in ("runtime", "mem_mb", "threads"):
            options[key] = max(job[key] for job in jobs)
        answer = _ask("sbatch", "--test-only", *_options(options), "--wrap=true")
        if answer.returncode:
            refused.setdefault(_essence(answer.stderr), []).append((rule, options))
    if refused:
        raise Refusal("; ".join(_complaint(words, jobs) for words, jobs in refused.items()))


def _complaint(words, jobs):
    """Scheduler's words about the jobs of some rules."""
    names = ", ".join(rule for rule, _ in jobs)
    _, largest = max(jobs, key=lambda job: (job[1]["runtime"], job[1]["mem_mb"]))
    asked = [f"{largest['runtime']} min", f"{largest['mem_mb']} MB"]
    for key in ("partition", "account"):
        asked.append(f"{key} {largest.get(f'slurm_{key}') or 'not given'}")
    return f"sbatch refuses jobs of {names} ({', '.join(asked)}): {words}"


def _options(request):
    """Options of sbatch, as the executor plugin gives them."""
    options = [
        f"--time={request['runtime']}",
        f"--mem={request['mem_mb']}",
        f"--cpus-per-task={request['threads']}",
    ]
    for option, key in (
        ("partition", "slurm_partition"),
        ("account", "slurm_account"),
        ("qos", "qos"),
    ):
        if request.get(key):
            options.append(f"--{option}={request[key]}")
    return options + shlex.split(request.get("slurm_extra") or "")


def _essence(message):
    """What sbatch says at last, without what it says before each message."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return (
        lines[-1]
        .removeprefix("sbatch: ")
        .removeprefix("error: ")
        .removeprefix("allocation failure: ")
        if lines
        else "no reason given"
    )


def _ask(*command):
    """Run a command of Slurm."""
    if shutil.which(command[0]) is None:
        raise Refusal(f"no {command[0]} here: start Snakemake on a login node of the cluster")
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        raise Refusal(f"{command[0]} has not answered within {_PATIENCE} s") from None
    if answer.returncode and command[0] == "squeue":
        raise Refusal(f"squeue fails: {_essence(answer.stderr)}")
    return answer
