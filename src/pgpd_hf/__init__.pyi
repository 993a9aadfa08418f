from .algorithms import ALGORITHMS as ALGORITHMS
from .algorithms.npg_pd import NPGPD as NPGPD
from .algorithms.npgpd_hf import NPGPDHF as NPGPDHF
from .algorithms.pessimistic_safe_rlhf import PessimisticSafeRLHF as PessimisticSafeRLHF
from .algorithms.pg_pd import PGPD as PGPD
from .algorithms.safe_rlhf import SafeRLHF as SafeRLHF
from .algorithms.sampled_npgpd_hf import SampledNPGPDHF as SampledNPGPDHF
from .algorithms.trajectory_dpo import TrajectoryDPO as TrajectoryDPO
from .algorithms.zpg import ZPG as ZPG
from .algorithms.zpgpd_hf import ZPGPDHF as ZPGPDHF
from .core.cmdp import CMDP as CMDP
from .core.links import LINKS as LINKS
from .core.optima import Optimum as Optimum
from .core.optima import solve as solve
from .core.optima import solve_unconstrained as solve_unconstrained
from .deployment import certify as certify
from .environments.ding import ding_cmdp as ding_cmdp
from .environments.gymnasium import from_gymnasium as from_gymnasium
from .environments.media_streaming import media_streaming as media_streaming
from .environments.random import random_cmdp as random_cmdp
from .plotting import plot_policy as plot_policy
from .races import choose_steps as choose_steps
from .runs import checkpoint_grid as checkpoint_grid
from .runs import run as run
from .stability import Stability as Stability
from .stability import predict_stability as predict_stability

__version__: str
