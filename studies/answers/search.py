"""Successive elimination: the setting of a method for a number of answers.

Settings run on environments that the comparison does not use, on the same random numbers. After 2
and 6 of 18 runs the best third goes on, without those that a t test shows to be worse than the
leader (Even-Dar, Mannor and Mansour 2006). Where the leader stands at an end of a list of at least
three numbers, the next one beyond is tried with the other values of the best eight, at most four
times at each end. A score is the positive gap plus the positive violation at the end of a run; the
smallest mean wins. Cuts to a third are no tests, so this is a search without an error rate.
"""

import argparse
import itertools
import json
import math

import numpy as np
import pandas as pd
from answers import methods, problems, settings
from scipy import special

from pgpd_hf.evaluators import make_evaluators
from pgpd_hf.tables import one_line, write_table

LEVEL = 0.05
CHOSEN, TIED, DROPPED = "chosen", "tied", "dropped"
_FEWEST, _GROWTH, _AROUND = 3, 4, 8  # numbers of a list that grows; times at an end; settings


def search(declared, method, budget, score, size, readable):
    """A row for each setting: its values, its mean score, and where it ended.

    `score(setting, k)` is that of run k; `readable(setting)` says whether its votes can be read.
    """
    contest = Contest(score)

    def admit(combinations):
        """Settings that are possible and new."""
        found = settings.affordable(declared, method, budget, size, combinations)
        found = {it: given for it, given in found.items() if readable(given)}
        new = [it for it in found if it not in contest.settings]
        contest.settings |= found
        return new

    lists = settings.lists(declared["methods"][method], budget)
    grid = Grid(lists)
    most = declared["tuning"]["runs"]
    ends = [most // 9, most // 3, most] if most >= 18 else [most]
    running = admit(itertools.product(*grid.values.values()))
    for end in ends:
        contest.extend(running, end)
        if end < most:
            running = contest.best(running, max(2, math.ceil(len(running) / 3)))
        running = contest.undecided(running, LEVEL / len(ends))
        while around := grid.grow(contest.best(running, 1)[0], contest.best(running, _AROUND)):
            new = admit(whole(around, lists))
            contest.extend(new, end)
            running += new
        if len(running) == 1:
            break
    chosen, tied = contest.best(running, 1)[0], contest.undecided(running, LEVEL / len(ends))
    rows = []
    for values, scores in contest.scores.items():
        standing = CHOSEN if values == chosen else TIED if values in tied else DROPPED
        told = {"score": np.mean(scores), "runs": len(scores), "standing": standing}
        rows.append(contest.settings[values] | told)
    return pd.DataFrame(rows).reindex(columns=[*settings.PARTS, "score", "runs", "standing"])


class Grid:
    """Values of each part of a setting, which grow at either end."""

    def __init__(self, lists):
        words = {name for name, them in lists.items() if any(isinstance(it, str) for it in them)}
        self.values = {n: [*them] if n in words else sorted(them) for n, them in lists.items()}
        growing = [n for n, them in lists.items() if n not in words and len(them) >= _FEWEST]
        self.room = {(name, end): _GROWTH for name in growing for end in (0, -1)}

    def grow(self, leader, running):
        """Add a number beyond an end at which the leader stands; return the new combinations."""
        for (name, end), room in self.room.items():
            place, values = [*self.values].index(name), self.values[name]
            if room and leader[place] == values[end]:
                self.room[name, end] -= 1
                step = following(values if end else values[::-1])
                self.values[name] = sorted([*values, step])
                return {(*it[:place], step, *it[place + 1 :]) for it in running}
        return set()


def following(values):
    """Continue a list with its own spacing: 0.1, 0.3, 1 are followed by 3."""
    return float(f"{values[-1] * values[-2] / values[-3]:.12g}")


def whole(combinations, names):
    """Combinations whose counts are whole numbers, in an order that is always the same."""
    found = []
    for values in combinations:
        values = tuple(
            int(it) if isinstance(it, float) and it.is_integer() else it for it in values
        )
        counts = [it for it, name in zip(values, names, strict=True) if name in settings.COUNTS]
        if all(isinstance(it, int) for it in counts):
            found.append(values)
    return sorted(found, key=repr)


class Contest:
    """Settings by their values, and the scores that they have so far."""

    def __init__(self, score):
        self.settings, self.scores, self._score = {}, {}, score

    def extend(self, contestants, runs):
        """Let contestants run until they have a number of runs."""
        for it in contestants:
            scores = self.scores.setdefault(it, [])
            scores += [self._score(self.settings[it], k) for k in range(len(scores), runs)]

    def best(self, contestants, count):
        """Contestants with the lowest mean scores, in the order in which they are given."""
        chosen = {*sorted(contestants, key=lambda it: np.mean(self.scores[it]))[:count]}
        return [it for it in contestants if it in chosen]

    def undecided(self, contestants, level):
        """Contestants that are not worse than the leader beyond doubt, by Bonferroni's rule."""
        (leader,) = self.best(contestants, 1)
        share = level / max(1, len(contestants) - 1)
        return [it for it in contestants if it == leader or self._p_value(it, leader) > share]

    def _p_value(self, contestant, leader):
        """One-sided, of a paired t test that a contestant is worse."""
        runs = min(len(self.scores[contestant]), len(self.scores[leader]))
        with np.errstate(invalid="ignore"):  # both may be infinite
            behind = np.subtract(self.scores[contestant][:runs], self.scores[leader][:runs])
        mean = behind.mean()
        if runs < 2 or not mean > 0:
            return 1.0
        if not math.isfinite(mean):
            return 0.0
        with np.errstate(divide="ignore"):
            return special.stdtr(runs - 1, -mean / (behind.std(ddof=1) / math.sqrt(runs)))


def main(arguments):
    """Search on the environments for tuning."""
    experiment, declared, budget = arguments.experiment, arguments.declared, arguments.budget
    tuning = declared["tuning"]
    made = problems.binding(experiment["environment"], tuning["first"], tuning["count"])
    cmdp, horizon = made[0].cmdp, experiment["horizon"]

    def readable(setting):
        panel = setting["evaluators"], "logistic", cmdp.return_bound(horizon)
        try:
            make_evaluators(*panel, setting.get("estimator", "plug-in"))
        except ValueError:  # the unbiased estimator would have a bias
            return False
        return True

    def score(setting, k):
        seed, place = divmod(k, len(made))
        problem = made[place]
        purpose = f"comparison tuning, instance {problem.number}"
        options = {"horizon": horizon, "seed": seed, "purpose": purpose}
        given = arguments.method, problem.cmdp, problem.optimum, setting
        try:
            gap, violation, _ = problem.loss(methods.learn(*given, **options))
        except ValueError:  # the step is so large that rounding destroys the policy
            return math.inf
        return max(0.0, gap) + max(0.0, violation)

    size = cmdp.states, cmdp.actions
    return search(declared, arguments.method, budget, score, size, readable)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiment", required=True, type=json.loads, help="as JSON")
    parser.add_argument("--declared", required=True, type=json.loads, help="the study's, as JSON")
    parser.add_argument("--method", required=True, help="its name")
    parser.add_argument("--budget", required=True, type=int, help="number of answers")
    parser.add_argument("--table", required=True, help="CSV file that is written")
    with one_line():
        arguments = parser.parse_args()
        write_table(main(arguments), arguments.table)
