r"""The random environment of Ding et al., the first natural policy gradient primal-dual method.

Ding, Zhang, Başar and Jovanović, "Natural Policy Gradient Primal-Dual Method for Constrained Markov
Decision Processes" (NeurIPS 2020), as the code that accompanies it draws it: 20 states, 10 actions,
gamma = 0.8 and a uniform first state. Rows of the transition probabilities are uniform numbers
divided by their sum; rewards and utilities are uniform in [0, 1], and V_g has to be at least 3.
"""

import argparse

import numpy as np

from pgpd_hf import CMDP
from pgpd_hf.tables import one_line

UNIT = 1 - 0.8  # rewards, utilities and threshold are multiplied by it: values lie in [0, 1]


def ding_cmdp(seed=10):
    """Draw the environment; the published seed of NumPy's legacy generator is 10."""
    states, actions = 20, 10
    random = np.random.RandomState(seed)
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="NumPy archive that is written")
    options = parser.parse_args()
    with one_line():
        ding_cmdp().save(options.environment)
