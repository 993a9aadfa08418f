# Which cases a job runs, and what it asks for. No rules.

from functools import cache

from replication.study import configuration, jobs, recorded_races, resources


@cache
def figure_plan(folder, algorithm):
    """Cases of Figure 1 by the values of M that one job runs, and by block of seeds."""
    return jobs.figure_plan(CONFIGS[folder], algorithm, together=folder != "")


def cases_of(wildcards):
    """Cases of a job, of Figure 1 or of an analysis."""
    if "analysis" in wildcards.keys():
        blocks = plan(wildcards.analysis)[wildcards.part]
    else:
        blocks = figure_plan(wildcards.reading, wildcards.algorithm)[wildcards.evaluators]
    return blocks[f"{wildcards.first}-{wildcards.last}"]


def race_on_record(wildcards):
    """Name of the race that has chosen step sizes already; None if they need a new race."""
    return recorded_races.recorded(RACES, CALIBRATED[wildcards.folder], wildcards.algorithm)


@cache
def new_races():
    """Folder and algorithm of each race that is not on record, by the name that it gets there."""
    return recorded_races.unrecorded(RACES, CALIBRATED, PROJECT, STUDY)


def own_size(wildcards):
    """Numbers of states and actions of the environment of the study, or of a reading."""
    return configuration.size(CONFIGS[wildcards.get("reading", "")])


def largest_size(wildcards):
    """Numbers of states and actions of the largest environment of a job."""
    own = own_size(wildcards)
    sizes = (case.size(own) for case in cases_of(wildcards))
    return max(sizes, key=lambda size: size[0] ** 2 * size[1])


def runtime(seconds):
    """Minutes that jobs ask for, given the seconds of their work as a function of the wildcards."""
    return lambda wildcards, attempt: resources.minutes(seconds(wildcards), attempt)


def memory(size, more=lambda wildcards: 0.0):
    """Megabytes, given the size of the environment, and what else is kept, as functions likewise."""
    return lambda wildcards, attempt: resources.megabytes(
        *size(wildcards), more(wildcards), attempt
    )
