"""People who do not vote as all methods assume.

Does skipping reward inference pay off then? All methods assume the study's link, but here people
vote by another one, or give a share of their answers at random. Settings are those that tuning has
chosen for people who vote as assumed, since nobody knows that they do not; so is the method that
stands for each side. Runs are on the random instances of the comparison, with its random streams.
"""

from dataclasses import replace

import pandas as pd

from pgpd_hf.core.arguments import require_one_of
from pgpd_hf.statistics import mean_interval, verdict
from replication.analyses import Table
from replication.analyses import comparison as compared
from replication.files import storage
from replication.study import comparison, configuration

TARGET = "compare"
TABLES = {
    "misspecification": Table(
        "People who do not vote as assumed (table)", "people method design budget"
    ),
    "skipping_inference": Table("Does skipping reward inference pay off? (table)", "people budget"),
}
READS = ("runs",)
PICTURES = {"misspecification": "People who do not vote as assumed"}
TUNED_BY = "comparison_tuning"
COLUMNS = ("people", *compared.COLUMNS)
AS_ASSUMED = "as assumed"
SIDES = comparison.SIDES
why_not = comparison.why_not
DIFFERENCE_COLUMNS = ("people", "budget", *SIDES, "difference", "low", "high", "pays_off")


def plan(config):
    options, work = config["comparison"]["misspecification"], {}
    numbers, _ = comparison.instances(config)
    for entry in comparison.entries(config):
        if any(entry.method in options[side] for side in SIDES):
            settings = compared.longest(config, entry)
            settings = {k: it for k, it in settings.items() if k in options["budgets"]}
            if settings:
                work[entry.part] = [
                    (number, _cases(config, entry, settings, number)) for number in numbers
                ]
    return work


def check(config, schema):
    comparison.check(config, schema)
    key, options = "comparison.misspecification", config["comparison"]["misspecification"]
    for side in SIDES:
        for name in options[side]:
            require_one_of(f"{key}.{side}", name, config["comparison"]["methods"])
    for name, people in options["people"].items():
        if config["link"] == people.get("true_link"):
            raise ValueError(
                f"{key}.people.{name}.true_link: {config['link']} is what all methods assume"
            )
    configuration.require_increasing(f"{key}.budgets", options["budgets"])
    most = config["comparison"]["most_on_instances"]
    for budget in options["budgets"]:
        if budget not in config["comparison"]["budgets"] or budget > most:
            raise ValueError(
                f"{key}.budgets: of comparison.budgets one that is at most "
                f"comparison.most_on_instances, {most}, expected, got {budget}"
            )


def arguments(config):
    return {"sides": {side: config["comparison"]["misspecification"][side] for side in SIDES}}


def tables(runs, sides):
    found = pd.DataFrame(columns=list(COLUMNS)), pd.DataFrame(columns=list(DIFFERENCE_COLUMNS))
    if runs:
        runs = storage.read_tables(runs)
        found = compared.by_world(runs, ["people"], compared.tabulate), differences(runs, sides)
    return dict(zip(TABLES, found, strict=True))


def parameters(config):
    return {"labels": comparison.labels(config["comparison"]["methods"])}


def differences(runs, sides):
    """Compare a method that skips reward inference with one that infers rewards."""
    # Of each side it is the method and design with the smallest score in tuning at the budget. That
    # was on other instances, with people who vote as assumed: a choice by the runs that are tested
    # would favour the side with more candidates. Skipping pays off if the mean paired difference of
    # priced gaps is shown to be negative, by a test at level 0.01; it does not if positive.
    rows = []
    runs = compared.priced(runs)
    for (people, budget), group in runs.groupby(["people", "budget"], sort=False):
        table = compared.by_unit(group, compared.METHOD)
        scores = group.groupby(compared.METHOD, sort=False)["tuning_score"].first()
        found = [scores[scores.index.isin(sides[side], level="method")] for side in SIDES]
        if any(side.empty for side in found):
            continue
        best = [side.idxmin() for side in found]
        difference = table[best[0]] - table[best[1]]
        mean, low, high = mean_interval(difference, 1 - 2 * compared.TEST_LEVEL)
        pays = verdict(high < 0, low > 0, ("yes", "no", "open"))
        names = [", ".join(method) for method in best]
        rows.append((people, budget, *names, mean, low, high, pays))
    return pd.DataFrame(rows, columns=list(DIFFERENCE_COLUMNS))


def _cases(config, entry, settings, number):
    """Cases of the comparison, for each kind of people."""
    asked = {AS_ASSUMED: {}, **config["comparison"]["misspecification"]["people"]}
    return [
        replace(case, setting=case.setting | people, labels={"people": name, **case.labels})
        for name, people in asked.items()
        for case in compared.cases(config, entry, settings, 0, number)
    ]
