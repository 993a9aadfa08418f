"""Questions to Slurm before a workflow submits anything.

A Snakemake that was killed leaves its jobs in the queue, and a new one does not know of them: both
would write the same files. And a request that the scheduler cannot grant is refused here once for
each rule, in the scheduler's own words, rather than once for each job in the middle of the output.
"""

import re
import shlex
import subprocess

_PATIENCE = 60  # seconds for an answer: a controller that restarts needs some
_SHOWN = 5
_OPTIONS = {
    "runtime": "time",
    "mem_mb": "mem",
    "threads": "cpus-per-task",
    "slurm_partition": "partition",
    "slurm_account": "account",
    "qos": "qos",
}


class Refusal(Exception):
    """Why nothing was submitted, in one line."""


def refuse_orphans(folder):
    """Stop if the queue still has jobs of an earlier run.

    Parameters
    ----------
    folder : str
        Where Snakemake runs, an absolute path.

    Raises
    ------
    Refusal
        Names the jobs and the command that cancels them; also if Slurm does not answer.
    """
    answer = _ask("squeue", "--me", "--noheader", "--sort=i", "--format=%i|%T|%j|%k|%Z")
    if answer.returncode:
        raise Refusal(f"squeue fails: {_essence(answer.stderr)}")
    jobs, names = [], {}
    for line in answer.stdout.splitlines():
        number, state, name, comment, place = line.split("|", 4)
        # The executor plugin's comment is rule_NAME_wildcards_VALUES.
        if place == folder and comment.startswith("rule_"):
            rule = comment.removeprefix("rule_").partition("_wildcards_")[0]
            jobs.append(f"{number} ({rule}, {state.lower()})")
            names[name] = True  # of a run: all its jobs have the same one
    if jobs:
        more = f" and {len(jobs) - _SHOWN} more" if len(jobs) > _SHOWN else ""
        raise Refusal(
            "jobs of an earlier run in this folder are still in the queue: "
            f"{', '.join(jobs[:_SHOWN])}{more}; wait until they have ended, or cancel them with "
            f"`scancel --name={','.join(names)}`, and start again"
        )


def describe(requests):
    """Describe what the jobs of each rule will ask for.

    Parameters
    ----------
    requests : dict of str to list of dict
        By rule, the request of each job: `runtime` (minutes), `mem_mb`, `threads`, and where they
        are set `slurm_partition`, `slurm_account`, `qos` and `slurm_extra`.

    Returns
    -------
    list of str
        A line for each rule, about its largest request.

    Examples
    --------
    >>> describe({"run": [{"runtime": 5, "mem_mb": 1400, "threads": 1, "slurm_partition": "main"}]})
    ['run: 1 job (5 min, 1400 MB, partition main, account not given)']
    """
    return [
        f"{rule}: {len(jobs)} job{'s' * (len(jobs) > 1)} ({_in_words(_largest(jobs))})"
        for rule, jobs in requests.items()
    ]


def refuse_requests(requests):
    """Stop if Slurm would not accept the largest request of a rule.

    Parameters
    ----------
    requests : dict of str to list of dict
        As for :func:`describe`.

    Raises
    ------
    Refusal
        The scheduler's own words, and the requests that they are about.
    """
    refused = {}
    for rule, jobs in requests.items():
        request = _largest(jobs)
        options = [f"--{_OPTIONS[key]}={request[key]}" for key in _OPTIONS if key in request]
        options += shlex.split(request.get("slurm_extra") or "")
        answer = _ask("sbatch", "--test-only", *options, "--wrap=true")
        if answer.returncode:
            words = _essence(answer.stderr)
            refused.setdefault(words, []).append(f"{rule} ({_in_words(request)})")
    if refused:
        jobs = ((", ".join(rules), words) for words, rules in refused.items())
        raise Refusal(
            "; ".join(f"sbatch refuses jobs of {rules}: {words}" for rules, words in jobs)
        )


def _largest(jobs):
    """The most that any job of a rule asks for, without what is not set."""
    most = {key: max(job[key] for job in jobs) for key in ("runtime", "mem_mb", "threads")}
    return {key: value for key, value in (jobs[0] | most).items() if value}


def _in_words(request):
    known = {"slurm_partition": "not given", "slurm_account": "not given", **request}
    words = "{runtime} min, {mem_mb} MB, partition {slurm_partition}, account {slurm_account}"
    return words.format_map(known)


def _essence(message):
    """Last line of an error message, without the prefixes of Slurm's commands."""
    last = message.strip().rpartition("\n")[2]
    return re.sub("^((sbatch|error|allocation failure): )+", "", last) or "no reason given"


def _ask(*command):
    """Run a command of Slurm."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE)
    except FileNotFoundError:
        where = "start Snakemake on a login node of the cluster"
        raise Refusal(f"no {command[0]} here: {where}") from None
    except subprocess.TimeoutExpired:
        raise Refusal(f"{command[0]} has not answered within {_PATIENCE} s") from None
