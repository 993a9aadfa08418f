"""Slopes in T, with floors removed or fitted."""

from replication.analyses import Table
from replication.files import storage
from replication.study import summaries, sweeps

TARGET = "theory"
TABLES = {
    "slopes": Table("Slopes in T (table)", "sweep algorithm curve metric"),
    "slopes_means": Table(
        "Means behind the slopes in T (table)", "sweep algorithm curve value metric"
    ),
}
READS = ("runs",)
SHOWS = ("runs",)
NEEDS = ("sweeps.length",)  # what the page shows
SWEEPS = ("length", "corollary")


def plan(config):
    return sweeps.plan(config, SWEEPS)


def check(config):
    sweeps.check(config, SWEEPS)


def tables(runs):
    table = summaries.averages(storage.read_tables(runs), SWEEPS)
    return {
        "slopes": summaries.slopes(table, summaries.QUANTITIES, floor=True),
        "slopes_means": summaries.means(table, summaries.QUANTITIES),
    }
