"""What theorems are about: options of both of the paper's algorithms, and the length of a run."""

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.algorithms.base import MOST_ITERATIONS
from pgpd_hf.algorithms.zpgpd_hf import ZPGPDHF
from pgpd_hf.core.options import REQUIRED, option
from pgpd_hf.core.policies import PARAMETERIZATIONS


class Setting(ZPGPDHF):
    """Options of the paper's algorithms and of their exact limits, each of which takes its own.

    Examples
    --------
    >>> import pgpd_hf
    >>> from replication.theory.setting import Setting
    >>> cmdp, setting = pgpd_hf.random_cmdp(), Setting(evaluators=16, iterations=100)
    >>> setting.run("npg_pd", cmdp, pgpd_hf.solve(cmdp)).iterations
    100
    """

    name = "setting"
    iterations: int = option(REQUIRED, "T.", at_least=1, at_most=MOST_ITERATIONS)
    horizon: int = option(80, "H.", at_least=0)
    parameterization: str | None = option(
        None, "By default that of the paper.", one_of=PARAMETERIZATIONS
    )

    def run(self, algorithm, cmdp, optimum):
        """Make an algorithm, given by its class or name, ready to iterate with these options."""
        return self.of(algorithm).prepare(cmdp, optimum, self.iterations)

    def of(self, algorithm):
        """An algorithm, given by its class or name, with these options."""
        kind = get_algorithm(algorithm) if isinstance(algorithm, str) else algorithm
        options = kind.pick(vars(self))
        if self.parameterization is None:
            del options["parameterization"]
        return kind(**options)
