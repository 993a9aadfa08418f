"""Replication of "Policy Gradient Primal-Dual Method for Safe RL from Human Feedback".

Liu, Kline and Wei (arXiv 2604.19024). What is listed here works without the workflow: constrained
Markov decision processes (CMDPs) and their optima, the paper's algorithms with simulated
evaluators, their exact limits, and runs of them.
"""

from pgpd_hf.algorithms import ALGORITHMS
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.links import LINKS
from pgpd_hf.core.optima import Optimum, solve, solve_unconstrained
from pgpd_hf.environments.random import random_cmdp
from pgpd_hf.runs import checkpoint_grid, run

__all__ = [
    "ALGORITHMS",
    "CMDP",
    "LINKS",
    "Optimum",
    "checkpoint_grid",
    "random_cmdp",
    "run",
    "solve",
    "solve_unconstrained",
]
