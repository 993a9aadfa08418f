# What Slurm is asked before the first job is submitted; nothing else.


def requests():
    """What jobs that are to be submitted ask for, by rule."""
    found = {}
    for job in workflow.dag.needrun_jobs():
        if not job.is_local:
            asked = {"threads": job.threads, **job.resources}
            found.setdefault(job.rule.name, []).append(asked)
    return found


def consult_slurm():
    """Stop with one line if jobs of an earlier run are in the queue, or these would be refused."""
    from pgpd_hf.support import slurm

    try:
        slurm.refuse_orphans(os.getcwd())
        slurm.refuse_requests(requests())
    except slurm.Refusal as refusal:
        sys.exit(f"slurm: {refusal}")
