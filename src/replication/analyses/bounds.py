"""The paper's bounds, the corrected ones, and what they bound."""

from replication.analyses import Table
from replication.files import storage

TARGET = "all"
TABLES = {"bounds": Table("Bounds (table)", "setting item part")}
READS = ("bounds_by_setting",)
SHOWS = ("environment", "lengths", "first_lengths", "traces", "rates_runs")
LOCAL = True
NEEDS = ("rates.iterations",)  # the page shows these runs, too


def tables(bounds_by_setting):
    return {"bounds": storage.read_tables(bounds_by_setting).astype({"holds": "boolean"})}


def parameters(config):
    return {"study": {key: config[key] for key in ("algorithms", "horizon", "link")}}
