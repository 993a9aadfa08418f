"""Slopes in T, with floors removed or fitted."""

from pgpd_hf import sweeps

TARGET = "theory"
TABLES = {"slopes": "Slopes in T (table)", "slopes_means": "Means behind the slopes in T (table)"}
SWEEPS = ("length", "corollary")


def plan(config):
    return sweeps.plan(config, SWEEPS)


def check(config, schema):
    sweeps.check(config, SWEEPS)


def parameters(config):
    return {"link": config["link"]}
