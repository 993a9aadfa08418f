"""Random environments whose constraint binds, and what a policy is worth in one."""

from typing import NamedTuple

from pgpd_hf import CMDP, Optimum, random_cmdp, solve
from pgpd_hf.optimum import utility_range


class Problem(NamedTuple):
    """An environment with its optimum."""

    number: int  # of the instance
    cmdp: CMDP
    optimum: Optimum

    def loss(self, policy):
        """Gap, violation and Lagrangian gap of a policy: gap + lambda* times violation."""
        v_r, v_g = (float(value) for value in self.cmdp.evaluate(policy))
        gap, violation = self.optimum.reward_value - v_r, self.cmdp.threshold - v_g
        return gap, violation, gap + self.optimum.multiplier * violation


def make(environment):
    """Problem of the options of an environment."""
    cmdp = random_cmdp(**environment)
    return Problem(environment["instance"], cmdp, solve(cmdp))


def binding(environment, first, count):
    """The first instances from a number on whose constraint binds."""
    found, numbers = [], range(first, first + 100 * count)
    for number in numbers:
        cmdp = random_cmdp(**environment | {"instance": number})
        unsafe, safest = utility_range(cmdp)
        if unsafe < cmdp.threshold < safest:
            found.append(Problem(number, cmdp, solve(cmdp)))
        if len(found) == count:
            return found
    told = f"{count} of {len(numbers)} instances whose constraint binds expected, got {len(found)}"
    raise ValueError(f"environment: {told}")
