"""Check every lemma, theorem and corollary of the paper at one setting."""

from replication import theory
from replication.files import storage
from replication.study import configuration

with storage.job(snakemake):
    study, name = snakemake.params.study, snakemake.wildcards.setting
    cmdp, setting = configuration.bound_problem(study, name)
    table = theory.check_all(cmdp, setting, seeds=range(study["bounds"]["seeds"]))
    table = table.drop(columns="instance")
    table.insert(5, "setting", name)
    storage.write_table(snakemake.output[0], table)
