"""What a site shows: curves and verdicts of a study, of its readings, and of other environments.

A table comes from the results of the study if it is there. For the default study and for the hard
case it otherwise comes from `reference/`, which has the results of both. Results in other
environments belong to the default study.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup
from snakemake.utils import update_config

from pgpd_hf import statistics
from pgpd_hf.runs.traces import COLUMNS
from pgpd_hf.statistics import METRICS
from replication.figures import style
from replication.files import storage, validation
from replication.statements import criteria, report
from replication.statements.declaration import load_claims
from replication.statements.sources import as_read
from replication.statements.verdicts import COLUMNS as VERDICTS
from replication.study import admission, readings

PRICED = ("priced_gap", "gap", "violation")
CURVES = [
    "algorithm",
    "evaluators",
    "iteration",
    *(name for metric in METRICS for name in (metric, f"{metric}_low", f"{metric}_high")),
    *(f"mean_{metric}" for metric in METRICS),
]
NEEDED = {  # what pages read of files; other tables are shown with whatever columns they have
    "aggregate": [*CURVES, "seeds"],
    "curves": CURVES,
    "runs": ["seed"],
    "claims": VERDICTS,
    "verdicts": ["reading", *VERDICTS],
    "confirmation": ["reading", *VERDICTS],
    "controls": "claim criterion had_to_fail failed".split(),
    "environments": "study claim source statement verdict estimate low high why".split(),
    "comparison": [
        *"units method design budget steps".split(),
        *(name + end for name in PRICED for end in ("", "_low", "_high")),
    ],
    "comparison_answers": "units method design target answers surely most".split(),
    "comparison_verdicts": (
        "claim source quote statement better than unit budget difference low high verdict".split()
    ),
    "optimum": ["reward_value", "unconstrained"],
    "provenance": ["platform", "time", "versions", "wall_time"],
}
HARD = "hard"  # name of a study
ON_RECORD = {"paper": "", HARD: "hard"}  # folders in reference/ and figures/
ABOUT_HARD = "The experiment on the environment that is the hardest of a hundred to make safe."
READINGS = "Readings of what is open"  # a group of views
DEFAULT = "config/config.yaml"
DIGITS = 6  # significant ones of numbers in curves


@dataclass
class View:
    """A way to look at the experiment: the study, a reading, instances or another environment."""

    slug: str  # name of its files
    title: str
    about: str
    group: str  # its kind, for people
    verdicts: pd.DataFrame  # rows of statements.verdicts.judge; `fresh` is what fresh data say
    curves: pd.DataFrame | None = None  # columns CURVES, if there are any
    seeds: int | None = None  # number of seeds of the curves
    missing: str = ""  # why there are no curves, or what makes them, as HTML


class Place(NamedTuple):
    """Where a study's tables and pictures are; a table is in the first folder that has it."""

    folders: list[Path]
    figures: Path

    def table(self, name):
        """Read a table; None if it is nowhere."""
        paths = [folder / f"{name}.csv" for folder in self.folders]
        return next((read(path) for path in paths if path.exists()), None)


def _differing(own, config, key=""):
    """Keys of what a study says itself that are not so in a configuration."""
    for name, value in own.items():
        if isinstance(value, dict) and isinstance(config.get(name), dict):
            yield from _differing(value, config[name], f"{key}{name}.")
        elif value != config.get(name):
            yield key + name


class Sources:
    """Tables of a study: the one of a configuration file, or without its name the default one."""

    def __init__(self, root, configfile):
        self.root, self.configfile = root, configfile
        self.config = admission.load_defaults(root)
        update_config(self.config, validation.read(configfile) if configfile else {})
        self.name = self.config["study"]
        self.is_default = self.name == "paper"
        self.results = root / "results" / self.name
        if not (self.results / "aggregate.parquet").exists():
            raise FileNotFoundError(
                f"results/{self.name}: no results yet; `{self.command('make figures')}` makes them"
            )
        if (self.results / "config.yaml").exists():
            self.config = validation.read(self.results / "config.yaml")
            file = configfile or DEFAULT
            own = validation.read(configfile or root / DEFAULT)
            if differing := ", ".join(_differing(own, self.config)):
                print(
                    f"note: results/{self.name}: made with other values of {differing} than "
                    f"{file} has; `{self.command('make figures')}` makes them again",
                    file=sys.stderr,
                )
        self.own = self._place(self.name)
        self.optimum = self.record("optimum")
        self.loaded = readings.load(self.config, root)
        schema = validation.read_yaml(root / "workflow/schemas/claims.schema.yaml")
        own = [root / path for path in self.config["claims"]["statements"]]
        self.claims = load_claims(root / "config/claims.yaml", schema, own)["claims"]

    def _place(self, name):
        """Where tables and pictures of a study are."""
        results = self.root / "results" / name
        if name not in ON_RECORD:
            return Place([results], results / "figures")
        reference, figures = (self.root / it / ON_RECORD[name] for it in ("reference", "figures"))
        return Place([results, reference], figures)

    def command(self, command):
        """A command, for this study."""
        if self.name == HARD and command == "make infer":
            return f"make {HARD}"
        option = "CONFIG=" if command.startswith("make") else "--configfile "
        return f"{command} {option}{self.configfile}" if self.configfile else command

    def _made_by(self, text, command):
        """What is missing, and which command makes it, as HTML."""
        return Markup("{}; <code>{}</code> makes them.").format(text, self.command(command))

    def record(self, name):
        """Read a JSON file of the results; None if it is not there."""
        path = self.results / f"{name}.json"
        return read(path) if path.exists() else None

    def table(self, name):
        """Read a table of the study; None if it is nowhere."""
        return self.own.table(name)

    def page(self, name):
        """Page of a notebook; None if it is nowhere."""
        # The inference is a study of its own.
        folder = self._beside("inference") if name == "inference" else self.results
        path = folder / f"notebooks/{name}.html"
        return path if path.exists() else None

    def _beside(self, name):
        """Folder with the results of a study that stands beside this one."""
        return self.root / "results" / (name if self.is_default else f"{self.name}-{name}")

    def beside(self, *paths):
        """Read a table of other studies: the first of some files; None if there is none."""
        places = [self.root / path for path in paths]
        return next((read(path) for path in places if path.exists()), None)

    def views(self):
        """Everything that there are verdicts on, the study itself first."""
        own = read(self.results / "aggregate.parquet")
        verdicts = self.table("verdicts")
        if verdicts is None:
            verdicts = self.table("claims")
            verdicts = pd.DataFrame(columns=VERDICTS) if verdicts is None else verdicts
            verdicts = verdicts.assign(reading="default")
        slugs = {reading["title"]: name for name, reading in self.loaded.items()}
        rows = verdicts[verdicts["reading"] == "default"]
        confirmation, words = self.confirmation(), {}
        if confirmation is not None:
            words = report.on_fresh_data(rows, confirmation)
        rows = rows.assign(fresh=[words.get(it, report.NOT_CONFIRMED) for it in rows["claim"]])
        first = View("default", "default", "The study itself.", "The study", rows)
        first.curves, first.seeds = own[CURVES], int(own["seeds"].max())
        found = [first]
        for title, rows in verdicts.groupby("reading", sort=False):
            if title == "default":
                continue
            if title in slugs:
                about = self.loaded[slugs[title]]["about"]
                rows = rows.assign(fresh=report.NOT_CONFIRMED)
                view = View(slugs[title], title, about, READINGS, rows)
                self._add_curves(view)
            else:
                slug = re.sub(r"\W+", "-", title)
                view = View(slug, title, "Random environments.", "Random instances", rows)
                view.missing = "Each of these environments has curves of its own."
            found.append(view)
        return found + self._confirmation() + self._hard() + self._environments()

    def _add_curves(self, view):
        """Means over the seeds of a reading, looked at as it says."""
        configs = readings.configurations(self.config, self.loaded)
        folder = f"readings/{view.slug}/"
        settings, look = configs[folder], readings.look(self.loaded, folder)
        paths = []
        for algorithm in settings["algorithms"]:
            owner = readings.owners(configs, readings.runs_key, algorithm)[folder]
            paths += (self.results / f"{owner}runs/{algorithm}").glob("M*/*.parquet")
        paths = storage.made_from(self.results / f"{folder}claims.csv", paths)
        if not paths:
            view.missing = self._made_by("Its runs are not in this copy", "make claims")
            return
        if look["optimum"] == "unconstrained" and self.optimum is None:
            view.missing = self._made_by("The optima are not in this copy", "make figures")
            return
        runs = storage.read_traces(paths)
        require(paths[0].parents[1], runs, COLUMNS)
        runs = runs[runs["seed"] < settings["seeds"]].drop_duplicates()
        runs = as_read(runs, look, self.optimum)
        view.curves = statistics.aggregate(runs)[CURVES]
        view.seeds = runs["seed"].nunique()

    def confirmation(self):
        """Verdicts of the study on fresh data, which a study of its own has, or None."""
        if self.name not in ON_RECORD:
            return None
        recorded = self.own.folders[-1] / "confirmation.csv"
        return self.beside(self._beside("confirmation") / "verdicts.csv", recorded)

    def _confirmation(self):
        """Ways to look at the study on fresh data."""
        table = self.confirmation()
        if table is None:
            return []
        table = table.replace({"reading": {"default": report.FRESH}})
        about = "The study once more, by criteria and sizes that were committed before."
        missing = self._made_by("Its runs are those of another study", "make infer")
        group = "Confirmation on fresh data"
        return [
            View(re.sub(r"\W+", "-", title), title, about, group, rows, missing=missing)
            for title, rows in table.groupby("reading", sort=False)
        ]

    def _hard(self):
        """The hard case beside the default study, as it is on record."""
        names = ("verdicts", "confirmation", "curves", "runs")
        paths = [self.root / "reference" / ON_RECORD[HARD] / f"{name}.csv" for name in names]
        if not self.is_default or not all(path.exists() for path in paths):
            return []
        rows, confirmation, curves, runs = map(read, paths)
        rows = rows[rows["reading"] == "default"]
        told = report.on_fresh_data(rows, confirmation)
        rows = rows.assign(reading="hard case", fresh=rows["claim"].map(told))
        view = View(HARD, "hard case", ABOUT_HARD, "The hard case", rows)
        view.curves, view.seeds = curves[CURVES], runs["seed"].nunique()
        return [view]

    def environments(self):
        """Verdicts in other environments, which studies of their own have; None without any."""
        paths = ("results/environments/environments.csv", "reference/environments.csv")
        return self.beside(*paths) if self.is_default else None

    def _environments(self):
        """Studies of other environments: with curves as far as they have been run here."""
        found, recorded = [], self.environments()
        for path in sorted((self.root / "config/environments").glob("*.yaml")):
            name = validation.read(path)["study"]
            about = re.match(r"# (.*)", path.read_text(encoding="utf-8"))[1]
            view = View(name, name, about, "Other environments", pd.DataFrame())
            results = self.root / "results" / name
            if self.is_default and (results / "claims.csv").exists():
                view.verdicts = read(results / "claims.csv")
                curves = read(results / "aggregate.parquet")
                view.curves, view.seeds = curves[CURVES], int(curves["seeds"].max())
            elif recorded is not None:
                view.verdicts = recorded[recorded["study"] == name].reindex(columns=VERDICTS)
                text = "Its runs are not in this copy"
                view.missing = self._made_by(text, "make environments")
            if len(view.verdicts):
                view.verdicts = view.verdicts.assign(reading=name, fresh=report.NOT_CONFIRMED)
                found.append(view)
        return found

    def demanded(self, row):
        """Interval in which the estimate of a row of verdicts has to lie.

        Its ends may be infinite; None if the statement is no longer declared in this way.
        """
        criterion = self.claims.get(row["claim"], {}).get("criterion", {"test": "undecided"})
        margin = criterion.get("margin", 0.0)
        if criterion["test"] == "undecided":
            return None
        for part in criteria.make_parts(criterion):
            if part.text(margin) == row["part"]:
                return part.ends(margin)
        return None


def read(path):
    """Read a table or a record, and refuse one that lacks what pages read of it."""
    found = storage.read_json(path) if path.suffix == ".json" else storage.read_table(path)
    require(path, found, NEEDED.get(path.stem, ()))
    return found


def require(path, found, names):
    """Refuse a table or a record without some columns or entries, or without anything.

    A table of which nothing is needed by name may have no rows.
    """
    lacking = [name for name in names if name not in found]
    if lacking:
        raise ValueError(f"{path}: lacks {', '.join(lacking)}; delete it and run again")
    # Only a comparison may have been asked for no verdicts.
    if names and not len(found) and path.stem != "comparison_verdicts":
        raise ValueError(f"{path}: has no rows; delete it and run again")


def rounded(curves):
    """Curves as JSON can hold them: columns of lists, by algorithm and number of evaluators.

    Numbers have :data:`DIGITS` significant digits; missing ones are None.
    """
    found = {}
    for (algorithm, people), rows in curves.groupby(["algorithm", "evaluators"], dropna=False):
        name = str(style.evaluators_number(people))
        found.setdefault(algorithm, {})[name] = {
            column: [None if pd.isna(x) else float(f"{x:.{DIGITS}g}") for x in rows[column]]
            for column in CURVES[2:]
        }
    return found
