"""Steps 2.1, 3.11 and 5.1: what is read from votes, as printed and without bias."""

import math
from fractions import Fraction

import numpy as np

from pgpd_hf.core.evaluators import unbiased_estimates
from pgpd_hf.core.links import LINKS, probability
from replication.theory import exact

_PEOPLE = (*range(1, 41), 64, 256)
_READERS = (3, 7, 16, 64, 256)
_BOUND = 0.9  # Differences up to it are read without bias.
_DIFFERENCES = np.linspace(-_BOUND, _BOUND, 201)


def check(ledger, _):
    """Check these steps; none of them is about random CMDPs."""
    ledger.declare(
        "exact",
        {
            "2.1": "votes as printed: E(x - Delta)^2 <= L^2/(4M), three links",
            "2.1b": "votes as printed: |E x - Delta| <= L/(2 sqrt M)",
            "3.11": "votes as printed: sqrt(M) beta at its limit, M = 10^5 (error over 0.02)",
            "3.11b": "votes as printed: M beta_0 <= 1 for b = 0.55, G = 1 and 16, 64, 256 people",
            "5.1": "votes without bias: |E x - Delta| <= remainder of the series, three links",
            "5.1a": "logistic: |E x - Delta| <= 2 y^(m+2)/((m + 2)(1 - y^2))",
            "5.1b": "logistic: |x| <= 2 + log m",
            "5.1c": "logistic: Var x <= 4m/M",
            "5.1d": "E U_j = y^j; x_k is the sum of 2 U_j/j (error over 1e-9)",
        },
    )
    for link in LINKS.values():
        for bound in (0.3, 1.0, 2.5):
            grid, steepest = np.linspace(-bound, bound, 201), link.inverse_lipschitz(bound)
            for people in _PEOPLE:
                error = exact.feedback_error(grid, people, link, bound)
                ledger.add("2.1", error.square.max(), steepest**2 / (4 * people))
                ledger.add("2.1b", np.abs(error.bias).max(), steepest / (2 * math.sqrt(people)))
        for people in _READERS:
            table, remainder = unbiased_estimates(people, link, _BOUND)
            means, _ = answer_moments(table, _DIFFERENCES, link)
            ledger.add("5.1", np.abs(means - _DIFFERENCES).max(), remainder + 1e-11)
    logistic, chance = LINKS["logistic"], probability(LINKS["logistic"].code, 1.0)
    limit = math.sqrt(chance * (1 - chance) / (2 * math.pi)) * logistic.inverse_lipschitz(1.0)
    bias = exact.feedback_error([1.0], 10**5, logistic, 1.0).bias
    ledger.add("3.11", np.abs(math.sqrt(10**5) * np.abs(bias) / limit - 1), 0.02)
    for people in (16, 64, 256):
        away = exact.feedback_error(np.linspace(-0.55, 0.45, 201), people, logistic, 1.0).bias
        ledger.add("3.11b", people * np.abs(away).max(), 1)
    for people in _READERS:
        _check_logistic(ledger, people)


def _check_logistic(ledger, people):
    table, remainder = unbiased_estimates(people, LINKS["logistic"], _BOUND)
    largest, odd = math.tanh(_BOUND / 2), np.arange(1, people + 1, 2)
    left_out = np.abs(_BOUND - np.cumsum(2 * largest**odd / odd) - remainder)
    degree = int(odd[np.argmin(left_out)])  # m, where the table stops
    means, variances = answer_moments(table, _DIFFERENCES)
    bias = 2 * largest ** (degree + 2) / ((degree + 2) * (1 - largest**2))
    ledger.add("5.1a", np.abs(means - _DIFFERENCES).max(), bias + 1e-11)
    ledger.add("5.1b", np.abs(table).max(), 2 + math.log(degree))
    ledger.add("5.1c", variances.max(), 4 * degree / people)
    read = np.zeros(people + 1)
    for j in range(1, degree + 1, 2):
        products = _mean_products(people, j)
        mean, _ = answer_moments(products, _DIFFERENCES)
        ledger.add("5.1d", np.abs(mean - np.tanh(_DIFFERENCES / 2) ** j).max(), 1e-9)
        read += 2 * products / j
    ledger.add("5.1d", np.abs(read - table).max(), 1e-9)


def _mean_products(people, j):
    """Mean U_j, over sets of j people, of the product of votes of plus or minus one: exact."""
    sums = [
        sum((-1) ** i * math.comb(people - k, i) * math.comb(k, j - i) for i in range(j + 1))
        for k in range(people + 1)
    ]
    return np.array([float(Fraction(x, math.comb(people, j))) for x in sums])


def answer_moments(answers, differences, link=LINKS["logistic"]):
    """Mean and variance of an answer, summed over the binomial number of votes."""
    from scipy import stats  # slow to import

    distinct, places = np.unique(differences, return_inverse=True)
    chances = np.array([probability(link.code, x) for x in distinct])
    votes = np.arange(len(answers))
    mass = stats.binom.pmf(votes, len(answers) - 1, chances[:, None])
    mean = mass @ answers
    variance = np.maximum(mass @ answers**2 - mean**2, 0)
    shape = np.shape(differences)
    return mean[places].reshape(shape), variance[places].reshape(shape)
