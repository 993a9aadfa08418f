r"""Both algorithms with people in the loop: questions, votes, and the next policy.

An iteration's trajectories are drawn as in a run with the same seed, and its update is that of the
run; the votes come from people. Line numbers in comments are those of Algorithms 1 and 2.
"""

from __future__ import annotations  # help() shows names of types

import json
import os
import tempfile
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pgpd_hf.arguments import require_instance, require_integer, shown
from pgpd_hf.cmdp import CMDP, Array
from pgpd_hf.evaluators import make_evaluators
from pgpd_hf.npgpd_hf import NPGPDHF
from pgpd_hf.page import page
from pgpd_hf.policies import project_rows, softmax, unit_direction
from pgpd_hf.primal_dual import Run, dual_update, normalizer
from pgpd_hf.process import KINDS, Process, integers, pseudonyms, read_columns
from pgpd_hf.trajectories import (
    absorbing_states,
    action_thresholds,
    draw,
    draw_start,
    make_tables,
    table_width,
)
from pgpd_hf.zpgpd_hf import ZPGPDHF

_ALGORITHMS = {kind.name: kind for kind in (NPGPDHF, ZPGPDHF)}
_REQUIRED = ("evaluators", "horizon", "primal_step", "dual_step", "multiplier_bound")
_STEP = ("trajectory", "time", "state", "action")
_VOTE = {"question": np.int64, "evaluator": np.str_, "answer": np.int64}
_HALF = np.uint64(32)
_NOT_SAVED = ("render", "units", "map")  # of a process


class Session:
    r"""An algorithm whose questions people answer.

    Parameters
    ----------
    process : Process or CMDP
        Of a CMDP, the rewards, utilities and the threshold are not used.
    algorithm : NPGPDHF or ZPGPDHF
        With numbers for `evaluators`, `horizon`, both steps, `multiplier_bound` and
        `perturbation`, since what their defaults are made of is unknown.
    seed : int
        Of the trajectories, which are those of :func:`run` with this seed and the same votes.

    Attributes
    ----------
    iteration : int
        Completed updates.
    multiplier : float
        :math:`\lambda`.

    Examples
    --------
    >>> import pgpd_hf
    >>> steps = {"primal_step": 0.1, "dual_step": 0.1, "multiplier_bound": 4.0}
    >>> algorithm = pgpd_hf.ZPGPDHF(evaluators=1, horizon=5, perturbation=0.3, **steps)
    >>> session = pgpd_hf.Session(pgpd_hf.random_cmdp(3, 2, 1), algorithm, seed=0)
    >>> questions = session.ask()
    >>> questions
       question        kind  first  second
    0         0     helpful      0       1
    1         1    harmless      0       1
    2         2  acceptable      0    <NA>
    >>> session.tell(questions[["question"]].assign(evaluator="ann", answer=[1, 0, 1]))
    >>> session
    <Session: zpgpd_hf, iteration 1, 0 of 3 votes>
    """

    def __init__(
        self, process: Process | CMDP, algorithm: NPGPDHF | ZPGPDHF, seed: int = 0
    ) -> None:
        if type(algorithm) not in _ALGORITHMS.values():
            raise ValueError(f"algorithm: NPGPDHF or ZPGPDHF expected, got {shown(algorithm)}")
        for name in (*_REQUIRED, "perturbation"):
            if getattr(algorithm, name, 0) is None:
                raise ValueError(f"{name}: a number expected, since rewards are unknown, got None")
        if algorithm.random_answers:
            raise ValueError("random_answers: 0 expected, since people answer")
        if not isinstance(process, CMDP):
            require_instance("process", process, Process)
        self.process, self.algorithm = process, algorithm
        self._evaluators = require_integer("evaluators", algorithm.evaluators, 1)
        self.seed = require_integer("seed", seed, 0)
        self._cmdp = process if isinstance(process, CMDP) else process.without_rewards()
        self._setting = _prepare(algorithm, self._cmdp)
        self._tables, self._absorbing = make_tables(self._cmdp), absorbing_states(self._cmdp)
        self._run = Run(algorithm, self._setting, self.seed, "run")
        self._votes = pd.DataFrame({name: [] for name in _VOTE}).astype(_VOTE)
        self._begin(0, algorithm.start(self._cmdp), 0.0)

    @property
    def policy(self) -> Array:
        """Policy (S, A) that the questions are about."""
        return self.algorithm.policy(self._theta)

    @property
    def trajectories(self) -> pd.DataFrame:
        """Steps of all trajectories so far: H + 1, or fewer where the process is absorbed."""
        table = self._steps.copy()
        for column in ("state", "action"):
            if (names := getattr(self.process, f"{column}_names", None)) is not None:
                table[column] = np.array(names, dtype=object)[table[column]]
        return table

    @property
    def votes(self) -> pd.DataFrame:
        """All votes so far, with what they are about, as :func:`learn_from_votes` takes them."""
        return self._asked.merge(self._votes, on="question")

    def ask(self) -> pd.DataFrame:
        """Questions of this iteration: number, kind, first and second trajectory."""
        return self._asked.tail(self._setting.questions).reset_index(drop=True)

    def tell(self, votes: pd.DataFrame | str | PathLike[str]) -> None:
        """Take votes, all or none; the iteration ends when M have voted on each question.

        Parameters
        ----------
        votes : DataFrame or path of a CSV file
            `question`, `evaluator` (a pseudonym), and `answer`: 1 if the second trajectory is more
            helpful or less harmful, or if the one that is shown is acceptable; otherwise 0.
        """
        table = read_columns("votes", votes, _VOTE)
        first = self.iteration * self._setting.questions
        added = {
            "question": integers("votes", table["question"], first, len(self._asked)),
            "evaluator": pseudonyms("votes", table["evaluator"]),
            "answer": integers("votes", table["answer"], 0, 2),
        }
        every = pd.concat([self._votes, pd.DataFrame(added)], ignore_index=True)
        twice = every.duplicated(["question", "evaluator"]).to_numpy()
        if twice.any():
            question, evaluator, _ = every.loc[twice.argmax()]
            told = f"of {shown(evaluator)} to question {question}"
            raise ValueError(f"votes: one answer {told} expected, got two")
        favourable, numbers = self._counts(every)
        if numbers.max() > self._evaluators:
            told = f"to question {first + numbers.argmax()} expected, got {numbers.max()}"
            raise ValueError(f"votes: at most {self._evaluators} answers {told}")
        if (numbers == self._evaluators).all():
            self._update(favourable, numbers)
        self._votes = every

    def close(self) -> None:
        """End the iteration with the votes there are, at least one on each question."""
        favourable, numbers = self._counts(self._votes)
        if not numbers.all():
            number = self.ask()["question"][numbers.argmin()]
            raise ValueError(f"votes: an answer to each question expected, got none to {number}")
        self._update(favourable, numbers)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the session to a NumPy archive; a file that is there is replaced as a whole."""
        if not str(path).endswith(".npz"):
            raise ValueError(f"path: a name that ends in .npz expected, got {shown(str(path))}")
        arrays = {
            "algorithm": json.dumps([self.algorithm.name, asdict(self.algorithm)]),
            "iteration": self.iteration,
            "seed": self.seed,
            **{name: self._votes[name].to_numpy(kind) for name, kind in _VOTE.items()},
        }
        for field in fields(self.process):
            part = getattr(self.process, field.name)
            if part is not None and field.name not in _NOT_SAVED:
                arrays[f"process.{field.name}"] = part
        handle, temporary = tempfile.mkstemp(".npz", dir=os.path.dirname(os.path.abspath(path)))
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **arrays)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise

    @classmethod
    def load(cls, path: str | PathLike[str], render: Any = None) -> Session:
        """Read a session that :meth:`save` has written, and go through its votes again.

        Nothing in the file is executed; `render` is that of the process, since functions are not
        saved.
        """
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                saved = {name: archive[name] for name in archive.files}
            saved = {name: part if part.ndim else part.item() for name, part in saved.items()}
            parts = {name[8:]: it for name, it in saved.items() if name.startswith("process.")}
            process = CMDP(**parts) if "reward" in parts else Process(render=render, **parts)
            name, options = json.loads(saved["algorithm"])
            session = cls(process, _ALGORITHMS[name](**options), saved["seed"])
            votes = pd.DataFrame({name: saved[name] for name in _VOTE})
            for iteration, told in votes.groupby(votes["question"] // session._setting.questions):
                session.tell(told)
                if session.iteration == iteration < saved["iteration"]:
                    session.close()
            if session.iteration != saved["iteration"]:
                raise ValueError(f"votes of {session.iteration} iterations")
        except Exception as error:  # damaged archives raise almost anything
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())
            raise ValueError(f"{path}: {reason}; a file of Session.save expected") from error
        return session

    def write_page(
        self, path: str | PathLike[str], title: str = "Votes", wording: dict[str, str] | None = None
    ) -> None:
        """Write a page on which people vote on the questions of this iteration.

        It is one file that needs neither a server nor a network, and gives each person `votes.csv`.
        With `wording`, the questions of the kinds "helpful", "harmless" and "acceptable" are asked
        in words of one's own.
        """
        text = page(self.ask(), self._steps, self._absorbing, self.process, title, wording)
        Path(path).write_text(text, encoding="utf-8")

    def __repr__(self) -> str:
        votes = self._counts(self._votes)[1]
        told = f"{votes.sum()} of {len(votes) * self._evaluators} votes"
        return f"<Session: {self.algorithm.name}, iteration {self.iteration}, {told}>"

    def _counts(self, votes):
        """Answers of 1, and all answers, to the questions of this iteration, (Q,) each."""
        count = self._setting.questions
        recent = votes[votes["question"] >= self.iteration * count]
        place = recent["question"].to_numpy() % count
        favourable = np.bincount(place[recent["answer"] == 1], minlength=count)
        return favourable, np.bincount(place, minlength=count)

    def _begin(self, iteration, theta, multiplier):
        """Draw the trajectories of an iteration, and lay out its questions."""
        policies, direction = [self.algorithm.policy(theta)], None
        if not np.isfinite(policies[0]).all():
            raise ValueError("primal_step: a smaller number expected, rounding destroys the policy")
        words, normals = (row[0] for row in self._run.draw(1))
        if (how := self._setting.perturbation) is not None:  # lines 2 and 3 of Algorithm 2
            direction = np.empty_like(theta)
            unit_direction(normals, how.tangent, direction)
            policies.append(theta + how.radius * direction)
            (softmax if how.softmax else project_rows)(policies[1], policies[1])
        cuts = np.empty((len(policies), len(theta), table_width(self._cmdp.actions)), np.uint64)
        for policy, cut in zip(policies, cuts, strict=True):
            action_thresholds(policy, cut)
        starts, questions = _plan(self.algorithm, *theta.shape)
        rounds, count = self.algorithm.rounds, len(starts)
        words, others = np.split(words, [self._setting.env_steps])
        words, rows, asked = words.reshape(-1, rounds * count), [], []
        for n in range(rounds):
            drawn = int(draw_start(self._tables, others[n]))
            before = (iteration * rounds + n) * count
            for k, (state, action, which) in enumerate(starts):
                start = drawn if state is None else state
                own = words[:, n * count + k]
                path = _follow(self._tables, self._absorbing, cuts[which], start, action, own)
                rows += [(before + k, t, *step) for t, step in enumerate(path)]
            asked += [
                (KINDS[kind], before + i, pd.NA if j is None else before + j)
                for kind, i, j in questions
            ]
        rows = pd.DataFrame(rows, columns=[*_STEP])
        asked = pd.DataFrame(asked, columns=["kind", "first", "second"])
        asked = asked.astype({"second": "Int64"})
        asked.insert(0, "question", iteration * len(asked) + np.arange(len(asked)))
        if iteration > 0:
            rows, asked = pd.concat([self._steps, rows]), pd.concat([self._asked, asked])
        self._steps, self._asked = (it.reset_index(drop=True) for it in (rows, asked))
        self._direction, self._theta = direction, theta
        self.iteration, self.multiplier = iteration, multiplier

    def _update(self, favourable, numbers):
        """Both steps: lines 8-23 of Algorithm 1, lines 8-17 of Algorithm 2."""
        algorithm, steps, how = self.algorithm, self._setting.steps, self._setting.perturbation
        bound = self._cmdp.return_bound(algorithm.horizon)
        differences = np.empty(len(numbers))
        for number in np.unique(numbers):
            panel = make_evaluators(int(number), algorithm.link, bound, algorithm.estimator)
            differences[numbers == number] = panel.estimate[favourable[numbers == number]]
        means = np.zeros(len(numbers) // algorithm.rounds)
        for of_round in differences.reshape(algorithm.rounds, -1):
            means += of_round / algorithm.rounds
        reward, utility = means[:-1].reshape(-1, 2).T
        slopes = reward + self.multiplier * utility
        primal_step = steps.primal / (1 - self._cmdp.discount if how is None else 1.0)
        primal_step /= normalizer(steps.power, self.multiplier)
        if how is None:
            theta = self._theta + primal_step * slopes.reshape(self._theta.shape)
        else:
            slope = how.dimension / how.radius * slopes[0]
            theta = self._theta + primal_step * slope * self._direction
            if not how.softmax:
                project_rows(theta, theta)
        self._begin(self.iteration + 1, theta, dual_update(self.multiplier, means[-1], steps))


def _prepare(algorithm, cmdp):
    """Setting without an optimum, which is unknown; no option waits for it."""
    return algorithm.prepare(cmdp, None, 1)


def _plan(algorithm, states, actions):
    """Trajectories and questions of a round.

    A trajectory has its first state (None: from rho), its first action (None: by the policy) and
    the policy that it follows: 0, or 1, the perturbed one. A question has its kind, and two
    trajectories or one.
    """
    if algorithm.name == ZPGPDHF.name:  # lines 5-7
        return [(None, None, 0), (None, None, 1)], [(0, 0, 1), (1, 0, 1), (2, 0, None)]
    pairs = [(s, a, 0) for s in range(states) for a in range(actions)]  # lines 4-7, 13 and 14
    starts = [(s, None, 0) for s in range(states)] + pairs + [(None, None, 0)]
    questions = [(k, s, states + s * actions + a) for s, a, _ in pairs for k in (0, 1)]
    return starts, [*questions, (2, states + len(pairs), None)]


def _follow(tables, absorbing, cuts, state, action, words):
    """States and actions of a trajectory, with a random word for each step."""
    width, path = np.uint64(cuts.shape[1]), []
    for word in words:
        if path or action is None:
            action = int(np.searchsorted(cuts[state], word >> _HALF, "right"))
        path.append((state, action))
        if absorbing[state]:
            break
        state = int(
            draw(tables.successors, state * width + np.uint64(action), word, width) // width
        )
    return path
