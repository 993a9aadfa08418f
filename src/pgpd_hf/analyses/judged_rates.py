"""Rates in T once more, with as many seeds as their verdicts need."""

from pgpd_hf.analyses import rates
from pgpd_hf.studies import readings

TARGET = "claims"
TABLES = {f"{readings.FULL}rates": "Rates in T, as they are judged (table)"}


def plan(config):  # noqa: D103
    return rates.work(config, config["claims"]["rates_seeds"])


def check(config, schema):  # noqa: D103
    rates.check(config, schema)


def tabulate(runs):  # noqa: D103
    return {"rates": rates.slopes(rates.averages(runs))}
