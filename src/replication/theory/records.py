r"""Runs with everything that was estimated in them.

Votes are drawn after the trajectories, so the same random words with infinitely many evaluators
give exactly the returns that the evaluators compared.
"""

from dataclasses import dataclass, replace

import numpy as np

from pgpd_hf import runs


@dataclass(frozen=True)
class Record:
    r"""One run with everything that was estimated in it.

    Attributes
    ----------
    algorithm : Algorithm
        The algorithm that ran.
    optimum : Optimum
        Optimum of its CMDP.
    thetas, policies : ndarray, float64, shape (T + 1, S, A)
        Parameters and policies of all iterates.
    multipliers : ndarray, float64, shape (T + 1,)
        :math:`\lambda^{(t)}`.
    answered, sampled : ndarray, float64, shape (2, T, S, A)
        Estimates for reward and utility: from votes, and from the returns themselves.
    answered_excess, sampled_excess : ndarray, float64, shape (T,)
        :math:`\hat h_c` from votes, and from the returns themselves: the mean of R - b.
    normals : ndarray, float64, shape (T, normals_per_iteration)
        The standard normal numbers that directions were made from.
    """

    algorithm: object
    optimum: object
    thetas: np.ndarray
    policies: np.ndarray
    multipliers: np.ndarray
    answered: np.ndarray
    sampled: np.ndarray
    answered_excess: np.ndarray
    sampled_excess: np.ndarray
    normals: np.ndarray

    def lagrangian(self, pair):
        """Combine a pair of arrays, for reward and utility, with the multipliers.

        Parameters
        ----------
        pair : sequence of ndarray, float64, shape (T, ...)
            Reward's and utility's.

        Returns
        -------
        ndarray, float64, shape (T, ...)
        """
        weights = self.multipliers[:-1].reshape(-1, *[1] * (np.ndim(pair[0]) - 1))
        return pair[0] + weights * pair[1]


class _Recorder:
    """An algorithm that iterates as another one does, and keeps what it estimates."""

    def __init__(self, algorithm, optimum):
        self._algorithm = algorithm
        # How people vote does not matter where the difference itself is the answer.
        setting = replace(algorithm.setting, evaluators=None, true_link=None, random_answers=0.0)
        if algorithm.name == "zpgpd_hf":  # Theorem 2's radius would change with M
            setting = replace(setting, perturbation=algorithm.perturbation.radius)
        self._known = type(algorithm)(algorithm.cmdp, optimum, setting)
        self.kept = []

    def __getattr__(self, name):
        return getattr(self._algorithm, name)

    def advance(self, state, words, normals):
        parts = []
        for t in range(len(words)):
            answered = self._algorithm.estimate(state.theta, words[t], normals[t])
            sampled = self._known.estimate(state.theta, words[t], normals[t])
            self.kept.append((state.theta, *answered, *sampled, normals[t].copy()))
            row = slice(t, t + 1)
            *part, state = self._algorithm.advance(state, words[row], normals[row])
            parts.append(part)
        return *map(np.concatenate, zip(*parts, strict=True)), state


def sample_estimates(algorithm, theta, bits, count):
    """Sample the estimates of NPGPD-HF at a parameter.

    Parameters
    ----------
    algorithm : Algorithm
        An instance of NPGPD-HF.
    theta : ndarray, float64, shape (S, A)
        The parameter.
    bits : numpy.random.BitGenerator
        Source of the random words.
    count : int
        Number of samples.

    Returns
    -------
    estimates : ndarray, float64, shape (count, 2, S, A)
        For reward and utility.
    excess : ndarray, float64, shape (count,)
        Error of the dual step.
    """
    words = (bits.random_raw(algorithm.words_per_iteration) for _ in range(count))
    estimates, excess = zip(
        *(algorithm.estimate(theta, word, np.empty(0)) for word in words), strict=True
    )
    return np.stack(estimates), np.array(excess)


def record(algorithm, optimum, seed, purpose="run"):
    """Run an algorithm through :func:`pgpd_hf.runs.iterates` and keep its estimates.

    Parameters
    ----------
    algorithm : Algorithm
        "npgpd_hf" or "zpgpd_hf", ready to iterate.
    optimum : Optimum
        Optimum of its CMDP.
    seed : int
        Names the run's streams; the iterates are those of :func:`pgpd_hf.run`.
    purpose : str
        Names the family of streams.

    Returns
    -------
    Record
    """
    recorder = _Recorder(algorithm, optimum)
    policies, multipliers, states = zip(
        *runs.iterates(recorder, seed, purpose=purpose), strict=True
    )
    thetas, answered, answered_excess, sampled, sampled_excess, normals = zip(
        *recorder.kept, strict=True
    )
    return Record(
        algorithm=algorithm,
        optimum=optimum,
        thetas=np.stack([*thetas, states[-1].theta]),
        policies=np.concatenate(policies),
        multipliers=np.concatenate(multipliers),
        answered=np.stack(answered, axis=1),
        sampled=np.stack(sampled, axis=1),
        answered_excess=np.array(answered_excess),
        sampled_excess=np.array(sampled_excess),
        normals=np.stack(normals),
    )
