"""Races of step sizes: what they are about, and those whose outcome is on record.

A race takes minutes. Those of the default study and of the hard case, of their readings and groups
of instances, and of known environments have been run: config/steps.yaml says what each was about,
and reference/races.csv has its scores. A study takes its steps from there if a race was about
exactly its setting; otherwise it runs a new race. `make races` writes both files.
"""

import csv
import itertools
import json
from functools import cache
from pathlib import Path

import pandas as pd

from pgpd_hf import environments
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.algorithms.base import RACED, STEPS
from pgpd_hf.core.arguments import located, shown
from pgpd_hf.runs import races
from replication.files.validation import read_yaml
from replication.study import configuration
from replication.study.cases import CALIBRATED, run_setting

RECORD = "config/steps.yaml"
SCORES = "reference/races.csv"
_TIMES = 3  # runs of a new race for each seed of its study, at most


def racing(config):
    """Algorithms of a study whose step sizes race."""
    found = config["algorithms"].items()
    return [name for name, options in found if options["primal_step"] == CALIBRATED]


def subject(config, algorithm):
    """Everything that the outcome of a race depends on, but for its number of seeds."""
    tuning = [configuration.vary(config, {"instance": k}) for k in config.get("tuning", [])]
    kinds = map(environments.split, tuning or [config["environment"]])
    setting = run_setting(config, algorithm, None)
    raced = {*STEPS, *(name for name, value in setting.items() if value == CALIBRATED)}
    late = config["calibration"]["late"]
    return {
        "environments": [{"name": name, **options} for name, options in kinds],
        "algorithm": algorithm,
        "setting": {
            key: setting[key] for key in sorted(setting) if key not in {*raced, "evaluators"}
        },
        "evaluators": config["evaluators"],
        "candidates": {
            name: values
            for name, values in config["calibration"]["candidates"][algorithm].items()
            if name in raced
        },
        # Races on record that do not tell it have scored the whole run.
        **({"late": late} if late else {}),
    }


def effort(config):
    """Seeds of a pair in a new race, and its limit in whole runs; groups have none."""
    options = config["calibration"]
    limited = options["runs"] is not None and not config.get("tuning")
    runs = min(options["runs"], _TIMES * config["seeds"]) if limited else None
    return {"seeds": options["seeds"], "runs": runs}


def recorded(record, config, algorithm):
    """Name of the race on record that is about a configuration, or None."""
    options = config["calibration"]
    if not options["recorded"] or algorithm not in options["candidates"]:
        return None
    wanted = subject(config, algorithm)
    return next((name for name, race in record.items() if _same(race["about"], wanted)), None)


def key(config, algorithm, record):
    """Text that two configurations share if their step sizes come from the same race."""
    if algorithm not in racing(config):
        return ""
    found = recorded(record, config, algorithm)
    return found or _as_text([subject(config, algorithm), effort(config)])


def distinct(configs):
    """Races that configurations by folder need, each once: by folder and algorithm."""
    first = {}
    for folder, config in configs.items():
        for algorithm in racing(config):
            key = _as_text(subject(config, algorithm))
            first.setdefault(key, ((folder, algorithm), config))
    return dict(first.values())


def unrecorded(record, configs, project, study):
    """Folder and algorithm of each race that is not on record, by the name that it gets there."""
    place = "hard/" if study.startswith("hard-") else ""
    place = "inference/" if study == "inference" else place
    if Path(project, f"config/environments/{study}.yaml").exists():
        place = f"environments/{study}/"
    return {
        f"{place}{folder}{algorithm}": (folder, algorithm)
        for (folder, algorithm), config in distinct(configs).items()
        if not recorded(record, config, algorithm)
    }


@cache
def load_record(folder):
    """Races on record by name: `about`, `seeds`, and pairs (or triples) `chosen` and `tied`."""
    scores = {}
    with Path(folder, SCORES).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            scores.setdefault(row["race"], []).append(row)
    return {
        name: {"about": about} | _outcome(name, about, scores.get(name, []))
        for name, about in read_yaml(Path(folder, RECORD)).items()
    }


def _outcome(race, about, rows):
    """What a race has found; scores that no such race can have are refused."""
    parts = {"algorithm", "environments", "setting", "candidates"}
    if not isinstance(about, dict) or not about.keys() >= parts:
        raise ValueError(f"{RECORD}: {race}: what the race was about expected, got {shown(about)}")
    with located(f"{SCORES}: race {race}"):
        raced = [name for name in RACED if name in about["candidates"]]
        steps = [tuple(float(row[column]) for column in raced) for row in rows]
        lists = [sorted(map(float, about["candidates"][column])) for column in raced]
        known = [set(races.reach(values)) for values in lists]
        outside = (it for it in steps if not all(map(set.__contains__, known, it)))
        if unknown := next(outside, None):
            raise ValueError(f"{unknown} is not of the grid that {RECORD} describes")
        if len(set(steps)) < len(steps) or not set(steps).issuperset(itertools.product(*lists)):
            raise ValueError(f"one row expected for each pair of the grid that {RECORD} describes")
        standing = [row["standing"] for row in rows]
        chosen, tied = (
            [list(it) for it, stands in zip(steps, standing, strict=True) if stands == word]
            for word in (races.CHOSEN, races.TIED)
        )
        if len(chosen) != 1:
            raise ValueError(f"one row {races.CHOSEN!r} expected, got {len(chosen)}")
        return {"seeds": max(int(row["seeds"]) for row in rows), "chosen": chosen[0], "tied": tied}


def load_scores(path, name):
    """Scores of one race on record, as :func:`pgpd_hf.runs.races.race` has made them."""
    table = pd.read_csv(path)
    scores = table[table.pop("race") == name]
    # Of a race of pairs, the column of what only triples have is empty.
    return scores if scores["perturbation"].notna().any() else scores.drop(columns="perturbation")


def lines(record, config, defaults):
    """Say which step sizes need a new race, and why, or that one on record has other seeds."""
    found, most = [], config["calibration"]["seeds"]
    for algorithm in racing(config):
        if name := recorded(record, config, algorithm):
            seeds = record[name]["seeds"]
            if most not in (seeds, defaults["calibration"]["seeds"]):
                found.append(
                    f"{algorithm}: calibration.seeds: {most} has no effect, since its race is on "
                    f"record, with at most {seeds} seeds; calibration.recorded: false runs a new "
                    "one"
                )
            continue
        why = "calibration.recorded is false"
        if config["calibration"]["recorded"]:
            why = "no race is on record for it"
            if algorithm in defaults["algorithms"]:
                ours, theirs = (_flat(_whole(subject(it, algorithm))) for it in (config, defaults))
                keys = dict.fromkeys(
                    key.partition(".")[0] for key in ours if ours[key] != theirs.get(key)
                )
                why = f"the recorded race differs in {', '.join(keys)}" if keys else why
        runs = effort(config)["runs"]
        limit = "" if runs is None else f"{runs} runs in all, and "
        found.append(
            f"{algorithm}: new race for step sizes, since {why} "
            f"({limit}at most {most} seed{'s' * (most > 1)} for each pair)"
        )
    return found


def ties(record, config):
    """By algorithm, pairs of step sizes that tied with the chosen ones in a race on record."""
    names = {algorithm: recorded(record, config, algorithm) for algorithm in racing(config)}
    return {
        algorithm: record[name]["tied"]
        for algorithm, name in names.items()
        # Triples with a radius, of which dozens may be tied, are left out.
        if name and record[name]["tied"] and len(record[name]["chosen"]) == len(STEPS)
    }


def _same(about, other):
    """Whether two races are about the same, whether or not defaults are written out."""
    kinds = [
        (it["algorithm"], [each["name"] for each in it["environments"]]) for it in (about, other)
    ]
    return kinds[0] == kinds[1] and _whole(about) == _whole(other)


def _whole(subject):
    """What a race is about, with all defaults of its environments and its algorithm."""
    options = get_algorithm(subject["algorithm"]).options()
    return subject | {
        "environments": [environments.defaults(it["name"]) | it for it in subject["environments"]],
        "setting": {name: it.default for name, it in options.items()} | subject["setting"],
    }


def _flat(subject):
    """Leaves of what a race is about, by their names."""
    environment = {f"environment.{key}": x for key, x in subject["environments"][0].items()}
    named = {key: subject[key] for key in ("evaluators", "candidates")}
    return {**environment, **subject["setting"], **named, "late": subject.get("late", 0)}


def _as_text(subject):
    return json.dumps(subject, sort_keys=True)
