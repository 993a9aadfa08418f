"""Panels and Figure 1."""

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.statistics import METRICS
from replication.study import algorithms

TARGET = "all"
PRIORITY = 1
RECORDS = ("confirmation", "recorded_controls")
SHOWS = ("environment", "aggregate", "optimum", "races", "own_verdicts", *RECORDS)
CATEGORY = "Figure 1"


def pictures(config):
    """Panels with their numbers, and the whole."""
    panels = {
        f"{algorithm}_{metric}": f"{get_algorithm(algorithm).label}: {metric.replace('_', ' ')}"
        for algorithm in config["algorithms"]
        for metric in METRICS
    }
    return {**{f"{panel}.csv": "" for panel in panels}, **panels, "figure1": "All panels"}


def parameters(config, left_out, raced):
    return {
        "study": config["study"],
        "left_out": left_out,
        "look": config["look"],
        "raced": raced,
        "rounds": algorithms.rounds(config),
        "radius": config["algorithms"].get("zpgpd_hf", {}).get("perturbation"),
    }
