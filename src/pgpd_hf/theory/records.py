r"""Runs with everything that was estimated in them.

People's votes are drawn after the trajectories, so the same random words without people give
exactly the returns that people judged.
"""

from dataclasses import dataclass, replace

import numpy as np

from pgpd_hf import runs


@dataclass(frozen=True)
class Record:
    r"""One run with everything that was estimated in it.

    Attributes
    ----------
    process : Algorithm
        What ran.
    optimum : Optimum
        Of its process.
    thetas, policies : ndarray, float64, shape (T + 1, S, A)
        Parameters and policies of all iterates.
    multipliers : ndarray, float64, shape (T + 1,)
        :math:`\lambda^{(t)}`.
    answered, sampled : ndarray, float64, shape (T, 2, S, A)
        Estimates for reward and utility: from people's votes, and from the returns themselves.
    answered_excess, sampled_excess : ndarray, float64, shape (T,)
        :math:`\hat h_c`, and the mean of R - b that people judged.
    normals : ndarray, float64, shape (T, normals_per_iteration)
        What directions were made from.
    """

    process: object
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

    def __init__(self, process, optimum):
        self._process = process
        setting = process.setting
        if process.name == "zpgpd_hf":  # Theorem 2's radius would change with M
            setting = replace(setting, perturbation=process.survey.perturbation)
        self._known = type(process)(process.cmdp, optimum, replace(setting, evaluators=None))
        self.kept = []

    def __getattr__(self, name):
        return getattr(self._process, name)

    def advance(self, theta, multiplier, words, normals):
        policies, multipliers = [], []
        for t in range(len(words)):
            answered = self._process.estimate(theta, words[t], normals[t])
            sampled = self._known.estimate(theta, words[t], normals[t])
            self.kept.append((theta.copy(), *answered, *sampled, normals[t].copy()))
            policy, before, multiplier = self._process.advance(
                theta, multiplier, words[t : t + 1], normals[t : t + 1]
            )
            policies.append(policy)
            multipliers.append(before)
        self.last = theta.copy()
        return np.concatenate(policies), np.concatenate(multipliers), multiplier


def record(process, optimum, seed, purpose="run"):
    """Run an algorithm through :func:`pgpd_hf.runs.iterates` and keep its estimates.

    Parameters
    ----------
    process : Algorithm
        "npgpd_hf" or "zpgpd_hf", ready to iterate.
    optimum : Optimum
        Of its process.
    seed : int
        Names the run's streams; the iterates are those of :func:`pgpd_hf.run`.
    purpose : str
        Names the family of streams.

    Returns
    -------
    Record
    """
    recorder = _Recorder(process, optimum)
    chunks = list(runs.iterates(recorder, seed, purpose=purpose))
    thetas, answered, answered_excess, sampled, sampled_excess, normals = zip(
        *recorder.kept, strict=True
    )
    return Record(
        process=process,
        optimum=optimum,
        thetas=np.stack([*thetas, recorder.last]),
        policies=np.concatenate([chunk[0] for chunk in chunks]),
        multipliers=np.concatenate([chunk[1] for chunk in chunks]),
        answered=np.stack(answered),
        sampled=np.stack(sampled),
        answered_excess=np.array(answered_excess),
        sampled_excess=np.array(sampled_excess),
        normals=np.stack(normals),
    )
