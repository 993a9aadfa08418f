"""Make tables: call the function `tables` of an analysis, and write what it gives."""

import importlib

from replication.files import storage

with storage.job(snakemake):
    analysis = importlib.import_module(f"replication.analyses.{snakemake.params.analysis}")
    made = analysis.tables(**snakemake.input, **snakemake.params.arguments)
    for path, content in zip(snakemake.output, made.values(), strict=True):
        storage.write(path, content)
