"""Check every lemma, theorem and corollary of the paper at one setting."""

from replication.files import storage
from replication.study import bounds
from replication.theory.table import check_all

with storage.job(snakemake):
    study, name = snakemake.params.study, snakemake.wildcards.setting
    cmdp, setting = bounds.problem(study, name)
    table = check_all(cmdp, setting, seeds=range(study["bounds"]["seeds"]))
    table = table.drop(columns="instance")
    table.insert(5, "setting", name)
    storage.write_table(snakemake.output[0], table)
