"""How the work of a study is divided into jobs, and how long its races take."""

import math

from pgpd_hf.core.evaluators import evaluators_text
from replication.study import configuration, recorded_races, resources
from replication.study.cases import Case, figure_cases, run_setting


def fill_jobs(config, items):
    """Cases by block, for items of work: pairs of a number and cases."""
    size = configuration.size(config)
    return blocks(
        items, lambda cases: resources.seconds(cases, size), config["job_minutes"], config["block"]
    )


def figure_plan(config, algorithm, together):
    """Cases of Figure 1 by values of M and block; a job runs one M, or all of them together."""
    values = config["evaluators"]
    parts = [values] if together else [[number] for number in values]
    return {
        "+".join(map(evaluators_text, numbers)): fill_jobs(
            config, figure_cases(config, algorithm, numbers)
        )
        for numbers in parts
    }


def blocks(items, seconds, minutes, most=None):
    """Pack consecutive items into jobs of about equal duration; cases by block, say 0000-0019."""
    # An item that takes longer than a job is a job of its own. Full blocks stay as they are when
    # items are appended.
    packed, room = [], 0.0
    for number, cases in items:
        needed = seconds(cases)
        full = not packed or needed > room or len(packed[-1]) == most
        if full:
            packed.append([])
            room = 60 * minutes
        packed[-1].append((number, cases))
        room -= needed
    return {
        f"{block[0][0]:04d}-{block[-1][0]:04d}": [case for _, cases in block for case in cases]
        for block in packed
    }


def race(config, algorithm):
    """Arguments of :func:`~pgpd_hf.runs.races.race` for an algorithm; environments are options."""
    return recorded_races.subject(config, algorithm) | recorded_races.effort(config)


def race_seconds(config, algorithm):
    """Seconds of one core that a race takes; without a limit, if stages drop half of the pairs."""
    options = race(config, algorithm)
    pairs = math.prod(map(len, options["candidates"].values()))
    stages = max(1.0, math.log2(options["seeds"] / 4))
    cases = [
        Case(algorithm, run_setting(config, algorithm, number), tuple(range(8)))
        for number in options["evaluators"]
    ]
    seconds = resources.seconds(cases, configuration.size(config))  # of eight seeds of a pair
    return seconds * (2 * pairs * stages if options["runs"] is None else options["runs"] / 8)
