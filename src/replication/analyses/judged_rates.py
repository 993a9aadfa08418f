"""Rates in T once more, with as many seeds as their verdicts need."""

from replication.analyses import Table, rates
from replication.study import readings

TARGET = "claims"
TABLES = {
    "full/rates": Table(
        "Rates in T, as they are judged (table)", "algorithm step_rule evaluators metric"
    )
}
READS = ("runs",)
LOCAL = True
check = rates.check
NEEDS = ("rates.iterations",)


def plan(config):
    seeds = config["claims"]["rates_seeds"]
    return rates.plan(readings.overlay(config, {"rates": {"seeds": seeds}}))


def tables(runs):
    return {"full/rates": rates.tables(runs)["rates"]}
