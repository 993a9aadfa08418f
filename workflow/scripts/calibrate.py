"""Choose the step sizes of one algorithm on calibration seeds."""

import pandas as pd

from pgpd_hf import environments
from pgpd_hf.cases import STEPS
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.studies.calibration import chosen_steps, score
from pgpd_hf.support import storage

with storage.job(snakemake):
    options = {**snakemake.params.calibration, "threads": snakemake.threads}
    if "environment" in snakemake.input.keys():
        scores = score(CMDP.load(snakemake.input.environment), **options)
        steps = dict(zip(STEPS, chosen_steps(scores), strict=True))
    else:
        steps, tables = {}, []
        for instance, environment in snakemake.params.environments.items():
            cmdp, purpose = environments.make(environment), f"calibration, instance {instance}"
            tables.append(score(cmdp, **options, purpose=purpose).assign(instance=instance))
            steps[instance] = dict(zip(STEPS, chosen_steps(tables[-1]), strict=True))
            print(f"instance {instance}: done")
        scores = pd.concat(tables, ignore_index=True)
    storage.write_table(snakemake.output.scores, scores)
    storage.write_json(snakemake.output.steps, steps)
