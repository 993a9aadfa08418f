"""Tuning of the methods that are compared elsewhere, as of those of the comparison itself."""

from replication.analyses import Table, comparison_tuning
from replication.files import storage
from replication.study import comparison

TARGET = "compare_axes"
TABLES = {
    "axes_tuning": Table("Tuning of the methods that are compared elsewhere (table)"),
    "axes_settings": Table("Settings of the methods that are compared elsewhere (table)", "key"),
}
READS = ("runs",)
LOCAL = True
why_not = comparison.why_not
check = comparison.check_elsewhere


def plan(config):
    return comparison.plan_elsewhere(config, comparison_tuning.plan)


def tables(runs):
    found = comparison_tuning.tabulate(storage.read_tables(runs))
    return dict(zip(TABLES, found.values(), strict=True))
