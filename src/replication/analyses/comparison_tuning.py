"""Tuning of the methods that are compared, for each budget of answers.

Settings race (:mod:`replication.analyses.comparison_races`). Where one of those of the winner lies
at an end of the values that were tried, others beyond might do better.
"""

import json

import pandas as pd

from pgpd_hf.runs.races import CHOSEN, TIED
from replication.analyses import Table
from replication.analyses.comparison_races import COLUMNS, FEWEST
from replication.files import storage
from replication.study import comparison

TARGET = "compare"
TABLES = {
    "comparison_tuning": Table("Tuning of the methods that are compared (table)"),
    "comparison_settings": Table("Settings of the methods that are compared (table)", "key"),
}
READS = ("comparison_races",)
LOCAL = True
check = comparison.check
why_not = comparison.why_not
_DERIVED = ["iterations"]  # from the budget and the other settings


def tables(comparison_races):
    races = [storage.read_table(path) for path in comparison_races]
    return tabulate(pd.concat(races, ignore_index=True) if races else pd.DataFrame(columns=COLUMNS))


def tabulate(races):
    """All settings that raced, and those that won, with the number of those tied with them."""
    # `at_edge` names settings that are the smallest or the largest of at least three numbers tried.
    won = races[races["standing"] == CHOSEN]
    tied = races[races["standing"] == TIED].groupby("key").size()
    edges = [
        _at_edge(races.loc[races["key"] == key, "setting"], chosen)
        for key, chosen in zip(won["key"], won["setting"], strict=True)
    ]
    settings = won[["key", "setting", "score", "runs"]].assign(
        tied=won["key"].map(tied).fillna(0).astype(int), at_edge=edges
    )
    return {
        "comparison_tuning": races.assign(chosen=races["standing"] == CHOSEN),
        "comparison_settings": settings,
    }


def _at_edge(tried, chosen):
    """Names of the settings of the chosen candidate that are the least or the largest tried."""
    tried, chosen = pd.DataFrame(map(json.loads, tried)), json.loads(chosen)
    numbers = tried.select_dtypes("number").drop(columns=_DERIVED, errors="ignore")
    ends = [
        name
        for name, values in numbers.items()
        if values.nunique() >= FEWEST and chosen[name] in (values.min(), values.max())
    ]
    return ", ".join(ends)
