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

from pgpd_hf.arguments import optional, require_number, require_one_of
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
    lower : float or None
        Bound of V_g - b; None without a level.
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
    lower: float | None
    safe: bool
    doubts: tuple[str, ...]

    def __repr__(self) -> str:
        excess = round(self.utility_value - self.threshold, 6) + 0.0
        error = f"(standard error {self.standard_error:.2g}, in units of the link)"
        told = ["safe" if self.safe else "not shown to be safe"]
        if self.lower is not None:
            told += [f"V_g - b >= {self.lower:.3g}"]
        told += [f"by the votes that chose it, V_g - b = {excess:.3g} {error}"]
        if self.doubts:
            told += [f"no level is promised, since {' and '.join(self.doubts)}"]
        return f"<Learned: {'; '.join(told)}>"


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
        Rewards and utilities of a CMDP only tell which states are absorbing, and b is learned, too.
        Transitions that are None are estimated.
    trajectories : DataFrame or path of a CSV file
        `trajectory` and `time`, integers, `state` and `action`, as :attr:`Session.trajectories`.
    votes : DataFrame or path of a CSV file
        `question`, an integer, `kind` (helpful, harmless or acceptable), `first`, `second`,
        `evaluator` and `answer`, as :attr:`Session.votes`.
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
    Where by the estimates no policy has the margin, the safest policy is returned. Without a level,
    the policy meets b by the estimates, and about half of such policies do not in truth. With a
    level, P(safe is told, and V_g < b) is about at most 1 - level for many votes, if people vote by
    the link on known transitions, and are ten or more, or `independent`. If they are not
    `independent`, the standard error is the larger of two: that of independent votes, and that of
    independent people. Since people judge what they see, and V_g goes on for ever, no level is
    promised if trajectories are cut off where more than a twentieth of a value is left.
    """
    cmdp = cmdp_of(process)
    level = optional(require_number, "level", level, above=0.5, below=1)
    margin = optional(require_number, "margin", margin)
    require_one_of("link", link, LINKS)
    model = link, require_number("ridge", ridge, above=0) / cmdp.scale**2, cmdp.scale / 2
    steps = _read_steps(process, trajectories)
    transition, seen, ends = _transitions(process, cmdp, steps)
    visits = _visits(steps, seen.shape, cmdp.discount, ends)
    unit = visits[-1, -1]  # of b in theta
    given, chooses = _read_votes(votes, steps["trajectory"].unique().tolist())
    helpful = given["kind"] == KINDS.index("helpful")
    reward = _Estimate(visits, given[helpful], *model).theta[:-1].reshape(seen.shape)
    chosen = _Estimate(visits, given[~helpful & (chooses | (level is None))], *model)
    utility, threshold = chosen.theta[:-1].reshape(seen.shape), unit * chosen.theta[-1]

    def plan(margin):
        """Policy, and its V_g - b as a direction of theta."""
        known = transition, reward, -utility, -threshold - margin, cmdp.initial
        estimated = CMDP.from_costs(*known, cmdp.discount, actions=seen)
        try:
            policy = solve(estimated).policy
        except Infeasible:  # by the estimates
            policy = maximize(estimated, estimated.utility)
        policy = estimated.fold(policy)  # no action that was never seen
        policy[ends] = 1 / seen.shape[1]  # where no action matters, votes tell their mean
        occupancy = estimated.occupancy(policy)[:, None] * policy
        return policy, np.append(occupancy, -unit)

    policy, direction = plan(margin or 0.0)
    if level is not None and margin is None:
        for _ in range(3):  # the width depends on the policy, which depends on the margin
            policy, direction = plan(chosen.width(direction, level, independent))
    if not seen.all():
        told = f"{(~seen).sum()} pairs of state and action were never seen, and are not chosen"
        warnings.warn(told, stacklevel=2)
    lower, doubts = None, []
    if level is None:
        doubts += ["none was asked for"]
    else:
        judged = _Estimate(visits, given[~helpful & ~chooses], *model)
        lower = float(direction @ judged.theta) - judged.width(direction, level, independent)
    if process.transition is None:
        doubts += ["transitions are estimated"]
    if given["evaluator"].nunique() < _FEWEST and not independent:
        doubts += [f"fewer than {_FEWEST} people voted"]
    last = steps.drop_duplicates("trajectory", keep="last")
    asked = np.setdiff1d(given.loc[~helpful, ["first", "second"]], [len(last)])
    cut = last.iloc[asked][~ends[last["state"].iloc[asked]]]
    if len(cut) and (left := cmdp.discount ** (cut["time"].min() + 1)) > _MOST_MISSED:
        doubts += [f"trajectories are cut off where {left:.0%} of a value is left"]
    return Learned(
        policy=policy,
        reward=reward,
        utility=utility,
        threshold=float(threshold),
        utility_value=float(direction[:-1] @ utility.ravel()),
        standard_error=float(np.sqrt(direction @ chosen.solve(direction))),
        lower=lower,
        safe=lower is not None and lower >= 0 and not doubts,
        doubts=tuple(doubts),
    )


class _Estimate:
    """Estimate of theta: a signal (S * A,), reward or utility, and b, from votes on some questions.

    The last entry is b divided by the largest sum of visits, so that all entries are in [0, scale],
    with the same prior.
    """

    def __init__(self, visits, given, link, ridge, middle):
        self.given, self.link, self.ridge, self.middle = given, link, ridge, middle
        questions = given.groupby("question")
        asked, numbers = questions.first(), questions.size().to_numpy()
        self.place = questions.ngroup().to_numpy()
        self.features = visits[asked["second"]] - visits[asked["first"]]
        votes, center = questions["answer"].sum().to_numpy(), np.full(visits.shape[1], middle)
        self.theta = fit(self.features, votes, numbers, link, ridge, center, 0.0)
        self.information = information(self.features, numbers, self.theta, link, ridge, 0.0)

    def solve(self, direction):
        """Inverse of the information times a direction of theta."""
        return linalg.solve(self.information, direction, assume_a="pos")

    def width(self, direction, level, independent):
        """How far V_g - b may be below its estimate: bias of the ridge, and errors of votes."""
        solved = self.solve(direction)
        bias = self.ridge * self.middle * abs(solved).sum()
        error = np.sqrt(max(0.0, solved @ direction - self.ridge * solved @ solved))
        width = stats.norm.ppf(level) * error
        if not independent:  # by the sums of what each person's votes contribute
            answers, ones = self.given["answer"].to_numpy(np.float64), np.ones(len(self.given))
            differences = (self.features @ self.theta)[self.place]
            _, score, _ = log_likelihood(LINKS[self.link].code, differences, answers, ones)
            contributions = pd.Series(score * (self.features @ solved)[self.place])
            sums = contributions.groupby(self.given["evaluator"].to_numpy()).sum()
            free = max(1, len(sums) - 1)
            spread = np.sqrt(len(sums) / free * (sums**2).sum())
            width = max(width, stats.t.ppf(level, free) * spread)
        return float(width + bias)


def _read_steps(process, trajectories):
    """Steps of whole trajectories, in order."""
    states, actions = labels(process)
    allowed = {"trajectory": NUMBERS, "time": NUMBERS, "state": states, "action": actions}
    steps = read_table("trajectories", trajectories, allowed)
    steps = steps.sort_values(["trajectory", "time"], ignore_index=True)
    wrong = steps["time"] != steps.groupby("trajectory").cumcount()
    if wrong.any():
        which = steps["trajectory"][wrong.argmax()]
        raise ValueError(f"trajectories: times 0, 1, 2, ... expected, not so in trajectory {which}")
    return steps


def _transitions(process, cmdp, steps):
    """Transitions or their estimates, which pairs were seen (S, A), and where it ends (S,)."""
    goes_on = steps.duplicated("trajectory", keep="last")  # all but the last step of each
    before, after = steps[goes_on], steps["state"].shift(-1)[goes_on].astype(np.int64)
    moves = before["state"], before["action"], after
    if process.transition is not None:
        impossible = before["trajectory"][cmdp.transition[moves] == 0]
        if len(impossible):
            told = f"got one of probability 0 in trajectory {impossible.iloc[0]}"
            raise ValueError(f"trajectories: possible steps expected, {told}")
        return cmdp.transition, np.ones(cmdp.reward.shape, bool), absorbing_states(cmdp)
    counts = np.zeros(cmdp.transition.shape)
    np.add.at(counts, moves, 1)
    seen = counts.sum(2) > 0
    ends = ~seen.any(1)  # states that no trajectory leaves
    counts[ends, :, ends] = 1
    seen[ends] = True
    return proportional(counts), seen, ends


def _visits(steps, shape, discount, ends):
    """Discounted visits (K + 1, S * A + 1).

    A trajectory that was absorbed stays there for ever, and its visits are shared by all actions.
    The last row is that of a trajectory that is just acceptable: it visits only b.
    """
    place, state = pd.factorize(steps["trajectory"])[0], steps["state"].to_numpy()
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
    """Votes, with places of trajectories, by question, and which of them choose the policy."""
    allowed = {"question": NUMBERS, "kind": KINDS, "first": trajectories, "second": trajectories}
    given = read_table("votes", votes, allowed | {"evaluator": None, "answer": range(2)})
    require_single(given)
    given = given.sort_values(["question", "evaluator"], ignore_index=True)
    asked = given.drop_duplicates(["question", "kind", "first", "second"]).set_index("question")
    if (twice := asked.index.duplicated()).any():
        raise ValueError(f"votes: question {asked.index[twice.argmax()]} is told in two ways")
    if not {KINDS.index("helpful"), KINDS.index("acceptable")} <= {*asked["kind"]}:
        raise ValueError(
            "votes: kinds helpful and acceptable expected, since comparisons leave the level of "
            "utility open, so that a threshold means nothing"
        )
    # A question about a single trajectory compares it with the one that is just acceptable.
    single = given["kind"] == KINDS.index("acceptable")
    given["first"] = given["first"].mask(single, len(trajectories))
    return given, given["question"].map(asked.groupby("kind").cumcount() % 2 == 0)
