"""Steps 2.1 and 5.1: what is read from votes, as printed and without bias."""

import math

import numpy as np

from pgpd_hf.core.evaluators import unbiased_estimates
from pgpd_hf.core.links import LINKS, probability
from pgpd_hf.theory import exact

_PEOPLE = (*range(1, 41), 64, 256)


def check(ledger):
    """Check these steps.

    Parameters
    ----------
    ledger : Ledger
        Where ratios are kept.
    """
    ledger.declare(
        "exact",
        {
            "2.1": "votes as printed: E(x - Delta)^2 <= L^2/(4M), three links",
            "2.1b": "votes as printed: |E x - Delta| <= L/(2 sqrt M)",
            "5.1": "votes without bias: |E x - Delta| <= remainder of the series, three links",
            "5.1b": "logistic: |x| <= 2 + log m",
            "5.1c": "logistic: Var x <= 4m/M",
        },
    )
    for link in LINKS.values():
        for bound in (0.3, 1.0, 2.5):
            grid, steepest = np.linspace(-bound, bound, 201), link.inverse_lipschitz(bound)
            for people in _PEOPLE:
                error = exact.feedback_error(grid, people, link, bound)
                ledger.add("2.1", error.square.max(), steepest**2 / (4 * people))
                ledger.add("2.1b", np.abs(error.bias).max(), steepest / (2 * math.sqrt(people)))
        for people in (3, 7, 16, 64, 256):
            table, remainder = unbiased_estimates(people, link, 0.9)
            means, _ = answer_moments(table, np.linspace(-0.9, 0.9, 201), link)
            bias = np.abs(means - np.linspace(-0.9, 0.9, 201)).max()
            ledger.add("5.1", bias, remainder + 1e-11)
    for people in (3, 7, 16, 64, 256):
        table, _ = unbiased_estimates(people, LINKS["logistic"], 0.9)
        degree = (people + 1) // 2  # the largest that the table may use
        _, variances = answer_moments(table, np.linspace(-0.9, 0.9, 201))
        ledger.add("5.1b", np.abs(table).max(), 2 + math.log(degree))
        ledger.add("5.1c", variances.max(), 4 * degree / people)


def answer_moments(answers, differences, link=LINKS["logistic"]):
    """Mean and variance of an answer, summed over the binomial number of votes.

    Parameters
    ----------
    answers : ndarray, float64, shape (M + 1,)
        What is read from each number of votes.
    differences : ndarray, float64
        Of returns.
    link : Link
        How people vote.

    Returns
    -------
    mean, variance : ndarray, float64
        Of the shape of `differences`.
    """
    from scipy import stats  # slow to import

    distinct, places = np.unique(differences, return_inverse=True)
    chances = np.array([probability(link.code, x) for x in distinct])
    votes = np.arange(len(answers))
    mass = stats.binom.pmf(votes, len(answers) - 1, chances[:, None])
    mean = mass @ answers
    variance = np.maximum(mass @ answers**2 - mean**2, 0)
    shape = np.shape(differences)
    return mean[places].reshape(shape), variance[places].reshape(shape)
