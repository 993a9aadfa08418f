"""Rates in T once more, with as many seeds as their verdicts need."""

from pgpd_hf.analyses import rates
from pgpd_hf.studies import readings

TARGET = "claims"
TABLES = {f"{readings.FULL}rates": "Rates in T, as they are judged (table)"}
check = rates.check


def plan(config):
    seeds = config["claims"]["rates_seeds"]
    return rates.plan(readings.overlay(config, {"rates": {"seeds": seeds}}))


def tabulate(runs):
    return {"rates": rates.slopes(rates.averages(runs))}
