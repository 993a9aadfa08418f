"""People and evaluators who vote in sessions, simulated without the package's kernels."""

import numpy as np
import pandas as pd
from scipy import special

from pgpd_hf import CMDP
from reference import DISTRIBUTIONS, random_process, votes

STEPS = {"primal_step": 0.1, "dual_step": 0.1, "multiplier_bound": 4.0, "horizon": 4}


def absorbed(seed=5, discount=0.8, threshold=1.0):
    """CMDP of three states, the last of which ends it."""
    cmdp = random_process(seed, 3, 2, discount)
    transition, signals = cmdp.transition.copy(), [cmdp.reward.copy(), cmdp.utility.copy()]
    transition[2] = [0, 0, 1]
    for signal in signals:
        signal[2] = signal[2, 0]
    return CMDP(transition, *signals, cmdp.initial, discount, threshold)


def differences(questions, trajectories, cmdp, horizon):
    """What each question is about: a difference of returns, or of a return and the threshold."""
    weights, returns = cmdp.discount ** np.arange(horizon + 1), {}
    for number, steps in trajectories.groupby("trajectory"):
        rest = 0, horizon + 1 - len(steps)  # the process stays where it is absorbed
        path = tuple(np.pad(steps[axis], rest, mode="edge") for axis in ("state", "action"))
        returns[number] = weights @ cmdp.reward[path], weights @ cmdp.utility[path]
    for kind, first, second in questions[["kind", "first", "second"]].itertuples(index=False):
        if kind == "acceptable":
            yield returns[first][1] - cmdp.threshold
        else:
            signal = ("helpful", "harmless").index(kind)
            yield returns[second][signal] - returns[first][signal]


def from_words(session, cmdp, words):
    """Votes of the evaluators of a run, who answer by these words."""
    algorithm, rows, questions = session.algorithm, [], session.ask()
    asked = differences(questions, session.trajectories, cmdp, algorithm.horizon)
    for number, difference, word in zip(questions["question"], asked, words, strict=True):
        chance = DISTRIBUTIONS[algorithm.link].cdf(difference)
        favourable = votes(algorithm.evaluators, chance, word)
        rows += [(number, f"p{k}", int(k < favourable)) for k in range(algorithm.evaluators)]
    return pd.DataFrame(rows, columns=["question", "evaluator", "answer"])


def from_people(questions, trajectories, cmdp, horizon, habits, random):
    """Votes of people; a habit is what a person multiplies differences with, 0 at random."""
    asked = [*differences(questions, trajectories, cmdp, horizon)]
    chances = special.expit(np.outer(asked, [*habits.values()]))
    answers = pd.DataFrame((random.random(chances.shape) < chances).astype(int), columns=[*habits])
    answers = questions.reset_index(drop=True).join(answers)
    return answers.melt([*questions], var_name="evaluator", value_name="answer")
