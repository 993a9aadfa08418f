"""Put all verdicts into one table, and print it for people; likewise the power of their tests."""

import pandas as pd

from replication.files import storage
from replication.statements import report


def joined(paths, titles):
    """Tables below each other, with the titles of their readings."""
    tables = [storage.read_table(path) for path in paths]
    for table, title in zip(tables, titles, strict=True):
        table.insert(0, "reading", title)
    return pd.concat(tables, ignore_index=True)


with storage.job(snakemake):
    source, target, titles = snakemake.input, snakemake.output, snakemake.params.titles
    table = joined(source.tables, titles)
    storage.write_table(target.table, table)
    fresh = [report.confirmed(table, storage.read_table(path)) for path in source.confirmation]
    storage.write_text(target.text, report.as_text(pd.concat([table, *fresh])))
    storage.write_table(target.power, joined(source.powers, titles))
