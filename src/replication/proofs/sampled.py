"""Step D3: sampled NPGPD-HF (a test shows D1 and D2 by enumeration)."""

from dataclasses import replace

import numpy as np

from pgpd_hf.algorithms.sampled_npgpd_hf import reaching_step
from replication.proofs.small_cmdps import random_numbers, small_cmdp
from replication.theory import sampled, theorem_1
from replication.theory.estimates import make_estimates
from replication.theory.problems import run_averages
from replication.theory.setting import Setting


def check(ledger, cases):
    """Check these steps."""
    ledger.declare("exact", {"D3c": "nu <= gamma^(-h) |A| w"})
    ledger.declare(
        "mean over runs",
        {"D3": "gap, sampled NPGPD-HF", "D3a": "violation", "D3b": "slope of the bound over -1/2"},
    )
    for case in range(max(2, cases // 10)):
        _check_runs(ledger, random_numbers("sampled", case), case)


def _check_runs(ledger, random, case):
    cmdp, best = small_cmdp(random, 3, 2, (0.5,), "normalized")
    cap, length = 2 * best.multiplier + 0.5, 3000
    setting = Setting(
        evaluators=[None, 64][case % 2],
        estimator="unbiased",
        iterations=length,
        horizon=20,
        rounds=int(random.choice([1, 3])),
        multiplier_bound=cap,
    )
    e, first = make_estimates(cmdp, setting), reaching_step(cmdp)

    def statement(primal_step, dual_step, iterations):
        return sampled.sampled(cmdp, best, first, e, primal_step, dual_step, iterations, cap)

    visits, weights = sampled.visits_and_weights(cmdp, case)
    ledger.add("D3c", visits, cmdp.discount**-case * cmdp.actions * weights)
    (eta_1, eta_2), bound = theorem_1.best_steps(statement, length)
    changed = replace(setting, primal_step=eta_1, dual_step=eta_2)
    averages = run_averages(changed.run("sampled_npgpd_hf", cmdp, best), best, range(4))
    ledger.add("D3", max(averages["gap"].mean(), 0.0), bound.gap)
    ledger.add("D3a", averages["violation"].clip(lower=0).mean(), bound.violation)
    e = replace(e, bias=0.0, excess_bias=0.0, return_bound=e.value_bound)  # nothing is biased
    worse = [theorem_1.best_steps(statement, t)[1].worse for t in (1e8, 1e10)]
    ledger.add("D3b", abs(np.log10(worse[0] / worse[1]) - 1), 0.02)
