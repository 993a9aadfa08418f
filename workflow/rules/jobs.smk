# Which cases a job runs, and what it asks for. No rules.

from functools import cache

from pgpd_hf.core.evaluators import evaluators_text
from replication.study import configuration, jobs, recorded_races, resources
from replication.study.cases import figure_cases


def evaluator_groups(folder):
    """Values of M that one job runs, by their name: one in the study, all in readings."""
    values = CONFIGS[folder]["evaluators"]
    groups = [values] if folder else [[number] for number in values]
    return {"+".join(map(evaluators_text, group)): group for group in groups}


@cache
def figure_jobs(folder, algorithm, evaluators):
    """Cases of Figure 1 by block of seeds, for the values of M that one job runs."""
    settings = CONFIGS[folder]
    numbers = evaluator_groups(folder)[evaluators]
    return jobs.fill_jobs(settings, figure_cases(settings, algorithm, numbers))


def cases_of(wildcards):
    """Cases of a job, of Figure 1 or of an analysis."""
    if "analysis" in wildcards.keys():
        blocks = plan(wildcards.analysis)[wildcards.part]
    else:
        blocks = figure_jobs(wildcards.reading, wildcards.algorithm, wildcards.evaluators)
    return blocks[f"{wildcards.first}-{wildcards.last}"]


def race_on_record(wildcards):
    """Name of the race that has chosen step sizes already; None if they need a new race."""
    return recorded_races.recorded(RACES, CALIBRATED[wildcards.folder], wildcards.algorithm)


@cache
def new_races():
    """Folder and algorithm of each race that is not on record, by the name that it gets there."""
    place = "inference/" if STUDY == "inference" else ""
    place = "hard/" if STUDY.startswith("hard-") else place
    place = f"environments/{STUDY}/" if STUDY in KNOWN else place
    return {
        f"{place}{folder}{algorithm}": (folder, algorithm)
        for (folder, algorithm), settings in recorded_races.distinct(CALIBRATED).items()
        if not recorded_races.recorded(RACES, settings, algorithm)
    }


def own_size(wildcards):
    """Numbers of states and actions of the environment of the study, or of a reading."""
    return configuration.size(CONFIGS[wildcards.get("reading", "")])


def largest_size(wildcards):
    """Numbers of states and actions of the largest environment of a job."""
    own = own_size(wildcards)
    sizes = {case.size(own) for case in cases_of(wildcards)}
    return max(sizes, key=lambda size: size[0] ** 2 * size[1])


def runtime(seconds):
    """Minutes that jobs ask for, given the seconds of their work as a function of the wildcards."""
    return lambda wildcards, attempt: resources.minutes(seconds(wildcards), attempt)


def memory(size, more=lambda wildcards: 0.0):
    """Megabytes, given the size of the environment, and what else is kept, as functions likewise."""
    return lambda wildcards, attempt: resources.megabytes(
        *size(wildcards), more(wildcards), attempt
    )
