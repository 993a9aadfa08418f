"""Summary: how a study ended, in a few lines."""

import pandas as pd

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.evaluators import evaluators_text
from pgpd_hf.runs.races import chosen_steps, describe_race
from pgpd_hf.statistics import METRICS
from replication.analyses import Table
from replication.files import storage
from replication.study import algorithms
from replication.study.cases import run_setting, with_steps

TARGET = "all"
TABLES = {"summary.txt": Table(keys="line")}
RECORDS = ("confirmation", "recorded_controls")
READS = ("environment", "aggregate", "optimum", "races", "own_verdicts", *RECORDS)
LOCAL = True
_MOST_VERDICTS = 6  # that are listed


def arguments(config, left_out, raced, results, figures):
    return {
        "raced": raced,
        "about": {
            "study": config["study"],
            "left_out": left_out,
            "results": results,
            "figures": figures,
            "settings": {
                name: [run_setting(config, name, number) for number in config["evaluators"]]
                for name in config["algorithms"]
            },
            "rounds": algorithms.rounds(config),
            "page": f"{results}/notebooks/figure1.html",
        },
    }


def tables(environment, aggregate, optimum, races, own_verdicts, raced, about, **records):
    scores = dict(zip(raced, map(storage.read_table, races), strict=True))
    verdicts = storage.read_table(own_verdicts)
    cmdp, runs = CMDP.load(environment), storage.read_table(aggregate)
    about = about | {"forecasts": [*_forecasts(cmdp, about["settings"], scores, runs)]}
    recorded = [_recorded(records[name]) for name in RECORDS]
    given = storage.read_json(optimum), runs, scores, verdicts, *recorded
    return {"summary": "\n".join(_lines(about, *given)) + "\n"}


def _recorded(paths):
    """Tables on record, at most one, by their place in the project."""
    return {
        f"reference/{path.rpartition('reference/')[2]}": storage.read_table(path) for path in paths
    }


def _forecasts(cmdp, settings, scores, runs):
    """Which of the study's settings are predicted not to settle."""
    from pgpd_hf import stability

    for name, of_numbers in settings.items():
        kind = get_algorithm(name)
        steps = runs.loc[runs["algorithm"] == name, "steps"].max() * runs["seeds"].iloc[0]
        chosen = chosen_steps(scores[name]) if name in scores else None
        for setting in of_numbers:
            algorithm = kind(**kind.pick(with_steps(setting, chosen)))
            if line := stability.forecast(cmdp, algorithm, None, steps):
                number = evaluators_text(setting["evaluators"])
                yield f"M = {number}: {line.partition(':')[0]} (why: help(pgpd_hf.stability))."


def _lines(about, optimum, aggregate, races, verdicts, confirmation, wrong):
    from pgpd_hf import statistics
    from replication.statements import report

    kind = "binds" if optimum["binding"] else "does not bind"
    yield (
        f"Study {about['study']}: V_r* = {optimum['reward_value']:.4f}; the constraint {kind} "
        f"(lambda* = {optimum['multiplier']:.3f}, slack xi = {optimum['slack']:#.3g})."
    )
    yield ""
    yield f"{'last iterate':<16}{'M':>6}   {'optimality gap':<27} constraint violation"
    last = aggregate.groupby("algorithm")["iteration"].transform("max") == aggregate["iteration"]
    for _, row in aggregate[last].iterrows():
        label = get_algorithm(row["algorithm"]).label
        evaluators = evaluators_text(None if pd.isna(row["evaluators"]) else row["evaluators"])
        gap, violation = (statistics.with_interval(row, metric) for metric in METRICS)
        yield f"{label:<16}{evaluators:>6}   {gap:<26}  {violation}"
    seeds = aggregate["seeds"].iloc[0]
    if seeds == 1:
        means = "Values of one seed: intervals take two or more."
    else:
        means = f"Means over {seeds} seeds with {statistics.LEVEL:.0%} intervals."
    asked = ", ".join(
        f"N = {n} for {get_algorithm(name).label}" for name, n in about["rounds"].items()
    )
    yield f"{means} {asked}; the paper omits N." if asked else means
    yield ""
    for algorithm, scores in races.items():
        chosen = describe_race(scores).partition(";")[0].rstrip(".")  # its page says the rest
        yield f"Step sizes of {get_algorithm(algorithm).label}: {chosen}."
    yield from about["forecasts"]
    for (algorithm, metric), distance in report.flat(aggregate).items():
        curve = f"{get_algorithm(algorithm).label}: the {metric.replace('_', ' ')}"
        yield f"{curve} hardly moves, by {distance:.2g} at most: statements about it say little."
    yield ""
    yield from _verdicts(report.of_experiment(verdicts), confirmation, wrong, about["results"])
    own = "" if about["study"] == "paper" else " CONFIG=... with the study's file"
    yield f"With more seeds, other readings and other environments: make claims{own}."
    yield from about["left_out"]
    yield f"Figures: {about['figures']}/figure1.pdf. Page: {about['page']}."


def _verdicts(found, confirmation, wrong, results):
    """How many statements are reproduced here and on fresh data, and which are not in both."""
    from replication.statements import controls, report

    if report.asked(found).empty:
        yield f"Does it reproduce? {report.in_short(found)}."
        return
    yield f"Does it reproduce? {report.in_short(found)}"
    fresh = [
        (unit, rows.set_index("claim")["verdict"])
        for table in confirmation.values()
        for (unit, _), rows in report.confirmed(found, table).groupby(
            ["unit", "reading"], sort=False
        )
    ]
    rows = []
    for _, row in found.iterrows():
        told = [report.word(row), *(it.get(row["claim"], report.NOT_CONFIRMED) for _, it in fresh)]
        if {*told} != {"reproduced"}:
            rows.append("  " + "".join(f"{it:<14}" for it in told) + row["statement"])
    if not fresh:
        yield "with these seeds, and not confirmed on fresh data. Not reproduced:"
    else:
        [(place, table)] = confirmation.items()
        counts = " and ".join(report.fresh_counts(found, table))
        yield f"with these seeds; on fresh data {counts} are reproduced."
        where = ", ".join(["here", *(f"fresh {unit}s" for unit, _ in fresh)])
        yield f"Not reproduced everywhere ({where}: {place}):"
    yield from rows[:_MOST_VERDICTS] or ["  none"]
    if left := len(rows[_MOST_VERDICTS:]):
        yield f"  and {left} more: {results}/claims.csv"
    yield from report.undecided(found)
    for place, table in wrong.items():
        yield f"{controls.counted(found, table)} ({place})."
