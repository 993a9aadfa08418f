"""How the work of a study is divided into jobs, and the time and memory that they take."""

import math

from replication.analyses import instances
from replication.study import configuration, readings, recorded_races
from replication.work import resources
from replication.work.cases import Case, blocks, run_setting


def fill_jobs(config, items):
    """Pack work into jobs.

    Parameters
    ----------
    config : dict
        The configuration that the work belongs to: its `job_minutes` and its `block`.
    items : list of tuple of (int, list of Case)
        Numbers and their cases.

    Returns
    -------
    dict
        Cases by block, made by :func:`replication.work.cases.blocks`.
    """
    size = configuration.size(config)
    return blocks(
        items, lambda cases: resources.seconds(cases, size), config["job_minutes"], config["block"]
    )


def race(config, algorithm):
    """What the race for an algorithm's step sizes needs.

    Parameters
    ----------
    config : dict
        Configuration of a study, a reading, or a group of instances.
    algorithm : str
        A key of its `algorithms`.

    Returns
    -------
    dict
        Arguments of :func:`pgpd_hf.races.race`, with the environments as options.
    """
    return recorded_races.subject(config, algorithm) | {"seeds": config["calibration"]["seeds"]}


def race_seconds(config, algorithm):
    """Time that a race takes, if each stage drops half of the pairs.

    Parameters
    ----------
    config, algorithm
        As for :func:`race`.

    Returns
    -------
    float
        Seconds of one core.
    """
    options = race(config, algorithm)
    pairs = math.prod(map(len, options["candidates"].values()))
    stages = max(1.0, math.log2(options["seeds"] / 4))
    cases = [
        Case(algorithm, run_setting(config, algorithm, number), tuple(range(8)))
        for number in options["evaluators"]
    ]
    return 2 * pairs * stages * resources.seconds(cases, configuration.size(config))


def judged(config, loaded):
    """What has a table of verdicts.

    Parameters
    ----------
    config : dict
        The study's configuration.
    loaded : dict
        Readings by name.

    Returns
    -------
    dict
        Title, by the folder of the results.
    """
    return {
        readings.FULL: "default",
        **{f"readings/{name}/": reading["title"] for name, reading in loaded.items()},
        **{f"instances/{group}/": title for group, title in instances.judged(config).items()},
    }


def trials(configs, judged):
    """Tables of verdicts by N, the number of rounds per iteration.

    Parameters
    ----------
    configs : dict
        By folder, of the study, its readings and its groups of instances.
    judged : dict
        Made by :func:`judged`.

    Returns
    -------
    dict
        Folders by N, which is the same for all algorithms of a folder.
    """
    found = {}
    for folder in judged:
        algorithms = configs[folder]["algorithms"] if folder in configs else {}
        numbers = {options["rounds"] for options in algorithms.values()}
        if len(numbers) == 1:
            found.setdefault(numbers.pop(), []).append(folder)
    return found
