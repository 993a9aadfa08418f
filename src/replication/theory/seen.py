r"""Bounds of NPGPD-HF's gap and violation that are computed from its runs.

Their inputs are :math:`\gamma`, |A|, b, B, G(H), the link, and the evaluators' answers; the
CMDP, its optimum and :math:`\lambda^\star` do not enter. The first (step 3.12 of the article's
appendix) bounds expectations: its right side is estimated by a mean over runs. The second (step
3.13) holds for a single run with a given probability.
"""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import special

from pgpd_hf.algorithms.npgpd_hf import NPGPDHF
from pgpd_hf.core.evaluators import ESTIMATORS
from replication.theory.constants import OutsideAssumptions, require_slack
from replication.theory.estimates import make_estimates
from replication.theory.problems import mean_error, whole_run
from replication.theory.theorem_1 import Bound, growth

_DUAL = 2.0  # dual step times the root of T
_PILOT = 0.5  # primal step of a pilot run, likewise
_ROUNDING = 1e-15  # of the logarithm of a normalizer
_COLUMNS = (
    "estimator evaluators pairs iterations primal_step dual_step quantity measured measured_error "
    "bound bound_error refuted run_bound run_exceeds reason"
).split()


@dataclass(frozen=True)
class Seen:
    r"""Quantities of one run that the bounds need, all of them computed from its answers.

    Attributes
    ----------
    iterations : int
        T.
    primal_step, dual_step : float
        :math:`\eta_1` and :math:`\eta_2`.
    normalizer : float
        :math:`\frac1T\sum_t\max_s\log\hat Z_s^t`, with :math:`\hat Z_s =
        \sum_a\pi(a|s)e^{\kappa(\hat A_L-\langle\pi,\hat A_L\rangle)}`; Hoeffding's lemma bounds it
        by :math:`\frac{\kappa^2}8\frac1T\sum_t\max_s\mathrm{osc}(\hat A_L^t)^2`.
    square : float
        :math:`\frac1T\sum_t(\hat h_c^t)^2`.
    multipliers : ndarray, float64, shape (T,)
        :math:`\lambda^{(0)}..\lambda^{(T-1)}`.
    owed : float
        :math:`\lambda^{(T)} + U`, with U what the projection at the cap cut off.
    """

    iterations: int
    primal_step: float
    dual_step: float
    normalizer: float
    square: float
    multipliers: np.ndarray
    owed: float


class Watched(NPGPDHF):
    """NPGPD-HF that keeps its estimates, for :class:`Seen`: one instance per run."""

    def __init__(self, cmdp, optimum, setting):
        super().__init__(cmdp, optimum, setting)
        self.parameters, self.advantages, self.excesses, self.cut = [], [], [], 0.0

    def advance(self, state, words, normals):  # noqa: D102
        step = self.primal_step / (1 - self.cmdp.discount)
        policies, multipliers = [], []
        for word in words:
            policy, multiplier = self.policy(state.theta), state.multiplier
            (reward, utility), excess = self.estimate(state.theta, word, normals)
            answered = reward + multiplier * utility
            self.parameters.append(state.theta)
            self.advantages.append(answered - (policy * answered).sum(-1, keepdims=True))
            self.excesses.append(excess)
            moved = multiplier - self.dual_step * excess
            self.cut += max(0.0, moved - self.multiplier_bound)
            policies.append(policy)
            multipliers.append(multiplier)
            state = state._replace(
                theta=state.theta + step * answered,
                multiplier=self.dual_update(multiplier, excess),
                iteration=state.iteration + 1,
            )
        return np.stack(policies), np.array(multipliers), state

    def normalizer(self):
        """Mean over the run of the largest logarithm of a normalizer."""
        step = self.primal_step / (1 - self.cmdp.discount)
        changes = step * np.array(self.advantages)
        logarithms = special.log_softmax(self.parameters, axis=-1) + changes
        return float(special.logsumexp(logarithms, axis=-1).max(-1).mean())


def watch(cmdp, optimum, setting, seed, purpose="run"):
    """Make a run; return what its bounds are computed from, and its true gap and violation.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    optimum : Optimum
        Its optimum.
    setting : Setting
        Setting of the run.
    seed : int
        Names the run's streams; the iterates are those of :func:`pgpd_hf.run`.
    purpose : str
        Names the family of streams.

    Returns
    -------
    seen : Seen
        Computed from its answers.
    measured : tuple of float
        Its average gap, and the positive part of its average violation, in units of value.
    """
    algorithm = Watched(cmdp, optimum, setting)
    return look(algorithm, optimum, *whole_run(algorithm, seed, purpose))


def look(algorithm, optimum, policies, multipliers):
    """What the bounds of a run are computed from, and its true gap and violation.

    Parameters
    ----------
    algorithm : Watched
        The algorithm after the run.
    optimum : Optimum
        As for :func:`watch`.
    policies, multipliers : ndarray
        The run, made by :func:`replication.theory.problems.whole_run`.

    Returns
    -------
    seen, measured
        As for :func:`watch`.
    """
    cmdp = algorithm.cmdp
    v_r, v_g = (values.mean() for values in cmdp.evaluate(policies))
    seen = Seen(
        iterations=algorithm.setting.iterations,
        primal_step=algorithm.primal_step,
        dual_step=algorithm.dual_step,
        normalizer=algorithm.normalizer(),
        square=float(np.mean(np.square(algorithm.excesses))),
        multipliers=multipliers[:-1],
        owed=float(multipliers[-1] + algorithm.cut),
    )
    return seen, (optimum.reward_value - float(v_r), max(0.0, cmdp.threshold - float(v_g)))


def semi_a_priori(estimates, seen):
    r"""Bound of expectations, of which each run gives one sample (step 3.12).

    Parameters
    ----------
    estimates : Estimates
        What is known of the estimates.
    seen : Seen
        What is seen of the run.

    Returns
    -------
    Bound
        Its expectation bounds :math:`E[V_r^\star-\bar V_r]` and :math:`E[b-\bar V_g]_+`; for a
        single run nothing is claimed.
    """
    gap, violation = _observed(estimates, seen)
    noise = estimates.excess_round_variance / (estimates.pairs * seen.iterations)
    return Bound(gap, violation + math.sqrt(noise) / 2)


def single_run(estimates, seen, error=0.05):
    r"""Bounds for one run, both at once, with a probability (step 3.13).

    What step 3.12 averages away are two martingales. Their conditional variances and ranges are
    known one step ahead, since :math:`\lambda^t` is, so Freedman's exponential supermartingale
    bounds each by :math:`\theta\sum_i\phi(\theta c_i)V_i + \log(2/\delta)/\theta` with a
    probability of at least :math:`1-\delta/2`, for a :math:`\theta` that is chosen before the run.

    Parameters
    ----------
    estimates : Estimates
        What is known of the estimates.
    seen : Seen
        What is seen of the run.
    error : float
        :math:`\delta \in (0, 1)`.

    Returns
    -------
    Bound
        Bounds of :math:`V_r^\star-\bar V_r` and :math:`[b-\bar V_g]_+` of this run; they hold with
        probability at least :math:`1-\delta`.
    """
    e, stretch = estimates, 1 / (1 - estimates.discount)
    reach = 1 + seen.multipliers
    root, dual_root = math.sqrt(e.round_variance), math.sqrt(e.excess_round_variance)
    deviations = 2 * reach * root * stretch + seen.multipliers * dual_root
    ranges = 4 * reach * e.largest * stretch + 2 * seen.multipliers * e.largest
    # As if the multiplier were 1: a guess that costs tightness, not validity.
    guess = 4 * root * stretch + dual_root
    primal = _freedman(deviations, ranges, guess, e.pairs, seen.iterations, error / 2)
    alike = np.ones(seen.iterations)
    dual = _freedman(
        dual_root * alike, 2 * e.largest * alike, dual_root, e.pairs, seen.iterations, error / 2
    )
    gap, violation = _observed(e, seen)
    return Bound(gap + primal, violation + dual)


def _observed(e, seen):
    """Both bounds but for the terms that bound martingales."""
    stretch, mean = 1 / (1 - e.discount), float(seen.multipliers.mean())
    steps = math.log(e.actions) / seen.iterations + seen.normalizer
    gap = steps / seen.primal_step + seen.dual_step * seen.square / 2
    gap += (1 + mean) * e.primal_bias * stretch + mean * e.dual_bias
    return gap, seen.owed / (seen.dual_step * seen.iterations) + e.dual_bias


def _freedman(deviations, ranges, guess, pairs, iterations, error):
    """Bound of a martingale over T, N differences in each iteration, up to a probability."""
    length = math.log(1 / error)
    theta = math.sqrt(2 * pairs * length / (iterations * guess**2))
    exponents = growth(theta * ranges / pairs)
    return float(theta * (exponents * deviations**2).sum() / pairs + length / theta) / iterations


def over_lengths(cmdp, optimum, setting, evaluators, plan, seeds):
    r"""Bounds computed from runs, over T, for both estimators.

    The dual step is :math:`2/\sqrt T`. The primal one is :math:`a/\sqrt T` with the a that about
    minimizes the bound of a pilot run of the shortest length, on a random stream of its own.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    optimum : Optimum
        Its optimum; only what is measured needs it, and the slack for the cap :math:`2B/\xi`.
    setting : Setting
        H and the link; M, N, T, the estimator and the step sizes are varied.
    evaluators : sequence of int
        Values of M; None for infinitely many.
    plan : sequence of dict
        Values of N, `pairs`, and those of T that go with each, `iterations`.
    seeds : sequence of int
        One run each; at least two.

    Returns
    -------
    pandas.DataFrame
        Columns estimator, evaluators (Int64), pairs, iterations, primal_step, dual_step, quantity
        ("gap" or "violation"), measured, measured_error, bound, bound_error (means over runs, and
        half widths of their 95 % intervals), refuted (the interval of measured less bound is
        above zero), run_bound (the largest bound of one run, up to a probability of 0.05),
        run_exceeds (share of runs above theirs) and reason, for empty cells.

    Raises
    ------
    OutsideAssumptions
        If there is no Slater slack.
    """
    require_slack(optimum.slack)
    cap = 2 * cmdp.value_bound / optimum.slack
    rows = []
    for estimator, m, part in itertools.product(ESTIMATORS, evaluators, plan):
        n, iterations = part["pairs"], part["iterations"]
        at = replace(setting, evaluators=m, pairs=n, estimator=estimator, multiplier_bound=cap)
        keys = {"estimator": estimator, "evaluators": m, "pairs": n}
        try:
            estimates = make_estimates(cmdp, at)
            factor = _pilot(cmdp, optimum, replace(at, iterations=min(iterations)))
        except ValueError as error:  # outside the assumptions, or votes that cannot be read so
            rows.append(keys | {"reason": str(error)})
            continue
        for t in iterations:
            steps = {"primal_step": factor / math.sqrt(t), "dual_step": _DUAL / math.sqrt(t)}
            found = _rows(cmdp, optimum, replace(at, iterations=t, **steps), estimates, seeds)
            rows += [keys | {"iterations": t} | steps | row for row in found]
    return pd.DataFrame(rows, columns=_COLUMNS).astype({"evaluators": "Int64"})


def _pilot(cmdp, optimum, setting):
    """Primal step times the root of T that about minimizes the bound of a pilot run."""
    root = math.sqrt(setting.iterations)
    steps = {"primal_step": _PILOT / root, "dual_step": _DUAL / root}
    seen, _ = watch(cmdp, optimum, replace(setting, **steps), 0, purpose="pilot")
    if seen.normalizer < _ROUNDING:
        raise OutsideAssumptions("actions: estimates that differ between actions expected")
    # The normalizer is nearly proportional to the square of the step.
    return math.sqrt(math.log(cmdp.actions) * _PILOT**2 / (seen.normalizer * setting.iterations))


def _rows(cmdp, optimum, setting, estimates, seeds):
    shown, measured = zip(*(watch(cmdp, optimum, setting, seed) for seed in seeds), strict=True)
    measured = np.array(measured)
    bounds = np.array([semi_a_priori(estimates, seen) for seen in shown])
    single = np.array([single_run(estimates, seen) for seen in shown])
    for k, quantity in enumerate(("gap", "violation")):
        mean, error = mean_error(measured[:, k])
        bound, bound_error = mean_error(bounds[:, k])
        difference, width = mean_error(measured[:, k] - bounds[:, k])
        yield {
            "quantity": quantity,
            "measured": mean,
            "measured_error": error,
            "bound": bound,
            "bound_error": bound_error,
            "refuted": bool(difference - width > 0),
            "run_bound": single[:, k].max(),
            "run_exceeds": float((measured[:, k] > single[:, k]).mean()),
            "reason": "",
        }
