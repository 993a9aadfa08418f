"""Tuning of the methods that are compared, for each budget of answers.

Every candidate is run on instances that the comparison does not use, on random streams of its own.
The one with the smallest mean of positive gap plus positive violation at the end of the run is
chosen. Where one of its settings lies at an end of the values that were tried, others beyond might
do better.
"""

import json

import pandas as pd

from replication.analyses import Table
from replication.files import storage
from replication.study import comparison, configuration
from replication.study.cases import Case

TARGET = "compare"
TABLES = {
    "comparison_tuning": Table("Tuning of the methods that are compared (table)"),
    "comparison_settings": Table("Settings of the methods that are compared (table)", "key"),
}
READS = ("runs",)
LOCAL = True
check = comparison.check
why_not = comparison.why_not
_NOT_CHOSEN = ("horizon", "link")  # the same in the whole study
_DERIVED = ["iterations"]  # from the budget and the other settings
_FEWEST = 3  # of two values each is at an end


def plan(config):
    _, numbers = comparison.instances(config)
    return {
        entry.part: [(number, _cases(config, entry, settings, number)) for number in numbers]
        for entry in comparison.entries(config)
        for settings in [_settings(config, entry)]
        if settings
    }


def tables(runs):
    return tabulate(storage.read_tables(runs))


def tabulate(runs):
    """Scores of all candidates by key and setting (as JSON), and those that are chosen."""
    # `at_edge` names settings that are the smallest or the largest of at least three numbers tried.
    if runs.empty:
        empty = pd.DataFrame(columns=["key", "setting", "score", "chosen"])
        settings = empty.rename(columns={"chosen": "at_edge"})
        return {"comparison_tuning": empty, "comparison_settings": settings}
    gap, violation = runs["optimality_gap"], runs["constraint_violation"]
    scores = (gap.clip(lower=0) + violation.clip(lower=0)).rename("score")
    groups = scores.groupby([runs["key"], runs["candidate"]], sort=False)
    table = groups.agg(["mean", "size"]).reset_index()
    table.columns = ["key", "setting", "score", "runs"]
    best = table.groupby("key", sort=False)["score"].idxmin()
    edges = [
        _at_edge(table.loc[table["key"] == key, "setting"], table.loc[row, "setting"])
        for key, row in best.items()
    ]
    return {
        "comparison_tuning": table.assign(chosen=table.index.isin(best)),
        "comparison_settings": table.loc[best, ["key", "setting", "score"]].assign(at_edge=edges),
    }


def _at_edge(tried, chosen):
    """Names of the settings of the chosen candidate that are the least or the largest tried."""
    tried, chosen = pd.DataFrame(map(json.loads, tried)), json.loads(chosen)
    numbers = tried.select_dtypes("number").drop(columns=_DERIVED, errors="ignore")
    ends = [
        name
        for name, values in numbers.items()
        if values.nunique() >= _FEWEST and chosen[name] in (values.min(), values.max())
    ]
    return ", ".join(ends)


def _settings(config, entry):
    """Pairs of the key of a budget and a candidate."""
    return [
        (comparison.key(entry, budget), setting)
        for budget in comparison.budgets(config, entry)
        for setting in comparison.candidates(config, entry, budget)
    ]


def _cases(config, entry, settings, number):
    return [
        Case(
            entry.algorithm,
            setting,
            tuple(range(config["comparison"]["tuning_seeds"])),
            f"comparison tuning, instance {number}",
            configuration.vary(config, {"instance": number}),
            checkpoints=(setting["iterations"],),
            labels={"key": key, "candidate": _as_text(setting)},
        )
        for key, setting in settings
    ]


def _as_text(setting):
    return json.dumps({name: it for name, it in setting.items() if name not in _NOT_CHOSEN})
