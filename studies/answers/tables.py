"""Tables of the study, from the runs and the searches of all methods.

`comparison.csv` and `misspecification.csv` have means over seeds or environments with 95 %
intervals, and `unsafe`: the share of policies whose violation exceeds 0.02; of the best policies
without the constraint, too, which need no answers. `comparison_settings` has the settings that won.
`decisions` says which method to take.
"""

import argparse
import json
from pathlib import Path

import pandas as pd
from answers import problems
from answers.runs import budget_of
from answers.search import CHOSEN, TIED
from answers.settings import PARTS

from pgpd_hf import solve_unconstrained
from pgpd_hf.statistics import mean_interval
from pgpd_hf.tables import one_line, read_table, write_table

SAFE = 0.02  # the largest violation of a policy that counts as safe
QUANTITIES = ("gap", "violation", "lagrangian_gap")
CASE = ["method", "budget"]
_FEWEST = 3  # numbers tried, of which one is at an end


def summary(runs):
    """A row for each method and budget, from a row for each run."""
    rows = []
    for case, group in runs.groupby(CASE, sort=False):
        row = dict(zip(CASE, case, strict=True))
        row |= {name: group[name].mean() for name in ("answers", "env_steps")}
        for name in QUANTITIES:
            ends = mean_interval(group[name])
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
        rows.append(row | {"unsafe": (group["violation"] > SAFE).mean(), "runs": len(group)})
    return pd.DataFrame(rows)


def unconstrained(environment, others):
    """What the best policies without the constraint are worth, as runs that need no answers."""
    rows, common = [], {"method": "unconstrained", "budget": 0, "answers": 0, "env_steps": 0}
    for problem in problems.binding(environment, others["first"], others["count"]):
        loss = problem.loss(solve_unconstrained(problem.cmdp).policy)
        rows.append(common | dict(zip(QUANTITIES, loss, strict=True)))
    return pd.DataFrame(rows)


def setting(search):
    """The row of the setting that won, with how many are tied, and what is at an end."""
    won = search[search["standing"] == CHOSEN].iloc[0]
    tried = search[[name for name in PARTS if name != "iterations"]].select_dtypes("number")
    ends = [
        name
        for name, them in tried.items()
        if them.nunique() >= _FEWEST and won[name] in (them.min(), them.max())
    ]
    told = {"tried": len(search), "tied": (search["standing"] == TIED).sum()}
    return won.drop("standing").to_dict() | told | {"at_end": " ".join(ends)}


def decisions(runs, budgets, allowed):
    """Which method to take: the smallest mean Lagrangian gap, and what is not shown to be worse.

    A method is worse if the 95 % interval of paired differences from the best one is above zero.
    `safest` is the method with the smallest share of unsafe policies.
    """
    rows = []
    for transitions, methods in allowed.items():
        for budget in budgets:
            part = runs[(runs["budget"] == budget) & runs["method"].isin(methods)]
            losses = part.pivot(index="environment", columns="method", values="lagrangian_gap")
            unsafe = (part["violation"] > SAFE).groupby(part["method"]).mean()
            best, safest = losses.mean().idxmin(), unsafe.idxmin()
            behind = losses.drop(columns=best).sub(losses[best], axis=0)
            equal = [name for name, them in behind.items() if mean_interval(them)[1] <= 0]
            row = {"transitions": transitions, "budget": budget, "best": best}
            row |= {"lagrangian_gap": losses[best].mean(), "unsafe": unsafe[best]}
            row |= {"not_worse": " ".join(equal), "safest": safest}
            row |= {"safest_unsafe": unsafe[safest], "safest_lagrangian_gap": losses[safest].mean()}
            rows.append(row)
    return pd.DataFrame(rows)


def main(arguments):
    declared, folder = arguments.declared, Path(arguments.folder)
    runs = {}
    for path in map(Path, arguments.runs):
        runs.setdefault(path.parent.name, []).append(read_table(path))
    runs = {kind: pd.concat(tables, ignore_index=True) for kind, tables in runs.items()}
    parts = [summary(runs[kind]).assign(units=kind) for kind in ("seeds", "environments")]
    best = unconstrained(arguments.environment, declared["environments"])
    parts.append(summary(best).assign(units="environments"))
    write_table(pd.concat(parts), folder / "comparison.csv")
    shares = {f"random{share}": share for share in declared["random_answers"]}
    parts = [summary(runs[kind]).assign(random_answers=share) for kind, share in shares.items()]
    write_table(pd.concat(parts), folder / "misspecification.csv")
    rows = [
        {"method": Path(path).parent.name, "budget": budget_of(path)} | setting(read_table(path))
        for path in arguments.searches
    ]
    write_table(pd.DataFrame(rows), folder / "comparison_settings.csv")
    options = declared["decisions"]
    table = decisions(runs["environments"], options["budgets"], options["transitions"])
    write_table(table, folder / "decisions.csv")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, type=json.loads, help="as JSON")
    parser.add_argument("--declared", required=True, type=json.loads, help="the study's, as JSON")
    parser.add_argument("--runs", nargs="+", required=True, help="tables, KIND/METHOD.csv")
    parser.add_argument("--searches", nargs="+", required=True, help="tables, METHOD/BUDGET.csv")
    parser.add_argument("--folder", required=True, help="where tables are written")
    with one_line():
        main(parser.parse_args())
