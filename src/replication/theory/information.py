r"""The information limit: the priced gap below which no method gets on average, with K answers.

For a CMDP with signals :math:`r, g` and multiplier :math:`\lambda^*`, the priced gap of a policy
with the occupancy measure q is :math:`\max_{q'} \langle q', f\rangle - \langle q, f\rangle` with
:math:`f = r + \lambda^* g`. So a policy that is chosen by data D has on average at least

.. math:: \mathbb E\bigl[\max_q \langle q, f\rangle\bigr]
   - \mathbb E\bigl[\max_q \langle q, \mathbb E[f \mid D]\rangle\bigr],

whatever is done with D, with or without a prior or pessimism. It assumes that

* environments are drawn as here, all rewards and utilities uniform and independent, and the mean
  is over environments; a method may be better on a single one;
* the method knows everything else: transition probabilities, this distribution, and the link;
* questions are chosen in advance: one of :data:`pgpd_hf.core.questions.DESIGNS` with one of
  :data:`SPLITS` of the answers among the three questions, whichever is best at this budget;
* the likelihood of the answers is normal, with the Fisher information of the answers at the truth.
  An answer is nearly the toss of a coin, whatever the question, so that it hardly varies.

The mean of f given D is taken over random draws, and the best policy for this mean is evaluated on
the same draws: the limit errs towards lower values.
"""

import itertools
from typing import NamedTuple

import numpy as np

from pgpd_hf.core import streams
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.evaluators import count_words, make_simulator
from pgpd_hf.core.likelihood import information
from pgpd_hf.core.links import get_link
from pgpd_hf.core.optima import best_for, maximize
from pgpd_hf.core.questions import DESIGNS, ask_about, compared, no_answers

# Shares of comparisons of reward, comparisons of utility, and absolute questions.
SPLITS = (
    *((1 / 3, 1 / 3, 1 / 3), (0.4, 0.4, 0.2), (0.45, 0.45, 0.1), (0.6, 0.2, 0.2)),
    *((0.5, 0.5, 0.0), (1.0, 0.0, 0.0)),
)
_ROUND = 1000  # pairs that are sampled at once
_FEW = 5, 10  # environments and draws by which design and split are chosen
_BURN_IN, _APART = 50, 5  # sweeps of the sampler before the first draw, and between draws
_FREE = 1e-9  # precision in units of the largest one, below which a direction is free


class AnswerInformation(NamedTuple):
    """Mean Fisher information of one answer to each of the three questions."""

    reward: np.ndarray  # of a comparison of reward, (S A, S A)
    utility: np.ndarray  # of a comparison of utility
    absolute: np.ndarray  # of an absolute answer


def answer_information(cmdp, design, horizon, link, pairs):
    """Information of an answer about a design of questions, averaged over pairs of trajectories."""
    stream = streams.word_stream(purpose="information", design=design, seed=0)
    total, link_of = [0.0, 0.0, 0.0], get_link(link)
    reward, utility = cmdp.reward.ravel(), cmdp.utility.ravel()
    for begin in range(0, pairs, _ROUND):
        rounds = min(_ROUND, pairs - begin)
        words = np.empty(count_words(rounds, horizon, 2 * rounds, 3 * rounds), np.uint64)
        streams.draw_words(stream, words)
        nothing = no_answers(cmdp.states, cmdp.actions, 3)
        answers = ask_about(
            make_simulator(cmdp, None, rounds, horizon, link), design, cmdp.actions, words, nothing
        )
        differences, zeros, ones = compared(answers), np.zeros(rounds), np.ones(rounds)
        below = np.full(rounds, -cmdp.threshold)
        parts = ((differences, zeros, reward), (differences, zeros, utility))
        parts += ((answers.visits[::2], below, utility),)
        for k, (features, offsets, signal) in enumerate(parts):
            total[k] = total[k] + information(features, offsets, ones, link_of, signal) / pairs
    return AnswerInformation(*total)


def least_gap(cmdp, known, split, answers, draws, binding=False, seed=0):
    """Mean priced gap of the best policy given the answers, for one environment and its answers."""
    # Shares of the three questions are in `split`; `binding` says that environments are only drawn
    # among those whose constraint binds. The mean over environments is the limit.
    random = np.random.Generator(streams.bit_generator(purpose="information limit", seed=seed))
    precisions = (
        answers * split[0] * known.reward,
        answers * (split[1] * known.utility + split[2] * known.absolute),
    )
    chains = []
    for signal, precision in zip((cmdp.reward, cmdp.utility), precisions, strict=True):
        noise = _root(precision) @ random.standard_normal(signal.size)
        chain = signal_draws(precision, noise, signal.ravel(), cmdp.scale, draws, random)
        chains.append(chain.reshape(draws, *signal.shape))
    mean, best = np.zeros_like(cmdp.reward), []
    for reward, utility in zip(*chains, strict=True):
        found = best_for(cmdp, reward, utility)
        if found is None or (binding and found[1] == 0):
            continue  # such an environment is not drawn
        policy, multiplier = found
        priced = reward + multiplier * utility
        best.append(cmdp.initial @ cmdp.state_values(policy, priced))
        mean += priced
    if not best:
        return 0.0  # no draw is left; the priced gap is never negative
    mean /= len(best)
    return float(np.mean(best) - cmdp.initial @ cmdp.state_values(maximize(cmdp, mean), mean))


def information_limit(cmdps, budgets, horizon, link, draws, pairs, binding=False):
    """Best design and split at each budget, and their priced gaps, (budgets, environments)."""
    few, rough = _FEW
    known = {
        design: [answer_information(cmdp, design, horizon, link, pairs) for cmdp in cmdps]
        for design in DESIGNS
    }

    def gaps(design, split, budget, count, draws, seed):
        found = zip(cmdps[:count], known[design], strict=False)
        return [
            least_gap(*it, split, budget, draws, binding, seed + k) for k, it in enumerate(found)
        ]

    chosen, found = [], []
    for budget in budgets:
        best = min(
            itertools.product(DESIGNS, SPLITS),
            key=lambda it: np.mean(gaps(*it, budget, few, rough, len(cmdps))),
        )
        chosen.append(best)
        found.append(gaps(*best, budget, len(cmdps), draws, 0))
    return chosen, np.array(found)


def signal_draws(precision, noise, truth, scale, draws, random):
    """Draw signals, (draws, d), given answers: normal within [0, scale], by Gibbs sampling."""
    # The noise has the covariance of `precision`, the information of all answers, which may be
    # singular. The true signal was drawn from the prior, so that given the answers it is a draw
    # from the posterior, and the sampler, which starts there, is stationary from the start. Each
    # coordinate by itself, and all by the same amount, which comparisons hardly determine.
    directions = np.vstack([np.eye(len(truth)), np.ones(len(truth))])
    return _gibbs(precision, precision @ truth + noise, truth, scale, directions, draws, random)


@njit
def _gibbs(precision, linear, start, scale, directions, draws, random):
    theta, kept = start.copy(), np.empty((draws, len(start)))
    images = directions @ precision
    curvatures = (images * directions).sum(1)
    free = _FREE * curvatures.max()
    for sweep in range(-_BURN_IN, draws * _APART):
        for k in range(len(directions)):
            step = directions[k]
            low, high = -np.inf, np.inf
            for i in range(len(theta)):
                if step[i] > 0:
                    low, high = max(low, -theta[i]), min(high, scale - theta[i])
            if curvatures[k] <= free:
                move = low + (high - low) * random.random()
            else:
                deviation = 1 / np.sqrt(curvatures[k])
                center = (step @ linear - images[k] @ theta) / curvatures[k]
                ends = (low - center) / deviation, (high - center) / deviation
                move = center + deviation * _truncated_normal(ends[0], ends[1], random)
            theta += step * min(max(move, low), high)
        if sweep >= 0 and sweep % _APART == 0:
            kept[sweep // _APART] = theta
    return kept


@njit
def _truncated_normal(low, high, random):
    """Draw a standard normal number between two ends, by rejection (Robert 1995)."""
    if high < 0:
        return -_truncated_normal(-high, -low, random)
    if low < 0.5 and high - max(low, 0) > 1:
        while True:
            x = random.standard_normal()
            if low <= x <= high:
                return x
    if low <= 0:
        while True:  # not far from zero: the density varies little
            x = low + (high - low) * random.random()
            if random.random() < np.exp(-x * x / 2):
                return x
    while True:
        x = low - np.log1p(random.random() * np.expm1(-low * (high - low))) / low
        if random.random() < np.exp(-((x - low) ** 2) / 2):
            return x


def _root(matrix):
    """A symmetric root."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
