"""Rates in T once more, with as many seeds as their verdicts need."""

from pgpd_hf.analyses import rates
from pgpd_hf.studies import readings

TARGET = "claims"
TABLES = {f"{readings.FULL}rates": "Rates in T, as they are judged (table)"}
check = rates.check


def plan(config):  # noqa: D103
    seeds = config["claims"]["rates_seeds"]
    return rates.plan(readings.overlay(config, {"rates": {"seeds": seeds}}))


def tabulate(runs):  # noqa: D103
    return {"rates": rates.slopes(rates.averages(runs))}
