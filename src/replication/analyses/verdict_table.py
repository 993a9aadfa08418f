"""All verdicts in one table, with the power of their tests, and in lines for people."""

import pandas as pd

from replication.analyses import Table
from replication.files import storage

TARGET = "claims"
TABLES = {
    "verdicts": Table("All readings (table)", "reading claim"),
    "verdicts_power": Table(),
    "verdicts.txt": Table(),
}
READS = ("judged_claims", "judged_power", "confirmation")
CATEGORY = "Verdicts"
LOCAL = True


def arguments(judged):
    return {"titles": list(judged.values())}


def tables(judged_claims, judged_power, confirmation, titles):
    from replication.statements import report

    table = _joined(judged_claims, titles)
    fresh = [report.confirmed(table, storage.read_table(path)) for path in confirmation]
    return {
        "verdicts": table,
        "verdicts_power": _joined(judged_power, titles),
        "verdicts.txt": report.as_text(pd.concat([table, *fresh])),
    }


def _joined(paths, titles):
    """Tables below each other, with the titles of their readings."""
    tables = [storage.read_table(path) for path in paths]
    for table, title in zip(tables, titles, strict=True):
        table.insert(0, "reading", title)
    return pd.concat(tables, ignore_index=True)
