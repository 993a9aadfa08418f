"""Policy gradient primal-dual methods for safe reinforcement learning from human feedback.

A replication of Liu, Kline and Wei (arXiv 2604.19024): the algorithms NPGPD-HF and ZPGPD-HF, which
learn a policy for a constrained Markov decision process from the votes of evaluators. A bad
argument raises ValueError: one line that names it, what is allowed, and what was given.
"""

from importlib.metadata import version

from pgpd_hf.cmdp import CMDP
from pgpd_hf.deployment import Certificate, answers_for, certify
from pgpd_hf.environments import from_gymnasium, random_cmdp
from pgpd_hf.evaluators import LINKS
from pgpd_hf.learning import Learned, learn_from_votes
from pgpd_hf.npgpd_hf import NPGPD, NPGPDHF
from pgpd_hf.optimum import Optimum, solve, solve_unconstrained
from pgpd_hf.plotting import plot_curves, plot_policy
from pgpd_hf.primal_dual import HumanFeedback, PrimalDual
from pgpd_hf.process import Process
from pgpd_hf.runs import ALGORITHMS, checkpoint_grid, run
from pgpd_hf.session import Session
from pgpd_hf.stability import Stability, predict_stability
from pgpd_hf.statistics import aggregate
from pgpd_hf.steps import choose_steps
from pgpd_hf.zpgpd_hf import PGPD, ZPGPDHF

__version__ = version("pgpd-hf")
__all__ = [
    "ALGORITHMS",
    "CMDP",
    "LINKS",
    "NPGPD",
    "NPGPDHF",
    "PGPD",
    "ZPGPDHF",
    "Certificate",
    "HumanFeedback",
    "Learned",
    "Optimum",
    "PrimalDual",
    "Process",
    "Session",
    "Stability",
    "aggregate",
    "answers_for",
    "certify",
    "checkpoint_grid",
    "choose_steps",
    "from_gymnasium",
    "learn_from_votes",
    "plot_curves",
    "plot_policy",
    "predict_stability",
    "random_cmdp",
    "run",
    "solve",
    "solve_unconstrained",
]


def __dir__():
    return __all__
