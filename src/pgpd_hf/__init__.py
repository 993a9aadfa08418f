"""Policy gradient primal-dual methods for safe reinforcement learning from human feedback.

Constrained Markov decision processes (CMDPs) and their optima, the algorithms of Liu, Kline and Wei
(arXiv 2604.19024) with simulated evaluators, their exact limits and rivals, and runs of them. The
package `replication` beside this one judges the paper with it.
"""

import importlib

_PLACES = {
    "ALGORITHMS": "algorithms",
    "CMDP": "core.cmdp",
    "LINKS": "core.links",
    "Optimum": "core.optima",
    "certify": "deployment",
    "checkpoint_grid": "runs",
    "choose_steps": "races",
    "ding_cmdp": "environments.ding",
    "from_gymnasium": "environments.gymnasium",
    "media_streaming": "environments.media_streaming",
    "plot_policy": "plotting",
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
