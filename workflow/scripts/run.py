"""Run cases: algorithms under settings, for some seeds. Runs of Figure 1 also leave policies."""

import pandas as pd

from pgpd_hf.core.cmdp import CMDP
from replication.files import storage
from replication.study.cases import Case, as_optimum, read_choices, run_cases

with storage.job(snakemake):
    cases = [Case(**case) for case in snakemake.params.cases]
    steps = snakemake.input.get("steps", [])
    calibrated = storage.read_json(steps[0]) if steps else None  # all cases are of one algorithm
    cmdp = CMDP.load(snakemake.input.environment)
    # Solved when the environment was made: the solver takes longer to load than short runs take.
    optimum = as_optimum(storage.read_json(snakemake.input.optimum), cmdp)
    tuning = snakemake.input.get("tuning", [])
    choices = read_choices(pd.read_csv(tuning[0])) if tuning else None
    given = cases, cmdp, calibrated, choices
    if "policies" in snakemake.output.keys():
        traces, policies = run_cases(*given, return_policies=True, optimum=optimum)
        storage.write(snakemake.output.policies, policies)
    else:
        traces = run_cases(*given, optimum=optimum)
    storage.write(snakemake.output[0], traces)
