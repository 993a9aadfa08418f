r"""The information limit: what estimates from K answers can reach, by the bound of Cramér and Rao.

No unbiased estimate of r and g from K answers has a covariance below the inverse of their Fisher
information. The limit is the mean priced gap of the policy that is best for an estimate that
attains this bound. It assumes that

* the estimate is unbiased, and normal (as maximum likelihood is with many answers);
* the policy is the best one for the estimate, without margins, and transitions are known;
* the design is fixed in advance: one of :data:`pgpd_hf.core.questions.DESIGNS`, and one of
  :data:`SPLITS` of the answers among the three questions, whichever is best at the middle budget.

A method beats it only by giving one of these up: priors bias estimates towards the middle of the
range (which pays off while answers are few), margins change the policy, and adaptive designs ask
where it matters.
"""

import itertools
from typing import NamedTuple

import numpy as np

from pgpd_hf.algorithms import Setting
from pgpd_hf.core import streams
from pgpd_hf.core.likelihood import information
from pgpd_hf.core.links import get_link
from pgpd_hf.core.optima import best_for, maximize
from pgpd_hf.core.questions import DESIGNS, ask_about, no_answers
from pgpd_hf.core.simulator import count_words, make_simulator

# Shares of comparisons of reward, comparisons of utility, and absolute questions.
SPLITS = ((1 / 3, 1 / 3, 1 / 3), (0.4, 0.4, 0.2), (0.45, 0.45, 0.1), (0.6, 0.2, 0.2))
_ROUND = 1000  # pairs that are sampled at once
_NOTHING = 1e-10  # an eigenvalue of the information, relative to the largest: nothing is known


class AnswerInformation(NamedTuple):
    """Mean Fisher information of one answer to each of the three questions.

    Attributes
    ----------
    reward, utility, absolute : ndarray, float64, shape (S * A, S * A)
        Of a comparison of reward, a comparison of utility, and an absolute answer.
    """

    reward: np.ndarray
    utility: np.ndarray
    absolute: np.ndarray


def answer_information(cmdp, design, horizon, link, pairs, seed=0):
    """Compute the information of an answer, averaged over pairs of trajectories.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.
    design : str
        One of :data:`pgpd_hf.core.questions.DESIGNS`.
    horizon : int
        H.
    link : str
        Name of the link.
    pairs : int
        Number of pairs that are sampled.
    seed : int
        Names the random stream.

    Returns
    -------
    AnswerInformation
    """
    stream = streams.word_stream(purpose="information", design=design, seed=seed)
    total, link_of = [0.0, 0.0, 0.0], get_link(link)
    reward, utility = cmdp.reward.ravel(), cmdp.utility.ravel()
    for begin in range(0, pairs, _ROUND):
        rounds = min(_ROUND, pairs - begin)
        setting = Setting(None, 1, pairs=rounds, horizon=horizon, link=link)
        words = np.empty(count_words(rounds, horizon, 2 * rounds, 3 * rounds), np.uint64)
        streams.draw_words(stream, words)
        nothing = no_answers(cmdp.states, cmdp.actions, 3)
        visits = ask_about(
            make_simulator(cmdp, setting), design, cmdp.actions, words, nothing
        ).visits
        differences, zeros, ones = visits[:, 0] - visits[:, 1], np.zeros(rounds), np.ones(rounds)
        below = np.full(rounds, -cmdp.threshold)
        parts = ((differences, zeros, reward), (differences, zeros, utility))
        parts += ((visits[:, 0], below, utility),)
        for k, (features, offsets, signal) in enumerate(parts):
            total[k] = total[k] + information(features, offsets, ones, link_of, signal) / pairs
    return AnswerInformation(*total)


def plug_in_gaps(cmdp, optimum, known, split, answers, draws, seed=0):
    """Priced gaps of the policies that are best for efficient estimates.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.
    optimum : Optimum
        Its optimum.
    known : AnswerInformation
        Of the design.
    split : tuple of float
        Shares of the three questions, which sum to one.
    answers : float
        K.
    draws : int
        Number of estimates.
    seed : int
        Names the random stream.

    Returns
    -------
    ndarray, float64, shape (draws,)
        Non-negative up to rounding.
    """
    random = np.random.Generator(streams.bit_generator(purpose="information limit", seed=seed))
    roots = (
        _error_root(answers * split[0] * known.reward),
        _error_root(answers * (split[1] * known.utility + split[2] * known.absolute)),
    )
    gaps = np.empty(draws)
    for draw in range(draws):
        reward, utility = (
            signal + (root @ random.standard_normal(signal.size)).reshape(signal.shape)
            for signal, root in zip((cmdp.reward, cmdp.utility), roots, strict=True)
        )
        found = best_for(cmdp, reward, utility)
        policy = maximize(cmdp, utility) if found is None else found[0]
        v_r, v_g = cmdp.evaluate(policy)
        gaps[draw] = optimum.reward_value - v_r + optimum.multiplier * (cmdp.threshold - v_g)
    return gaps


def information_limit(cmdp, optimum, budgets, horizon, link, draws, pairs):
    """Mean priced gap of efficient plug-in policies, for the best design and split.

    Parameters
    ----------
    cmdp, optimum
        The CMDP and its optimum.
    budgets : sequence of int
        Numbers of answers.
    horizon : int
        H.
    link : str
        Name of the link.
    draws : int
        Estimates per budget.
    pairs : int
        As for :func:`answer_information`.

    Returns
    -------
    design : str
        The best design.
    split : tuple of float
        The best split.
    gaps : ndarray, float64, shape (budgets, draws)
        Priced gaps, on other draws than those by which design and split were chosen.
    """
    known = {name: answer_information(cmdp, name, horizon, link, pairs) for name in DESIGNS}
    middle = budgets[len(budgets) // 2]

    def score(choice):
        design, split = choice
        few = max(2, draws // 4)
        return plug_in_gaps(cmdp, optimum, known[design], split, middle, few, seed=1).mean()

    design, split = min(itertools.product(DESIGNS, SPLITS), key=score)
    gaps = [plug_in_gaps(cmdp, optimum, known[design], split, k, draws) for k in budgets]
    return design, split, np.array(gaps)


def _error_root(known):
    """A root of the smallest covariance; directions about which nothing is known have no error.

    The only such direction is a constant in all rewards, which changes no policy.
    """
    values, vectors = np.linalg.eigh(known)
    kept = values > _NOTHING * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept]) @ vectors[:, kept].T
