r"""Runs with everything that was estimated in them.

Votes are drawn after the trajectories, so the same random words with infinitely many evaluators
give exactly the returns that the evaluators compared.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from pgpd_hf.core.evaluators import AS_ASSUMED
from pgpd_hf.runs.traces import iterates


@dataclass(frozen=True)
class Record:
    """One run with everything that was estimated in it."""

    algorithm: object
    optimum: object
    thetas: np.ndarray  # parameters of all iterates, (T + 1, S, A)
    policies: np.ndarray  # likewise
    multipliers: np.ndarray  # (T + 1,)
    normals: np.ndarray  # that directions were made from, (T, normals_per_iteration)
    answered: np.ndarray  # estimates for reward and utility from votes, (2, T, S, A)
    answered_excess: np.ndarray  # the constraint's estimates from votes, (T,)
    sampled: np.ndarray | None = None  # the same from the returns themselves
    sampled_excess: np.ndarray | None = None  # means of R - b

    def lagrangian(self, pair):
        """Combine a pair of arrays (T, ...), for reward and utility, with the multipliers."""
        weights = self.multipliers[:-1].reshape(-1, *[1] * (np.ndim(pair[0]) - 1))
        return pair[0] + weights * pair[1]

    def errors(self):
        """Errors of the answered advantages of the Lagrangian beside the exact ones, (T, S, A)."""
        cmdp, policies = self.algorithm.cmdp, self.policies[:-1]
        exactly = [cmdp.advantages(policies, signal) for signal in (cmdp.reward, cmdp.utility)]
        return self.lagrangian(self.answered) - self.lagrangian(exactly)

    def log_normalizers(self, step):
        """Logarithms of the normalizers of a softmax step, (T, S), with centred advantages."""
        answered = self.lagrangian(self.answered)
        centred = answered - (self.policies[:-1] * answered).sum(-1, keepdims=True)
        logarithms = special.log_softmax(self.thetas[:-1], axis=-1)
        return special.logsumexp(logarithms + step * centred, axis=-1)

    def owed(self):
        """The last multiplier, and what the projection at the cap has cut off."""
        moved = self.multipliers[:-1] - self.algorithm.dual_step * self.answered_excess
        cut = np.maximum(moved - self.algorithm.multiplier_bound, 0)
        return float(self.multipliers[-1]) + float(cut.sum())


def sample_estimates(algorithm, theta, bits, count):
    """Sample estimates of NPGPD-HF at a parameter: (count, 2, S, A), and of the constraint."""
    words = (bits.random_raw(algorithm.words_per_iteration) for _ in range(count))
    estimates, excess = zip(
        *(algorithm.estimate(theta, word, np.empty(0)) for word in words), strict=True
    )
    return np.stack(estimates), np.array(excess)


def record(algorithm, optimum, seed, purpose="run", sampled=False):
    """Run NPGPD-HF or ZPGPD-HF and keep its estimates, if `sampled` also those without votes."""
    sources = [algorithm, _without_votes(algorithm, optimum)] if sampled else [algorithm]
    thetas, used, kept = [], [], [[] for _ in sources]

    def advance(state, words, normals):
        parts = []
        for t in range(len(words)):
            thetas.append(state.theta)
            used.append(normals[t].copy())
            for source, found in zip(sources, kept, strict=True):
                found.append(source.estimate(state.theta, words[t], normals[t]))
            row = slice(t, t + 1)
            *part, state = algorithm.advance(state, words[row], normals[row])
            parts.append(part)
        return *map(np.concatenate, zip(*parts, strict=True)), state

    watched = algorithm.having(advance=advance)
    policies, multipliers, states = zip(*iterates(watched, seed, purpose=purpose), strict=True)
    estimates = [
        (np.stack([pair for pair, _ in found], axis=1), np.array([excess for _, excess in found]))
        for found in kept
    ]
    return Record(
        algorithm,
        optimum,
        np.stack([*thetas, states[-1].theta]),
        np.concatenate(policies),
        np.concatenate(multipliers),
        np.stack(used),
        *itertools.chain(*estimates),
    )


def _without_votes(algorithm, optimum):
    """The algorithm with the returns themselves in place of answers: how people vote is idle."""
    changes = {"evaluators": None, **AS_ASSUMED}
    if algorithm.name == "zpgpd_hf":  # Theorem 2's radius would change with M
        changes["perturbation"] = algorithm.perturbation.radius
    known = replace(algorithm.algorithm, **changes)
    return known.prepare(algorithm.cmdp, optimum, algorithm.iterations)
