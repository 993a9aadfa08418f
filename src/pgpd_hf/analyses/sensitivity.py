"""Settings around those of the study, to see how far its results depend on them."""

import pandas as pd

from pgpd_hf.claims.evidence import Evidence, Member, Term
from pgpd_hf.claims.verdicts import point_verdicts
from pgpd_hf.runs import checkpoint_grid, run

AXES = ("steps", "pairs", "perturbation")


def neighbours(setting, axis, options):
    """Settings along one axis.

    Parameters
    ----------
    setting : dict
        Keyword arguments of :func:`pgpd_hf.run`, with numbers as step sizes.
    axis : {"steps", "pairs", "perturbation"}
        What is varied: both step sizes by all pairs of factors, N, or mu.
    options : dict
        `factors`, `pairs` and `perturbation` of the configuration.

    Returns
    -------
    list of tuple
        Position along the axis (two factors, or the value and nothing) and the setting.
    """
    if axis == "steps":
        return [
            (
                (float(first), float(second)),
                {
                    **setting,
                    "primal_step": first * setting["primal_step"],
                    "dual_step": second * setting["dual_step"],
                },
            )
            for first in options["factors"]
            for second in options["factors"]
        ]
    return [((value, None), {**setting, axis: value}) for value in options[axis]]


def explore(cmdp, algorithm, settings, evaluators, seeds, claims):
    """Run settings, and see what holds in each.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    algorithm : str
        A key of :data:`pgpd_hf.ALGORITHMS`.
    settings : list of tuple
        As of :func:`neighbours`.
    evaluators : sequence of int
        Values of M.
    seeds : int
        Runs of each setting and M.
    claims : dict
        Made by :func:`pgpd_hf.claims.load_claims`.

    Returns
    -------
    pandas.DataFrame
        A row per position and M: first, second, evaluators, gap and violation (mean over the
        last quarter, in units of the largest value), holding and decidable (numbers of statements
        about this algorithm alone that the estimates bear out, and that they can decide).
    """
    rows = []
    for (first, second), setting in settings:
        traces = [
            run(
                cmdp,
                algorithm,
                seeds=range(seeds),
                checkpoints=checkpoint_grid(setting["iterations"]),
                purpose="sensitivity",
                **{**setting, "evaluators": people},
            )
            for people in evaluators
        ]
        table = pd.concat(traces, ignore_index=True)
        member = Member(table, cmdp.value_bound, cmdp.states * cmdp.actions)
        evidence = Evidence([member])
        holds = [verdict for verdict in point_verdicts(claims, evidence) if verdict is not None]
        for people in evaluators:
            level = {
                name: evidence.samples(Term(1, algorithm, people, column, "last_quarter"))[1].mean()
                for name, column in (
                    ("gap", "optimality_gap"),
                    ("violation", "constraint_violation"),
                )
            }
            row = {"first": first, "second": second, "evaluators": people, **level}
            rows.append(row | {"holding": sum(holds), "decidable": len(holds)})
    return pd.DataFrame(rows)
