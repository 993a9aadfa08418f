"""Learning from files of votes: reward and utility are estimated, then the program is solved."""

from __future__ import annotations  # help() shows names of types

import warnings
from dataclasses import dataclass
from os import PathLike

import numpy as np
import pandas as pd
from scipy import linalg, stats

from pgpd_hf.arguments import optional, require_instance, require_number, require_one_of
from pgpd_hf.cmdp import CMDP, Array
from pgpd_hf.evaluators import LINKS
from pgpd_hf.likelihood import fit, information, log_likelihood
from pgpd_hf.optimum import Infeasible, maximize, proportional, solve
from pgpd_hf.process import KINDS, NUMBERS, Process, cmdp_of, labels, read_table, require_single
from pgpd_hf.trajectories import absorbing_states

_FEWEST = 10  # people of whom a level is promised though votes may depend on the person
_MOST_MISSED = 0.05  # share of a value that trajectories may miss


@dataclass(frozen=True, eq=False, repr=False)
class Learned:
    """What votes have taught.

    Attributes
    ----------
    policy, reward, utility : ndarray, float64, shape (S, A)
        The policy, and the estimates of a step's reward and utility, in units of the link.
    threshold, utility_value, standard_error : float
        Estimates of b and of the policy's V_g, and the standard error of their difference.
    level, lower : float or None
        Confidence of a bound of V_g - b, and the bound.
    safe : bool
        Whether the bound is at least 0, and its level is promised.
    doubts : tuple of str
        Why no level is promised.
    """

    policy: Array
    reward: Array
    utility: Array
    threshold: float
    utility_value: float
    standard_error: float
    level: float | None
    lower: float | None
    safe: bool
    doubts: tuple[str, ...]

    def __repr__(self) -> str:
        excess = round(self.utility_value - self.threshold, 6) + 0.0  # no -0
        told = "safe" if self.safe else "not shown to be safe"
        if self.level is not None:
            told += f" at level {self.level:g}; V_g - b >= {self.lower:.3g}"
        told += f"; by the votes that chose it, V_g - b = {excess:.3g} "
        told += f"(standard error {self.standard_error:.2g}, in units of the link)"
        if self.doubts:
            told += f"; no level is promised, since {' and '.join(self.doubts)}"
        return f"<Learned: {told}>"


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
        Of a CMDP rewards and utilities only tell which states are absorbing, and b is learned, too;
        its scale is that of the prior. Transitions that are None are estimated; states that no
        trajectory leaves for another count as ends.
    trajectories, votes : DataFrame or path of a CSV file
        As :attr:`Session.trajectories` and :attr:`Session.votes`: columns `trajectory`, `time`,
        `state` and `action` (any of them in an end); and `question`, `kind`, `first`, `second`,
        `evaluator` and `answer`, which is 1 if the second trajectory is more helpful or less
        harmful, or if the first is acceptable, and otherwise 0. Numbers of trajectories and
        questions may be any integers from 0 on.
    link : {"logistic", "probit", "cauchy"}
        Of the votes.
    ridge : float
        Weight of the normal prior of rewards and utilities, around half of the scale and in its
        units, from 1e-9 to 1e9.
    margin : float, optional
        What is added to b in the program. By default 0; with a level, the half-width that is
        expected of the bound.
    level : float, optional
        Confidence, in (0.5, 1), of a lower bound of V_g - b.
    independent : bool
        Whether votes of a person do not depend on each other, given the trajectories.

    Notes
    -----
    Where by the estimates no policy has the margin, the safest policy is returned. Without a level,
    the policy meets b by the estimates, and about half of such policies do not in truth.

    With a level, half of the people choose the policy, and what the other half says of utility
    bounds its V_g - b: the bound is their estimate less a quantile of its standard error, and less
    the largest bias of the ridge. The standard error is the larger of two: that of independent
    votes, and that of independent people. P(safe is told, and V_g < b) is then about at most
    1 - level for many votes, if people are drawn at random, on average vote by the link on known
    transitions, and ten or more of those who judge share what decides the bound: some twenty people
    if all answer alike. If votes are `independent`, halves are of questions, and any number of
    people will do. Rewards and utilities have to lie within the scale. Since people judge what they
    see, and V_g goes on for ever, no level is promised if a trajectory is cut off where more than a
    twentieth of a value is left. The level is about all data sets: of those policies that are told
    to be safe, a larger share than 1 - level may be unsafe.
    """
    cmdp = cmdp_of(process)
    level = optional(require_number, "level", level, above=0.5, below=1)
    margin = optional(require_number, "margin", margin)
    require_one_of("link", link, LINKS)
    ridge = require_number("ridge", ridge, at_least=1e-9, at_most=1e9) / cmdp.scale**2
    require_instance("independent", independent, bool)
    steps, numbers = _read_steps(process, trajectories)
    transition, choices, ends = _transitions(process, cmdp, steps)
    visits = _visits(steps, choices.shape, cmdp.discount, ends)
    questions, given = _read_votes(votes, numbers)
    helpful = given["kind"] == KINDS.index("helpful")
    judges = _judges(given, questions, independent) & (level is not None)
    if level is not None and judges[~helpful].nunique() < 2:
        told = "votes about utility by two people (if independent, on two questions of a kind)"
        raise ValueError(f"level: {told} expected")

    def estimate(votes):
        asked = questions.loc[np.unique(votes["question"])]
        return _Estimate(asked, votes, visits, link, ridge, cmdp.scale / 2)

    chosen, unit = estimate(given[~helpful & ~judges]), visits[-1, -1]
    of_reward = given[helpful] if independent else given[helpful & ~judges]
    if of_reward.empty:
        raise ValueError("level: votes about rewards by people who do not judge expected")
    reward = estimate(of_reward).theta[:-1].reshape(choices.shape)
    utility, threshold = chosen.theta[:-1].reshape(choices.shape), unit * chosen.theta[-1]

    def plan(margin):
        """Policy, and its V_g - b as a direction of theta."""
        known = transition, reward, -utility, -threshold - margin, cmdp.initial
        estimated = CMDP.from_costs(*known, cmdp.discount, actions=choices)
        try:
            policy = solve(estimated).policy
        except Infeasible:  # by the estimates
            policy = maximize(estimated, estimated.utility)
        policy = estimated.fold(policy)  # no other choice
        policy[ends] = 1 / choices.shape[1]  # where no action matters, votes tell their mean
        occupancy = estimated.occupancy(policy)[:, None] * policy
        return policy, np.append(occupancy, -unit)

    policy, direction = plan(margin or 0.0)
    if level is not None and margin is None:
        for _ in range(3):  # the width depends on the policy, which depends on the margin
            policy, direction = plan(chosen.width(direction, level, independent))
    lower, few = None, False
    if level is not None:
        judged = estimate(given[~helpful & judges])
        lower = float(direction @ judged.theta) - judged.width(direction, level, independent)
        few = not independent and judged.people(direction) < _FEWEST - 0.5
    voted = visits[np.unique(given[["first", "second"]])][:, :-1].any(0).reshape(choices.shape)
    unseen, told = choices & ~voted, "so votes tell nothing of them"
    if process.transition is None:
        unseen, told = ~choices, "and are not chosen"
    if unseen.any():
        told = f"{unseen.sum()} pairs of state and action were never seen, {told}"
        warnings.warn(told, stacklevel=2)
    about = np.setdiff1d(given.loc[~helpful, ["first", "second"]], [len(visits) - 1])
    left = 1 - (1 - cmdp.discount) * visits[about].sum(1)
    which, left = numbers[about[left.argmax()]], left.max()
    doubts = {
        "none was asked for": level is None,
        "transitions are estimated": process.transition is None,
        f"fewer than {_FEWEST} of those who judge share what decides the bound": few,
        f"trajectory {which} is cut off where {left:.0%} of a value is left": left > _MOST_MISSED,
    }
    return Learned(
        policy=cmdp.fold(policy),
        reward=reward,
        utility=utility,
        threshold=float(threshold),
        utility_value=float(direction[:-1] @ utility.ravel()),
        standard_error=float(np.sqrt(direction @ chosen.solve(direction))),
        level=level,
        lower=lower,
        safe=lower is not None and lower >= 0 and not any(doubts.values()),
        doubts=tuple(doubt for doubt, holds in doubts.items() if holds),
    )


def _judges(votes, questions, independent):
    """Which votes judge: those of half of the people, or on half of the questions of each kind."""
    if independent:  # at random, since questions of an algorithm alternate
        mixed = questions.sample(frac=1, random_state=0).groupby("kind").cumcount()
        return votes["question"].map(mixed) % 2 == 1
    told = votes.loc[votes["kind"] != KINDS.index("helpful"), "evaluator"]
    people = pd.Series(np.unique(told)).sample(frac=1, random_state=0)
    return votes["evaluator"].isin(people[::2])


class _Estimate:
    """Estimate of theta (S * A + 1,), from votes on some questions.

    Theta is a signal, reward or utility, and b divided by the largest sum of visits: all entries
    are in [0, scale], with the same prior.
    """

    def __init__(self, questions, votes, visits, link, ridge, middle):
        self.code, self.ridge, self.middle = LINKS[link].code, ridge, middle
        self.votes, self.place = votes, questions.index.get_indexer(votes["question"])
        self.features = visits[questions["second"]] - visits[questions["first"]]
        numbers = np.bincount(self.place, minlength=len(questions))
        favourable = np.bincount(self.place, self.votes["answer"], len(questions))
        center = np.full(visits.shape[1], middle)
        self.theta = fit(self.features, favourable, numbers, link, ridge, center, 0.0)
        self.information = information(self.features, numbers, self.theta, link, ridge, 0.0)

    def solve(self, direction):
        """Inverse of the information times a direction of theta."""
        return linalg.solve(self.information, direction, assume_a="pos")

    def people(self, direction):
        """Number of people who share what votes tell of a direction: 1 / the sum of squared shares.

        It is less than that of all people where a few tell most.
        """
        moved = pd.Series((self.features @ self.solve(direction))[self.place] ** 2)
        told = moved.groupby(self.votes["evaluator"].to_numpy()).sum()
        return float(told.sum() ** 2 / ((told**2).sum() or 1.0))

    def width(self, direction, level, independent):
        """How far V_g - b may be below its estimate: bias of the ridge, and errors of votes."""
        solved = self.solve(direction)
        bias = self.ridge * self.middle * abs(solved).sum()
        error = np.sqrt(max(0.0, solved @ direction - self.ridge * solved @ solved))
        width = stats.norm.ppf(level) * error
        if not independent:  # by the sums of what each person's votes contribute
            answers, ones = self.votes["answer"].to_numpy(np.float64), np.ones(len(self.votes))
            differences = (self.features @ self.theta)[self.place]
            _, score, _ = log_likelihood(self.code, differences, answers, ones)
            contributions = pd.Series(score * (self.features @ solved)[self.place])
            sums = contributions.groupby(self.votes["evaluator"].to_numpy()).sum()
            free = max(1, len(sums) - 1)
            spread = np.sqrt(len(sums) / free * (sums**2).sum())
            width = max(width, stats.t.ppf(level, free) * spread)
        return float(width + bias)


def _read_steps(process, trajectories):
    """Steps of whole trajectories, in order, and the numbers of the trajectories."""
    states, actions = labels(process)
    allowed = {"trajectory": NUMBERS, "time": NUMBERS, "state": states, "action": actions}
    steps = read_table("trajectories", trajectories, allowed)
    steps = steps.sort_values(["trajectory", "time"], ignore_index=True)
    wrong = steps["time"] != steps.groupby("trajectory").cumcount()
    if wrong.any():
        which = steps["trajectory"][wrong.argmax()]
        raise ValueError(f"trajectories: times 0, 1, 2, ... expected, not so in trajectory {which}")
    steps["trajectory"], numbers = pd.factorize(steps["trajectory"])
    return steps, numbers.tolist()


def _transitions(process, cmdp, steps):
    """Transitions or their estimates, pairs that a policy may choose, and where it ends (S,)."""
    before = steps[steps.duplicated("trajectory", keep="last")]  # all but the last step of each
    after = steps["state"].to_numpy()[before.index + 1]
    counts = np.zeros(cmdp.transition.shape)
    np.add.at(counts, (before["state"], before["action"], after), 1)
    if process.transition is not None:
        allowed = np.ones(cmdp.reward.shape, bool) if cmdp.allowed is None else cmdp.allowed
        impossible = np.argwhere(counts * (cmdp.transition == 0) * allowed[:, :, None])
        if len(impossible):
            (first, action, then), (states, actions) = impossible[0], labels(process)
            told = f"from {states[first]} by {actions[action]} to {states[then]}"
            raise ValueError(f"trajectories: possible steps expected, got one {told}")
        return cmdp.transition, allowed, absorbing_states(cmdp)
    begun = (cmdp.initial > 0) & ~np.isin(range(len(counts)), steps["state"])
    if begun.any():
        told = f"through the first state {labels(process)[0][begun.argmax()]}"
        raise ValueError(f"trajectories: at least one {told} expected")
    leaves = counts.sum(1) * (1 - np.eye(len(counts)))
    ends = ~leaves.any(1)
    counts[ends, :, ends] = 1
    return proportional(counts), counts.any(2), ends


def _visits(steps, shape, discount, ends):
    """Discounted visits (K + 1, S * A + 1).

    A trajectory that was absorbed stays there for ever, and its visits are shared by all actions.
    The last row is that of a trajectory that is just acceptable: it visits only b.
    """
    place, state = steps["trajectory"].to_numpy(), steps["state"].to_numpy()
    weights = discount ** steps["time"].to_numpy()
    stays = ~steps.duplicated("trajectory", keep="last") & ends[state]
    visits = np.zeros((place[-1] + 1, *shape))
    counted = np.where(stays, weights / (1 - discount), weights)
    np.add.at(visits, (place, state, steps["action"]), counted)
    visits[:, ends] = visits[:, ends].mean(-1, keepdims=True)
    visits = np.pad(visits.reshape(len(visits), -1), (0, 1))
    visits[-1, -1] = visits.sum(1).max()
    return visits


def _read_votes(votes, trajectories):
    """Questions by their number, with places of trajectories, and votes."""
    allowed = {"question": NUMBERS, "kind": KINDS, "first": trajectories, "second": trajectories}
    given = read_table("votes", votes, allowed | {"evaluator": None, "answer": [0, 1]})
    require_single(given)
    # A question about a single trajectory compares it with the one that is just acceptable.
    single = given["kind"] == KINDS.index("acceptable")
    given["first"] = given["first"].mask(single, len(trajectories))
    given = given.sort_values(["question", "evaluator"], ignore_index=True)
    questions = given[[*allowed]].drop_duplicates().set_index("question")
    if (twice := questions.index.duplicated()).any():
        raise ValueError(f"votes: question {questions.index[twice.argmax()]} is told in two ways")
    reasons = {"helpful": "since other votes say nothing of the reward"}
    reasons["acceptable"] = "since comparisons leave the level of utility open"
    for kind, reason in reasons.items():
        if KINDS.index(kind) not in {*questions["kind"]}:
            raise ValueError(f"votes: some of kind {kind} expected, {reason}")
    return questions, given
