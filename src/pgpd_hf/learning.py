r"""Learning from files of votes: reward and utility by maximum likelihood, then the linear program.

With `level`, the questions about utility are split. The votes on one half choose the policy; those
on the other half, on which the policy does not depend, bound :math:`V_g^\pi - b` of that single
policy. The bound is the estimate :math:`c \cdot \hat\theta` less a quantile of its standard error
and the largest bias that the ridge may cause while rewards of a step are in [0, scale].
"""

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
from pgpd_hf.process import KINDS, NUMBERS, Process, labels, read_table, require_single_votes
from pgpd_hf.trajectories import absorbing_states

_FEWEST = 10  # people of whom a level is promised though votes may depend on the person


@dataclass(frozen=True, eq=False, repr=False)
class Learned:
    """What votes have taught; `lower` and `safe` are None without a level."""

    policy: Array  # (S, A)
    reward: Array  # (S, A), estimates, in units of the link
    utility: Array
    threshold: float  # b, an estimate where the process does not tell it
    reward_value: float  # of the policy, by the estimates
    utility_value: float
    standard_error: float  # of utility_value - threshold
    margin: float
    lower: float | None  # bound of V_g - b
    safe: bool | None  # whether the bound is at least 0, and its level is promised
    notes: tuple[str, ...]  # why no level is promised, and what else to know

    def __repr__(self) -> str:
        excess = round(self.utility_value - self.threshold, 6) + 0.0
        half = "" if self.safe is None else "by the half of the votes that chose, "
        found = [f"{half}V_g - b = {excess:.3g} (standard error {self.standard_error:.2g})"]
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
        Rewards and utilities of a CMDP only tell which states are absorbing. Transitions that are
        None are estimated.
    trajectories : DataFrame or path of a CSV file
        `trajectory`, `time`, `state` and `action`, as :attr:`Session.trajectories`.
    votes : DataFrame or path of a CSV file
        `question`, `kind`, `first`, `second`, `evaluator`, `answer`, as :attr:`Session.votes`.
    link : str
        A key of :data:`pgpd_hf.LINKS`.
    ridge : float
        Weight of the normal prior of rewards and utilities, around half of the scale and in its
        units.
    margin : float, optional
        What is added to b in the program. By default 0; with a level, the half-width that is
        expected of the bound.
    level : float, optional
        Confidence, in (0.5, 1), of a lower bound of V_g - b.
    independent : bool
        Whether votes of a person do not depend on each other, given the trajectories.

    Notes
    -----
    Without a level, the policy meets b by the estimates, and about half of such policies do not in
    truth. With a level, P(safe is told, and V_g < b) is about at most 1 - level for many votes, if
    people vote by the link on known transitions, and are ten or more, or `independent`. If they are
    not `independent`, the standard error is the larger of two: that of independent votes, and that
    of independent people.
    """
    if not isinstance(process, CMDP):
        require_instance("process", process, Process)
    level = optional(require_number, "level", level, above=0.5, below=1)
    margin = optional(require_number, "margin", margin)
    require_one_of("link", link, LINKS)
    ridge = require_number("ridge", ridge, above=0) / process.scale**2
    steps = _read_steps(process, trajectories)
    transition, seen, ends = _transitions(process, steps)
    visits = _visits(steps, seen.shape, process.discount, ends)
    asked, given = _read_votes(votes, steps["trajectory"].unique().tolist())

    def estimate(kinds):
        return _Estimate(process, visits, pd.concat(kinds), given, link, ridge)

    of_reward, *of_utility = (asked[asked["kind"] == kind] for kind in KINDS)
    halves = [[kind[k::2] for kind in of_utility] for k in range(2)]
    reward = estimate([of_reward]).signal.reshape(seen.shape)
    chosen = estimate(halves[0] if level else of_utility)
    utility = chosen.signal.reshape(seen.shape)

    def plan(margin):
        known = transition, reward, -utility, -chosen.threshold - margin, process.initial
        cmdp = CMDP.from_costs(*known, process.discount, actions=seen)
        try:
            policy = solve(cmdp).policy
        except Infeasible:  # by the estimates
            policy = maximize(cmdp, cmdp.utility)
        # Actions that were never seen are copies of the first one that was.
        spare, policy = np.where(seen, 0, policy).sum(1), np.where(seen, policy, 0)
        policy[np.arange(len(seen)), seen.argmax(1)] += spare
        policy[ends] = 1 / seen.shape[1]  # where no action matters, votes tell their mean
        return policy, (cmdp.occupancy(policy)[:, None] * policy).ravel()

    policy, occupancy = plan(margin or 0.0)
    if margin is None and level:
        for _ in range(3):  # the width depends on the policy, which depends on the margin
            margin = chosen.width(occupancy, level, independent)
            policy, occupancy = plan(margin)
    margin, notes = margin or 0.0, []
    if not seen.all():
        told = f"{(~seen).sum()} pairs of state and action were never seen, and are not chosen"
        warnings.warn(told, stacklevel=2)
    if chosen.excess(occupancy) < margin - 1e-6:
        notes += ["by the estimates, no policy has the margin, and this one is the safest"]
    lower = safe = None
    if level is None:
        notes += ["nothing is said about safety without a level"]
    else:
        doubts = ["transitions are estimated"] if process.transition is None else []
        if given["evaluator"].nunique() < _FEWEST and not independent:
            doubts += [f"fewer than {_FEWEST} people voted"]
        notes += [f"no level is promised, since {doubt}" for doubt in doubts]
        judged = estimate(halves[1])
        lower = judged.excess(occupancy) - judged.width(occupancy, level, independent)
        safe = lower >= 0 and not doubts
    return Learned(
        policy=policy,
        reward=reward,
        utility=utility,
        threshold=chosen.threshold,
        reward_value=float(occupancy @ reward.ravel()),
        utility_value=float(occupancy @ utility.ravel()),
        standard_error=chosen.standard_error(occupancy),
        margin=margin,
        lower=lower,
        safe=safe,
        notes=tuple(notes),
    )


class _Estimate:
    """Estimates of a signal (S * A,), reward or utility, and of b, from votes on some questions.

    Theta is the signal, and then b divided by the largest sum of visits, so that all its entries
    are in [0, scale], with the same prior. Where the process tells b, the last entry has no
    influence.
    """

    def __init__(self, process, visits, asked, given, link, ridge):
        self.link, self.ridge, self.middle = link, ridge, process.scale / 2
        known, self.unit = getattr(process, "threshold", 0.0), 0.0
        if not isinstance(process, CMDP):
            self.unit = visits.sum(1).max()
        single = (asked["kind"] == "acceptable").to_numpy()
        first, second = visits[asked["first"]], visits[asked["second"]]
        features = np.where(single[:, None], first, second - first)
        self.features = np.column_stack([features, np.where(single, -self.unit, 0.0)])
        self.offsets = np.where(single, -known, 0.0)
        place = asked.index.get_indexer(given["question"])
        self.given, self.place = given[place >= 0], place[place >= 0]
        self.numbers = np.bincount(self.place, minlength=len(asked))
        votes = np.bincount(self.place, self.given["answer"], len(asked))
        center = np.full(self.features.shape[1], self.middle)
        self.theta = fit(self.features, votes, self.numbers, link, ridge, center, self.offsets)
        self.signal, self.threshold = self.theta[:-1], float(known + self.unit * self.theta[-1])

    def excess(self, occupancy):
        """V_g - b of the policy that has this occupancy of states and actions."""
        return float(occupancy @ self.signal - self.threshold)

    def standard_error(self, occupancy):
        """Standard error of V_g - b, with the prior."""
        direction, solved = self._solve(occupancy)
        return float(np.sqrt(direction @ solved))

    def width(self, occupancy, level, independent):
        """How far V_g - b may be below its estimate: bias of the ridge, and errors of votes."""
        direction, solved = self._solve(occupancy)
        bias = self.ridge * self.middle * abs(solved).sum()
        error = np.sqrt(max(0.0, solved @ direction - self.ridge * solved @ solved))
        width = stats.norm.ppf(level) * error
        if not independent:  # by the sums of what each person's votes contribute
            differences = (self.features @ self.theta + self.offsets)[self.place]
            answers, ones = self.given["answer"].to_numpy(np.float64), np.ones(len(self.place))
            _, score, _ = log_likelihood(LINKS[self.link].code, differences, answers, ones)
            contributions = score * (self.features @ solved)[self.place]
            sums = np.bincount(self.given["evaluator"], contributions)
            people = self.given["evaluator"].nunique()
            spread = np.sqrt(people / max(1, people - 1) * (sums**2).sum())
            width = max(width, stats.t.ppf(level, max(1, people - 1)) * spread)
        return float(width + bias)

    def _solve(self, occupancy):
        """V_g - b as a direction of theta, and what the inverse of the information makes of it."""
        direction = np.append(occupancy, -self.unit)
        at = self.theta, self.link, self.ridge, self.offsets
        curved = information(self.features, self.numbers, *at)
        return direction, linalg.solve(curved, direction, assume_a="pos")


def _read_steps(process, trajectories):
    """Steps of whole trajectories, in order."""
    states, actions = labels(process)
    allowed = {"trajectory": NUMBERS, "time": NUMBERS, "state": states, "action": actions}
    steps = read_table("trajectories", trajectories, allowed)
    steps = steps.sort_values(["trajectory", "time"], ignore_index=True)
    wrong = (steps["time"] != steps.groupby("trajectory").cumcount()).to_numpy()
    if wrong.any() or steps.empty:
        which = steps["trajectory"][wrong.argmax()] if wrong.any() else "none"
        raise ValueError(f"trajectories: times 0, 1, 2, ... expected, not so in {which}")
    return steps


def _transitions(process, steps):
    """Transitions or their estimates, which pairs were seen (S, A), and where it ends (S,)."""
    states, actions = map(len, labels(process))
    if process.transition is not None:
        cmdp = process if isinstance(process, CMDP) else process.without_rewards()
        return cmdp.transition, np.ones((states, actions), bool), absorbing_states(cmdp)
    goes_on = steps.duplicated("trajectory", keep="last")  # all but the last step of each
    before, after = steps[goes_on], steps["state"].shift(-1)[goes_on].astype(np.int64)
    counts = np.zeros((states, actions, states))
    np.add.at(counts, (before["state"], before["action"], after), 1)
    seen = counts.sum(2) > 0
    ends = ~seen.any(1)  # states that no trajectory leaves
    counts[ends, :, ends] = 1
    seen[ends] = True
    return proportional(counts), seen, ends


def _visits(steps, shape, discount, ends):
    """Discounted visits (K, S * A) up to the last time of the longest trajectory.

    A trajectory that was absorbed stays there, and its visits are shared by all actions.
    """
    place, state = pd.factorize(steps["trajectory"])[0], steps["state"].to_numpy()
    weights = discount ** np.append(steps["time"], steps["time"].max() + 1)
    rest = (weights[:-1] - weights[-1]) / (1 - discount)
    stays = ~steps.duplicated("trajectory", keep="last") & ends[state]
    visits = np.zeros((place[-1] + 1, *shape))
    np.add.at(visits, (place, state, steps["action"]), np.where(stays, rest, weights[:-1]))
    visits[:, ends] = visits[:, ends].mean(-1, keepdims=True)
    return visits.reshape(len(visits), -1)


def _read_votes(votes, numbers):
    """Questions, with places of trajectories, and the votes on them."""
    allowed = {"question": NUMBERS, "kind": KINDS, "first": numbers, "second": numbers}
    allowed |= {"evaluator": None, "answer": range(2)}
    given = read_table("votes", votes, allowed)
    require_single_votes(given)
    given["kind"] = np.array(KINDS)[given["kind"]]
    given["evaluator"] = pd.factorize(given["evaluator"], sort=True)[0]
    given = given.sort_values(["question", "evaluator"], ignore_index=True)
    asked = given.drop_duplicates(["question", "kind", "first", "second"]).set_index("question")
    if (twice := asked.index.duplicated()).any():
        raise ValueError(f"votes: question {asked.index[twice.argmax()]} is told in two ways")
    kinds = {*asked["kind"]}
    if "helpful" not in kinds:
        raise ValueError("votes: kind helpful expected, without which the reward is unknown")
    if "acceptable" not in kinds:
        raise ValueError(
            "votes: kind acceptable expected, since comparisons leave the level of utility open, "
            "so that a threshold means nothing"
        )
    return asked, given
