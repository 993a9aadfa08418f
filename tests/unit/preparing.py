"""Algorithms made ready to iterate, and the randomness that they consume."""

import numpy as np
from reference import random_words

from pgpd_hf import ALGORITHMS, solve
from pgpd_hf.algorithms import Setting

STEPS = {"primal_step": 0.3, "dual_step": 0.2, "multiplier_bound": 1.5, "perturbation": 0.4}
ASKING = ("npgpd_hf", "zpgpd_hf")  # the paper's algorithms, and their limits
EXACT = ("npg_pd", "pg_pd")


def prepare(name, cmdp, **options):
    settings = {"evaluators": 16, "iterations": 10, "rounds": 1, "horizon": 5, **STEPS, **options}
    return ALGORITHMS[name](cmdp, solve(cmdp), Setting(**settings))


def randomness(algorithm, seed, iterations):
    words = random_words(seed, iterations, algorithm.words_per_iteration)
    normals = np.random.default_rng([seed, 55]).standard_normal(
        (iterations, algorithm.normals_per_iteration)
    )
    return words, normals
