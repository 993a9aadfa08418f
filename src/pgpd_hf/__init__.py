"""Replication of "Policy Gradient Primal-Dual Method for Safe RL from Human Feedback".

Liu, Kline and Wei (arXiv 2604.19024). What is listed here works without the workflow: constrained
Markov decision processes (CMDPs) and their optima, the paper's algorithms with simulated
evaluators, their exact limits, and runs of them.
"""

import importlib

_PLACES = {
    "ALGORITHMS": "algorithms",
    "CMDP": "core.cmdp",
    "LINKS": "core.links",
    "Optimum": "core.optima",
    "certify": "deployment",
    "checkpoint_grid": "runs",
    "choose_steps": "studies.calibration",
    "ding_cmdp": "environments.ding",
    "from_gymnasium": "environments.gymnasium",
    "media_streaming": "environments.media_streaming",
    "plot_policy": "figures.policies",
    "random_cmdp": "environments.random",
    "run": "runs",
    "solve": "core.optima",
    "solve_unconstrained": "core.optima",
}

__all__ = list(_PLACES)


def __getattr__(name):
    """Import a name when it is asked for: a job that writes a page needs no compiler."""
    if name in _PLACES:
        return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    if name in {place.partition(".")[0] for place in _PLACES.values()}:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    """Include the names that are imported on demand."""
    return sorted({*globals(), *_PLACES})
