"""Panels and Figure 1."""

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core.recording import METRICS

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
    algorithms = config["algorithms"]
    return {
        "study": config["study"],
        "left_out": left_out,
        "look": config["look"],
        "raced": raced,
        "rounds": {name: options["rounds"] for name, options in algorithms.items()},
        "radius": algorithms.get("zpgpd_hf", {}).get("perturbation"),
    }
