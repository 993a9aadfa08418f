"""Put all verdicts into one table, and print it for people."""

import pandas as pd

from pgpd_hf.claims import report
from pgpd_hf.support import storage

with storage.job(snakemake):
    tables = []
    for path, title in zip(snakemake.input.tables, snakemake.params.titles, strict=True):
        table = storage.read_table(path)
        table.insert(0, "reading", title)
        tables.append(table)
    table = pd.concat(tables, ignore_index=True)
    storage.write_table(snakemake.output.table, table)
    storage.write_text(snakemake.output.text, report.as_text(table))
