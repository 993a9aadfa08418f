"""Check every step of the corrected proofs, and that what they add is needed."""

from replication import proofs
from replication.files import storage

with storage.job(snakemake):
    storage.write_table(snakemake.output[0], proofs.check_steps(snakemake.params.cases))
