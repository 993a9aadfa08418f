"""Tuning of the methods that are compared, for each budget of answers.

Every candidate is run on instances that the comparison does not use, on random streams of its own.
The one with the smallest mean of positive gap plus positive violation at the end of the run is
chosen.
"""

import json

import pandas as pd

from pgpd_hf.cases import Case
from pgpd_hf.studies import comparison, configuration

TARGET = "compare"
TABLES = {
    "comparison_tuning": "Tuning of the methods that are compared (table)",
    "comparison_settings": "Settings of the methods that are compared (table)",
}
check = comparison.check
_NOT_CHOSEN = ("horizon", "link")  # the same in the whole study


def plan(config):
    if not config["comparison"]["methods"]:
        return {}
    _, numbers = comparison.instances(config)
    return {
        entry.part: [(number, _cases(config, entry, settings, number)) for number in numbers]
        for entry in comparison.entries(config)
        for settings in [_settings(config, entry)]
        if settings
    }


def tabulate(runs):
    """Scores of all candidates, and which one is chosen.

    Parameters
    ----------
    runs : pandas.DataFrame
        Traces of this analysis.

    Returns
    -------
    dict of pandas.DataFrame
        "comparison_tuning": a row per key and setting (as JSON): score, runs and chosen;
        "comparison_settings": those that are chosen.
    """
    if runs.empty:
        empty = pd.DataFrame(columns=["key", "setting", "score", "chosen"])
        return {"comparison_tuning": empty, "comparison_settings": empty.drop(columns="chosen")}
    gap, violation = runs["optimality_gap"], runs["constraint_violation"]
    scores = (gap.clip(lower=0) + violation.clip(lower=0)).rename("score")
    groups = scores.groupby([runs["key"], runs["candidate"]], sort=False)
    table = groups.agg(["mean", "size"]).reset_index()
    table.columns = ["key", "setting", "score", "runs"]
    best = table.groupby("key", sort=False)["score"].idxmin()
    return {
        "comparison_tuning": table.assign(chosen=table.index.isin(best)),
        "comparison_settings": table.loc[best, ["key", "setting", "score"]],
    }


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
