# What jobs ask Slurm for, and what Slurm is asked before the first of them is submitted.

import atexit
import os
import sys


def requests():
    """What each job that has to run asks for, by rule; none for rules that are not submitted."""
    found = {}
    for job in workflow.dag.needrun_jobs(exclude_finished=False):
        # Not `job.is_local`: in a dry run all jobs are.
        if not (job.rule.norun or job.rule.name in workflow._localrules):
            found.setdefault(job.rule.name, []).append({"threads": job.threads, **job.resources})
    return dict(sorted(found.items()))


def show_requests():
    """Print what jobs ask for, a line for each rule."""
    from replication.files import slurm

    for line in slurm.describe(requests()):
        print(f"note: {line}", file=sys.stderr)


# Characters with a meaning in what an executor makes of the folder's name.
UNFIT = {"slurm": "%", "cluster-generic": '$`"\\'}


def refuse_folder():
    """Stop with one line where no job could be submitted from this folder."""
    executor = workflow.executor_plugin.name
    for character in sorted({*UNFIT.get(executor, "")} & {*os.getcwd()}):
        sys.exit(f"error: {os.getcwd()}: a folder without {character} is needed by {executor}")


def consult_slurm():
    """Stop with one line if jobs of an earlier run are in the queue, or these would be refused."""
    from replication.files import slurm

    show_requests()
    with validation.one_line(OSError):
        slurm.refuse_orphans(os.getcwd())
        slurm.refuse_requests(requests())


# A dry run has no `onstart`. Only the profiles of clusters set `default-resources`.
if workflow.is_main_process and workflow.resource_settings.default_resources:
    atexit.register(lambda: show_requests() if workflow.dryrun and workflow.dag else None)
