"""Tuning of the methods that are compared for other people and larger environments."""

from replication.analyses import Table, comparison_tuning
from replication.study import comparison, elsewhere

TARGET = "compare_axes"
TABLES = {
    "axes_tuning": Table("Tuning of the methods that are compared elsewhere (table)"),
    "axes_settings": Table("Settings of the methods that are compared elsewhere (table)", "key"),
}
READS = ("axes_races",)
LOCAL = True
why_not = comparison.why_not
check = elsewhere.check


def tables(axes_races):
    return dict(zip(TABLES, comparison_tuning.tables(axes_races).values(), strict=True))
