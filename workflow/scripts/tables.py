"""Make tables: call the function `tables` of a module of the replication, and write its frames."""

import importlib

from replication.files import storage

with storage.job(snakemake):
    module = importlib.import_module(f"replication.{snakemake.params.module}")
    files = {name: it for name, it in snakemake.input.items() if name != "code"}
    made = module.tables(**files, **snakemake.params.arguments)
    for path, table in zip(snakemake.output, made.values(), strict=True):
        storage.write_table(path, table)
