"""Algorithms made ready to iterate, and the randomness that they consume."""

import numpy as np
from reference import random_words

from pgpd_hf import ALGORITHMS, solve

STEPS = {"primal_step": 0.3, "dual_step": 0.2, "multiplier_bound": 1.5, "perturbation": 0.4}
ASKING = ("npgpd_hf", "zpgpd_hf")  # the paper's algorithms, and their limits
EXACT = ("npg_pd", "pg_pd")


def prepare(name, cmdp, **options):
    """A run of an algorithm, with those of the options that it has."""
    kind, options = ALGORITHMS[name], {"evaluators": 16, "horizon": 5, **STEPS, **options}
    iterations = options.pop("iterations", 10)
    return kind.having(kind.pick(options)).prepare(cmdp, solve(cmdp), iterations)


def forms(name):
    """Parameterizations of an algorithm, the paper's first."""
    return ALGORITHMS[name].options()["parameterization"].one_of


def randomness(algorithm, seed, iterations):
    words = random_words(seed, iterations, algorithm.words_per_iteration)
    normals = np.random.default_rng([seed, 55]).standard_normal(
        (iterations, algorithm.normals_per_iteration)
    )
    return words, normals
