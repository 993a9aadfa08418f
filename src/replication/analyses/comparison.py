"""What an answer buys: the paper's algorithms beside what one would use instead.

Methods are compared at equal numbers of human answers, on the study's own environment (where the
seed is the unit) and on random instances (where the instance is). The policy that counts is the one
at the end of the run.
"""

import math

import pandas as pd

from pgpd_hf import environments
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.deployment import answers_for
from pgpd_hf.statistics import joint_test, mean_interval, mean_test, named_intervals, verdict
from replication.analyses import Table
from replication.files import storage
from replication.study import comparison, configuration, resources
from replication.study.cases import Case
from replication.study.summaries import QUANTITIES, priced_gap
from replication.theory.information import information_limit

TARGET = "compare"
TABLES = {
    "comparison": Table("What an answer buys (table)", "units method design budget"),
    "comparison_answers": Table("Answers needed (table)", "units method design target"),
    "comparison_order": Table("Who is ahead at each budget (table)", "unit budget method design"),
    "comparison_limit": Table("Information limit (table)", "budget"),
    "comparison_deployment": Table("Answers before a deployment (table)", "slack level"),
    "comparison_verdicts": Table("Verdicts of the comparison (table)", "claim unit"),
}
READS = ("runs", "environment")
SHOWS = ("comparison_settings",)
PICTURES = {
    "comparison": "What an answer buys",
    "comparison_own": "The same on the study's own environment",
    "comparison_variants": "Variants of the methods compared",
}
TUNED_BY = "comparison_tuning"
check = comparison.check
why_not = comparison.why_not
SAFE = 0.02  # a violation that is tolerated
TARGETS = (0.05, 0.02, 0.01)  # priced gaps
TEST_LEVEL = 0.01  # probability of a wrong verdict on a statement, in either direction
UNIT, METHOD = ["instance", "seed"], ["method", "design"]
COLUMNS = (
    *("method", "design", "budget", "answers", "steps"),
    *(f"{name}{end}" for name in QUANTITIES for end in ("", "_low", "_high")),
    *("violates_0", "violates_002", "units"),
)
SLACKS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)  # of policies that are to be certified
LEVELS = (0.9, 0.95, 0.99)  # of certificates
ORDER_COLUMNS = ("unit", "budget", "method", "design", "difference", "low", "high")
LIMIT_COLUMNS = (
    *("budget", "priced_gap", "priced_gap_low", "priced_gap_high"),
    *("design", "reward", "utility", "absolute"),
)
VERDICT_COLUMNS = (
    *("claim", "source", "quote", "statement", "better", "than", "unit", "budget"),
    *("difference", "low", "high", "verdict"),
)


def plan(config):
    options, work = config["comparison"], {}
    numbers, _ = comparison.instances(config)
    for entry in comparison.entries(config):
        settings = longest(config, entry)
        if settings:
            work[f"seeds/{entry.part}"] = [
                (seed, cases(config, entry, settings, seed)) for seed in range(options["seeds"])
            ]
        settings = {k: it for k, it in settings.items() if k <= options["most_on_instances"]}
        if settings:
            work[f"instances/{entry.part}"] = [
                (number, cases(config, entry, settings, 0, number)) for number in numbers
            ]
    return work


def arguments(config):
    options = config["comparison"]
    group = config["claims"]["instances"]["groups"][options["group"]]
    numbers, _ = comparison.instances(config)
    return {
        "empty": _empty(config),
        "budgets": [it for it in options["budgets"] if it <= options["most_on_instances"]],
        "drawn": [configuration.vary(config, {"instance": number}) for number in numbers],
        "binding": group.get("binding", False),  # whether only those are drawn that bind
        "limit": options["limit"],
        "statements": options["statements"],
        "horizon": config["horizon"],
        "link": config["link"],
    }


def tables(runs, environment, empty, budgets, drawn, binding, limit, statements, horizon, link):
    table = pd.DataFrame(columns=list(COLUMNS))
    judged = pd.DataFrame(columns=list(VERDICT_COLUMNS))
    behind = pd.DataFrame(columns=list(ORDER_COLUMNS))
    bound = pd.DataFrame(columns=list(LIMIT_COLUMNS))
    if runs:
        runs = storage.read_tables(runs)
        table, judged, behind = tabulate(runs, empty), verdicts(runs, statements), order(runs)
        made = [environments.make(options) for options in drawn]
        chosen, gaps = information_limit(made, budgets, horizon, link, **limit, binding=binding)
        rows = [
            (budget, *mean_interval(row), design, *split)
            for budget, row, (design, split) in zip(budgets, gaps, chosen, strict=True)
        ]
        bound = pd.DataFrame(rows, columns=list(LIMIT_COLUMNS))
    return {
        "comparison": table,
        "comparison_answers": answers_needed(table),
        "comparison_order": behind,
        "comparison_limit": bound,
        "comparison_deployment": answers_for_deployment(CMDP.load(environment), horizon, link),
        "comparison_verdicts": judged,
    }


def parameters(config):
    labels = comparison.labels(config["comparison"]["methods"])
    return {"empty": _empty(config), "labels": labels}


def tabulate(runs, empty=()):
    """Reduce runs to a row per method, design, budget and kind of unit, and add `empty` cells."""
    runs, rows = priced(runs), []
    for (unit, *cell), group in runs.groupby(["unit", *METHOD, "budget"], sort=False):
        row = dict(zip(COLUMNS, cell, strict=False))
        row |= {"answers": group["answers"].mean(), "steps": group["steps"].mean()}
        row |= named_intervals(group.sort_values(UNIT), QUANTITIES)
        row["violates_0"] = (group["violation"] > 0).mean()
        row["violates_002"] = (group["violation"] > SAFE).mean()
        rows.append(row | {"units": f"{len(group)} {unit}"})
    rows.sort(key=lambda row: row["units"].endswith("instances"))  # else in the order of the runs
    for *cell, reason in empty:
        rows.append(dict(zip(COLUMNS, cell, strict=False)) | {"units": f"none: {reason}"})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def answers_needed(table):
    """The first budget at which a method reaches a priced gap, with a violation below 0.02."""
    # At `answers` both means are low enough, `surely` the upper ends of their intervals are; both
    # are NaN where no budget is enough. `most` is the largest budget that was tried.
    shown = table[table["answers"].notna()]
    rows = []
    for key, group in shown.groupby(["units", *METHOD], sort=False):
        for target in TARGETS:
            row = dict(zip(("units", *METHOD), key, strict=True)) | {"target": target}
            for name, end in (("answers", ""), ("surely", "_high")):
                low = (group[f"priced_gap{end}"] <= target) & (group[f"violation{end}"] <= SAFE)
                row[name] = group.loc[low, "budget"].min() if low.any() else math.nan
            rows.append(row | {"most": group["budget"].max()})
    return pd.DataFrame(rows, columns=["units", *METHOD, "target", "answers", "surely", "most"])


def order(runs):
    """Paired differences of priced gaps from those of the best method, with as many answers."""
    rows = []
    for key, group in priced(runs).groupby(["unit", "budget"], sort=False):
        table = by_unit(group, METHOD)
        best = table[table.mean().idxmin()]
        for method in table.columns:
            rows.append((*key, *method, *mean_interval((table[method] - best).to_numpy())))
    return pd.DataFrame(rows, columns=list(ORDER_COLUMNS))


def answers_for_deployment(cmdp, horizon, link):
    """How many answers certify a policy that is safer than required by a slack, if any do."""
    most = cmdp.return_bound(horizon) - cmdp.threshold  # no policy is safer
    rows = [
        (slack, level, float(answers_for(cmdp, slack, level, horizon=horizon, link=link)))
        if slack <= most
        else (slack, level, math.inf)
        for slack in SLACKS
        for level in LEVELS
    ]
    return pd.DataFrame(rows, columns=["slack", "level", "answers"])


def verdicts(runs, statements):
    """Judge whether a method has smaller priced gaps than another one, with as many answers."""
    # A statement is reproduced if the difference is shown to be negative for all kinds of units,
    # and contradicted if it is shown to be positive for one of them. Of several designs, the one
    # with the smallest score in tuning counts, which was on other instances: a choice by the runs
    # that are tested would favour it. Intervals have a level of 98 %.
    runs, rows = priced(runs), []
    for name, told in statements.items():
        parts, tests = [], []
        for unit, budget in told["budgets"].items():
            shown = runs[(runs["unit"] == unit) & (runs["budget"] == budget)]
            better, than = (_best_design(shown, told[side]) for side in ("better", "than"))
            pairs = (better - than).dropna()
            tests.append(mean_test(pairs))
            ends = mean_interval(pairs, 1 - 2 * TEST_LEVEL) if len(pairs) else (math.nan,) * 3
            ends = dict(zip(("difference", "low", "high"), ends, strict=True))
            parts.append({"unit": unit, "budget": budget, **ends})
        known = not any(math.isnan(part["high"]) for part in parts)
        fails, holds = zip(*tests, strict=True)
        holds, fails = joint_test(holds, fails)
        told_by = verdict(holds <= TEST_LEVEL, fails <= TEST_LEVEL) if known else "undecided"
        rows += [{"claim": name, **told, **part, "verdict": told_by} for part in parts]
    return pd.DataFrame(rows, columns=list(VERDICT_COLUMNS))


def longest(config, entry):
    """Settings of a method's longest runs by budget; which setting is run is chosen later."""
    size = configuration.size(config)
    return {
        budget: max(settings, key=lambda it: resources.run_seconds(entry.algorithm, it, *size))
        for budget in comparison.budgets(config, entry)
        if (settings := comparison.candidates(config, entry, budget))
    }


def cases(config, entry, settings, seed, number=None):
    """One case per budget, on instance `number` or on the study's own environment."""
    own = number is None
    place = {"unit": "seeds" if own else "instances", "instance": -1 if own else number}
    return [
        Case(
            entry.algorithm,
            setting,
            (seed,),
            "run" if own else f"instance {number}",
            None if own else configuration.vary(config, {"instance": number}),
            choice=comparison.key(entry, budget),
            labels=place | {"method": entry.method, "design": entry.design, "budget": budget},
        )
        for budget, setting in settings.items()
    ]


def priced(runs):
    """Give what is measured short names, and add priced gaps."""
    runs = runs.rename(columns={"optimality_gap": "gap", "constraint_violation": "violation"})
    return runs.assign(priced_gap=priced_gap(runs, "gap", "violation"))


def by_unit(runs, columns):
    """Priced gaps with a row for each unit, whose differences are paired."""
    return runs.pivot(index=UNIT, columns=columns, values="priced_gap")


def by_world(runs, keys, tabulate):
    """Tables of a function of runs, for each kind of people, one below the other."""
    parts = {key: tabulate(group) for key, group in runs.groupby(keys, sort=False)}
    return pd.concat(parts, names=keys).reset_index(keys).reset_index(drop=True)


def _empty(config):
    """Method, design, budget and reason of cells without a result."""
    return [
        (entry.method, entry.design, budget, reason)
        for entry in comparison.entries(config)
        for budget in comparison.budgets(config, entry)
        if (reason := comparison.reason(config, entry, budget))
    ]


def _best_design(runs, method):
    """Priced gaps by unit, of the design with the smallest score in tuning."""
    runs = runs[runs["method"] == method].set_index(UNIT)
    scores = runs.groupby("design", sort=False)["tuning_score"].first()
    best = scores.idxmin() if len(scores) else ""
    return runs.loc[runs["design"] == best, "priced_gap"]
