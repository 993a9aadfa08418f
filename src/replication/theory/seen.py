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

from pgpd_hf.core.evaluators import ESTIMATORS
from replication.theory.constants import OutsideAssumptions, require_slack
from replication.theory.estimates import make_estimates
from replication.theory.problems import mean_error
from replication.theory.records import record
from replication.theory.theorem_1 import Bound, growth

_DUAL = 2.0  # dual step times the root of T
_PILOT = 0.5  # primal step of a pilot run, likewise
_ROUNDING = 1e-15  # A smaller logarithm of a normalizer is rounding.
_COLUMNS = (
    "estimator evaluators rounds iterations primal_step dual_step quantity measured measured_error "
    "bound bound_error refuted run_bound run_exceeds reason"
).split()


@dataclass(frozen=True)
class Seen:
    """Quantities of one run that the bounds need, all of them computed from its answers."""

    iterations: int
    primal_step: float
    dual_step: float
    # The mean over t of max_s log Z_s with Z_s = sum_a pi(a|s) exp(kappa (A_L - <pi, A_L>)) for the
    # estimated advantages A_L. By Hoeffding's lemma it is at most kappa^2/8 times the mean over t
    # of max_s osc(A_L)^2.
    normalizer: float
    square: float  # mean over t of the constraint's squared estimates
    multipliers: np.ndarray  # of iterates 0..T-1
    owed: float  # the last multiplier, and what the projection at the cap has cut off


def watch(cmdp, optimum, setting, seed, purpose="run"):
    """Make a run; return what its bounds are computed from, and its true gap and violation."""
    algorithm = setting.run("npgpd_hf", cmdp, optimum)
    return look(record(algorithm, optimum, seed, purpose))


def look(run):
    """What the bounds of a recorded run are computed from, and its true gap and violation."""
    algorithm, cmdp = run.algorithm, run.algorithm.cmdp
    logarithms = run.log_normalizers(algorithm.primal_step / (1 - cmdp.discount))
    seen = Seen(
        iterations=len(logarithms),
        primal_step=algorithm.primal_step,
        dual_step=algorithm.dual_step,
        normalizer=float(logarithms.max(-1).mean()),
        square=float(np.mean(np.square(run.answered_excess))),
        multipliers=run.multipliers[:-1],
        owed=run.owed(),
    )
    v_r, v_g = (values.mean() for values in cmdp.evaluate(run.policies[:-1]))
    return seen, (run.optimum.reward_value - float(v_r), max(0.0, cmdp.threshold - float(v_g)))


def semi_a_priori(estimates, seen):
    """Bound of expectations, of which each run gives one sample (step 3.12)."""
    # For a single run nothing is claimed.
    gap, violation = _observed(estimates, seen)
    noise = estimates.excess_round_variance / (estimates.rounds * seen.iterations)
    return Bound(gap, violation + math.sqrt(noise) / 2)


def single_run(estimates, seen, error=0.05):
    """Bounds for one run, both at once, with a probability of 1 - `error` (step 3.13)."""
    # What step 3.12 averages away are two martingales. Their conditional variances and ranges are
    # known one step ahead, since lambda^t is, so Freedman's exponential supermartingale bounds each
    # by theta sum_i phi(theta c_i) V_i + log(2/error)/theta with a probability of at least
    # 1 - error/2, for a theta that is chosen before the run.
    e, stretch = estimates, 1 / (1 - estimates.discount)
    reach = 1 + seen.multipliers
    root, dual_root = math.sqrt(e.round_variance), math.sqrt(e.excess_round_variance)
    deviations = 2 * reach * root * stretch + seen.multipliers * dual_root
    ranges = 4 * reach * e.largest * stretch + 2 * seen.multipliers * e.largest
    # As if the multiplier were 1: a guess that costs tightness, not validity.
    guess = 4 * root * stretch + dual_root
    primal = _freedman(deviations, ranges, guess, e.rounds, seen.iterations, error / 2)
    alike = np.ones(seen.iterations)
    dual = _freedman(
        dual_root * alike, 2 * e.largest * alike, dual_root, e.rounds, seen.iterations, error / 2
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


def _freedman(deviations, ranges, guess, rounds, iterations, error):
    """Bound of a martingale over T, N differences in each iteration, up to a probability."""
    length = math.log(1 / error)
    theta = math.sqrt(2 * rounds * length / (iterations * guess**2))
    exponents = growth(theta * ranges / rounds)
    return float(theta * (exponents * deviations**2).sum() / rounds + length / theta) / iterations


def over_lengths(cmdp, optimum, setting, evaluators, plan, seeds):
    """Data-dependent bounds over M, N and T of a `plan`, for both estimators."""
    # The dual step is 2/sqrt(T); the primal one a/sqrt(T) with the a that about minimizes the bound
    # of a pilot run of the shortest length, on a random stream of its own. Errors are half widths
    # of 95 % intervals. `refuted` says that the interval of measured less bound is above zero;
    # `run_bound` is the largest bound of one run, and `run_exceeds` the share of runs above theirs.
    require_slack(optimum.slack)
    cap = 2 * cmdp.value_bound / optimum.slack
    rows = []
    for estimator, m, part in itertools.product(ESTIMATORS, evaluators, plan):
        n, iterations = part["rounds"], part["iterations"]
        at = replace(setting, evaluators=m, rounds=n, estimator=estimator, multiplier_bound=cap)
        keys = {"estimator": estimator, "evaluators": m, "rounds": n}
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
