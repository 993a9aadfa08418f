r"""The random environment of Ding et al., the first natural policy gradient primal-dual method.

Ding, Zhang, Başar and Jovanović, "Natural Policy Gradient Primal-Dual Method for Constrained Markov
Decision Processes" (NeurIPS 2020), as the code that accompanies it draws it: 20 states, 10 actions,
gamma = 0.8 and a uniform first state. Rows of the transition probabilities are uniform numbers
divided by their sum; rewards and utilities are uniform in [0, 1], and V_g has to be at least 3.
"""

import sys

import numpy as np

from pgpd_hf import CMDP

UNIT = 1 - 0.8  # rewards, utilities and threshold are multiplied by it: values lie in [0, 1]


def ding_cmdp():
    """Draw the environment."""
    states, actions = 20, 10
    random = np.random.RandomState(10)  # as published
    transition = random.uniform(size=(states, actions, states))
    return CMDP(
        transition=transition / transition.sum(-1, keepdims=True),
        reward=UNIT * random.uniform(size=(states, actions)),
        utility=UNIT * random.uniform(size=(states, actions)),
        initial=np.full(states, 1 / states),
        discount=0.8,
        threshold=UNIT * 3.0,
        scale=UNIT,
    )


if __name__ == "__main__":
    ding_cmdp().save(sys.argv[1])
