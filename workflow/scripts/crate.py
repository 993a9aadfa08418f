"""Pack a study: workflow, configuration, results, and the run between them."""

from replication.files import crate, provenance, storage

with storage.job(snakemake):
    crate.write_crate(
        snakemake.output[0],
        study=snakemake.params.study,
        sources=snakemake.input.project,
        configuration=snakemake.input.configuration,
        results=snakemake.input.results,
        provenance=storage.read_json(snakemake.input.provenance),
        period=provenance.period(snakemake.params.made),
    )
