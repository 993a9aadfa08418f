"""Races of the settings of a method that is compared, one for each budget of answers.

Candidates run on instances that the comparison does not use, on random streams of their own, the
same for all of them. After 2 and 6 of 18 runs the best third goes on, less those that are shown to
be worse than the leader (:mod:`pgpd_hf.runs.races`). Where the leader stands at an end of a list of
at least three positive numbers, the next one beyond is tried with the other settings of the best
eight, at most four times at each end. The score is the positive gap plus the positive violation at
the end of a run; the smallest mean wins. Several runs are on each instance, and cuts to a third are
no tests, so that a race is a search, without an error rate.
"""

import json
import math

import numpy as np
import pandas as pd

from pgpd_hf import environments
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core.optima import solve
from pgpd_hf.runs.races import CHOSEN, DROPPED, LEVEL, TIED, Contest, Grid
from replication.analyses import Table
from replication.study import comparison, configuration, resources

TARGET = "compare"
TABLES = {"comparison_races/{part}": Table()}
check = comparison.check
why_not = comparison.why_not
FEWEST = 3  # of two values each is at an end
_AROUND = 8  # of the best candidates get neighbours where the grid grows
COLUMNS = ("key", "setting", "score", "runs", "standing")
_COUNTS = ("evaluators", "rounds", "iterations")
_NOT_CHOSEN = ("horizon", "link")  # the same in the whole study


def parts(config):
    """Names of all races, of a method with a design each."""
    entries = comparison.entries(config)
    return [it.part for it in entries if comparison.raced_budgets(config, it)]


def arguments(config, part):
    return subject(config, part)


def subject(config, part, prefix=""):
    """What the races of a method are about."""
    (entry,) = (it for it in comparison.entries(config) if it.part == part)
    options = config["comparison"]
    study = {name: config[name] for name in ("environment", "horizon", "link")}
    study["comparison"] = {name: options[name] for name in ("most_pairs", "tuning_runs")}
    return {
        "study": study,
        "entry": entry._asdict(),
        "budgets": comparison.raced_budgets(config, entry),
        "instances": comparison.instances(config)[1],
        "prefix": prefix,
    }


def seconds(config, part):
    told = subject(config, part)
    entry, size = comparison.Entry(**told["entry"]), configuration.size(config)
    runs = 2 * len(stages(config["comparison"]["tuning_runs"]))  # of each candidate, with growth
    return runs * sum(
        resources.run_seconds(entry.algorithm, setting, *size)
        for budget in told["budgets"]
        for setting in comparison.candidates(config, entry, budget)
    )


def tables(study, entry, budgets, instances, prefix):
    entry, rows = comparison.Entry(**entry), []
    made = {it: environments.make(configuration.vary(study, {"instance": it})) for it in instances}
    problems = [(number, cmdp, solve(cmdp)) for number, cmdp in made.items()]
    for budget in budgets:
        key = prefix + comparison.key(entry, budget)
        found = race(study, entry, budget, problems)
        rows += [(key, *row) for row in found]
        print(f"{key}: {len(found)} settings")
    return {entry.part: pd.DataFrame(rows, columns=list(COLUMNS))}


def stages(most):
    """Numbers of runs after which candidates are dropped."""
    return [*stages(most // 3), most] if most >= 6 else [most]


def race(study, entry, budget, problems):
    """Race all candidates of a method at a budget; give a row for each that ran."""
    lists = comparison.lists(entry, budget)
    grid = Grid({name: _increasing(values) for name, values in lists.items()}, FEWEST)
    contest, ends = _Settings(entry, problems), stages(study["comparison"]["tuning_runs"])
    running = contest.admit(comparison.admit(study, entry, budget, grid.combinations()))
    for end in ends:
        contest.extend(running, end)
        if end < ends[-1]:
            running = contest.best(running, max(2, math.ceil(len(running) / 3)))
        running = contest.undecided(running, LEVEL / len(ends))
        while new := grid.grow(contest.leader(running), contest.best(running, _AROUND)):
            new = contest.admit(comparison.admit(study, entry, budget, _possible(new, lists)))
            contest.extend(new, end)
            running += new
        if len(running) == 1:
            break
    chosen = contest.leader(running)
    tied = contest.undecided(running, LEVEL / len(ends))
    return [
        (
            _as_text(contest.settings[values]),
            contest.sums(values).mean(),
            len(contest.scores[values]),
            CHOSEN if values == chosen else TIED if values in tied else DROPPED,
        )
        for values in contest.scores
    ]


class _Settings(Contest):
    """Settings of a method; run k is on instance k modulo their number."""

    def __init__(self, entry, problems):
        super().__init__()
        self.kind, self.problems, self.settings = get_algorithm(entry.algorithm), problems, {}

    def admit(self, settings):
        """Take in settings by combination; give back the combinations that are new."""
        new = [values for values in settings if values not in self.settings]
        self.settings |= settings
        return new

    def score(self, task):
        from pgpd_hf.runs.traces import values_at  # of jobs: planning does without

        values, unit = task
        seed, place = divmod(unit, len(self.problems))
        number, cmdp, optimum = self.problems[place]
        setting = self.settings[values]
        algorithm, last = self.kind.having(self.kind.pick(setting)), setting["iterations"]
        run = algorithm.prepare(cmdp, optimum, last)
        try:
            purpose = f"comparison tuning, instance {number}"
            reward, utility = values_at(run, seed, np.array([last]), purpose=purpose)[:, 0]
        except ValueError:  # the step is so large that rounding destroys the policy
            return math.inf, math.inf
        return max(0.0, optimum.reward_value - reward), max(0.0, cmdp.threshold - utility)


def _increasing(values):
    return sorted(values) if not any(isinstance(it, str) for it in values) else values


def _possible(combinations, names):
    """Those whose counts are whole, in an order that does not depend on the process."""
    whole = [
        tuple(int(it) if isinstance(it, float) and it.is_integer() else it for it in values)
        for values in combinations
    ]
    counts = [place for place, name in enumerate(names) if name in _COUNTS]
    possible = [it for it in whole if all(isinstance(it[place], int) for place in counts)]
    return sorted(possible, key=repr)


def _as_text(setting):
    return json.dumps({name: it for name, it in setting.items() if name not in _NOT_CHOSEN})
