"""Check every step of the corrected proofs, and that what they add is needed."""

from pgpd_hf.support import storage
from pgpd_hf.theory import steps

with storage.job(snakemake):
    storage.write_table(snakemake.output[0], steps.check_steps(snakemake.params.cases))
