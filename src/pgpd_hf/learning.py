r"""Learning from files of votes: reward and utility by maximum likelihood, then the linear program.

With `level`, the votes about utility are split by question. One half chooses the policy; the other
half, which the policy does not depend on, bounds :math:`V_g^\pi - b` of that one policy. The bound
is the estimate :math:`c \cdot \hat\theta` less a quantile of its standard error and the largest
bias that the ridge may cause while signals are in [0, scale].
"""

from __future__ import annotations  # help() shows names of types

import warnings
from dataclasses import dataclass
from os import PathLike

import numpy as np
import pandas as pd
from scipy import linalg, stats

from pgpd_hf.arguments import (
    optional,
    require_instance,
    require_number,
    require_one_of,
    shown,
)
from pgpd_hf.cmdp import CMDP, Array
from pgpd_hf.evaluators import LINKS
from pgpd_hf.likelihood import fit, information, log_likelihood, standard_errors
from pgpd_hf.optimum import maximize, proportional, solve
from pgpd_hf.process import KINDS, Process, integers, numbered, pseudonyms, read_columns
from pgpd_hf.trajectories import absorbing_states

_FEWEST = 10  # evaluators whose votes may depend on the person


@dataclass(frozen=True, eq=False, repr=False)
class Learned:
    """What votes have taught; `safe` is None without a level."""

    policy: Array  # (S, A)
    reward: Array  # (S, A), estimates, in units of the link
    utility: Array
    threshold: float  # b, an estimate where the process does not tell it
    reward_value: float  # of the policy, by the estimates
    utility_value: float
    standard_error: float  # of utility_value - threshold
    margin: float
    lower: float | None = None  # bound of V_g - b
    safe: bool | None = None  # whether it is at least 0
    notes: tuple[str, ...] = ()  # why no level is promised, and what else to know

    def __repr__(self) -> str:
        excess = round(self.utility_value - self.threshold, 6) + 0.0
        found = [f"estimated V_g - b = {excess:.3g} (standard error {self.standard_error:.2g})"]
        if self.safe is not None:
            verdict = "safe" if self.safe else "not shown to be safe"
            found.insert(0, f"{verdict}, V_g - b >= {self.lower:.3g}")
        return f"<Learned: {'; '.join([*found, *self.notes])}>"


def learn_from_votes(
    process: Process | CMDP,
    trajectories: pd.DataFrame | str | PathLike[str],
    votes: pd.DataFrame | str | PathLike[str],
    link: str = "logistic",
    ridge: float = 1.0,
    margin: float | None = None,
    level: float | None = None,
    independent: bool = False,
) -> Learned:
    r"""Estimate reward and utility from votes, and solve for the policy.

    Parameters
    ----------
    process : Process or CMDP
        Of a CMDP, the rewards and utilities are not used. Transitions that are None are estimated.
    trajectories : DataFrame or path of a CSV file
        `trajectory`, `time`, `state` and `action`, as :attr:`Session.trajectories`.
    votes : DataFrame or path of a CSV file
        `question`, `kind`, `first`, `second`, `evaluator`, `answer`, as :attr:`Session.votes`.
    link : str
        A key of :data:`pgpd_hf.LINKS`.
    ridge : float
        Weight of the prior of signals, normal around half of the scale, in units of the scale.
    margin : float, optional
        What is added to b in the program. By default 0; with a level, the half-width that is
        expected of the bound.
    level : float, optional
        Of confidence, in (0.5, 1), of a lower bound of V_g - b.
    independent : bool
        Whether votes of one person do not depend on each other, given the trajectories.

    Notes
    -----
    Without a level, the policy meets b by the estimates, and about every other such policy does not
    in truth. With one, P(safe is told, and V_g < b) is at most 1 - level if people vote by the link
    on known transitions. There have to be ten of them, or to be `independent`; then the standard
    error is the larger one of those of independent votes and of independent people.
    """
    if not isinstance(process, CMDP):
        require_instance("process", process, Process)
    level = optional(require_number, "level", level, above=0.5, below=1)
    margin = optional(require_number, "margin", margin)
    require_one_of("link", link, LINKS)
    ridge = require_number("ridge", ridge, above=0) / process.scale**2
    steps, sizes = _read(process, trajectories)
    transition, seen, ends, notes = _transitions(process, steps, sizes)
    visits = _visits(steps, sizes, process.discount, ends)
    asked, given = _questions(votes, pd.Index(steps["trajectory"].unique()))
    model = _Model(process, visits, asked, given, link, ridge)

    about_utility = [np.flatnonzero(asked["kind"] == kind) for kind in (1, 2)]
    halves = [np.concatenate([kind[k::2] for kind in about_utility]) for k in (0, 1)]
    chosen, judged = halves if level else [np.concatenate(about_utility)] * 2
    reward = model.fit(np.flatnonzero(asked["kind"] == 0))[:-1].reshape(seen.shape)
    theta = model.fit(chosen)
    utility, threshold = theta[:-1].reshape(seen.shape), model.threshold(theta)

    def plan(margin):
        known = transition, reward, -utility, -threshold - margin, process.initial
        cmdp = CMDP.from_costs(*known, process.discount, actions=seen)
        try:
            policy = solve(cmdp).policy
        except ValueError:  # by the estimates, no policy is that safe
            policy = maximize(cmdp, cmdp.utility)
        # Actions that were never seen are copies of the first one that was.
        spare, policy = np.where(seen, 0, policy).sum(1), np.where(seen, policy, 0)
        policy[np.arange(len(seen)), seen.argmax(1)] += spare
        policy[ends] = 1 / seen.shape[1]  # where no action matters, votes tell their mean
        return policy, (cmdp.occupancy(policy)[:, None] * policy).ravel()

    policy, occupancy = plan(margin or 0.0)
    if margin is None and level:
        for _ in range(3):
            margin = model.width(chosen, theta, occupancy, level, independent)
            policy, occupancy = plan(margin)
    found = {
        "policy": policy,
        "reward": reward,
        "utility": utility,
        "threshold": threshold,
        "reward_value": float(occupancy @ reward.ravel()),
        "utility_value": float(occupancy @ utility.ravel()),
        "standard_error": model.error(chosen, theta, occupancy),
        "margin": margin or 0.0,
    }
    if found["utility_value"] < threshold + found["margin"] - 1e-6:
        notes += ("by the estimates, no policy has the margin, and this one is the safest",)
    if level is None:
        return Learned(**found, notes=(*notes, "nothing is said about safety without a level"))
    if not independent and len(given["evaluator"].unique()) < _FEWEST:
        notes += (f"no level is promised, since fewer than {_FEWEST} people voted",)
    again = model.fit(judged)
    lower = occupancy @ again[:-1] - model.threshold(again)
    lower -= model.width(judged, again, occupancy, level, independent)
    promised = not any(note.startswith("no level") for note in notes)
    return Learned(**found, lower=float(lower), safe=bool(promised and lower >= 0), notes=notes)


class _Model:
    """Likelihood of a signal (S, A) and of b, where b is in units of the largest return.

    All these numbers lie in [0, scale], and have their prior around its half.
    """

    def __init__(self, process, visits, asked, given, link, ridge):
        self.given, self.link, self.ridge, self.middle = given, link, ridge, process.scale / 2
        single = (asked["kind"] == 2).to_numpy()
        first, second = visits[asked["first"]], visits[asked["second"]]
        self.unit, self.known = visits.sum(1).max(), getattr(process, "threshold", None)
        of_b = np.where(single, -self.unit if self.known is None else 0.0, 0.0)
        self.features = np.column_stack([np.where(single[:, None], first, second - first), of_b])
        self.offsets = np.where(single, -(self.known or 0.0), 0.0)
        self.numbers = np.bincount(given["question"], minlength=len(asked))
        self.favourable = np.bincount(given["question"], given["answer"], minlength=len(asked))

    def fit(self, rows):
        """Estimate from the votes on some questions."""
        center = np.full(self.features.shape[1], self.middle)
        told = self.features[rows], self.favourable[rows], self.numbers[rows]
        return fit(*told, self.link, self.ridge, center, self.offsets[rows])

    def threshold(self, theta):
        """B of an estimate."""
        return float(self.unit * theta[-1]) if self.known is None else self.known

    def error(self, rows, theta, occupancy):
        """Standard error of V_g - b, with the prior."""
        known = self.features[rows], self.numbers[rows], theta, self.link, self.ridge
        return float(standard_errors(self._direction(occupancy), *known, self.offsets[rows])[0])

    def width(self, rows, theta, occupancy, level, independent):
        """How far V_g - b may be below its estimate: bias of the ridge, and errors of votes."""
        known = self.features[rows], self.numbers[rows], theta, self.link, self.ridge
        curved, direction = information(*known, self.offsets[rows]), self._direction(occupancy)
        solved = linalg.solve(curved, direction, assume_a="pos")
        bias = self.ridge * self.middle * abs(solved).sum()
        error = np.sqrt(max(0.0, solved @ direction - self.ridge * solved @ solved))
        width = stats.norm.ppf(level) * error
        if not independent:  # the sums of what each person's votes contribute
            votes = self.given[self.given["question"].isin(rows)]
            place, person = votes["question"].to_numpy(), votes["evaluator"].to_numpy()
            differences = (self.features @ theta + self.offsets)[place]
            answers, ones = votes["answer"].to_numpy(np.float64), np.ones(len(votes))
            _, score, _ = log_likelihood(LINKS[self.link].code, differences, answers, ones)
            sums = np.bincount(person, score * (self.features @ solved)[place])
            people = len(np.unique(person))
            spread = np.sqrt(people / max(1, people - 1) * (sums**2).sum())
            width = max(width, stats.t.ppf(level, max(1, people - 1)) * spread)
        return float(width + bias)

    def _direction(self, occupancy):
        return np.append(occupancy, -self.unit if self.known is None else 0.0)


def _read(process, trajectories):
    """Steps of whole trajectories, in order."""
    columns = ("trajectory", "time", "state", "action")
    table = read_columns("trajectories", trajectories, columns)
    names = [getattr(process, f"{axis}_names", None) for axis in columns[2:]]
    sizes = len(process.initial), len(names[1] or process.transition[0])
    known = dict(zip(columns[2:], zip(names, sizes, strict=True), strict=True))
    read = {name: integers("trajectories", table[name], 0, 2**53) for name in columns[:2]}
    read |= {name: numbered("trajectories", table[name], *known[name]) for name in known}
    steps = pd.DataFrame(read).sort_values([*columns[:2]], ignore_index=True)
    expected = steps.groupby("trajectory").cumcount()
    wrong = (steps["time"] != expected).to_numpy()
    if wrong.any() or steps.empty:
        which = steps["trajectory"][wrong.argmax()] if wrong.any() else "none"
        raise ValueError(f"trajectories: times 0, 1, 2, ... expected, not so in {which}")
    return steps, sizes


def _transitions(process, steps, sizes):
    """Transitions, or their estimates, which pairs were seen, in which states it ends, notes."""
    if process.transition is not None:
        cmdp = process if isinstance(process, CMDP) else process.without_rewards()
        return cmdp.transition, np.ones(sizes, bool), absorbing_states(cmdp), ()
    following = steps.shift(-1)
    goes_on = (following["trajectory"] == steps["trajectory"]).to_numpy()
    counts = np.zeros((*sizes, sizes[0]))
    place = steps["state"], steps["action"], following["state"]
    np.add.at(counts, tuple(it[goes_on].to_numpy(np.int64) for it in place), 1)
    seen = counts.sum(2) > 0
    notes = ("no level is promised, since transitions are estimated",)
    ends = ~seen.any(1)  # states that no trajectory leaves
    counts[ends, :, ends] = 1
    seen[ends] = True
    if not seen.all():
        notes += (f"{(~seen).sum()} pairs of state and action were never seen, and are not chosen",)
        warnings.warn(notes[-1], stacklevel=3)
    return proportional(counts), seen, ends, notes


def _visits(steps, sizes, discount, ends):
    """Discounted visits (K, S * A); the process stays where it ends, until the longest one does."""
    place = pd.factorize(steps["trajectory"])[0]
    state, time = steps["state"].to_numpy(), steps["time"].to_numpy()
    visits, weights = np.zeros((place[-1] + 1, *sizes)), discount ** np.append(time, time.max() + 1)
    np.add.at(visits, (place, state, steps["action"]), np.where(ends[state], 0, weights[:-1]))
    rest = (weights[:-1] - weights[-1]) / (1 - discount)  # which all actions share
    np.add.at(visits, (place, state), np.where(ends[state], rest, 0)[:, None] / sizes[1])
    return visits.reshape(len(visits), -1)


def _questions(votes, numbers):
    """Questions, with places of trajectories, and votes on them, with places of questions."""
    columns = ("question", "kind", "first", "second", "evaluator", "answer")
    table = read_columns("votes", votes, columns)
    kind = numbered("votes", table["kind"], KINDS, len(KINDS))
    table["second"] = table["second"].where(kind < 2, table["first"])
    given = {"question": integers("votes", table["question"], 0, 2**53), "kind": kind}
    for name in ("first", "second"):
        given[name] = numbers.get_indexer(integers("votes", table[name], 0, 2**53))
        if (given[name] < 0).any():
            which = shown(table[name][(given[name] < 0).argmax()])
            raise ValueError(f"votes: {name} in trajectories expected, got {which}")
    given["evaluator"] = pd.factorize(pseudonyms("votes", table["evaluator"]), sort=True)[0]
    given["answer"] = integers("votes", table["answer"], 0, 2)
    given = pd.DataFrame(given).sort_values(["question", "evaluator"], ignore_index=True)
    asked = given.drop_duplicates([*columns[:4]])
    for wrong, told in (
        (asked["question"].duplicated(), "is told in two ways"),
        (given.duplicated(["question", "evaluator"]), "has two answers of the same evaluator"),
    ):
        if wrong.any():
            raise ValueError(f"votes: question {given['question'][wrong.idxmax()]} {told}")
    if not (kind == 0).any():
        raise ValueError("votes: kind helpful expected, without which the reward is unknown")
    if not (kind == 2).any():
        raise ValueError(
            "votes: kind acceptable expected, since comparisons leave the level of utility open, "
            "so that a threshold means nothing"
        )
    given["question"] = pd.factorize(given["question"])[0]
    return asked.reset_index(drop=True), given
