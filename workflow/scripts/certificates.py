"""Compute certificates along runs, on the study's environment and on random ones."""

import pandas as pd

from pgpd_hf.algorithms import Setting
from pgpd_hf.core.cmdp import CMDP
from replication.files import storage
from replication.theory import certificates
from replication.theory.constants import OutsideAssumptions
from replication.work.cases import Case, with_steps

with storage.job(snakemake):
    cmdp = CMDP.load(snakemake.input.environment)
    steps = snakemake.input.steps
    calibrated = storage.read_json(steps[0]) if steps else None
    tables = []
    for case in (Case(**case) for case in snakemake.params.cases):
        setting = Setting(**with_steps(case.setting, calibrated))
        try:
            table = certificates.run_certificates(cmdp, case.algorithm, setting, case.seeds)
        except OutsideAssumptions as error:
            print(f"M = {setting.evaluators}: left out, {error}")
            continue
        tables.append(table.assign(case="study"))
        print(f"M = {setting.evaluators}: done")
    random = certificates.random_certificates(
        snakemake.params.draws, [snakemake.wildcards.algorithm]
    )
    table = pd.concat([*tables, random.assign(case="random")], ignore_index=True)
    table.insert(0, "case", table.pop("case"))
    storage.write_table(snakemake.output[0], table)
